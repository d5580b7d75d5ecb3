"""The history as a table: a row for each stretch of time, columns for each series."""

from __future__ import annotations

import csv
import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import numpy as np

from ..core.json import storage_error
from .history import History


def export(history: History, path: Path, seconds: float) -> int:
    """Write the last `seconds` to a file, in the finest resolution that reaches so far back; gives the rows written.

    `time` is local, `t` the same in seconds since the epoch (the middle of a stretch); a series' column is its mean,
    in the units of a sample. Where a stretch is longer than a second there are its lowest and highest value too. An
    empty cell is unknown; series of which nothing is known are left out. `path` is at every moment the old file or
    the whole new one. Raises AppError.
    """
    windows = {name: found for name, found in history.windows(seconds).items() if np.isfinite(found.mean).any()}
    heads, columns = ["time", "t"], []
    for name, found in windows.items():
        heads.append(name)
        columns.append(found.mean)
        if found.step > 1:
            heads += [f"{name}.low", f"{name}.high"]
            columns += [found.low, found.high]
    t = next((found.t for found in windows.values()), np.empty(0))
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


def _cell(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.6g}"
