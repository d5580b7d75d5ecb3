"""A read-only table."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QWidget,
)

from .. import theme
from .base import Themed, draw_box
from .inputs import use_slim_scroll_bars
from .text import layout_text

# Pixels beside a cell's text, and what rows and header are higher than their text.
CELL_MARGIN, ROW_PADDING, HEADER_PADDING = 11, 13, 16


class DataTable(Themed, QTableWidget):
    """Rows are selected as a whole, nothing can be edited, every other row has another background.

    `wraps`: text too long for its column goes on in another line. `frameless`: it is inside a card and has no border.
    """

    def __init__(self, parent: QWidget | None = None, *, wraps: bool = False, frameless: bool = False) -> None:
        super().__init__(parent)
        self._wraps, self._frameless = wraps, frameless
        self._header_view = _HeaderView(self)
        self.setHorizontalHeader(self._header_view)
        self.setItemDelegate(_CellDelegate(self, wraps=wraps))
        use_slim_scroll_bars(self)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setFrameStyle(QFrame.Shape.NoFrame if frameless else QFrame.Shape.Box | QFrame.Shadow.Plain)
        self.verticalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.apply_theme()

    def set_header_padding(self, padding: int) -> None:
        """Make the header this many pixels higher than its text."""
        self._header_view.padding = padding
        self._header_view.headerDataChanged(Qt.Orientation.Horizontal, 0, self.columnCount() - 1)  # measure it again
        self.updateGeometries()

    def refresh(self) -> None:
        self.setFont(theme.font("body"))
        self.horizontalHeader().setFont(theme.font("body"))
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + ROW_PADDING)
        self.setLineWidth(theme.current().line_width)
        super().refresh()
        self.update_colours()

    def min_columns_width(self) -> int:
        """The least width of all columns together: each holds its header and its longest word."""
        return sum(self._column_widths()[0])

    def fit_columns(self, available: int) -> None:
        """Set column widths that fill `available` pixels, and row heights to match; never below `min_columns_width`."""
        minimums, maximums = self._column_widths()
        extra, growth = max(available - sum(minimums), 0), sum(maximums) - sum(minimums)
        padding = max(extra - growth, 0) // max(len(minimums), 1)  # the rest is shared equally
        fraction = min(extra / growth, 1.0) if growth else 0.0
        for column, (low, high) in enumerate(zip(minimums, maximums, strict=True)):
            self.setColumnWidth(column, int(low + fraction * (high - low)) + padding)
        heights: dict[tuple[str, int], int] = {}  # many cells have the same text
        for row in range(self.rowCount()):
            self.setRowHeight(row, self._row_height(row, heights))

    def _column_widths(self) -> tuple[list[int], list[int]]:
        """Of each column, the least width and the width in which nothing wraps."""
        metrics, header = self.fontMetrics(), self.horizontalHeader()
        minimums, maximums = [], []
        for column in range(self.columnCount()):
            texts = {
                item.text()
                for row in range(self.rowCount())
                if self.columnSpan(row, column) == 1 and (item := self.item(row, column)) is not None
            }
            word_widths = [
                metrics.horizontalAdvance(each) for each in {word for text in texts for word in text.split()}
            ]
            line_widths = [metrics.horizontalAdvance(line) for text in texts for line in text.split("\n")]
            header_width = header.sectionSizeHint(column)
            minimums.append(max(header_width, max(word_widths, default=0) + 2 * CELL_MARGIN + 2))
            maximums.append(max(header_width, max(line_widths, default=0) + 2 * CELL_MARGIN + 2))
        return minimums, maximums

    def _row_height(self, row: int, heights: dict[tuple[str, int], int]) -> int:
        """The height of a row; `heights` keeps those of texts by the width that they have."""
        cells = []
        for column in range(self.columnCount()):
            item, span = self.item(row, column), self.columnSpan(row, column)
            if item is not None:
                cell_width = sum(self.columnWidth(each) for each in range(column, column + span))
                key = item.text(), cell_width - 2 * CELL_MARGIN
                if key not in heights:
                    text = _without_slash_breaks(item.text())
                    heights[key] = layout_text(text, self.font(), key[1], self._wraps)[1].height()
                cells.append(heights[key])
        return max(cells, default=self.fontMetrics().height()) + ROW_PADDING

    def update_colours(self) -> None:
        super().update_colours()
        self.viewport().update()
        self.horizontalHeader().viewport().update()

    def event(self, event: QEvent) -> bool:
        """`paintEvent` of a scrolling widget is for its contents; background and border are painted here."""
        if event.type() == QEvent.Type.Paint:
            if self._frameless:
                QPainter(self).fillRect(self.rect(), theme.color("card"))
            else:
                draw_box(QPainter(self), QRectF(self.rect()), 10, "card")
            return True
        return super().event(event)


def _without_slash_breaks(text: str) -> str:
    """A unit like "images/s" is one word; Qt would break it behind the slash."""
    return text.replace("/", "/\u2060")


class _CellDelegate(QStyledItemDelegate):
    def __init__(self, parent: QWidget, *, wraps: bool) -> None:
        super().__init__(parent)
        self._wraps = wraps

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        background = "accent_soft" if selected else "sunken" if index.row() % 2 else "card"
        painter.fillRect(rect, theme.color(background))
        painter.setPen(theme.color("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.drawLine(rect.topRight(), rect.bottomRight())
        text_rect = rect.adjusted(CELL_MARGIN, 0, -CELL_MARGIN, 0)
        painter.setPen(theme.color("text"))
        alignment = Qt.AlignmentFlag(int(index.data(Qt.ItemDataRole.TextAlignmentRole)))
        if self._wraps:
            layout, size = layout_text(_without_slash_breaks(str(index.data())), painter.font(), text_rect.width())
            top = text_rect.top() + (text_rect.height() - size.height()) / 2
            for index_ in range(layout.lineCount()):
                line = layout.lineAt(index_)
                offset = text_rect.width() - line.naturalTextWidth() if alignment & Qt.AlignmentFlag.AlignRight else 0.0
                line.draw(painter, QPointF(text_rect.left() + offset, top))
            return
        text = painter.fontMetrics().elidedText(str(index.data()), Qt.TextElideMode.ElideRight, text_rect.width())
        painter.drawText(text_rect, int(alignment), text)


class _HeaderView(QHeaderView):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.padding = HEADER_PADDING
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignCenter)

    def sectionSizeFromContents(self, section: int) -> QSize:
        text = str(self.model().headerData(section, self.orientation()))
        metrics = self.fontMetrics()
        # Text widths are fractions of pixels: at the rounded width Qt would elide some headers.
        return QSize(metrics.horizontalAdvance(text) + 2 * CELL_MARGIN + 2, metrics.height() + self.padding)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        painter.fillRect(rect, theme.color("card"))
        painter.setPen(theme.color("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        title = str(self.model().headerData(section, self.orientation()))
        text_rect = rect.adjusted(CELL_MARGIN, 0, -CELL_MARGIN, 0)
        painter.setPen(theme.color("soft"))
        painter.setFont(self.font())
        text = self.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, text_rect.width())
        # A header is aligned as its cells are.
        cell_alignment = self.model().index(0, section).data(Qt.ItemDataRole.TextAlignmentRole)
        painter.drawText(text_rect, int(self.defaultAlignment() if cell_alignment is None else cell_alignment), text)
