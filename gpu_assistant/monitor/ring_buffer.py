"""One resolution of the history: buckets of equal length, each with the mean, the lowest and the highest value.

A bucket's number is its first second since the epoch, divided by `step`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

Floats = np.ndarray[Any, np.dtype[np.float64]]
FigureArray = np.ndarray[Any, np.dtype[Any]]


class Resolution(Struct, frozen=True):
    """Buckets of `step` seconds, `capacity` of them. Buckets of one sample need no extremes."""

    step: int
    capacity: int
    extremes: bool = True

    @property
    def parts(self) -> int:
        """How many values a bucket has of each series: the mean, or mean, lowest and highest."""
        return 3 if self.extremes else 1

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """Half precision has 1/2000 of a value, finer than any sensor; buckets of one sample have single precision."""
        return np.float16 if self.extremes else np.float32


class RingBuffer:
    """The buckets, oldest first, in one array of `parts` × series × `capacity`."""

    def __init__(self, resolution: Resolution) -> None:
        self.resolution = resolution
        self._buckets = np.zeros(resolution.capacity, np.int64)
        self._values = np.empty((resolution.parts, 0, resolution.capacity), resolution.dtype)
        self._next = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def newest_bucket(self) -> int | None:
        """The number of the newest bucket."""
        return int(self._buckets[self._next - 1]) if self._count else None

    @property
    def oldest_bucket(self) -> int | None:
        """The number of the oldest bucket."""
        return int(self._buckets[(self._next - self._count) % self.resolution.capacity]) if self._count else None

    @property
    def bytes(self) -> int:
        """The size of its arrays in bytes."""
        return self._buckets.nbytes + self._values.nbytes

    def add_series(self, series_count: int) -> None:
        """Extend the arrays to `series_count` series; new ones are NaN in all earlier buckets."""
        parts, existing, capacity = self._values.shape
        if series_count > existing:
            padding = np.full((parts, series_count - existing, capacity), np.nan, self.resolution.dtype)
            self._values = np.concatenate((self._values, padding), axis=1)

    def append(self, bucket: int, values: FigureArray) -> None:
        """Add a bucket (`parts` × series), newer than the last."""
        self.add_series(values.shape[1])
        slot = self._next
        self._buckets[slot] = bucket
        self._values[:, : values.shape[1], slot] = values
        self._values[:, values.shape[1] :, slot] = np.nan
        self._next = (slot + 1) % self.resolution.capacity
        self._count = min(self._count + 1, self.resolution.capacity)

    def extend(self, buckets: FigureArray, values: FigureArray) -> None:
        """Add many buckets (`parts` × series × buckets), each newer than the one before."""
        buckets, values = buckets[-self.resolution.capacity :], values[:, :, -self.resolution.capacity :]
        self.add_series(values.shape[1])
        slots = np.arange(self._next, self._next + len(buckets)) % self.resolution.capacity
        self._buckets[slots] = buckets
        self._values[:, : values.shape[1], slots] = values
        self._values[:, values.shape[1] :, slots] = np.nan
        self._next = (self._next + len(buckets)) % self.resolution.capacity
        self._count = min(self._count + len(buckets), self.resolution.capacity)

    def drop_from(self, bucket: int) -> None:
        """Drop this bucket and all newer ones: the clock was set back."""
        while self._count and self._buckets[self._next - 1] >= bucket:
            self._next = (self._next - 1) % self.resolution.capacity
            self._count -= 1

    def window(self, series_index: int, first_bucket: int) -> tuple[FigureArray, FigureArray]:
        """The buckets from `first_bucket` on: their numbers, and `parts` × buckets of one series (copies)."""
        order = np.arange(self._next - self._count, self._next) % self.resolution.capacity
        buckets = self._buckets[order]
        order = order[np.searchsorted(buckets, first_bucket) :]
        values = (
            self._values[:, series_index, order]
            if series_index < self._values.shape[1]
            else np.full((self.resolution.parts, len(order)), np.nan)
        )
        return self._buckets[order], values


class Accumulator:
    """The current bucket: sums and extremes of samples (a float64 vector of all series, NaN where unknown)."""

    def __init__(self, resolution: Resolution) -> None:
        self._resolution = resolution
        self.bucket: int | None = None
        self._sum = self._count = self._low = self._high = np.empty(0)

    def reset(self, bucket: int, series_count: int) -> None:
        """Start a new bucket."""
        self.bucket = bucket
        self._sum, self._count = np.zeros(series_count), np.zeros(series_count)
        self._low, self._high = np.full(series_count, np.inf), np.full(series_count, -np.inf)

    def add(self, sample: Floats) -> None:
        """Add a sample; it may have more series than those before."""
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
        """`parts` × series: mean (, lowest, highest); NaN where no value was known."""
        is_empty = self._count == 0
        mean = np.divide(self._sum, self._count, out=np.full(len(self._sum), np.nan), where=~is_empty)
        if not self._resolution.extremes:
            return np.stack((mean,))
        return np.stack((mean, np.where(is_empty, np.nan, self._low), np.where(is_empty, np.nan, self._high)))
