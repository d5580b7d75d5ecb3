"""What is made ahead of its first look is made in steps, one a turn of the event loop, so that the window answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

import shiboken6
from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QWidget

STEP_PAUSE_MS = 5
IncrementalStep = Callable[[], object]


class IncrementalQueue(QObject):
    """Takes one step a turn until none is left, or until `stop`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pending: deque[IncrementalStep] = deque()
        self._timer = QTimer(self, singleShot=True, interval=STEP_PAUSE_MS)
        self._timer.timeout.connect(self._run_next)

    @property
    def busy(self) -> bool:
        """Whether steps are left."""
        return bool(self._pending)

    def start(self, steps: Iterable[IncrementalStep]) -> None:
        """Take these in the next moments, instead of what was left."""
        self.stop()
        self._pending.extend(steps)
        if self._pending:
            self._timer.start()

    def insert_next(self, steps: Iterable[IncrementalStep]) -> None:
        """Within a step: take these before what is left."""
        self._pending.extendleft(reversed(list(steps)))

    def stop(self) -> None:
        """What is not made is made when it is asked for."""
        self._pending.clear()
        self._timer.stop()

    def _run_next(self) -> None:
        step = self._pending.popleft()
        try:
            step()
        finally:
            # One that fails leaves nobody waiting for the others.
            if self._pending:
                self._timer.start()


def activate_layouts(page: QWidget, *inner: QWidget) -> None:
    """Give a hidden page its room of later; `inner` are the widgets inside whose layouts then follow."""
    container = page.parentWidget()
    if container is not None and not page.isVisible():
        page.resize(container.size())
        for widget in (page, *inner):
            layout = widget.layout()
            if layout is not None:
                layout.activate()


def prerender_steps(widget: QWidget) -> list[IncrementalStep]:
    """Paint each part into a picture that nobody needs: what texts and icons keep of their looks is there from then
    on.
    """
    children = widget.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return [partial(_prerender, part) for part in children if not part.isHidden()]


def _prerender(widget: QWidget) -> None:
    if shiboken6.isValid(widget) and not widget.isVisible():
        widget.grab()
