"""Samples as CSV: a row for each sample and GPU, so that the columns are the same when a GPU is added or removed."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path

from msgspec.structs import fields

from ..core.errors import UsageError, storage_error, storage_errors
from ..core.results import GpuSample, Sample

MACHINE_COLUMNS = ("t", "cpu", "ram_used", "ram_total", "nvml", "driver")
# A list has no place in a table.
GPU_COLUMNS = tuple(field.name for field in fields(GpuSample) if field.name != "processes")
COLUMNS = (*MACHINE_COLUMNS, *GPU_COLUMNS)
MAX_ROW_BYTES = 65_536  # more than any row has, however long a GPU's name is


class SampleCsvWriter:
    """Appends to a file; rows are flushed when `write` returns.

    Units are those of samples: seconds since the epoch, percent, bytes, °C, W, MHz, bytes per second. True is 1, false
    0; throttle reasons are separated by spaces; an empty cell is unknown. Without a GPU its cells are empty.
    """

    def __init__(self, path: Path) -> None:
        """Raises UsageError("csv-columns") where the file has other content, AppError where it cannot be written."""
        self._path = path
        with storage_errors(path):
            is_new = not path.exists() or path.stat().st_size == 0
            if not is_new and not _has_our_header(path):
                raise UsageError("csv-columns", path=str(path))
            if not is_new:
                _repair_last_row(path)
            self._file = path.open("ab")
        if is_new:
            self._append([COLUMNS])

    def write(self, sample: Sample) -> None:
        """Append a sample; raises AppError when the disk is full."""
        machine = [getattr(sample, name) for name in MACHINE_COLUMNS]
        rows = [[*machine, *(_sample_cell(getattr(gpu, name)) for name in GPU_COLUMNS)] for gpu in sample.gpus]
        self._append(rows or [[*machine, *[None] * (len(COLUMNS) - len(machine))]])

    def close(self) -> None:
        """Close the file."""
        with storage_errors(self._path):
            self._file.close()

    def _append(self, rows: Sequence[Sequence[object]]) -> None:
        text = StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(rows)
        try:
            intact_size = self._file.tell()
            self._file.write(text.getvalue().encode())
            self._file.flush()
        except OSError as error:
            # Closing tries again to write what did not fit; after that no half row may remain.
            with suppress(OSError):
                self._file.close()
            with suppress(OSError):
                os.truncate(self._path, intact_size)
            raise storage_error(error, self._path) from error


def _repair_last_row(path: Path) -> None:
    """Terminate a last row without a line end, or remove it where it is incomplete, as after a power cut."""
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        tail_bytes = min(size, MAX_ROW_BYTES)
        file.seek(size - tail_bytes)
        complete_rows, _, last_row = file.read().rpartition(b"\n")
        if not last_row:
            return
        if len(next(csv.reader([last_row.decode(errors="replace")]))) == len(COLUMNS):
            file.write(b"\n")
        elif complete_rows:
            file.truncate(size - len(last_row))


def _sample_cell(value: object) -> object:
    if isinstance(value, tuple):
        return " ".join(value)
    return int(value) if isinstance(value, bool) else value


def _has_our_header(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        # Another file may be one endless line.
        return file.readline(4096).strip() == ",".join(COLUMNS)
