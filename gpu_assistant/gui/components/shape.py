"""How large the window is for the text that stands in it, in the steps that pages answer to.

Twice as large a text has half the room: the steps are pixels at 100 %.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget

from .. import theme

NARROW, SMALL, TIGHT, LOW, WIDE = 1200, 960, 1024, 620, 1600


class Shape(QObject):
    """Watches the window a widget stands in. `changed` comes whenever one of the steps is crossed, `resized` with
    every other size or window.
    """

    changed = Signal()
    resized = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._window: QWidget | None = None
        self._last: tuple[bool, ...] = ()
        widget.installEventFilter(self)
        theme.notice.changed.connect(self._check)
        self._find()

    @property
    def _room(self) -> float:
        return self._widget.window().width() / max(theme.text_scale(), 1.0)

    @property
    def narrow(self) -> bool:
        """Below 1200: two columns become one, the navigation puts icons above words."""
        return self._room < NARROW

    @property
    def tight(self) -> bool:
        """Below 1024: margins of 24."""
        return self._room < TIGHT

    @property
    def small(self) -> bool:
        """Below 960: plots in one column."""
        return self._room < SMALL

    @property
    def low(self) -> bool:
        """Below 620 high: subtitle and summary cards become one line."""
        return self._widget.window().height() < LOW

    @property
    def wide(self) -> bool:
        """From 1600 on: the column stands in the middle."""
        return self._room >= WIDE

    @property
    def margin(self) -> int:
        """The page's margin."""
        return 24 if self.tight else 28 if self.narrow else 40

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the widget into another window, and the window in its size."""
        kind = event.type()
        if watched is self._widget and kind in (QEvent.Type.Show, QEvent.Type.ParentChange):
            self._find()
        elif watched is self._window and kind == QEvent.Type.Resize:
            self._check()
        return False

    def _find(self) -> None:
        window = self._widget.window()
        if window is not self._window:
            if self._window is not None and self._window is not self._widget:
                self._window.removeEventFilter(self)
            self._window = window
            window.installEventFilter(self)
        self._check()

    def _check(self) -> None:
        now = (self.narrow, self.tight, self.small, self.low, self.wide)
        if now != self._last:
            self._last = now
            self.changed.emit()
        self.resized.emit()
