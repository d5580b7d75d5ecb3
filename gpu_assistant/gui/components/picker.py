"""A button that shows what is chosen and opens a list to choose from: each entry with a second line that explains."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Literal

from msgspec import Struct
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from .. import theme
from .base import Live, boxed, rounded
from .button import Button
from .picture import draw_icon
from .scroll_bar import scroll_slim

LEFT, RIGHT, PADDING, EDGE, GAP = 34, 16, 7, 5, 20
NARROWEST, WIDEST, HIGHEST, UNBOUNDED = 120, 460, 420, 10_000
WRAPPED = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop)
ENTRY = Qt.ItemDataRole.UserRole
ICONS = {"warned": ("warn", "warn"), "refused": ("cross", "error")}


class Entry(Struct, frozen=True, kw_only=True):
    """One thing to choose; `hint` stands at the right of its text, such as a date. A refused one is shown with its
    reason in `detail`, but not taken. `under` is the sentence that stands above it and its neighbours of the same one,
    in place of their details.
    """

    value: Hashable
    text: str
    hint: str = ""
    detail: str = ""
    under: str = ""
    state: Literal["fine", "warned", "refused"] = "fine"


class Picker(Button):
    """`chosen` brings the value of an entry that was taken, `refused` one that cannot be."""

    chosen = Signal(object)
    refused = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._entries: tuple[Entry, ...] = ()
        self._make: Callable[[], Iterable[Entry]] | None = None
        self._current: Hashable = None
        super().__init__(after="down", parent=parent)
        self.clicked.connect(self.open)
        self.popup: _Popup | None = None
        self._reserved: tuple[str, ...] = ()

    def set(
        self, entries: Iterable[Entry] | Callable[[], Iterable[Entry]], current: Hashable, words: str, name: str
    ) -> None:
        """What there is to choose and what holds; `words` stand on the button, `name` says what it is about. Entries
        that take long to word are given as what makes them: it is asked when somebody wants to see them.
        """
        self._make = entries if callable(entries) else lambda: entries
        self._entries, self._current = (), current
        self.setText(words)
        self.setAccessibleName(f"{name}: {words}")

    def reserve(self, words: Sequence[str]) -> None:
        """Be as wide as the widest of these words, so that nothing moves when others are chosen."""
        self._reserved = tuple(words)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """With room for what is reserved."""
        wanted, metrics = super().sizeHint(), self.fontMetrics()
        widest = max((metrics.horizontalAdvance(words) for words in self._reserved), default=0)
        return QSize(wanted.width() + max(widest - metrics.horizontalAdvance(self.text()), 0), wanted.height())

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What there is to choose."""
        if self._make is not None:
            self._entries, self._make = tuple(self._make()), None
        return self._entries

    def open(self) -> None:
        """Show the list below the button, or above it where there is no room."""
        self.popup = _Popup(self, self.entries, self._current)
        self.popup.taken.connect(self.take)
        self.popup.show_at(self)

    def take(self, entry: Entry) -> None:
        """Choose an entry, if that is possible."""
        if entry.state == "refused":
            self.refused.emit(entry)
        elif entry.value != self._current:
            self.chosen.emit(entry.value)

    def minimumSizeHint(self) -> QSize:
        """What is chosen may be long: the list has all of it."""
        wanted = self.sizeHint()
        return QSize(min(wanted.width(), theme.px(NARROWEST)), wanted.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows open it, as with every list of its kind."""
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.open()
        else:
            super().keyPressEvent(event)


class _Popup(QFrame):
    taken = Signal(object)

    def __init__(self, parent: QWidget, entries: tuple[Entry, ...], current: Hashable) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.list = _List(entries, current, self)
        self.list.setAccessibleName(parent.accessibleName())
        column = QVBoxLayout(self)
        column.setContentsMargins(EDGE, EDGE, EDGE, EDGE)
        column.addWidget(self.list)
        self.list.itemClicked.connect(self._take)
        self.list.accepted.connect(self._take)

    def show_at(self, button: QWidget) -> None:
        """As wide as its words, within the screen."""
        screen = button.screen().availableGeometry()
        size = self.list.wanted(max(button.width(), theme.px(200))).grownBy(self.contentsMargins())
        width = min(size.width() + 2 * EDGE, screen.width())
        height = min(size.height() + 2 * EDGE, screen.height())
        at = button.mapToGlobal(QPoint(0, button.height() + 2))
        if at.y() + height > screen.bottom():
            at.setY(max(button.mapToGlobal(QPoint(0, -2)).y() - height, screen.top()))
        at.setX(max(min(at.x(), screen.right() - width), screen.left()))
        self.setGeometry(QRect(at, QSize(width, height)))
        self.show()
        self.list.setFocus(Qt.FocusReason.PopupFocusReason)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("card"))
        boxed(painter, QRectF(self.rect()), 0, "card", "control")

    def _take(self, item: QListWidgetItem) -> None:
        entry: Entry = item.data(ENTRY)
        if not entry.text:
            return
        self.close()
        self.taken.emit(entry)


class _List(Live, QListWidget):
    accepted = Signal(object)

    def __init__(self, entries: tuple[Entry, ...], current: Hashable, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        scroll_slim(self)
        self.setItemDelegate(_Rows(self))
        above = ""
        for entry in entries:
            if entry.under and entry.under != above:
                self._head(entry)
            above = entry.under
            item = QListWidgetItem(entry.text)
            item.setData(ENTRY, entry)
            said = [part for part in (entry.text, entry.hint, entry.detail) if part]
            item.setData(Qt.ItemDataRole.AccessibleTextRole, ". ".join(said) if said[1:] else "")
            item.setData(Qt.ItemDataRole.CheckStateRole, None)
            self.addItem(item)
            if entry.value == current:
                item.setData(ENTRY + 1, True)
                self.setCurrentItem(item)
        self.itemEntered.connect(self._point_at)
        self.follow()

    def _head(self, entry: Entry) -> None:
        """The sentence above its entries, which cannot be taken itself."""
        head = QListWidgetItem(entry.under)
        head.setData(ENTRY, Entry(value=None, text="", detail=entry.under, state=entry.state))
        head.setFlags(Qt.ItemFlag.NoItemFlags)
        self.addItem(head)

    def _point_at(self, item: QListWidgetItem) -> None:
        if item.flags() & Qt.ItemFlag.ItemIsEnabled:
            self.setCurrentItem(item)

    def wanted(self, least: int) -> QSize:
        """The size that shows all entries, within limits."""
        rows = [self.sizeHintForIndex(self.model().index(row, 0)) for row in range(self.count())]
        high = sum(row.height() for row in rows)
        wide = max((row.width() for row in rows), default=0)
        bar = 12 if high > theme.px(HIGHEST) else 0
        return QSize(min(max(wide, least), theme.px(WIDEST)) + bar, min(high, theme.px(HIGHEST)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and space take the entry."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.currentItem() is not None:
            self.accepted.emit(self.currentItem())
        elif event.key() == Qt.Key.Key_Escape:
            self.window().close()
        else:
            super().keyPressEvent(event)


class _Rows(QStyledItemDelegate):
    """What it is, and below it what that means, in as many lines as it takes."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """From the fonts."""
        del option
        entry: Entry = index.data(ENTRY)
        upper, lower = QFontMetrics(theme.font("body")), QFontMetrics(theme.font("small"))
        if not entry.text:
            room = theme.px(WIDEST) - LEFT - RIGHT
            box = lower.boundingRect(QRect(0, 0, room, UNBOUNDED), WRAPPED, entry.detail)
            return QSize(box.width() + 2 + LEFT + RIGHT, box.height() + 2 * PADDING + 4)
        width, height = upper.horizontalAdvance(entry.text) + 2, upper.height()
        if entry.hint:
            width += GAP + lower.horizontalAdvance(entry.hint)
        if entry.detail and not entry.under:
            room = theme.px(WIDEST) - LEFT - RIGHT
            box = lower.boundingRect(QRect(0, 0, room, UNBOUNDED), WRAPPED, entry.detail)
            width, height = max(width, box.width() + 2), height + box.height() + 1
        return QSize(width + LEFT + RIGHT, height + 2 * PADDING)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Ground, mark, words."""
        entry: Entry = index.data(ENTRY)
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        if not entry.text:
            self._paint_head(painter, rect, entry)
            painter.restore()
            return
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            rounded(painter, QRectF(rect), 6, theme.color("hover"))
        upper = QFontMetrics(theme.font("body"))
        first = QRect(rect.x() + LEFT, rect.y() + PADDING, rect.width() - LEFT - RIGHT, upper.height())
        mark = ("check", "accent_text") if index.data(ENTRY + 1) else None if entry.under else ICONS.get(entry.state)
        if mark is not None:
            draw_icon(painter, mark[0], mark[1], 15, QRectF(rect.x() + 9, first.y(), 16, first.height()))
        painter.setPen(theme.color("soft" if entry.state == "refused" else "text"))
        painter.setFont(theme.font("body"))
        lower = QFontMetrics(theme.font("small"))
        room = first.width() - (GAP + lower.horizontalAdvance(entry.hint) if entry.hint else 0)
        words = upper.elidedText(entry.text, Qt.TextElideMode.ElideRight, room)
        painter.drawText(first, int(Qt.AlignmentFlag.AlignVCenter), words)
        painter.setPen(theme.color("soft"))
        painter.setFont(theme.font("small"))
        painter.drawText(first, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), entry.hint)
        second = QRect(first.x(), first.bottom() + 2, first.width(), rect.bottom() - first.bottom() - PADDING)
        painter.drawText(second, WRAPPED, "" if entry.under else entry.detail)
        painter.restore()

    def _paint_head(self, painter: QPainter, rect: QRect, entry: Entry) -> None:
        """A line, then the sentence behind the sign of all that stands below it."""
        painter.setPen(theme.color("line"))
        painter.drawLine(rect.x() + 9, rect.y() + 2, rect.right() - 9, rect.y() + 2)
        font = theme.font("small")
        words = rect.adjusted(LEFT, PADDING + 4, -RIGHT, -PADDING)
        mark = ICONS.get(entry.state)
        if mark is not None:
            first = QRectF(rect.x() + 9, words.y(), 16, QFontMetrics(font).height())
            draw_icon(painter, mark[0], mark[1], 15, first)
        painter.setPen(theme.color("soft"))
        painter.setFont(font)
        painter.drawText(words, WRAPPED, entry.detail)
