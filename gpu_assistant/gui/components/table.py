"""A table for reading, on a card of its own."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
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

SIDE, ROW, HEAD = 11, 13, 16  # room beside a cell's words, and what rows and head are higher than their words


class Table(Live, QTableWidget):
    """Rows are chosen as a whole, and nothing can be edited; every other row has a ground of its own."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setHorizontalHeader(_Head(self))
        self.setItemDelegate(_Cells(self))
        scroll_slim(self)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setFrameStyle(QFrame.Shape.Box | QFrame.Shadow.Plain)
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

    def keep_heads_whole(self) -> None:
        """Columns no narrower than the longest head: where they do not all fit, the table scrolls sideways."""
        head = self.horizontalHeader()
        head.setMinimumSectionSize(max((head.sectionSizeHint(i) for i in range(head.count())), default=0))

    def recolour(self) -> None:
        """Cells and head are widgets of their own."""
        super().recolour()
        self.viewport().update()
        self.horizontalHeader().viewport().update()

    def event(self, event: QEvent) -> bool:
        """A scrolling widget's `paintEvent` is its contents'; its own ground and edge are painted from here."""
        if event.type() == QEvent.Type.Paint:
            boxed(QPainter(self), QRectF(self.rect()), 10, "card")
            return True
        return super().event(event)


class _Cells(QStyledItemDelegate):
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
        text = painter.fontMetrics().elidedText(str(index.data()), Qt.TextElideMode.ElideRight, words.width())
        painter.setPen(theme.color("text"))
        painter.drawText(words, int(index.data(Qt.ItemDataRole.TextAlignmentRole)), text)


class _Head(QHeaderView):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignCenter)

    def sectionSizeFromContents(self, section: int) -> QSize:
        words = str(self.model().headerData(section, self.orientation()))
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(words) + 2 * SIDE, metrics.height() + HEAD)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        painter.fillRect(rect, theme.color("card"))
        painter.setPen(theme.color("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        words = str(self.model().headerData(section, self.orientation()))
        room = rect.adjusted(SIDE, 0, -SIDE, 0)
        painter.setPen(theme.color("soft"))
        painter.setFont(self.font())
        text = self.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, self.defaultAlignment(), text)
