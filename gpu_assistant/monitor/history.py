"""The history of a month: every second for an hour, then coarser; in bounded memory, and across restarts.

    History.add
      Accumulator       sums and extremes of the current bucket, one for each resolution      ring_buffer.py
      RingBuffer        mean, lowest, highest of finished buckets                             ring_buffer.py
      SegmentStore      the same rows on the disk, written once a minute                      segment_store.py
    History.window      a series over the last hour, day or month, in the finest resolution that reaches so far back

Values are in half precision (to 1/2000 of the value), except for the last hour's.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec
import numpy as np
from msgspec import Struct

from ..core import filesystem, json
from ..core.errors import storage_errors
from ..core.results import GpuSample
from .ring_buffer import Accumulator, FigureArray, Floats, Resolution, RingBuffer
from .segment_store import SegmentStore
from .series import gpu_key, gpu_label

GPU_NAMES_SCHEMA: Final = "gpu-assistant/history-cards/1"
HOUR_S, DAY_S, MONTH_S = 3600, 86_400, 30 * 86_400
# A little more than what is shown, so that a full hour or day is available at any time.
RESOLUTIONS = (
    Resolution(1, HOUR_S + 60, extremes=False),
    Resolution(10, DAY_S // 10 + 60),
    Resolution(60, MONTH_S // 60 + 60),
)

CLOCK_SLEW_S = 5.0  # a clock set back by less is being corrected; by more, newer buckets are dropped
WRITE_INTERVAL_S = 60.0  # what a crash may cost

# The largest number in half precision: bytes are stored in MiB or GiB, errors in 1024; no other figure is larger.
MAX_VALUE = float(np.finfo(np.float16).max)
STORAGE_UNITS = dict.fromkeys(("mem_used", "mem_total", "mem_shared", "ram_used", "ram_total"), 2.0**30)
STORAGE_UNITS |= {"pcie_tx": 2.0**20, "pcie_rx": 2.0**20, "ecc_corrected": 2.0**10, "ecc_uncorrected": 2.0**10}


class SeriesWindow(Struct, frozen=True, kw_only=True):
    """One series over time in buckets of `step` seconds, oldest first, float64.

    `t` is the middle of each bucket in seconds since the epoch; mean, lowest and highest value are in the units of a
    sample, NaN where the figure was unknown. Buckets without any sample are missing.
    """

    step: int
    t: Floats
    mean: Floats
    low: Floats
    high: Floats


class History:
    """All series by name ("cpu", "GPU-….util"). One thread adds and writes, others may read.

    Without a `folder` nothing is on the disk.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        resolutions: tuple[Resolution, ...] = RESOLUTIONS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._names: dict[str, int] = {}
        self._scales: list[float] = []
        self._newest_t = -np.inf
        self._buffers = tuple(RingBuffer(resolution) for resolution in resolutions)
        self._accumulators = tuple(Accumulator(resolution) for resolution in resolutions)
        self._stores = (
            tuple(SegmentStore(folder, resolution) for resolution in resolutions) if folder is not None else ()
        )
        self._unwritten_rows: tuple[list[tuple[int, FigureArray]], ...] = tuple([] for _ in resolutions)
        self._next_write = -np.inf
        self._drop_from_t: float | None = None
        self.folder = folder
        self.gpu_names = GpuNames(folder)

    @property
    def damaged_count(self) -> int:
        """How many damaged rows and files `load` left out."""
        return sum(store.damaged_count for store in self._stores)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all series."""
        with self._lock:
            return tuple(self._names)

    @property
    def oldest_t(self) -> float | None:
        """The begin of the oldest bucket, in seconds since the epoch; None where there is none."""
        with self._lock:
            oldest = [
                buffer.oldest_bucket * buffer.resolution.step
                for buffer in self._buffers
                if buffer.oldest_bucket is not None
            ]
            oldest += [
                accumulator.bucket * buffer.resolution.step
                for buffer, accumulator in zip(self._buffers, self._accumulators, strict=True)
                if accumulator.bucket is not None
            ]
        return float(min(oldest)) if oldest else None

    @property
    def memory_bytes(self) -> int:
        """Bytes of all ring buffers."""
        with self._lock:
            return sum(buffer.bytes for buffer in self._buffers)

    def load(self, *, repair: bool = False) -> None:
        """Read what earlier runs stored, before the first `add`. Damaged rows are left out.

        The process that writes the history has to `repair` it: a damaged file is renamed, and its intact rows take its
        place. Raises AppError where the folder cannot be read at all.
        """
        now = self._clock()
        self.gpu_names.load()
        with storage_errors(self.folder or Path()):
            for buffer, store in zip(self._buffers, self._stores, strict=False):
                newest = int((now + CLOCK_SLEW_S) // buffer.resolution.step)
                for series, buckets, values in store.read(newest - buffer.resolution.capacity, newest, repair=repair):
                    with self._lock:
                        indexes = [self._series_index(name) for name in series]
                        aligned = np.full(
                            (buffer.resolution.parts, len(self._names), len(buckets)), np.nan, values.dtype
                        )
                        aligned[:, indexes] = values
                        buffer.extend(buckets, aligned)
        if self.damaged_count:
            logging.getLogger(__name__).warning("history: %d damaged places were left out", self.damaged_count)

    def add(self, t: float, values: Mapping[str, float | None]) -> None:
        """Add the values at `t`, in seconds since the epoch; None, or no entry, is unknown."""
        known_values = {name: value for name, value in values.items() if value is not None}
        with self._lock:
            # A series begins with its first known value.
            indexes = [self._series_index(name) for name in known_values]
            sample = np.full(len(self._names), np.nan)
            sample[indexes] = list(known_values.values())
            sample = np.clip(sample / self._scales, -MAX_VALUE, MAX_VALUE)
            if t < self._newest_t - CLOCK_SLEW_S:
                self._drop_from(t)
            t = max(t, self._newest_t) if self._newest_t > t - CLOCK_SLEW_S else t
            self._newest_t = t
            for buffer, accumulator, rows in zip(self._buffers, self._accumulators, self._unwritten_rows, strict=True):
                bucket = int(t // buffer.resolution.step)
                if accumulator.bucket != bucket:
                    self._flush_accumulator(buffer, accumulator, rows)
                    accumulator.reset(bucket, len(sample))
                accumulator.add(sample)

    def write(self, *, force: bool = False) -> None:
        """Write to the disk once a minute, or with `force` now. Raises AppError."""
        is_due = force or self._newest_t >= self._next_write
        if not is_due:
            return
        with self._lock:
            self._next_write = self._newest_t + WRITE_INTERVAL_S
            names = tuple(self._names)
            batches = [list(rows) for rows in self._unwritten_rows]
            for rows in self._unwritten_rows:
                rows.clear()
            drop_from_t, self._drop_from_t = self._drop_from_t, None
        with storage_errors(self.folder or Path()):
            for buffer, store, rows in zip(self._buffers, self._stores, batches, strict=False):
                if drop_from_t is not None:
                    store.drop_from(int(drop_from_t // buffer.resolution.step))
                store.write(names, rows)

    def close(self) -> None:
        """Finish the current buckets and write everything. Raises AppError."""
        with self._lock:
            for buffer, accumulator, rows in zip(self._buffers, self._accumulators, self._unwritten_rows, strict=True):
                self._flush_accumulator(buffer, accumulator, rows)
        self.write(force=True)

    def window(self, name: str, seconds: float, *, until: float | None = None) -> SeriesWindow:
        """A series over the `seconds` before `until` (None: now), in the finest resolution that reaches so far back."""
        with self._lock:
            return self._window(name, seconds, until)

    def since(self, name: str, t: float, *, resolution_from: float | None = None) -> SeriesWindow:
        """A series from `t` (seconds since the epoch) until now, in the finest resolution that reaches back to `t`.

        With `resolution_from` it is the resolution that reaches back to there: the newest part of a longer window.
        """
        with self._lock:
            return self._window(name, self._clock() - t, None, resolution_from=resolution_from)

    def windows(self, seconds: float) -> dict[str, SeriesWindow]:
        """All series by name over the last `seconds`, until the same moment."""
        with self._lock:
            now = self._clock()
            return {name: self._window(name, seconds, now) for name in self._names}

    def _window(
        self, name: str, seconds: float, until: float | None, *, resolution_from: float | None = None
    ) -> SeriesWindow:
        now = self._clock()
        end = now if until is None else until
        age = now - (end - seconds if resolution_from is None else resolution_from)
        level = next(
            (i for i, buffer in enumerate(self._buffers) if buffer.resolution.step * buffer.resolution.capacity >= age),
            len(self._buffers) - 1,
        )
        buffer, accumulator = self._buffers[level], self._accumulators[level]
        step = buffer.resolution.step
        series_index = self._names.get(name, len(self._names))
        buckets, values = buffer.window(series_index, int((end - seconds) // step))
        scale = self._scales[series_index] if series_index < len(self._scales) else 1.0
        if accumulator.bucket is not None and (not len(buckets) or accumulator.bucket > buckets[-1]):
            current = accumulator.statistics()
            current_column = np.full((current.shape[0], 1), np.nan)
            if series_index < current.shape[1]:
                current_column[:, 0] = current[:, series_index]
            buckets = np.append(buckets, accumulator.bucket)
            values = np.concatenate((values, current_column), axis=1)
        selected = buckets <= int(end // step)
        t = (buckets[selected] + 0.5) * step
        parts = [part.astype(np.float64) * scale for part in values[:, selected]]
        mean, low, high = parts if len(parts) == 3 else (parts[0], parts[0], parts[0])
        return SeriesWindow(step=step, t=t, mean=mean, low=low, high=high)

    def _series_index(self, name: str) -> int:
        index = self._names.get(name)
        if index is None:
            index = self._names[name] = len(self._names)
            self._scales.append(STORAGE_UNITS.get(name.rpartition(".")[2], 1.0))
        return index

    def _flush_accumulator(
        self, buffer: RingBuffer, accumulator: Accumulator, rows: list[tuple[int, FigureArray]]
    ) -> None:
        """Store the current bucket, unless it is stored already: a restart within it cut it in two."""
        if accumulator.bucket is None:
            return
        bucket, accumulator.bucket = accumulator.bucket, None
        if buffer.newest_bucket is not None and bucket <= buffer.newest_bucket:
            return
        statistics = accumulator.statistics().astype(buffer.resolution.dtype)
        buffer.append(bucket, statistics)
        if self._stores:
            rows.append((bucket, statistics))

    def _drop_from(self, t: float) -> None:
        for buffer, accumulator, rows in zip(self._buffers, self._accumulators, self._unwritten_rows, strict=True):
            bucket = int(t // buffer.resolution.step)
            buffer.drop_from(bucket)
            accumulator.bucket = None
            rows[:] = [row for row in rows if row[0] < bucket]
        self._newest_t = self._next_write = -np.inf
        self._drop_from_t = t if self._drop_from_t is None else min(t, self._drop_from_t)


class _GpuNamesFile(Struct, frozen=True, kw_only=True):
    schema: Literal["gpu-assistant/history-cards/1"]
    cards: dict[str, str]


class GpuNames:
    """The last label of each GPU by the key of its series ("GPU-…" -> "GPU 0 NVIDIA H100"), removed ones included.

    Without a `folder` nothing is on the disk.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / "cards.json" if folder is not None else None
        self.names: dict[str, str] = {}

    def load(self) -> None:
        """Read the stored labels; none where that fails: they come again with the GPUs."""
        if self._path is None:
            return
        try:
            self.names = json.decode(filesystem.read_bytes(self._path), _GpuNamesFile).cards
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return

    def update(self, gpus: Iterable[GpuSample]) -> None:
        """Store new labels. Raises AppError where that fails."""
        current = {gpu_key(gpu): gpu_label(gpu) for gpu in gpus if gpu.name}
        if current.items() <= self.names.items():
            return
        self.names = self.names | current
        if self._path is not None:
            json.write_file(self._path, json.encode(_GpuNamesFile(schema=GPU_NAMES_SCHEMA, cards=self.names)))
