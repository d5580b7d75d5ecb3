"""Samples as CSV: a row for each GPU and moment, so that the columns stay the same when a card comes or goes."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path

from msgspec.structs import fields

from ..core.errors import CallError
from ..core.json import storage_error
from ..core.results import GpuSample, Sample

MACHINE = ("t", "cpu", "ram_used", "ram_total", "nvml", "driver")
# A list within a list has no place in a table.
GPU = tuple(field.name for field in fields(GpuSample) if field.name != "processes")
COLUMNS = (*MACHINE, *GPU)
LONGEST_TAIL = 65_536  # bytes in which the last row begins, however long a card's names are


class CsvFile:
    """Appends to a file; each row is on its way to the disk when `write` returns.

    Units are the samples' own: seconds since the epoch, percent, bytes, °C, W, MHz, bytes per second; yes is 1, no 0;
    throttle reasons are parted by spaces; an empty cell is unknown. Without a GPU the card's cells are empty.
    """

    def __init__(self, path: Path) -> None:
        """Raises CallError("csv-columns") where the file holds something else, AppError where it cannot be written."""
        self._path = path
        try:
            new = not path.exists() or path.stat().st_size == 0
            if not new and not _ours(path):
                raise CallError("csv-columns", path=str(path))
            if not new:
                _end_torn_row(path)
            self._file = path.open("ab")
        except OSError as error:
            raise storage_error(error, path) from error
        if new:
            self._append([COLUMNS])

    def write(self, sample: Sample) -> None:
        """Append one moment; raises AppError when the disk is full."""
        machine = [getattr(sample, name) for name in MACHINE]
        rows = [[*machine, *(_cell(getattr(gpu, name)) for name in GPU)] for gpu in sample.gpus]
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
            whole = self._file.tell()
            self._file.write(text.getvalue().encode())
            self._file.flush()
        except OSError as error:
            # Closing tries once more to write what did not fit; then no row may be left in half.
            with suppress(OSError):
                self._file.close()
            with suppress(OSError):
                os.truncate(self._path, whole)
            raise storage_error(error, self._path) from error


def _end_torn_row(path: Path) -> None:
    """End a last row that has no end, and take it away where it is a half one, as a power cut leaves it."""
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        tail = min(size, LONGEST_TAIL)
        file.seek(size - tail)
        before, _, last = file.read().rpartition(b"\n")
        if not last:
            return
        if len(next(csv.reader([last.decode(errors="replace")]))) == len(COLUMNS):
            file.write(b"\n")
        elif before:
            file.truncate(size - len(last))


def _cell(value: object) -> object:
    if isinstance(value, tuple):
        return " ".join(value)
    return int(value) if isinstance(value, bool) else value


def _ours(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        # A foreign file may be one endless line.
        return file.readline(4096).strip() == ",".join(COLUMNS)
