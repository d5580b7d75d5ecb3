"""What is made ahead of its first look is made in steps, one a turn of the event loop, so that the window answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

import shiboken6
from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QWidget

PAUSE_MS = 5
Step = Callable[[], object]


class Steps(QObject):
    """Takes one step a turn until none is left, or until `stop`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._left: deque[Step] = deque()
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._take)

    @property
    def busy(self) -> bool:
        """Whether steps are left."""
        return bool(self._left)

    def begin(self, steps: Iterable[Step]) -> None:
        """Take these in the next moments, instead of what was left."""
        self.stop()
        self._left.extend(steps)
        if self._left:
            self._timer.start()

    def insert(self, steps: Iterable[Step]) -> None:
        """Within a step: take these before what is left."""
        self._left.extendleft(reversed(list(steps)))

    def stop(self) -> None:
        """What is not made is made when it is asked for."""
        self._left.clear()
        self._timer.stop()

    def _take(self) -> None:
        step = self._left.popleft()
        try:
            step()
        finally:
            # One that fails leaves nobody waiting for the others.
            if self._left:
                self._timer.start()


def lay_out(page: QWidget, *inner: QWidget) -> None:
    """Give a hidden page its room of later; `inner` are the widgets inside whose layouts then follow."""
    holder = page.parentWidget()
    if holder is not None and not page.isVisible():
        page.resize(holder.size())
        for widget in (page, *inner):
            layout = widget.layout()
            if layout is not None:
                layout.activate()


def pictures(of: QWidget) -> list[Step]:
    """Paint each part into a picture that nobody needs: what texts and icons keep of their looks is there from then
    on.
    """
    parts = of.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return [partial(_picture, part) for part in parts if not part.isHidden()]


def _picture(part: QWidget) -> None:
    if shiboken6.isValid(part) and not part.isVisible():
        part.grab()
