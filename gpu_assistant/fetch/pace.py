"""What a user may change while bytes are coming: pause, go on, and how fast at most."""

from __future__ import annotations

import threading
import time


class Pace:
    """Shared by all connections of a fetch; any thread may call it."""

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._paused = threading.Event()
        self._guard = threading.Lock()
        self._next = 0.0

    @property
    def paused(self) -> bool:
        """Whether nothing is asked for just now."""
        return self._paused.is_set()

    def pause(self) -> None:
        """Connections end at their next byte; what has come stays."""
        self._paused.set()

    def resume(self) -> None:
        """Go on."""
        self._paused.clear()

    @property
    def most(self) -> int | None:
        """Bytes per second for all connections together; None is as fast as it goes."""
        return self._most

    @most.setter
    def most(self, rate: int | None) -> None:
        with self._guard:
            self._most, self._next = rate, 0.0

    def portion(self, read: int) -> int:
        """How much to read at once, so that a slow pace still flows."""
        return read if self._most is None else max(1024, min(read, self._most // 20))

    def wait(self, count: int, stopped: threading.Event) -> None:
        """Hold the caller back for as long as `count` bytes take at this pace, or until `stopped`."""
        with self._guard:
            if self._most is None:
                return
            now = time.monotonic()
            due = max(self._next, now - 0.1)
            self._next = due + count / self._most
        if self._next > now:
            stopped.wait(self._next - now)
