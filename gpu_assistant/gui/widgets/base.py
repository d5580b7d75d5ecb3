"""What all widgets share: theme, language, keyboard focus, painting helpers, and the steps of the window's size.

    theme.notifier ──> Themed.refresh / update_colours      (theme/theme.py)
    LanguageChange ──> Themed.retranslate, refresh          (language.py)
    Breakpoints    ──> a page's margins and columns         (page.py, navigation.py)

Visible widgets change at once. Hidden ones change a few at a time in later turns of the event loop, or when shown.
Sizes of the window are in pixels at a text scale of 100 %: text twice as large has half the room.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Protocol
from weakref import WeakKeyDictionary, ref

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPen, QShowEvent
from PySide6.QtWidgets import QApplication, QWidget

from .. import theme

REFRESH_PAUSE_MS = 5
REFRESH_SLICE_S = 0.005


class Deferrable(Protocol):
    """A widget whose changes can wait."""

    def apply_pending(self) -> None:
        """Apply the changes that wait, if there are any."""


class _RefreshQueue:
    """Hidden widgets whose changes wait; deleted ones are skipped."""

    def __init__(self) -> None:
        self._pending: deque[ref[Deferrable]] = deque()
        self._timer: QTimer | None = None

    def add(self, widget: Deferrable) -> None:
        self._pending.append(ref(widget))
        if self._timer is None or not shiboken6.isValid(self._timer):
            self._timer = QTimer(QCoreApplication.instance(), singleShot=True, interval=REFRESH_PAUSE_MS)
            self._timer.timeout.connect(self._refresh_some)
        if not self._timer.isActive():
            self._timer.start()

    def _refresh_some(self) -> None:
        deadline = time.perf_counter() + REFRESH_SLICE_S
        while self._pending:
            widget = self._pending.popleft()()
            if widget is None or not shiboken6.isValid(widget):
                continue
            widget.apply_pending()
            if time.perf_counter() > deadline:
                break
        if self._pending and self._timer is not None:
            self._timer.start()


defer_refresh = _RefreshQueue().add


_COLOURS_CHANGED, _SIZES_CHANGED, _LANGUAGE_CHANGED = 1, 2, 4
FOCUS_RING_WIDTH = 3  # 2 px of ring and 1 px of gap


class Themed:
    """Mixin for widgets: calls `retranslate`, `refresh` or `update_colours` when language, sizes or theme change.

    Stands before the Qt class in the bases; `apply_theme()` is called at the end of `__init__`. Changes of hidden
    widgets wait, unless they set texts of visible ones (`defers_while_hidden` False).
    """

    defers_while_hidden = True
    _pending_changes = 0

    def apply_theme(self) -> None:
        """Apply theme and language now, and again whenever they change."""
        _themed_widgets[self] = None
        self.retranslate()
        self.refresh()

    def retranslate(self) -> None:
        """Set the widget's own texts in the current language."""

    def refresh(self) -> None:
        """Take the current fonts, sizes and colours."""
        self.updateGeometry()  # type: ignore[attr-defined]
        self.update()  # type: ignore[attr-defined]

    def update_colours(self) -> None:
        """Take the current colours; sizes are unchanged. Painted widgets need only a repaint."""
        self.update()  # type: ignore[attr-defined]

    def apply_pending(self) -> None:
        pending, self._pending_changes = self._pending_changes, 0
        if pending & _LANGUAGE_CHANGED:
            self.retranslate()
        if pending & _SIZES_CHANGED:
            self.refresh()
        elif pending:
            self.update_colours()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)  # type: ignore[misc]
        if event.type() == QEvent.Type.LanguageChange:
            self._mark_pending(_LANGUAGE_CHANGED | _SIZES_CHANGED)
        elif event.type() == QEvent.Type.EnabledChange:
            self.update()  # type: ignore[attr-defined]

    def showEvent(self, event: QShowEvent) -> None:
        self.apply_pending()
        super().showEvent(event)  # type: ignore[misc]

    def on_theme_changed(self, sizes_changed: bool) -> None:
        self._mark_pending(_SIZES_CHANGED if sizes_changed else _COLOURS_CHANGED)

    def _mark_pending(self, changes: int) -> None:
        already_pending, self._pending_changes = self._pending_changes, self._pending_changes | changes
        if self.isVisible() or not self.defers_while_hidden:  # type: ignore[attr-defined]
            self.apply_pending()
        elif not already_pending:
            defer_refresh(self)


# In the order of creation. A signal connection for each would double the time that a widget takes to create.
_themed_widgets: WeakKeyDictionary[Themed, None] = WeakKeyDictionary()


def _notify_widgets(sizes_changed: bool) -> None:
    for widget in list(_themed_widgets):
        if shiboken6.isValid(widget):
            widget.on_theme_changed(sizes_changed)
        else:
            _themed_widgets.pop(widget, None)  # Qt deleted it; Python has not collected it yet


theme.notifier.changed.connect(_notify_widgets)

_TRANSIENT_REASONS = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)


class KeyboardFocus:
    """Mixin for painted controls that show keyboard focus.

    Focus that comes back from another window or a menu is shown as it was before.
    """

    _by_keyboard = False

    @property
    def shows_focus_ring(self) -> bool:
        """Whether it has focus that did not come from the mouse."""
        return self._by_keyboard and self.hasFocus()  # type: ignore[attr-defined]

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in _TRANSIENT_REASONS:
            self._by_keyboard = event.reason() != Qt.FocusReason.MouseFocusReason
        super().focusInEvent(event)  # type: ignore[misc]

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in _TRANSIENT_REASONS:
            self._by_keyboard = False
        super().focusOutEvent(event)  # type: ignore[misc]


def draw_rounded_rect(
    painter: QPainter,
    rect: QRectF,
    radius: float,
    fill: QColor | None = None,
    border: QColor | None = None,
    *,
    width: float = 1.0,
) -> None:
    """Draw a rounded rectangle whose border lies inside `rect`."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(border, width) if border is not None else Qt.PenStyle.NoPen)
    inset = width / 2 if border is not None else 0.0
    painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), radius, radius)


def draw_focus_ring(painter: QPainter, rect: QRectF, radius: float) -> QRectF:
    """Draw the focus ring along `rect`; returns the rectangle inside it."""
    draw_rounded_rect(painter, rect, radius + FOCUS_RING_WIDTH, None, theme.color("focus"), width=2)
    return rect.adjusted(FOCUS_RING_WIDTH, FOCUS_RING_WIDTH, -FOCUS_RING_WIDTH, -FOCUS_RING_WIDTH)


def draw_box(painter: QPainter, rect: QRectF, radius: float, background: str, border: str | None = "line") -> None:
    """Draw a rounded background in a token's colour, with a border as thick as the theme's lines."""
    width = theme.current().line_width
    draw_rounded_rect(
        painter, rect, radius, theme.color(background), theme.color(border) if border else None, width=width
    )


def tint_border(kind: str) -> str | None:
    """The token for the border of a tinted background: None, or `kind` in the high-contrast theme."""
    return kind if theme.current().line_width > 1 else None


def animations_enabled(widget: QWidget) -> bool:
    """Whether the system allows animations."""
    from PySide6.QtWidgets import QStyle  # its many enums take 8 ms: not before the first window

    return widget.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, widget) > 0


def announce(widget: QWidget, text: str) -> None:
    """Let a screen reader say a change."""
    from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))


def application() -> QApplication:
    """The running application."""
    instance: QObject | None = QApplication.instance()
    assert isinstance(instance, QApplication)  # noqa: S101 - widgets cannot exist without one
    return instance


RAIL_NARROW_WIDTH = 1180
NARROW_WIDTH, SMALL_WIDTH, TIGHT_WIDTH, LOW_HEIGHT, WIDE_WIDTH = 1200, 960, 1024, 620, 1600
CRAMPED_WIDTH = 560


class Breakpoints(QObject):
    """Follows the size of the window that holds a widget.

    `changed` is emitted when one of the steps is crossed, `resized` at every other size or window.
    """

    changed = Signal()
    resized = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._window: QWidget | None = None
        self._state: tuple[bool, ...] = ()
        widget.installEventFilter(self)
        theme.notifier.changed.connect(self._update)
        self._track_window()

    @property
    def _scaled_width(self) -> float:
        return self._widget.window().width() / max(theme.text_scale(), 1.0)

    @property
    def is_narrow(self) -> bool:
        """Below 1200: two columns become one."""
        return self._scaled_width < NARROW_WIDTH

    @property
    def is_rail_narrow(self) -> bool:
        """Below 1180, the window's first width: navigation has icons above texts."""
        return self._scaled_width < RAIL_NARROW_WIDTH

    @property
    def is_tight(self) -> bool:
        """Below 1024: margins of 24."""
        return self._scaled_width < TIGHT_WIDTH

    @property
    def is_small(self) -> bool:
        """Below 960: plots in one column."""
        return self._scaled_width < SMALL_WIDTH

    @property
    def is_cramped(self) -> bool:
        """Below 560, as with text at 200 % in a small window: rows of a table have fewer columns."""
        return self._scaled_width < CRAMPED_WIDTH

    @property
    def is_low(self) -> bool:
        """Below 620 high: subtitles and summaries take one line."""
        return self._widget.window().height() < LOW_HEIGHT

    @property
    def is_wide(self) -> bool:
        """From 1600: the column is centred."""
        return self._scaled_width >= WIDE_WIDTH

    @property
    def margin(self) -> int:
        """The page's margin in pixels."""
        return 24 if self.is_tight else 28 if self.is_narrow else 40

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if watched is self._widget and kind in (QEvent.Type.Show, QEvent.Type.ParentChange):
            self._track_window()
        elif watched is self._window and kind == QEvent.Type.Resize:
            self._update()
        return False

    def _track_window(self) -> None:
        window = self._widget.window()
        if window is not self._window:
            if self._window is not None and self._window is not self._widget:
                self._window.removeEventFilter(self)
            self._window = window
            window.installEventFilter(self)
        self._update()

    def _update(self) -> None:
        widths = self.is_cramped, self.is_small, self.is_tight, self.is_rail_narrow, self.is_narrow, self.is_wide
        state = (*widths, self.is_low)
        if state != self._state:
            self._state = state
            self.changed.emit()
        self.resized.emit()
