"""What is made ahead of its first look is made in steps, one a turn of the event loop, so that the window answers.

Python's cyclic garbage is collected in the window's thread alone.

Python collects in whichever thread happens to allocate. A widget, a text layout or a timer that ends in a worker's
thread takes Qt's data apart while the window's thread uses them, and the process dies, seldom and anywhere.
"""

from __future__ import annotations

import gc
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


COLLECT_INTERVAL_MS = 200
DEFAULT_LIMIT = 10  # a Python that collects in small steps names no limit; this is the others'


class GarbageCollector(QObject):
    """From `start` on Python's own collector rests, and a timer does its work by the same thresholds until `stop`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._timer = QTimer(self, interval=COLLECT_INTERVAL_MS)
        self._timer.timeout.connect(self.collect)

    def start(self) -> None:
        """Take over. What is loaded by now stays for good and need not be looked through again."""
        gc.disable()
        gc.freeze()
        self._timer.start()

    def stop(self) -> None:
        """The window is closed. Python's own collector goes on resting: a thread that was left behind may still run,
        and would take apart what the window leaves.
        """
        self._timer.stop()

    def collect(self) -> None:
        """Collect the oldest generation that is due by now, and with it all younger ones.

        Between two beats Python would have collected many times; those count as if they had been.
        """
        youngest, middle, oldest = gc.get_count()
        limits = [limit or DEFAULT_LIMIT for limit in gc.get_threshold()]
        missed = youngest // limits[0]
        middle += missed
        oldest += middle // limits[1]
        if oldest > limits[2]:
            gc.collect(2)
        elif middle > limits[1]:
            gc.collect(1)
        elif missed:
            gc.collect(0)
