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
from ..core.results import GpuSample
from .history import History
from .series import COUNTS, GONE, GPU_FIGURES, LOST

ORDER = (*GPU_FIGURES, LOST, GONE)
WHOLE = 100_000


def export(history: History, path: Path, seconds: float, *, names: Mapping[str, str] | None = None) -> int:
    """Write the last `seconds` to a file, in the finest resolution that reaches so far back; gives the rows written.

    `time` is local, `t` the same in seconds since the epoch (the middle of a stretch); a series' column is its mean,
    in the units of a sample; the computer's come first, then card by card. `names` tells what a card is called instead
    of what its series begin with ("GPU-…" -> "GPU 0 NVIDIA H100"). Where a stretch is longer than a second there are
    its lowest and highest value too; what is counted, and
    the number of the driver's last error (`xid`, 0: none), has its highest alone. `throttle_<reason>` is the share of
    the time in which the driver named it, from when it first did. An
    empty cell is unknown; series of which nothing is known are left out. `path` is at every moment the old file or
    the whole new one. Raises AppError; nothing was seen in that time ("history-empty"): no file is made.
    """
    windows = {name: found for name, found in history.windows(seconds).items() if np.isfinite(found.mean).any()}
    if not windows:
        raise AppError("history-empty")
    heads, columns = ["time", "t"], []
    owners = tuple(names or ())
    for series in sorted(windows, key=lambda series: _place(owners, series)):
        found = windows[series]
        owner, dot, figure = series.rpartition(".")
        head = f"{(names or {}).get(owner, owner)}{dot}{figure}"
        heads.append(head)
        if figure in COUNTS:
            columns.append(found.high)
            continue
        columns.append(found.mean)
        if found.step > 1:
            heads += [f"{head}.low", f"{head}.high"]
            columns += [found.low, found.high]
    t = next(iter(windows.values())).t
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The mark in front tells Excel that this is UTF-8.
        with partial.open("w", encoding="utf-8-sig", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(heads)
            for at, moment in enumerate(t):
                local = datetime.fromtimestamp(moment).astimezone().isoformat(sep=" ", timespec="seconds")
                table.writerow([local, f"{moment:.1f}", *(_cell(column[at]) for column in columns)])
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise storage_error(error, path) from error
    return len(t)


def card_name(gpu: GpuSample) -> str:
    """What a card is called in a heading: "GPU 0 NVIDIA GeForce RTX 4060"."""
    return f"GPU {gpu.index} {gpu.name}" if gpu.name else f"GPU {gpu.index}"


def _place(owners: Sequence[str], series: str) -> tuple[int, str, int, str]:
    """The computer first, then the cards that have names in their order, then others; figures alike for each."""
    owner, _, figure = series.rpartition(".")
    card = 1 + owners.index(owner) if owner in owners else len(owners) + 1
    order = ORDER.index(figure) if figure in ORDER else len(ORDER)
    return (card if owner else 0, owner, order, figure)


def _cell(value: float) -> str:
    """Six digits of small figures; bytes whole, for no table program shall show them as powers of ten."""
    if np.isnan(value):
        return ""
    return f"{value:.0f}" if abs(value) >= WHOLE else f"{value:.6g}"
