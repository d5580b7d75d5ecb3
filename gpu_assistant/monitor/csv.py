"""Samples as CSV: a row for each GPU and moment, so that the columns stay the same when a card comes or goes."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import AppError, CallError
from ..core.json import storage_error
from .series import GPU_FIGURES

if TYPE_CHECKING:
    from ..core.results import Sample

COLUMNS = ("t", "cpu", "ram_used", "ram_total", "index", "name", *GPU_FIGURES, "throttle")


class CsvFile:
    """Appends to a file; each row is on its way to the disk when `write` returns.

    Units are the samples' own: seconds since the epoch, percent, bytes, °C, W, MHz, bytes per second; throttle
    reasons are parted by spaces; an empty cell is unknown. Without a GPU the card's cells are empty.
    """

    def __init__(self, path: Path) -> None:
        """Raises CallError("csv-columns") where the file holds something else, AppError where it cannot be written."""
        self._path = path
        try:
            self._file = path.open("a+", encoding="utf-8", newline="")
        except OSError as error:
            raise storage_error(error, path) from error
        try:
            self._begin()
        except UnicodeDecodeError as error:
            self._file.close()
            raise CallError("csv-columns", path=str(path)) from error
        except AppError:
            self._file.close()
            raise

    def _begin(self) -> None:
        self._file.seek(0)
        # A foreign file may be one endless line.
        head = self._file.readline(4096)
        if not head:
            self._append([COLUMNS])
        elif head.strip() != ",".join(COLUMNS):
            raise CallError("csv-columns", path=str(self._path))
        self._file.seek(0, 2)

    def write(self, sample: Sample) -> None:
        """Append one moment; raises AppError when the disk is full."""
        machine = [sample.t, sample.cpu, sample.ram_used, sample.ram_total]
        rows = [
            [
                *machine,
                gpu.index,
                gpu.name,
                *(getattr(gpu, name) for name in GPU_FIGURES),
                None if gpu.throttle is None else " ".join(gpu.throttle),
            ]
            for gpu in sample.gpus
        ]
        self._append(rows or [[*machine, *[None] * (len(COLUMNS) - len(machine))]])

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as error:
            raise storage_error(error, self._path) from error

    def _append(self, rows: Sequence[Sequence[object]]) -> None:
        text = StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(rows)
        try:
            self._file.write(text.getvalue())
            self._file.flush()
        except OSError as error:
            raise storage_error(error, self._path) from error
