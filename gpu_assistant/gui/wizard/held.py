"""What the user has in hand stays where it is while a page is drawn anew: the keyboard's place, and its height."""

from __future__ import annotations

from collections.abc import Iterable

import shiboken6
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QWidget

from ..components import Page

# Wrapped words find their height in more than one turn of the event loop.
TURNS = 3


class Held:
    """Made before the drawing; `keep` is called after it."""

    def __init__(self, page: Page) -> None:
        self._page = page
        focus = page.window().focusWidget()
        self._focus = focus if focus is not None and page.content.isAncestorOf(focus) and focus.isVisible() else None
        self._top = self._height_of(self._focus)

    def _height_of(self, widget: QWidget | None) -> int:
        return widget.mapTo(self._page.viewport(), QPoint()).y() if widget is not None else 0

    def keep(self, instead: Iterable[QWidget]) -> None:
        """Keyboard and scroll place as before; where what had the keyboard is gone, the first of `instead` that is
        there takes it.
        """
        focus = self._focus
        if focus is None:
            return
        if not shiboken6.isValid(focus) or not focus.isVisible():
            next_best = (each for each in instead if each.isVisible() and each.isEnabled())
            if (other := next(next_best, None)) is not None:
                other.setFocus(Qt.FocusReason.OtherFocusReason)
        elif not 0 <= self._top <= self._page.viewport().height():
            return
        else:
            self._later(focus, TURNS)

    def _later(self, focus: QWidget, turns: int) -> None:
        QTimer.singleShot(0, self._page, lambda: self._scroll(focus, turns))

    def _scroll(self, focus: QWidget, turns: int) -> None:
        if not shiboken6.isValid(focus) or not self._page.content.isAncestorOf(focus):
            return
        self._page.content.layout().activate()  # type: ignore[union-attr]
        bar = self._page.verticalScrollBar()
        bar.setValue(bar.value() + self._height_of(focus) - self._top)
        if turns > 1:
            self._later(focus, turns - 1)
