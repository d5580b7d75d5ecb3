"""A table for reading, on a card of its own."""

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
from .base import Live, boxed
from .scroll_bar import scroll_slim
from .text import laid_out

SIDE, ROW, HEAD = 11, 13, 16  # room beside a cell's words, and what rows and head are higher than their words


class Table(Live, QTableWidget):
    """Rows are chosen as a whole, and nothing can be edited; every other row has a ground of its own. With `wraps`
    words that are too long for their column go on in another line. One that is `bare` stands in a card already and
    has no edge of its own.
    """

    def __init__(self, parent: QWidget | None = None, *, wraps: bool = False, bare: bool = False) -> None:
        super().__init__(parent)
        self._wraps, self._bare = wraps, bare
        self.setHorizontalHeader(_Head(self))
        self.setItemDelegate(_Cells(self, wraps=wraps))
        scroll_slim(self)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setFrameStyle(QFrame.Shape.NoFrame if bare else QFrame.Shape.Box | QFrame.Shadow.Plain)
        self.verticalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.follow()

    def refresh(self) -> None:
        """Fonts of now, and rows as high as they need."""
        self.setFont(theme.font("body"))
        self.horizontalHeader().setFont(theme.font("body"))
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + ROW)
        self.setLineWidth(theme.current().line_width)
        super().refresh()
        self.recolour()

    def needs(self) -> int:
        """How wide it is at the least: each column has room for its head and its longest word."""
        return sum(self._widths()[0])

    def fit_columns(self, room: int) -> None:
        """Columns that take `room` together, rows as high as their words then are; where not even what it `needs` fits,
        the table is wider.
        """
        least, most = self._widths()
        spare, wanted = max(room - sum(least), 0), sum(most) - sum(least)
        left = max(spare - wanted, 0) // max(len(least), 1)  # what nobody needs is for all alike
        share = min(spare / wanted, 1.0) if wanted else 0.0
        for column, (low, high) in enumerate(zip(least, most, strict=True)):
            self.setColumnWidth(column, int(low + share * (high - low)) + left)
        for row in range(self.rowCount()):
            self.setRowHeight(row, self._height(row))

    def _widths(self) -> tuple[list[int], list[int]]:
        """Of each column the least, and that in which nothing breaks."""
        metrics, head = self.fontMetrics(), self.horizontalHeader()
        least, most = [], []
        for column in range(self.columnCount()):
            texts = [
                item.text()
                for row in range(self.rowCount())
                if self.columnSpan(row, column) == 1 and (item := self.item(row, column)) is not None
            ]
            words = [metrics.horizontalAdvance(word) for text in texts for word in text.split()]
            lines = [metrics.horizontalAdvance(line) for text in texts for line in text.split("\n")]
            heading = head.sectionSizeHint(column)
            least.append(max(heading, max(words, default=0) + 2 * SIDE + 2))
            most.append(max(heading, max(lines, default=0) + 2 * SIDE + 2))
        return least, most

    def _height(self, row: int) -> int:
        lines = []
        for column in range(self.columnCount()):
            item, span = self.item(row, column), self.columnSpan(row, column)
            if item is not None:
                wide = sum(self.columnWidth(each) for each in range(column, column + span))
                lines.append(laid_out(_whole(item.text()), self.font(), wide - 2 * SIDE, self._wraps)[1].height())
        return max(lines, default=self.fontMetrics().height()) + ROW

    def recolour(self) -> None:
        """Cells and head are widgets of their own."""
        super().recolour()
        self.viewport().update()
        self.horizontalHeader().viewport().update()

    def event(self, event: QEvent) -> bool:
        """A scrolling widget's `paintEvent` is its contents'; its own ground and edge are painted from here."""
        if event.type() == QEvent.Type.Paint:
            if self._bare:
                QPainter(self).fillRect(self.rect(), theme.color("card"))
            else:
                boxed(QPainter(self), QRectF(self.rect()), 10, "card")
            return True
        return super().event(event)


def _whole(text: str) -> str:
    """A unit like "images/s" is one word; Qt would break it behind the stroke."""
    return text.replace("/", "/\u2060")


class _Cells(QStyledItemDelegate):
    def __init__(self, parent: QWidget, *, wraps: bool) -> None:
        super().__init__(parent)
        self._wraps = wraps

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        ground = "accent_soft" if chosen else "sunken" if index.row() % 2 else "card"
        painter.fillRect(rect, theme.color(ground))
        painter.setPen(theme.color("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.drawLine(rect.topRight(), rect.bottomRight())
        words = rect.adjusted(SIDE, 0, -SIDE, 0)
        painter.setPen(theme.color("text"))
        alignment = Qt.AlignmentFlag(int(index.data(Qt.ItemDataRole.TextAlignmentRole)))
        if self._wraps:
            layout, size = laid_out(_whole(str(index.data())), painter.font(), words.width())
            top = words.top() + (words.height() - size.height()) / 2
            for number in range(layout.lineCount()):
                line = layout.lineAt(number)
                spare = words.width() - line.naturalTextWidth() if alignment & Qt.AlignmentFlag.AlignRight else 0.0
                line.draw(painter, QPointF(words.left() + spare, top))
            return
        text = painter.fontMetrics().elidedText(str(index.data()), Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(words, int(alignment), text)


class _Head(QHeaderView):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignCenter)

    def sectionSizeFromContents(self, section: int) -> QSize:
        words = str(self.model().headerData(section, self.orientation()))
        metrics = self.fontMetrics()
        # Letters end between pixels: in the rounded width of its words Qt would shorten some heads.
        return QSize(metrics.horizontalAdvance(words) + 2 * SIDE + 2, metrics.height() + HEAD)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        painter.fillRect(rect, theme.color("card"))
        painter.setPen(theme.color("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        words = str(self.model().headerData(section, self.orientation()))
        room = rect.adjusted(SIDE, 0, -SIDE, 0)
        painter.setPen(theme.color("soft"))
        painter.setFont(self.font())
        text = self.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room.width())
        # A head stands above its cells' words.
        below = self.model().index(0, section).data(Qt.ItemDataRole.TextAlignmentRole)
        painter.drawText(room, int(self.defaultAlignment() if below is None else below), text)
