"""What nobody sees is dressed and worded anew a little later, a few widgets at a time, so that the window answers."""

from __future__ import annotations

import time
from collections import deque
from typing import Protocol
from weakref import ref

import shiboken6
from PySide6.QtCore import QCoreApplication, QTimer

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
