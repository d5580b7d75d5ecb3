"""One resolution of the history: stretches of equal length, each with the mean, the lowest and the highest value."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

Floats = np.ndarray[Any, np.dtype[np.float64]]
Row = np.ndarray[Any, np.dtype[Any]]


class Shape(Struct, frozen=True):
    """A stretch is `step` seconds long; `capacity` of them are kept. Stretches of one sample need no extremes."""

    step: int
    capacity: int
    extremes: bool = True

    @property
    def parts(self) -> int:
        """How many figures each stretch has of each series: the mean alone, or mean, lowest and highest."""
        return 3 if self.extremes else 1

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """Half precision is exact to 1/2000 of a value, finer than any sensor; single samples are kept as they are."""
        return np.float16 if self.extremes else np.float32


class Tier:
    """A ring of stretches, oldest first; `parts` × series × `capacity` figures in one piece of memory.

    A stretch is named by its number: its first second since the epoch, divided by `step`.
    """

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._numbers = np.zeros(shape.capacity, np.int64)
        self._figures = np.empty((shape.parts, 0, shape.capacity), shape.dtype)
        self._next = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def last(self) -> int | None:
        """The newest stretch."""
        return int(self._numbers[self._next - 1]) if self._count else None

    @property
    def first(self) -> int | None:
        """The oldest stretch."""
        return int(self._numbers[(self._next - self._count) % self.shape.capacity]) if self._count else None

    @property
    def bytes(self) -> int:
        """What it holds in memory."""
        return self._numbers.nbytes + self._figures.nbytes

    def widen(self, series: int) -> None:
        """Make room for so many series; what is new has no past."""
        parts, there, capacity = self._figures.shape
        if series > there:
            more = np.full((parts, series - there, capacity), np.nan, self.shape.dtype)
            self._figures = np.concatenate((self._figures, more), axis=1)

    def append(self, number: int, figures: Row) -> None:
        """Add a stretch (`parts` × series), newer than the last."""
        self.widen(figures.shape[1])
        here = self._next
        self._numbers[here] = number
        self._figures[:, : figures.shape[1], here] = figures
        self._figures[:, figures.shape[1] :, here] = np.nan
        self._next = (here + 1) % self.shape.capacity
        self._count = min(self._count + 1, self.shape.capacity)

    def extend(self, numbers: Row, figures: Row) -> None:
        """Add many stretches (`parts` × series × moments) at once, each newer than the one before."""
        numbers, figures = numbers[-self.shape.capacity :], figures[:, :, -self.shape.capacity :]
        self.widen(figures.shape[1])
        here = np.arange(self._next, self._next + len(numbers)) % self.shape.capacity
        self._numbers[here] = numbers
        self._figures[:, : figures.shape[1], here] = figures
        self._figures[:, figures.shape[1] :, here] = np.nan
        self._next = (self._next + len(numbers)) % self.shape.capacity
        self._count = min(self._count + len(numbers), self.shape.capacity)

    def forget_from(self, number: int) -> None:
        """Drop this stretch and all newer ones: the clock was set back, and they have not been yet."""
        while self._count and self._numbers[self._next - 1] >= number:
            self._next = (self._next - 1) % self.shape.capacity
            self._count -= 1

    def window(self, series: int, first: int) -> tuple[Row, Row]:
        """The stretches from number `first` on: their numbers, and `parts` × stretches of one series (copies)."""
        order = np.arange(self._next - self._count, self._next) % self.shape.capacity
        numbers = self._numbers[order]
        order = order[np.searchsorted(numbers, first) :]
        figures = (
            self._figures[:, series, order]
            if series < self._figures.shape[1]
            else np.full((self.shape.parts, len(order)), np.nan)
        )
        return self._numbers[order], figures
