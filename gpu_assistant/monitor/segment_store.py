"""The history on the disk: a set of append-only files for each resolution.

A file is one line of JSON, then rows of equal length, one for each bucket, each with a checksum of that line and
itself: a row that was cut off or damaged is left out, and nothing else is lost. Expired files are deleted.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import numpy as np
from msgspec import Struct

from ..core import filesystem, json
from ..core.errors import AppError
from .ring_buffer import FigureArray, Resolution

SCHEMA: Final = "gpu-assistant/history/1"
MAX_HEADER_BYTES = 1 << 16
DAMAGED_SUFFIX = ".damaged"
FILES_PER_RESOLUTION = 30  # about


class SegmentHeader(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line: a bucket's length in seconds, values for each series, the names of the series."""

    schema: Literal["gpu-assistant/history/1"]
    step: int
    parts: int
    series: tuple[str, ...]


class SegmentStore:
    """The files of one resolution in a folder. Every call may raise OSError."""

    def __init__(self, folder: Path, resolution: Resolution) -> None:
        self._folder = folder
        self._resolution = resolution
        self._rows_per_file = max(1, resolution.capacity // FILES_PER_RESOLUTION)
        self._path: Path | None = None
        self._first_number = 0
        self._series: tuple[str, ...] = ()
        # Damaged rows, and files that could not be read at all, that `read` left out.
        self.damaged_count = 0

    def read(
        self, oldest: int, newest: int, *, repair: bool = False
    ) -> Iterator[tuple[tuple[str, ...], FigureArray, FigureArray]]:
        """Series, bucket numbers and values (`parts` × series × rows) of each readable file, oldest first.

        Rows outside of `oldest` … `newest` are left out, and those that are not newer than the row before. With
        `repair`, damaged files are renamed, and their intact rows take their place.
        """
        newest_bucket = oldest - 1
        self.damaged_count = 0
        for _, path in self._files():
            damaged_before = self.damaged_count
            content = self._read_rows(path)
            if content is None:
                self.damaged_count += 1
            if repair and self.damaged_count > damaged_before:
                self._quarantine(path, content)
            if content is None:
                continue
            series, rows = content
            numbers = rows["number"]
            previous_max = np.maximum.accumulate(np.concatenate(([newest_bucket], numbers)))[:-1]
            selected = (numbers > previous_max) & (numbers <= newest)
            if selected.any():
                rows = rows[selected]
                newest_bucket = int(rows["number"][-1])
                yield series, rows["number"], np.moveaxis(rows["figures"], 0, -1)

    def _quarantine(self, path: Path, content: tuple[tuple[str, ...], FigureArray] | None) -> None:
        """Rename a damaged file and write its intact rows in its place; where that fails, the next run tries again."""
        with suppress(OSError, AppError):
            filesystem.replace(path, path.with_name(path.name + DAMAGED_SUFFIX))
            if content is not None:
                series, rows = content
                json.write_file(path, self._header_line(series) + rows.tobytes())

    def write(self, series: Sequence[str], rows: Sequence[tuple[int, FigureArray]]) -> None:
        """Append rows: bucket number, `parts` × series."""
        if not rows:
            return
        layout, header_line = self._row_dtype(len(series)), self._header_line(tuple(series))
        records = np.zeros(len(rows), layout)
        for position, (bucket, figures) in enumerate(rows):
            records[position]["number"] = bucket
            # A row from before a series began has fewer series.
            records[position]["figures"] = np.nan
            with np.errstate(over="ignore"):
                records[position]["figures"][:, : figures.shape[1]] = figures
            records[position]["crc"] = _checksum(records[position].tobytes(), header_line)
        first_bucket = rows[0][0]
        needs_new_file = (
            self._path is None
            or self._series != tuple(series)
            or first_bucket >= self._first_number + self._rows_per_file
        )
        if needs_new_file:
            self._begin_file(tuple(series), first_bucket)
        with self._current_path().open("ab") as file:
            file.write(records.tobytes())

    def drop_from(self, bucket: int) -> None:
        """Drop this row and all newer ones: the clock was set back."""
        self._path = None
        for first, path in self._files():
            if first >= bucket:
                filesystem.unlink(path, missing_ok=True)
        files = self._files()
        if not files:
            return
        _, path = files[-1]
        content = self._read_rows(path)
        if content is not None:
            series, rows = content
            json.write_file(path, self._header_line(series) + rows[rows["number"] < bucket].tobytes())

    def _current_path(self) -> Path:
        if self._path is None:
            raise RuntimeError("no file is open")
        return self._path

    def _begin_file(self, series: tuple[str, ...], first: int) -> None:
        """Begin a file, and delete the expired ones."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for number, path in (*self._files(), *self._files(DAMAGED_SUFFIX)):
            if number + self._rows_per_file < first - self._resolution.capacity:
                filesystem.unlink(path, missing_ok=True)
        self._path = self._folder / f"{self._resolution.step}s-{first:012d}.history"
        self._first_number, self._series = first, series
        self._path.write_bytes(self._header_line(series))

    def _header_line(self, series: tuple[str, ...]) -> bytes:
        return (
            json.encode(
                SegmentHeader(schema=SCHEMA, step=self._resolution.step, parts=self._resolution.parts, series=series)
            )
            + b"\n"
        )

    def _files(self, suffix: str = "") -> list[tuple[int, Path]]:
        """(first bucket, path), oldest first."""
        files = []
        for path in self._folder.glob(f"{self._resolution.step}s-*.history{suffix}"):
            with suppress(ValueError):
                files.append((int(path.name.partition("-")[2].partition(".")[0]), path))
        return sorted(files)

    def _read_rows(self, path: Path) -> tuple[tuple[str, ...], FigureArray] | None:
        """Series and the intact rows; None for a file that cannot be read at all."""
        try:
            content = filesystem.read_bytes(path)
            header_line = content[: content.find(b"\n", 0, MAX_HEADER_BYTES) + 1]
            header, body = json.decode(header_line, SegmentHeader), content[len(header_line) :]
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        if (header.step, header.parts) != (self._resolution.step, self._resolution.parts):
            return None
        layout = self._row_dtype(len(header.series))
        size = layout.itemsize
        row_count = len(body) // size
        is_valid = [
            _checksum(body[offset : offset + size], header_line)
            == int.from_bytes(body[offset + size - 4 : offset + size], "little")
            for offset in range(0, row_count * size, size)
        ]
        rows = np.frombuffer(body, layout, row_count)
        self.damaged_count += is_valid.count(False) + (len(body) % size > 0)
        return header.series, rows[np.array(is_valid, bool)]

    def _row_dtype(self, series: int) -> np.dtype[Any]:
        figures = np.dtype(self._resolution.dtype).newbyteorder("<")
        return np.dtype([("number", "<i8"), ("figures", figures, (self._resolution.parts, series)), ("crc", "<u4")])


def _checksum(row: bytes, header_line: bytes) -> int:
    """Of everything but its own four bytes at the end."""
    return zlib.crc32(row[:-4], zlib.crc32(header_line))
