"""The stretch of time that is under way: sums and extremes of what was seen in it so far."""

from __future__ import annotations

import numpy as np

from .tier import Floats, Row, Shape


class Stretch:
    """Collects samples (a float64 vector of all series, NaN where unknown) until the next stretch begins."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.number: int | None = None
        self._sum = self._count = self._low = self._high = np.empty(0)

    def begin(self, number: int, series: int) -> None:
        """Start over."""
        self.number = number
        self._sum, self._count = np.zeros(series), np.zeros(series)
        self._low, self._high = np.full(series, np.inf), np.full(series, -np.inf)

    def add(self, sample: Floats) -> None:
        """One more moment; it may have more series than those before."""
        missing = len(sample) - len(self._sum)
        if missing > 0:
            self._sum = np.append(self._sum, np.zeros(missing))
            self._count = np.append(self._count, np.zeros(missing))
            self._low = np.append(self._low, np.full(missing, np.inf))
            self._high = np.append(self._high, np.full(missing, -np.inf))
        known = np.isfinite(sample)
        self._sum += np.where(known, sample, 0.0)
        self._count += known
        self._low = np.fmin(self._low, np.where(known, sample, np.inf))
        self._high = np.fmax(self._high, np.where(known, sample, -np.inf))

    def figures(self) -> Row:
        """`parts` × series: mean (, lowest, highest); NaN where nothing was known."""
        empty = self._count == 0
        mean = np.divide(self._sum, self._count, out=np.full(len(self._sum), np.nan), where=~empty)
        if not self._shape.extremes:
            return np.stack((mean,))
        return np.stack((mean, np.where(empty, np.nan, self._low), np.where(empty, np.nan, self._high)))
