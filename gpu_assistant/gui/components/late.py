"""What nobody sees is dressed and worded anew a little later, a few widgets at a time, so that the window answers."""

from __future__ import annotations

import time
from collections import deque
from typing import Protocol
from weakref import ref

import shiboken6
from PySide6.QtCore import QCoreApplication, QTimer

PAUSE_MS = 5
SLICE_SECONDS = 0.005


class Late(Protocol):
    """A widget that can catch up with what changed."""

    def catch_up(self) -> None:
        """Words and look of now, if they are not yet."""


class _Queue:
    """Widgets that wait for their turn; one that is gone by then misses nothing."""

    def __init__(self) -> None:
        self._waiting: deque[ref[Late]] = deque()
        self._timer: QTimer | None = None

    def add(self, widget: Late) -> None:
        """Let a widget catch up within the next moments."""
        self._waiting.append(ref(widget))
        if self._timer is None or not shiboken6.isValid(self._timer):
            self._timer = QTimer(QCoreApplication.instance(), singleShot=True, interval=PAUSE_MS)
            self._timer.timeout.connect(self._take)
        if not self._timer.isActive():
            self._timer.start()

    def _take(self) -> None:
        end = time.perf_counter() + SLICE_SECONDS
        while self._waiting:
            widget = self._waiting.popleft()()
            if widget is not None and shiboken6.isValid(widget):
                widget.catch_up()
            if time.perf_counter() > end:
                break
        if self._waiting and self._timer is not None:
            self._timer.start()


later = _Queue().add
