"""Bytes per second: the limit that a user sets, pause and resume, and the speed that is shown."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

# So soon a connection that waits follows a new limit.
LIMIT_POLL_SECONDS = 0.1


class RateLimiter:
    """Shared by all connections of a download; any thread may call it. `limit` is in bytes per second."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._changes = 0
        self._paused = threading.Event()
        self._lock = threading.Lock()
        self._next = 0.0

    @property
    def paused(self) -> bool:
        """Whether no bytes are requested for the time being."""
        return self._paused.is_set()

    def pause(self) -> None:
        """Connections end at their next byte; what has come stays."""
        self._paused.set()

    def resume(self) -> None:
        """Request bytes again."""
        self._paused.clear()

    @property
    def limit(self) -> int | None:
        """Bytes per second for all connections together; None is no limit."""
        return self._limit

    @limit.setter
    def limit(self, limit: int | None) -> None:
        with self._lock:
            self._limit, self._next = limit, 0.0
            self._changes += 1

    def chunk_size(self, largest: int) -> int:
        """How many bytes to read at once, so that a slow download still flows."""
        limit = self._limit
        return largest if limit is None else max(1024, min(largest, limit // 20))

    def throttle(self, count: int, stopped: threading.Event) -> None:
        """Block for as long as `count` bytes take at the limit, or until `stopped` or another limit."""
        with self._lock:
            if self._limit is None:
                return
            changes = self._changes
            self._next = until = max(self._next, time.monotonic() - 0.1) + count / self._limit
        while (left := until - time.monotonic()) > 0 and changes == self._changes:
            if stopped.wait(min(left, LIMIT_POLL_SECONDS)):
                return


class SpeedMeter:
    """Bytes per second, smoothed over the last `window` seconds; fed with the running count."""

    def __init__(self, window: float = 4.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._window = window
        self._clock = clock
        self._points: deque[tuple[float, int]] = deque()

    def add(self, count: int) -> None:
        """Record how many bytes have come in all."""
        now = self._clock()
        self._points.append((now, count))
        while len(self._points) > 2 and now - self._points[1][0] >= self._window:
            self._points.popleft()

    def rate(self) -> float | None:
        """Bytes per second; None before there is anything to compare."""
        if len(self._points) < 2:
            return None
        (start, first), (end, last) = self._points[0], self._points[-1]
        return (last - first) / (end - start) if end - start >= 0.2 else None
