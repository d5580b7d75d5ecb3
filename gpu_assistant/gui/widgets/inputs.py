"""Inputs: drop-down with explained entries, number box, menu; and the scroll bars of whatever scrolls."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Literal

from msgspec import Struct
from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QActionEvent,
    QFontMetrics,
    QIcon,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QBoxLayout,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QScrollBar,
    QSizePolicy,
    QSpinBox,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionSpinBox,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from .. import theme
from ..theme.stylesheet import LINE_EDIT, MENU, MENU_ICON_SIZE, SCROLL_BAR, set_style_sheet
from .base import KeyboardFocus, Themed, draw_box, draw_focus_ring, draw_rounded_rect
from .buttons import Button
from .icons import draw_icon, pixmap
from .text import label

TEXT_LEFT, TEXT_RIGHT, ITEM_PADDING, POPUP_MARGIN, HINT_GAP = 34, 16, 7, 5, 20
MIN_BUTTON_WIDTH, MAX_POPUP_WIDTH, MAX_POPUP_HEIGHT, UNBOUNDED_HEIGHT = 120, 460, 420, 10_000
WRAP_FLAGS = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop)
CAPTION_GAP = 4  # pixels between a field and its name above it
FIELD_SPACING, FIELD_COLUMNS, MAX_FIELD_WIDTH = 16, 3, 240  # pixels; the width at 100 % text
ENTRY_ROLE = Qt.ItemDataRole.UserRole
STATE_MARKS = {"warned": ("warn", "warn"), "refused": ("cross", "error")}


class DropdownEntry(Struct, frozen=True, kw_only=True):
    """An entry of a drop-down; `hint` is at the right of its text, such as a date.

    A refused entry is shown with its reason in `detail`, but cannot be chosen. Neighbours with the same `group` have
    that sentence above them, in place of their details.
    """

    value: Hashable
    text: str
    hint: str = ""
    detail: str = ""
    group: str = ""
    state: Literal["fine", "warned", "refused"] = "fine"


class Dropdown(Button):
    """A button that opens a list. `chosen` brings a value, `refused_entry_chosen` an entry that cannot be chosen."""

    chosen = Signal(object)
    refused_entry_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._entries: tuple[DropdownEntry, ...] = ()
        self._make_entries: Callable[[], Iterable[DropdownEntry]] | None = None
        self._current: Hashable = None
        super().__init__(trailing_icon="down", parent=parent)
        self.clicked.connect(self.open_popup)
        self.popup: _DropdownPopup | None = None
        self._reserved_texts: tuple[str, ...] = ()

    def set_entries(
        self,
        entries: Iterable[DropdownEntry] | Callable[[], Iterable[DropdownEntry]],
        current: Hashable,
        text: str,
        name: str,
    ) -> None:
        """Set entries and current value; `text` is on the button, `name` says what it is about.

        Entries whose texts take long are given as a function: it is called when the list is opened first.
        """
        self._make_entries = entries if callable(entries) else lambda: entries
        self._entries, self._current = (), current
        self.setText(text)
        self.setAccessibleName(f"{name}: {text}")

    def reserve_width_for(self, texts: Sequence[str]) -> None:
        """Be as wide as the widest of these texts, so that nothing moves when another is chosen."""
        self._reserved_texts = tuple(texts)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        hint, metrics = super().sizeHint(), self.fontMetrics()
        widest = max((metrics.horizontalAdvance(text) for text in self._reserved_texts), default=0)
        return QSize(hint.width() + max(widest - metrics.horizontalAdvance(self.text()), 0), hint.height())

    def _content_left(self, width: float) -> float:
        """At the left, as in any field, also where the button is wider than its text."""
        return min(float(self._padding(bool(self.text()))), max((self.width() - width) / 2, 0.0))

    def _trailing_icon_left(self, text_end: float, side: float) -> float:
        return max(text_end, self.width() - self._padding(bool(self.text())) - side)

    @property
    def entries(self) -> tuple[DropdownEntry, ...]:
        if self._make_entries is not None:
            self._entries, self._make_entries = tuple(self._make_entries()), None
        return self._entries

    def open_popup(self) -> None:
        """Show the list below the button, or above it where there is more space."""
        self.popup = _DropdownPopup(self, self.entries, self._current)
        self.popup.entry_chosen.connect(self.choose)
        self.popup.show_at(self)

    def choose(self, entry: DropdownEntry) -> None:
        """Choose an entry, as the user does."""
        if entry.state == "refused":
            self.refused_entry_chosen.emit(entry)
        elif entry.value != self._current:
            self.chosen.emit(entry.value)

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        return QSize(min(hint.width(), theme.px(MIN_BUTTON_WIDTH)), hint.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.open_popup()
        else:
            super().keyPressEvent(event)


class CaptionedField(QWidget):
    """A field with its name above it, as wide as the field or as `set_min_width` says."""

    def __init__(self, field: QWidget) -> None:
        super().__init__()
        self.field, self.caption_label = field, label("caption", "", "soft")
        self.caption_label.set_one_line(True)
        self._min_width = 0
        field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(CAPTION_GAP)
        column.addWidget(self.caption_label)
        column.addWidget(field)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_caption(self, caption: str) -> None:
        """Name the field in the current language."""
        self.caption_label.setText(caption)
        self.updateGeometry()

    def set_min_width(self, width: int) -> None:
        """Be at least so many pixels wide."""
        if width != self._min_width:
            self._min_width = width
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        caption = self.caption_label
        caption_width = caption.fontMetrics().horizontalAdvance(caption.text()) + 1
        field_size = self.field.sizeHint()
        # The same for every caption: fields beside each other are at the same height.
        height = theme.text_height(caption.kind) + CAPTION_GAP + field_size.height()
        return QSize(max(field_size.width(), caption_width, self._min_width), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.field.minimumSizeHint().width(), self.sizeHint().height())


def arrange_fields(layout: QBoxLayout, fields: Sequence[CaptionedField], width: int) -> None:
    """Place fields side by side in equal columns, or below each other where they do not fit into `width` pixels.

    The columns depend on the width alone, so that those of all cards stand below one another.
    """
    column = min((width - 2 * FIELD_SPACING) // FIELD_COLUMNS, theme.px(MAX_FIELD_WIDTH))
    for field in fields:
        field.set_min_width(max(column, 0))
        if isinstance(field.field, Dropdown):
            field.field.set_max_width(width)
    needed = sum(field.sizeHint().width() for field in fields) + FIELD_SPACING * max(len(fields) - 1, 0)
    direction = QBoxLayout.Direction
    layout.setDirection(direction.LeftToRight if needed <= width else direction.TopToBottom)


class _DropdownPopup(QFrame):
    entry_chosen = Signal(object)

    def __init__(self, parent: QWidget, entries: tuple[DropdownEntry, ...], current: Hashable) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.entry_list = _DropdownList(entries, current, self)
        self.entry_list.setAccessibleName(parent.accessibleName())
        column = QVBoxLayout(self)
        column.setContentsMargins(POPUP_MARGIN, POPUP_MARGIN, POPUP_MARGIN, POPUP_MARGIN)
        column.addWidget(self.entry_list)
        self.entry_list.itemClicked.connect(self._choose_item)
        self.entry_list.accepted.connect(self._choose_item)

    def show_at(self, button: QWidget) -> None:
        """Show it at a button, as wide as its texts, within the screen."""
        screen = button.screen().availableGeometry()
        size = self.entry_list.preferred_size(max(button.width(), theme.px(200))).grownBy(self.contentsMargins())
        width = min(size.width() + 2 * POPUP_MARGIN, screen.width())
        height = min(size.height() + 2 * POPUP_MARGIN, screen.height())
        position = button.mapToGlobal(QPoint(0, button.height() + 2))
        if position.y() + height > screen.bottom():
            position.setY(max(button.mapToGlobal(QPoint(0, -2)).y() - height, screen.top()))
        position.setX(max(min(position.x(), screen.right() - width), screen.left()))
        self.setGeometry(QRect(position, QSize(width, height)))
        self.show()
        self.entry_list.setFocus(Qt.FocusReason.PopupFocusReason)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("card"))
        draw_box(painter, QRectF(self.rect()), 0, "card", "control")

    def _choose_item(self, item: QListWidgetItem) -> None:
        entry: DropdownEntry = item.data(ENTRY_ROLE)
        if not entry.text:
            return
        self.close()
        self.entry_chosen.emit(entry)


class _DropdownList(Themed, QListWidget):
    accepted = Signal(object)

    def __init__(self, entries: tuple[DropdownEntry, ...], current: Hashable, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        use_slim_scroll_bars(self)
        self.setItemDelegate(_DropdownDelegate(self))
        group = ""
        for entry in entries:
            if entry.group and entry.group != group:
                self._add_group_header(entry)
            group = entry.group
            item = QListWidgetItem(entry.text)
            item.setData(ENTRY_ROLE, entry)
            parts = [part for part in (entry.text, entry.hint, entry.detail) if part]
            item.setData(Qt.ItemDataRole.AccessibleTextRole, ". ".join(parts) if parts[1:] else "")
            item.setData(Qt.ItemDataRole.CheckStateRole, None)
            self.addItem(item)
            if entry.value == current:
                item.setData(ENTRY_ROLE + 1, True)
                self.setCurrentItem(item)
        self.itemEntered.connect(self._highlight)
        self.apply_theme()

    def _add_group_header(self, entry: DropdownEntry) -> None:
        """Add the sentence of a group; it cannot be chosen."""
        header = QListWidgetItem(entry.group)
        header.setData(ENTRY_ROLE, DropdownEntry(value=None, text="", detail=entry.group, state=entry.state))
        header.setFlags(Qt.ItemFlag.NoItemFlags)
        self.addItem(header)

    def _highlight(self, item: QListWidgetItem) -> None:
        if item.flags() & Qt.ItemFlag.ItemIsEnabled:
            self.setCurrentItem(item)

    def preferred_size(self, min_width: int) -> QSize:
        """The size that shows all entries, within limits."""
        rows = [self.sizeHintForIndex(self.model().index(row, 0)) for row in range(self.count())]
        height = sum(row.height() for row in rows)
        width = max((row.width() for row in rows), default=0)
        scroll_bar_width = 12 if height > theme.px(MAX_POPUP_HEIGHT) else 0
        return QSize(
            min(max(width, min_width), theme.px(MAX_POPUP_WIDTH)) + scroll_bar_width,
            min(height, theme.px(MAX_POPUP_HEIGHT)),
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.currentItem() is not None:
            self.accepted.emit(self.currentItem())
        elif event.key() == Qt.Key.Key_Escape:
            self.window().close()
        else:
            super().keyPressEvent(event)


class _DropdownDelegate(QStyledItemDelegate):
    """Paints an entry: its text and hint, and its detail below in as many lines as it needs."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        del option
        entry: DropdownEntry = index.data(ENTRY_ROLE)
        text_metrics, detail_metrics = QFontMetrics(theme.font("body")), QFontMetrics(theme.font("small"))
        if not entry.text:
            available = theme.px(MAX_POPUP_WIDTH) - TEXT_LEFT - TEXT_RIGHT
            detail_rect = detail_metrics.boundingRect(
                QRect(0, 0, available, UNBOUNDED_HEIGHT), WRAP_FLAGS, entry.detail
            )
            return QSize(detail_rect.width() + 2 + TEXT_LEFT + TEXT_RIGHT, detail_rect.height() + 2 * ITEM_PADDING + 4)
        width, height = text_metrics.horizontalAdvance(entry.text) + 2, text_metrics.height()
        if entry.hint:
            width += HINT_GAP + detail_metrics.horizontalAdvance(entry.hint)
        if entry.detail and not entry.group:
            available = theme.px(MAX_POPUP_WIDTH) - TEXT_LEFT - TEXT_RIGHT
            detail_rect = detail_metrics.boundingRect(
                QRect(0, 0, available, UNBOUNDED_HEIGHT), WRAP_FLAGS, entry.detail
            )
            width, height = max(width, detail_rect.width() + 2), height + detail_rect.height() + 1
        return QSize(width + TEXT_LEFT + TEXT_RIGHT, height + 2 * ITEM_PADDING)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        entry: DropdownEntry = index.data(ENTRY_ROLE)
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        if not entry.text:
            self._paint_group_header(painter, rect, entry)
            painter.restore()
            return
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            draw_rounded_rect(painter, QRectF(rect), 6, theme.color("hover"))
        text_metrics = QFontMetrics(theme.font("body"))
        text_rect = QRect(
            rect.x() + TEXT_LEFT, rect.y() + ITEM_PADDING, rect.width() - TEXT_LEFT - TEXT_RIGHT, text_metrics.height()
        )
        mark = (
            ("check", "accent_text")
            if index.data(ENTRY_ROLE + 1)
            else None
            if entry.group
            else STATE_MARKS.get(entry.state)
        )
        if mark is not None:
            draw_icon(painter, mark[0], mark[1], 15, QRectF(rect.x() + 9, text_rect.y(), 16, text_rect.height()))
        painter.setPen(theme.color("soft" if entry.state == "refused" else "text"))
        painter.setFont(theme.font("body"))
        detail_metrics = QFontMetrics(theme.font("small"))
        available = text_rect.width() - (HINT_GAP + detail_metrics.horizontalAdvance(entry.hint) if entry.hint else 0)
        elided = text_metrics.elidedText(entry.text, Qt.TextElideMode.ElideRight, available)
        painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignVCenter), elided)
        painter.setPen(theme.color("soft"))
        painter.setFont(theme.font("small"))
        painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), entry.hint)
        detail_rect = QRect(
            text_rect.x(), text_rect.bottom() + 2, text_rect.width(), rect.bottom() - text_rect.bottom() - ITEM_PADDING
        )
        painter.drawText(detail_rect, WRAP_FLAGS, "" if entry.group else entry.detail)
        painter.restore()

    def _paint_group_header(self, painter: QPainter, rect: QRect, entry: DropdownEntry) -> None:
        """A line, then the group's sentence behind the mark of its entries."""
        painter.setPen(theme.color("line"))
        painter.drawLine(rect.x() + 9, rect.y() + 2, rect.right() - 9, rect.y() + 2)
        font = theme.font("small")
        text_rect = rect.adjusted(TEXT_LEFT, ITEM_PADDING + 4, -TEXT_RIGHT, -ITEM_PADDING)
        mark = STATE_MARKS.get(entry.state)
        if mark is not None:
            icon_rect = QRectF(rect.x() + 9, text_rect.y(), 16, QFontMetrics(font).height())
            draw_icon(painter, mark[0], mark[1], 15, icon_rect)
        painter.setPen(theme.color("soft"))
        painter.setFont(font)
        painter.drawText(text_rect, WRAP_FLAGS, entry.detail)


ARROW_SIZE = 14
TEXT_INDENT = 10


MAGNIFIER_SIDE, MAGNIFIER_LEFT, MAGNIFIER_GAP = 16, 11, 4  # pixels; the side at 100 % text


class SearchField(Themed, QLineEdit):
    """One line to type what is searched for, after a magnifier, with a button that clears it."""

    def __init__(self) -> None:
        super().__init__()
        self.setClearButtonEnabled(True)
        self.apply_theme()

    def refresh(self) -> None:
        self.setFont(theme.font("body"))
        set_style_sheet(self, LINE_EDIT)
        self.setTextMargins(theme.px(MAGNIFIER_SIDE) + MAGNIFIER_GAP, 0, 0, 0)
        super().refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        side = theme.px(MAGNIFIER_SIDE)
        place = QRectF(MAGNIFIER_LEFT, (self.height() - side) / 2, side, side)
        draw_icon(QPainter(self), "search", "soft", MAGNIFIER_SIDE, place)

    def update_colours(self) -> None:
        set_style_sheet(self, LINE_EDIT)
        super().update_colours()

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.fontMetrics().height() + theme.px(19))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(MIN_BUTTON_WIDTH), self.sizeHint().height())


class SpinBox(KeyboardFocus, Themed, QSpinBox):
    """A number box as high as a button. A style sheet can neither colour its arrows nor show keyboard focus alone."""

    def __init__(self) -> None:
        super().__init__()
        self.setCorrectionMode(QSpinBox.CorrectionMode.CorrectToNearestValue)
        self.setFrame(False)
        self.lineEdit().setTextMargins(theme.px(TEXT_INDENT), 0, 0, 0)
        self.apply_theme()

    def refresh(self) -> None:
        self.setFont(theme.font("strong"))
        super().refresh()
        self.update_colours()

    def update_colours(self) -> None:
        palette = self.lineEdit().palette()
        palette.setColor(QPalette.ColorRole.Base, Qt.GlobalColor.transparent)
        self.lineEdit().setPalette(palette)
        super().update_colours()

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width() + theme.px(2 * TEXT_INDENT), self.fontMetrics().height() + theme.px(19))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page and changes no number."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, body = QPainter(self), QRectF(self.rect())
        if self.shows_focus_ring:
            body = draw_focus_ring(painter, body, 6)
        enabled = self.isEnabled()
        border = theme.color("accent" if self.hasFocus() else "control") if enabled else None
        draw_rounded_rect(painter, body, 6, theme.color("card" if enabled else "pressed"), border)
        option = QStyleOptionSpinBox()
        self.initStyleOption(option)
        subcontrols = QStyle.SubControl
        step_enabled = self.stepEnabled()
        for subcontrol, icon, step in (
            (subcontrols.SC_SpinBoxUp, "up", QSpinBox.StepEnabledFlag.StepUpEnabled),
            (subcontrols.SC_SpinBoxDown, "down", QSpinBox.StepEnabledFlag.StepDownEnabled),
        ):
            arrow_rect = self.style().subControlRect(QStyle.ComplexControl.CC_SpinBox, option, subcontrol, self)
            foreground = "text" if enabled and step_enabled & step else "disabled"
            draw_icon(painter, icon, foreground, ARROW_SIZE, QRectF(arrow_rect).translated(-5, 0))


class TextField(KeyboardFocus, Themed, QLineEdit):
    """One line of text, as high as a button; `is_secret` shows dots and keeps the text from the clipboard."""

    def __init__(self, *, is_secret: bool = False) -> None:
        super().__init__()
        self.setFrame(False)
        if is_secret:
            self.setEchoMode(QLineEdit.EchoMode.Password)
        self.apply_theme()

    def refresh(self) -> None:
        self.setFont(theme.font("body"))
        self.setTextMargins(theme.px(TEXT_INDENT), 0, theme.px(TEXT_INDENT), 0)
        super().refresh()
        self.update_colours()

    def update_colours(self) -> None:
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Base, Qt.GlobalColor.transparent)
        palette.setColor(QPalette.ColorRole.Text, theme.color("text"))
        palette.setColor(QPalette.ColorRole.PlaceholderText, theme.color("soft"))
        self.setPalette(palette)
        super().update_colours()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(260), self.fontMetrics().height() + theme.px(19))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(140), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, body = QPainter(self), QRectF(self.rect())
        if self.shows_focus_ring:
            body = draw_focus_ring(painter, body, 6)
        border = theme.color("accent" if self.hasFocus() else "control") if self.isEnabled() else None
        draw_rounded_rect(painter, body, 6, theme.color("card" if self.isEnabled() else "pressed"), border)
        painter.end()
        super().paintEvent(event)


class Menu(Themed, QMenu):
    """A menu whose checkable entries show a tick."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.apply_theme()

    def refresh(self) -> None:
        self.setFont(theme.font("body"))
        super().refresh()
        self.update_colours()

    def update_colours(self) -> None:
        set_style_sheet(self, MENU)
        for action in self.actions():
            self._update_tick(action)

    def actionEvent(self, event: QActionEvent) -> None:
        super().actionEvent(event)
        if event.type() == QEvent.Type.ActionAdded:
            self._update_tick(event.action())

    def _update_tick(self, action: QAction) -> None:
        tick = QIcon()
        for mode, token in ((QIcon.Mode.Normal, "text"), (QIcon.Mode.Disabled, "disabled")):
            drawing = pixmap("check", token, MENU_ICON_SIZE)
            blank = drawing.copy()
            blank.fill(Qt.GlobalColor.transparent)
            tick.addPixmap(drawing, mode, QIcon.State.On)
            tick.addPixmap(blank, mode, QIcon.State.Off)
        action.setIcon(tick)


class ScrollBar(Themed, QScrollBar):
    """A slim handle without arrows on the background below; see `theme/stylesheet.py`."""

    def __init__(self, orientation: Qt.Orientation, parent: QWidget | None = None) -> None:
        super().__init__(orientation, parent)
        self.apply_theme()

    def refresh(self) -> None:
        super().refresh()
        self.update_colours()

    def update_colours(self) -> None:
        set_style_sheet(self, SCROLL_BAR)


def use_slim_scroll_bars(area: QAbstractScrollArea) -> None:
    """Give a scrolling widget slim scroll bars, and nothing in the corner between them."""
    area.setVerticalScrollBar(ScrollBar(Qt.Orientation.Vertical))
    area.setHorizontalScrollBar(ScrollBar(Qt.Orientation.Horizontal))
    area.setCornerWidget(QWidget())
