"""What the user has in hand stays where it is while a page is drawn anew: the keyboard's place, and its height."""

from __future__ import annotations

from collections.abc import Iterable

import shiboken6
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QWidget

from ..components import Page

# Wrapped words find their height in more than one turn of the event loop.
SCROLL_PASSES = 3


class ViewStateKeeper:
    """Made before the drawing; `keep` is called after it."""

    def __init__(self, page: Page) -> None:
        self._page = page
        focus = page.window().focusWidget()
        self._focus_widget = focus if focus is not None and page.content.isAncestorOf(focus) and focus.isVisible() else None
        self._focus_y = self._viewport_y(self._focus_widget)

    def _viewport_y(self, widget: QWidget | None) -> int:
        return widget.mapTo(self._page.viewport(), QPoint()).y() if widget is not None else 0

    def restore(self, fallbacks: Iterable[QWidget]) -> None:
        """Keyboard and scroll place as before; where what had the keyboard is gone, the first of `instead` that is
        there takes it.
        """
        focus = self._focus_widget
        if focus is None:
            return
        if not shiboken6.isValid(focus) or not focus.isVisible():
            candidates = (each for each in fallbacks if each.isVisible() and each.isEnabled())
            if (fallback := next(candidates, None)) is not None:
                fallback.setFocus(Qt.FocusReason.OtherFocusReason)
                QTimer.singleShot(0, self._page, lambda: self._scroll_into_view(fallback))
        elif not 0 <= self._focus_y <= self._page.viewport().height():
            return
        else:
            self._schedule_scroll(focus, SCROLL_PASSES)

    def _scroll_into_view(self, focus: QWidget) -> None:
        """What has the keyboard now is in sight."""
        if shiboken6.isValid(focus) and self._page.content.isAncestorOf(focus):
            self._page.content.layout().activate()  # type: ignore[union-attr]
            self._page.ensureWidgetVisible(focus)

    def _schedule_scroll(self, focus: QWidget, passes: int) -> None:
        QTimer.singleShot(0, self._page, lambda: self._restore_scroll(focus, passes))

    def _restore_scroll(self, focus: QWidget, passes: int) -> None:
        if not shiboken6.isValid(focus) or not self._page.content.isAncestorOf(focus):
            return
        self._page.content.layout().activate()  # type: ignore[union-attr]
        bar = self._page.verticalScrollBar()
        bar.setValue(bar.value() + self._viewport_y(focus) - self._focus_y)
        if passes > 1:
            self._schedule_scroll(focus, passes - 1)
