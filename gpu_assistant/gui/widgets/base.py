"""What every component shares: it follows language and theme while it lives, and shows keyboard focus.

What nobody sees is dressed and worded anew a little later, a few widgets at a time, so that the window answers.

How large the window is for the text that stands in it, in the steps that pages answer to.

Twice as large a text has half the room: the steps are pixels at 100 %.
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
    """A widget that can catch up with what changed."""

    def apply_pending(self) -> None:
        """Words and look of now, if they are not yet."""


class _RefreshQueue:
    """Widgets that wait for their turn; one that is gone by then misses nothing."""

    def __init__(self) -> None:
        self._pending: deque[ref[Deferrable]] = deque()
        self._timer: QTimer | None = None

    def add(self, widget: Deferrable) -> None:
        """Let a widget catch up within the next moments."""
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
            if widget is not None and shiboken6.isValid(widget):
                widget.apply_pending()
            if time.perf_counter() > deadline:
                break
        if self._pending and self._timer is not None:
            self._timer.start()


defer_refresh = _RefreshQueue().add


_COLOURS_CHANGED, _SIZES_CHANGED, _LANGUAGE_CHANGED = 1, 2, 4
FOCUS_RING_WIDTH = 3  # 2 px of ring and 1 px of gap


class Themed:
    """Mixin for widgets: calls `retranslate`, `refresh`, `recolour` when language, text size or theme change.

    Stands before the Qt class in the bases. `follow()` is called at the end of `__init__`. What is on the screen
    changes at once; what is not changes in small portions soon after, or when it is shown, whichever comes first.
    """

    _pending_changes = 0

    def apply_theme(self) -> None:
        """Dress the widget now and with every change of theme, text scale or language."""
        _themed_widgets[self] = None
        self.retranslate()
        self.refresh()

    def retranslate(self) -> None:
        """Say the widget's own words again, in the language of now."""

    def refresh(self) -> None:
        """Take fonts, sizes and colours of now."""
        self.updateGeometry()  # type: ignore[attr-defined]
        self.update()  # type: ignore[attr-defined]

    def update_colours(self) -> None:
        """Take the colours of now, sizes being as they were; painted widgets need no more than a repaint."""
        self.update()  # type: ignore[attr-defined]

    def apply_pending(self) -> None:
        """Do what is due."""
        pending, self._pending_changes = self._pending_changes, 0
        if pending & _LANGUAGE_CHANGED:
            self.retranslate()
        if pending & _SIZES_CHANGED:
            self.refresh()
        elif pending:
            self.update_colours()

    def changeEvent(self, event: QEvent) -> None:
        """Qt's own way to tell of a new language or state."""
        super().changeEvent(event)  # type: ignore[misc]
        if event.type() == QEvent.Type.LanguageChange:
            self._mark_pending(_LANGUAGE_CHANGED | _SIZES_CHANGED)
        elif event.type() == QEvent.Type.EnabledChange:
            self.update()  # type: ignore[attr-defined]

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what changed while nobody saw it."""
        self.apply_pending()
        super().showEvent(event)  # type: ignore[misc]

    def _on_theme_changed(self, sizes_changed: bool) -> None:
        self._mark_pending(_SIZES_CHANGED if sizes_changed else _COLOURS_CHANGED)

    def _mark_pending(self, changes: int) -> None:
        already_pending, self._pending_changes = self._pending_changes, self._pending_changes | changes
        if self.isVisible():  # type: ignore[attr-defined]
            self.apply_pending()
        elif not already_pending:
            defer_refresh(self)


# In the order in which they were made. A connection for each would cost as much as the rest of making a widget.
_themed_widgets: WeakKeyDictionary[Themed, None] = WeakKeyDictionary()


def _notify_widgets(sizes_changed: bool) -> None:
    for widget in list(_themed_widgets):
        if shiboken6.isValid(widget):
            widget._on_theme_changed(sizes_changed)


theme.notifier.changed.connect(_notify_widgets)

_TRANSIENT_REASONS = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)


class KeyboardFocus:
    """Mixin for painted controls that show where the keyboard is.

    Going to another window or into a menu and back changes nothing about how the focus was got.
    """

    _by_keyboard = False

    @property
    def shows_focus_ring(self) -> bool:
        """Whether the ring is shown: it has focus, and not from the mouse."""
        return self._by_keyboard and self.hasFocus()  # type: ignore[attr-defined]

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Focus by keyboard, shortcut or program shows the ring."""
        if event.reason() not in _TRANSIENT_REASONS:
            self._by_keyboard = event.reason() != Qt.FocusReason.MouseFocusReason
        super().focusInEvent(event)  # type: ignore[misc]

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """No focus, no ring."""
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
    """A rounded box whose edge lies inside `rect`."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(border, width) if border is not None else Qt.PenStyle.NoPen)
    inset = width / 2 if border is not None else 0.0
    painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), radius, radius)


def draw_focus_ring(painter: QPainter, rect: QRectF, radius: float) -> QRectF:
    """Draw the focus ring along `rect` and give the space that is left inside it."""
    draw_rounded_rect(painter, rect, radius + FOCUS_RING_WIDTH, None, theme.color("focus"), width=2)
    return rect.adjusted(FOCUS_RING_WIDTH, FOCUS_RING_WIDTH, -FOCUS_RING_WIDTH, -FOCUS_RING_WIDTH)


def draw_box(painter: QPainter, rect: QRectF, radius: float, background: str, border: str | None = "line") -> None:
    """A card-like ground of a token, edged with another token as thick as the theme wants."""
    width = theme.current().line_width
    draw_rounded_rect(
        painter, rect, radius, theme.color(background), theme.color(border) if border else None, width=width
    )


def tint_border(kind: str) -> str | None:
    """The edge of a tinted ground: none, but the state's own colour where all grounds are alike."""
    return kind if theme.current().line_width > 1 else None


def animations_enabled(widget: QWidget) -> bool:
    """Whether the system wants animations."""
    from PySide6.QtWidgets import QStyle  # its many enums take 8 ms: not before the first window

    return widget.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, widget) > 0


def announce(widget: QWidget, text: str) -> None:
    """Let a screen reader say something that changed (Qt tells it from 6.8 on)."""
    from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))


def application() -> QApplication:
    """The running application."""
    instance: QObject | None = QApplication.instance()
    assert isinstance(instance, QApplication)  # noqa: S101 - widgets cannot exist without one
    return instance


NARROW_WIDTH, SMALL_WIDTH, TIGHT_WIDTH, LOW_HEIGHT, WIDE_WIDTH = 1200, 960, 1024, 620, 1600


class Breakpoints(QObject):
    """Watches the window a widget stands in. `changed` comes whenever one of the steps is crossed, `resized` with
    every other size or window.
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
        """Below 1200: two columns become one, the navigation puts icons above words."""
        return self._scaled_width < NARROW_WIDTH

    @property
    def is_tight(self) -> bool:
        """Below 1024: margins of 24."""
        return self._scaled_width < TIGHT_WIDTH

    @property
    def is_small(self) -> bool:
        """Below 960: plots in one column."""
        return self._scaled_width < SMALL_WIDTH

    @property
    def is_low(self) -> bool:
        """Below 620 high: subtitle and summary cards become one line."""
        return self._widget.window().height() < LOW_HEIGHT

    @property
    def is_wide(self) -> bool:
        """From 1600 on: the column stands in the middle."""
        return self._scaled_width >= WIDE_WIDTH

    @property
    def margin(self) -> int:
        """The page's margin."""
        return 24 if self.is_tight else 28 if self.is_narrow else 40

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the widget into another window, and the window in its size."""
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
        state = (self.is_narrow, self.is_tight, self.is_small, self.is_low, self.is_wide)
        if state != self._state:
            self._state = state
            self.changed.emit()
        self.resized.emit()
