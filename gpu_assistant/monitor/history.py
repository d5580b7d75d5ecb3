"""What was seen, for a month: each second for an hour, then coarser; in bounded memory, and across restarts.

Figures are kept in half precision (exact to 1/2000 of the value) but for the last hour's, with the mean, the
lowest and the highest of each stretch.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from msgspec import Struct

from ..core.json import storage_error
from .known_cards import KnownCards
from .segments import Segments
from .stretch import Stretch
from .tier import Floats, Row, Shape, Tier

HOUR_S, DAY_S, MONTH_S = 3600, 86_400, 30 * 86_400
# A little more than what is shown, so that a whole hour or day is there at any moment of it.
SHAPES = (Shape(1, HOUR_S + 60, extremes=False), Shape(10, DAY_S // 10 + 60), Shape(60, MONTH_S // 60 + 60))

SLEW_S = 5.0  # a clock set back by less is time being corrected; by more, the later past has not been yet
WRITE_S = 60.0  # what a sudden end may cost

# Half precision ends here: bytes are kept in MiB or GiB, errors in 1024, and no sensor of a working card says more.
LARGEST = float(np.finfo(np.float16).max)
UNITS = {"mem_used": 2.0**30, "mem_total": 2.0**30, "ram_used": 2.0**30, "ram_total": 2.0**30}
UNITS |= {"pcie_tx": 2.0**20, "pcie_rx": 2.0**20, "ecc_corrected": 2.0**10, "ecc_uncorrected": 2.0**10}


class Window(Struct, frozen=True, kw_only=True):
    """One series over time, oldest first, float64: the middle of each stretch in seconds since the epoch, its mean,
    lowest and highest value in the units of a sample; `step` is a stretch's length. What is missing was not seen.
    """

    step: int
    t: Floats
    mean: Floats
    low: Floats
    high: Floats


class History:
    """The figures of all series by name ("cpu", "gpu0.util"). One thread adds and writes, others may look.

    `folder` None keeps nothing on disk.
    """

    def __init__(
        self, folder: Path | None = None, *, shapes: tuple[Shape, ...] = SHAPES, clock: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._names: dict[str, int] = {}
        self._units: list[float] = []
        self._last = -np.inf
        self._tiers = tuple(Tier(shape) for shape in shapes)
        self._open = tuple(Stretch(shape) for shape in shapes)
        self._files = tuple(Segments(folder, shape) for shape in shapes) if folder is not None else ()
        self._unwritten: tuple[list[tuple[int, Row]], ...] = tuple([] for _ in shapes)
        self._write_at = -np.inf
        self._set_back_to: float | None = None
        self.folder = folder
        self.cards = KnownCards(folder)

    @property
    def damaged(self) -> int:
        """How many damaged places `load` left out."""
        return sum(files.damaged for files in self._files)

    @property
    def names(self) -> tuple[str, ...]:
        """The series seen so far."""
        with self._lock:
            return tuple(self._names)

    @property
    def begins(self) -> float | None:
        """The oldest moment that is kept, in seconds since the epoch; None where nothing is."""
        with self._lock:
            kept = [tier.first * tier.shape.step for tier in self._tiers if tier.first is not None]
            kept += [
                each.number * tier.shape.step
                for tier, each in zip(self._tiers, self._open, strict=True)
                if each.number is not None
            ]
        return float(min(kept)) if kept else None

    @property
    def bytes(self) -> int:
        """What the figures take in memory."""
        with self._lock:
            return sum(tier.bytes for tier in self._tiers)

    def load(self, *, mend: bool = False) -> None:
        """Take up what earlier runs kept, before the first `add`. What is damaged is left out; who writes it, `mend`s
        it: a damaged file is kept beside, and what is sound of it in its place.

        Raises AppError where the folder cannot be read at all.
        """
        now = self._clock()
        self.cards.load()
        try:
            for tier, files in zip(self._tiers, self._files, strict=False):
                newest = int((now + SLEW_S) // tier.shape.step)
                for series, numbers, figures in files.read(newest - tier.shape.capacity, newest, mend=mend):
                    with self._lock:
                        places = [self._place(name) for name in series]
                        ordered = np.full((tier.shape.parts, len(self._names), len(numbers)), np.nan, figures.dtype)
                        ordered[:, places] = figures
                        tier.extend(numbers, ordered)
        except OSError as error:
            raise storage_error(error, self.folder or Path()) from error
        if self.damaged:
            logging.getLogger(__name__).warning("history: %d damaged places were left out", self.damaged)

    def add(self, t: float, values: Mapping[str, float | None]) -> None:
        """Add a moment, `t` in seconds since the epoch; None, and a series left out, is unknown."""
        known = {name: value for name, value in values.items() if value is not None}
        with self._lock:
            # A series that was never known takes no room.
            places = [self._place(name) for name in known]
            sample = np.full(len(self._names), np.nan)
            sample[places] = list(known.values())
            sample = np.clip(sample / self._units, -LARGEST, LARGEST)
            if t < self._last - SLEW_S:
                self._forget_from(t)
            t = max(t, self._last) if self._last > t - SLEW_S else t
            self._last = t
            for tier, stretch, unwritten in zip(self._tiers, self._open, self._unwritten, strict=True):
                number = int(t // tier.shape.step)
                if stretch.number != number:
                    self._close(tier, stretch, unwritten)
                    stretch.begin(number, len(sample))
                stretch.add(sample)

    def write(self, *, now: bool = False) -> None:
        """Bring to disk what was not written for a minute, or all of it `now`. Raises AppError."""
        due = now or self._last >= self._write_at
        if not due:
            return
        with self._lock:
            self._write_at = self._last + WRITE_S
            names = tuple(self._names)
            batches = [list(rows) for rows in self._unwritten]
            for rows in self._unwritten:
                rows.clear()
            set_back_to, self._set_back_to = self._set_back_to, None
        try:
            for tier, files, rows in zip(self._tiers, self._files, batches, strict=False):
                if set_back_to is not None:
                    files.forget_from(int(set_back_to // tier.shape.step))
                files.write(names, rows)
        except OSError as error:
            raise storage_error(error, self.folder or Path()) from error

    def close(self) -> None:
        """End the stretches under way and write everything. Raises AppError."""
        with self._lock:
            for tier, stretch, unwritten in zip(self._tiers, self._open, self._unwritten, strict=True):
                self._close(tier, stretch, unwritten)
        self.write(now=True)

    def window(self, name: str, seconds: float, *, until: float | None = None) -> Window:
        """A series over the last `seconds` before `until` (now), in the finest resolution that reaches so far back."""
        with self._lock:
            return self._window(name, seconds, until)

    def since(self, name: str, t: float, *, reach: float | None = None) -> Window:
        """A series from the moment `t` on, in seconds since the epoch, until now.

        It comes in the resolution that reaches back to `t`, or to `reach`: what is new of a long stretch of time.
        """
        with self._lock:
            return self._window(name, self._clock() - t, None, reach=reach)

    def windows(self, seconds: float) -> dict[str, Window]:
        """All series by name over the last `seconds`, at the same moments."""
        with self._lock:
            now = self._clock()
            return {name: self._window(name, seconds, now) for name in self._names}

    def _window(self, name: str, seconds: float, until: float | None, *, reach: float | None = None) -> Window:
        now = self._clock()
        end = now if until is None else until
        back = now - (end - seconds if reach is None else reach)
        at = next(
            (i for i, tier in enumerate(self._tiers) if tier.shape.step * tier.shape.capacity >= back),
            len(self._tiers) - 1,
        )
        tier, stretch = self._tiers[at], self._open[at]
        step = tier.shape.step
        series = self._names.get(name, len(self._names))
        numbers, figures = tier.window(series, int((end - seconds) // step))
        unit = self._units[series] if series < len(self._units) else 1.0
        if stretch.number is not None and (not len(numbers) or stretch.number > numbers[-1]):
            under_way = stretch.figures()
            last = np.full((under_way.shape[0], 1), np.nan)
            if series < under_way.shape[1]:
                last[:, 0] = under_way[:, series]
            numbers = np.append(numbers, stretch.number)
            figures = np.concatenate((figures, last), axis=1)
        kept = numbers <= int(end // step)
        t = (numbers[kept] + 0.5) * step
        known = [part.astype(np.float64) * unit for part in figures[:, kept]]
        mean, low, high = known if len(known) == 3 else (known[0], known[0], known[0])
        return Window(step=step, t=t, mean=mean, low=low, high=high)

    def _place(self, name: str) -> int:
        place = self._names.get(name)
        if place is None:
            place = self._names[name] = len(self._names)
            self._units.append(UNITS.get(name.rpartition(".")[2], 1.0))
        return place

    def _close(self, tier: Tier, stretch: Stretch, unwritten: list[tuple[int, Row]]) -> None:
        """Keep the stretch under way. After a restart within it, its first half is on record already."""
        if stretch.number is None:
            return
        number, stretch.number = stretch.number, None
        if tier.last is not None and number <= tier.last:
            return
        figures = stretch.figures().astype(tier.shape.dtype)
        tier.append(number, figures)
        if self._files:
            unwritten.append((number, figures))

    def _forget_from(self, t: float) -> None:
        for tier, stretch, unwritten in zip(self._tiers, self._open, self._unwritten, strict=True):
            number = int(t // tier.shape.step)
            tier.forget_from(number)
            stretch.number = None
            unwritten[:] = [row for row in unwritten if row[0] < number]
        self._last = self._write_at = -np.inf
        self._set_back_to = t if self._set_back_to is None else min(t, self._set_back_to)
