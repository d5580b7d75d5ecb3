"""The history as CSV: a row for each bucket, columns for each series."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import numpy as np

from ..core import filesystem
from ..core.errors import AppError, storage_error
from .history import STORAGE_UNITS, History
from .ring_buffer import Floats
from .series import COUNTER_FIGURES, GONE_SERIES, GPU_FIGURES, LOST_SERIES

FIGURE_ORDER = (*GPU_FIGURES, LOST_SERIES, GONE_SERIES)
INTEGER_THRESHOLD = 100_000
MAX_DIGITS = 5  # of half precision


def export_history(history: History, path: Path, seconds: float, *, names: Mapping[str, str] | None = None) -> int:
    """Write the last `seconds` to a file, in the finest resolution that reaches so far back; returns the rows written.

    `time` is local time, `t` the same in seconds since the epoch (the middle of a bucket). The computer's columns come
    first, then GPU by GPU, named by `names` ("GPU-…" -> "GPU 0 NVIDIA H100"), a removed one by its last name. Values
    are means in the units of a sample; buckets longer than a second have their lowest and highest value, too, all to
    1 part in 2000. Counters and the code of the driver's last error (`xid`, 0: none) have the highest value only.
    `throttle_<reason>` is the share of the time. An empty cell is unknown; a series without any value is left out.
    `path` is always either the old or the complete new file. Raises AppError; where there is nothing to write
    AppError("history-empty"), and no file is created.
    """
    windows = {name: window for name, window in history.windows(seconds).items() if np.isfinite(window.mean).any()}
    if not windows:
        raise AppError("history-empty")
    header, columns = ["time", "t"], []
    labels = _gpu_labels(names or {}, history.gpu_names.names)
    owners = tuple(labels)
    for series in sorted(windows, key=lambda series: _column_order(owners, series)):
        window = windows[series]
        gpu_key, separator, figure = series.rpartition(".")
        column_name = f"{labels.get(gpu_key, gpu_key)}{separator}{figure}"
        header.append(column_name)
        parts = [window.high] if figure in COUNTER_FIGURES else [window.mean]
        if window.step > 1 and figure not in COUNTER_FIGURES:
            header += [f"{column_name}.low", f"{column_name}.high"]
            parts += [window.low, window.high]
        columns += [_round_to_stored(part, window.step, STORAGE_UNITS.get(figure, 1.0)) for part in parts]
    timestamps = next(iter(windows.values())).t
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The byte order mark tells Excel that this is UTF-8.
        with partial.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            for row_index, moment in enumerate(timestamps):
                local_time = datetime.fromtimestamp(moment).astimezone().isoformat(sep=" ", timespec="seconds")
                writer.writerow([local_time, f"{moment:.1f}", *(_format_cell(column[row_index]) for column in columns)])
        filesystem.replace(partial, path)
    except OSError as error:
        with suppress(OSError):
            filesystem.unlink(partial, missing_ok=True)
        raise storage_error(error, path) from error
    return len(timestamps)


def _gpu_labels(current: Mapping[str, str], previous: Mapping[str, str]) -> dict[str, str]:
    """Present GPUs first, then removed ones; one with another's label has its key appended."""
    labels = dict(current)
    for gpu_key, name in previous.items():
        if gpu_key not in labels:
            labels[gpu_key] = f"{name} ({gpu_key})" if name in labels.values() else name
    return labels


def _round_to_stored(values: Floats, step: int, storage_unit: float) -> Floats:
    """Of all numbers with the same representation in half precision, the one with the fewest digits."""
    if step == 1:
        return values
    with np.errstate(invalid="ignore"):  # NaN: unknown
        tolerance = np.spacing(np.abs(values / storage_unit).astype(np.float16)).astype(np.float64) * storage_unit / 2
    rounded, pending = values.copy(), np.isfinite(values) & (values != 0)
    magnitude = np.floor(np.log10(np.abs(values), out=np.zeros_like(values), where=pending))
    for digits in range(1, MAX_DIGITS + 1):
        scale = 10.0 ** (digits - 1 - magnitude)
        candidate = np.round(values * scale) / scale
        within_tolerance = pending & (np.abs(candidate - values) <= tolerance)
        rounded[within_tolerance] = candidate[within_tolerance]
        pending &= ~within_tolerance
    return rounded


def _column_order(owners: Sequence[str], series: str) -> tuple[int, str, int, str]:
    """The computer first, then the GPUs with labels in their order, then others; figures in the same order for each."""
    gpu_key, _, figure = series.rpartition(".")
    owner_rank = 1 + owners.index(gpu_key) if gpu_key in owners else len(owners) + 1
    figure_rank = FIGURE_ORDER.index(figure) if figure in FIGURE_ORDER else len(FIGURE_ORDER)
    return (owner_rank if gpu_key else 0, gpu_key, figure_rank, figure)


def _format_cell(value: float) -> str:
    """Six digits; large numbers in full, because spreadsheets would show a power of ten."""
    if np.isnan(value):
        return ""
    return f"{value:.0f}" if abs(value) >= INTEGER_THRESHOLD else f"{value:.6g}"
