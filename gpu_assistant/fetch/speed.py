"""Bytes per second as a person would say it: smoothed over the last seconds."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable


class Speed:
    """Feed it the running count; it knows the rate over the last `window` seconds."""

    def __init__(self, window: float = 4.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._window = window
        self._clock = clock
        self._points: deque[tuple[float, int]] = deque()

    def add(self, count: int) -> None:
        """Note how many bytes have come in all."""
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
