"""How large the window is for the text that stands in it, in the steps that pages answer to.

Twice as large a text has half the room: the steps are pixels at 100 %.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget

from .. import theme

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
