"""The stretch of time that is under way: sums and extremes of what was seen in it so far."""

from __future__ import annotations

import numpy as np

from .tier import Floats, FigureArray, Resolution


class Accumulator:
    """Collects samples (a float64 vector of all series, NaN where unknown) until the next stretch begins."""

    def __init__(self, resolution: Resolution) -> None:
        self._resolution = resolution
        self.bucket: int | None = None
        self._sum = self._count = self._low = self._high = np.empty(0)

    def reset(self, bucket: int, series_count: int) -> None:
        """Start over."""
        self.bucket = bucket
        self._sum, self._count = np.zeros(series_count), np.zeros(series_count)
        self._low, self._high = np.full(series_count, np.inf), np.full(series_count, -np.inf)

    def add(self, sample: Floats) -> None:
        """One more moment; it may have more series than those before."""
        new_series = len(sample) - len(self._sum)
        if new_series > 0:
            self._sum = np.append(self._sum, np.zeros(new_series))
            self._count = np.append(self._count, np.zeros(new_series))
            self._low = np.append(self._low, np.full(new_series, np.inf))
            self._high = np.append(self._high, np.full(new_series, -np.inf))
        is_known = np.isfinite(sample)
        self._sum += np.where(is_known, sample, 0.0)
        self._count += is_known
        self._low = np.fmin(self._low, np.where(is_known, sample, np.inf))
        self._high = np.fmax(self._high, np.where(is_known, sample, -np.inf))

    def statistics(self) -> FigureArray:
        """`parts` × series: mean (, lowest, highest); NaN where nothing was known."""
        is_empty = self._count == 0
        mean = np.divide(self._sum, self._count, out=np.full(len(self._sum), np.nan), where=~is_empty)
        if not self._resolution.extremes:
            return np.stack((mean,))
        return np.stack((mean, np.where(is_empty, np.nan, self._low), np.where(is_empty, np.nan, self._high)))
