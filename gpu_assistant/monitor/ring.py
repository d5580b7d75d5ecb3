"""The last figures of many series in bounded memory, each window of them one piece of memory."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping
from math import nan

SLEW_S = 5.0  # a clock set back by less is time being corrected; by more, it is another time


class Ring:
    """`capacity` moments of any number of named float series; appending costs the same at any fill.

    Every value is written twice, half a buffer apart, so that any window lies in one piece and can be handed
    to numpy (`np.frombuffer`) or to a plot without copying: 16 bytes a moment and series.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError("a ring holds at least one moment")
        self.capacity = capacity
        self._next = 0
        self._count = 0
        self._times = self._empty()
        self._series: dict[str, array[float]] = {}

    def __len__(self) -> int:
        return self._count

    @property
    def names(self) -> tuple[str, ...]:
        """The series seen so far, in the order of their first value."""
        return tuple(self._series)

    def append(self, t: float, values: Mapping[str, float | None]) -> None:
        """Add a moment, `t` in seconds. None, and a series left out, is a gap.

        A clock that was set far back starts the history anew: old and new times cannot be drawn on one axis.
        """
        if self._count:
            last = self._times[self._position(self._next - 1)]
            if t < last - SLEW_S:
                self._count = 0
            t = max(t, last) if self._count else t
        for name in values:
            if name not in self._series:
                self._series[name] = self._empty()
        here = self._next
        self._put(self._times, here, t)
        for name, series in self._series.items():
            value = values.get(name)
            self._put(series, here, nan if value is None else float(value))
        self._next = self._position(here + 1)
        self._count = min(self._count + 1, self.capacity)

    def window(self, seconds: float | None = None) -> tuple[memoryview, dict[str, memoryview]]:
        """Times and values (double precision; gaps are nan) of the last `seconds`, oldest first.

        The views share the ring's memory: draw or copy them before the next `append`. None is everything.
        """
        end = self._next + self.capacity
        start = end - self._count
        times = memoryview(self._times)
        if seconds is not None and self._count:
            start = bisect_left(times, times[end - 1] - seconds, start, end)
        return times[start:end], {name: memoryview(series)[start:end] for name, series in self._series.items()}

    def latest(self, name: str) -> float:
        """The last value of a series; nan where there is none."""
        series = self._series.get(name)
        return series[self._position(self._next - 1)] if series is not None and self._count else nan

    def _empty(self) -> array[float]:
        return array("d", [nan]) * (2 * self.capacity)

    def _position(self, index: int) -> int:
        return index % self.capacity

    def _put(self, series: array[float], index: int, value: float) -> None:
        series[index] = value
        series[index + self.capacity] = value
