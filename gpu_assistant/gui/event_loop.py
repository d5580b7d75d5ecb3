"""Work on the window's event loop: steps that run one a turn, and Python's cyclic garbage.

Python collects garbage in whichever thread allocates. A widget or timer that is deleted in a worker's thread, while the
window's thread uses Qt's data, ends the process, seldom and anywhere: so only the window's thread collects.
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
    """Runs steps one a turn of the event loop, so that the window answers in between."""

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
        """Run these steps in later turns, in place of those that are left."""
        self.stop()
        self._pending.extend(steps)
        if self._pending:
            self._timer.start()

    def insert_next(self, steps: Iterable[IncrementalStep]) -> None:
        """Called within a step: run these before those that are left."""
        self._pending.extendleft(reversed(list(steps)))

    def stop(self) -> None:
        """Drop the steps that are left."""
        self._pending.clear()
        self._timer.stop()

    def _run_next(self) -> None:
        step = self._pending.popleft()
        try:
            step()
        finally:
            # A step that fails does not stop the others.
            if self._pending:
                self._timer.start()


def activate_layouts(page: QWidget, *inner: QWidget) -> None:
    """Lay out a hidden page at the size that it will have; `inner` are widgets whose layouts follow."""
    container = page.parentWidget()
    if container is not None and not page.isVisible():
        page.resize(container.size())
        for widget in (page, *inner):
            layout = widget.layout()
            if layout is not None:
                layout.activate()


def prerender_steps(widget: QWidget) -> list[IncrementalStep]:
    """Steps that paint each part into a discarded image, which fills the caches of texts and icons."""
    children = widget.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return [partial(_prerender, part) for part in children if not part.isHidden()]


def _prerender(widget: QWidget) -> None:
    if shiboken6.isValid(widget) and not widget.isVisible():
        widget.grab()


COLLECT_INTERVAL_MS = 200
DEFAULT_LIMIT = 10  # Pythons with incremental collection give a limit of 0


class GarbageCollector(QObject):
    """From `start` to `stop` Python's collector is off, and a timer collects by the same thresholds."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._timer = QTimer(self, interval=COLLECT_INTERVAL_MS)
        self._timer.timeout.connect(self.collect)

    def start(self) -> None:
        """Take over; what is loaded by now is never collected."""
        gc.disable()
        gc.freeze()
        self._timer.start()

    def stop(self) -> None:
        """Stop the timer. Python's collector stays off: an abandoned thread must not delete widgets."""
        self._timer.stop()

    def collect(self) -> None:
        """Collect the oldest generation that is due, and all younger ones.

        Between two calls Python would have collected many times; those count as if they had happened.
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
