"""The history as a table: a row for each stretch of time, columns for each series."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import numpy as np

from ..core.errors import AppError
from ..core.json import storage_error
from .history import STORAGE_UNITS, History
from .ring_buffer import Floats
from .series import COUNTER_FIGURES, GONE_SERIES, GPU_FIGURES, LOST_SERIES

FIGURE_ORDER = (*GPU_FIGURES, LOST_SERIES, GONE_SERIES)
INTEGER_THRESHOLD = 100_000
MAX_DIGITS = 5  # half precision has no more


def export_history(history: History, path: Path, seconds: float, *, names: Mapping[str, str] | None = None) -> int:
    """Write the last `seconds` to a file, in the finest resolution that reaches so far back; gives the rows written.

    `time` is local, `t` the same in seconds since the epoch (the middle of a stretch); a series' column is its mean,
    in the units of a sample; the computer's come first, then card by card. `names` tells what a card is called now
    instead of what its series begin with ("GPU-…" -> "GPU 0 NVIDIA H100"); one that is gone is called as it was last.
    Where a stretch is longer than a second there are
    its lowest and highest value too, all to 1 part in 2000; what is counted, and
    the number of the driver's last error (`xid`, 0: none), has its highest alone. `throttle_<reason>` is the share of
    the time in which the driver named it, from when it first did. An
    empty cell is unknown; series of which nothing is known are left out. `path` is at every moment the old file or
    the whole new one. Raises AppError; nothing was seen in that time ("history-empty"): no file is made.
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
        # The mark in front tells Excel that this is UTF-8.
        with partial.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            for row_index, moment in enumerate(timestamps):
                local_time = datetime.fromtimestamp(moment).astimezone().isoformat(sep=" ", timespec="seconds")
                writer.writerow([local_time, f"{moment:.1f}", *(_format_cell(column[row_index]) for column in columns)])
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise storage_error(error, path) from error
    return len(timestamps)


def _gpu_labels(current: Mapping[str, str], previous: Mapping[str, str]) -> dict[str, str]:
    """The cards of now first, then those that are gone: where one was called as another, its identity stands behind."""
    labels = dict(current)
    for gpu_key, name in previous.items():
        if gpu_key not in labels:
            labels[gpu_key] = f"{name} ({gpu_key})" if name in labels.values() else name
    return labels


def _round_to_stored(values: Floats, step: int, storage_unit: float) -> Floats:
    """Longer stretches are kept in half precision: of all numbers that would be kept alike, the roundest."""
    if step == 1:
        return values
    with np.errstate(invalid="ignore"):  # what is unknown
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
    """The computer first, then the cards that have names in their order, then others; figures alike for each."""
    gpu_key, _, figure = series.rpartition(".")
    owner_rank = 1 + owners.index(gpu_key) if gpu_key in owners else len(owners) + 1
    figure_rank = FIGURE_ORDER.index(figure) if figure in FIGURE_ORDER else len(FIGURE_ORDER)
    return (owner_rank if gpu_key else 0, gpu_key, figure_rank, figure)


def _format_cell(value: float) -> str:
    """Six digits of small figures; bytes whole, for no table program shall show them as powers of ten."""
    if np.isnan(value):
        return ""
    return f"{value:.0f}" if abs(value) >= INTEGER_THRESHOLD else f"{value:.6g}"
