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
from .history import UNITS, History
from .series import COUNTS, GONE, GPU_FIGURES, LOST
from .tier import Floats

ORDER = (*GPU_FIGURES, LOST, GONE)
WHOLE = 100_000
MOST_DIGITS = 5  # half precision has no more


def export(history: History, path: Path, seconds: float, *, names: Mapping[str, str] | None = None) -> int:
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
    windows = {name: found for name, found in history.windows(seconds).items() if np.isfinite(found.mean).any()}
    if not windows:
        raise AppError("history-empty")
    heads, columns = ["time", "t"], []
    called = _called(names or {}, history.cards.names)
    owners = tuple(called)
    for series in sorted(windows, key=lambda series: _place(owners, series)):
        found = windows[series]
        owner, dot, figure = series.rpartition(".")
        head = f"{called.get(owner, owner)}{dot}{figure}"
        heads.append(head)
        parts = [found.high] if figure in COUNTS else [found.mean]
        if found.step > 1 and figure not in COUNTS:
            heads += [f"{head}.low", f"{head}.high"]
            parts += [found.low, found.high]
        columns += [_as_kept(part, found.step, UNITS.get(figure, 1.0)) for part in parts]
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


def _called(now: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    """The cards of now first, then those that are gone: where one was called as another, its identity stands behind."""
    called = dict(now)
    for owner, name in before.items():
        if owner not in called:
            called[owner] = f"{name} ({owner})" if name in called.values() else name
    return called


def _as_kept(values: Floats, step: int, unit: float) -> Floats:
    """Longer stretches are kept in half precision: of all numbers that would be kept alike, the roundest."""
    if step == 1:
        return values
    with np.errstate(invalid="ignore"):  # what is unknown
        half = np.spacing(np.abs(values / unit).astype(np.float16)).astype(np.float64) * unit / 2
    found, left = values.copy(), np.isfinite(values) & (values != 0)
    size = np.floor(np.log10(np.abs(values), out=np.zeros_like(values), where=left))
    for digits in range(1, MOST_DIGITS + 1):
        scale = 10.0 ** (digits - 1 - size)
        round_ = np.round(values * scale) / scale
        fits = left & (np.abs(round_ - values) <= half)
        found[fits] = round_[fits]
        left &= ~fits
    return found


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
