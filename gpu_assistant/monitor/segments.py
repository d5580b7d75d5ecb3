"""The history on disk: short files that are only ever appended to, one set for each resolution.

A file is one line of JSON, then rows of equal length, each with a checksum of that line and itself: a row that was
cut off or damaged is left out, and nothing else is lost. Old files are deleted as whole ones.
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

from ..core import json
from ..core.errors import AppError
from .tier import Row, Shape

SCHEMA: Final = "gpu-assistant/history/1"
LONGEST_HEADER = 1 << 16
DAMAGED = ".damaged"  # a file that was set aside ends so
FILES = 30  # a resolution is spread over about so many files


class Header(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line: the length of a stretch in seconds, figures for each series, and the series by name."""

    schema: Literal["gpu-assistant/history/1"]
    step: int
    parts: int
    series: tuple[str, ...]


class Segments:
    """The files of one resolution below a folder. Every call may raise OSError."""

    def __init__(self, folder: Path, shape: Shape) -> None:
        self._folder = folder
        self._shape = shape
        self._length = max(1, shape.capacity // FILES)
        self._path: Path | None = None
        self._first = 0
        self._series: tuple[str, ...] = ()
        # Rows, and files that could not be read at all, that `read` left out because they are damaged.
        self.damaged = 0

    def read(self, oldest: int, newest: int, *, mend: bool = False) -> Iterator[tuple[tuple[str, ...], Row, Row]]:
        """Series, numbers and figures (`parts` × series × rows) of each readable file, oldest first.

        Rows outside of `oldest` … `newest` are left out, and those that are not newer than the row before.
        """
        last = oldest - 1
        self.damaged = 0
        for _, path in self._files():
            before = self.damaged
            found = self._rows(path)
            if found is None:
                self.damaged += 1
            if mend and self.damaged > before:
                self._set_aside(path, found)
            if found is None:
                continue
            series, rows = found
            numbers = rows["number"]
            ahead = np.maximum.accumulate(np.concatenate(([last], numbers)))[:-1]
            kept = (numbers > ahead) & (numbers <= newest)
            if kept.any():
                rows = rows[kept]
                last = int(rows["number"][-1])
                yield series, rows["number"], np.moveaxis(rows["figures"], 0, -1)

    def _set_aside(self, path: Path, found: tuple[tuple[str, ...], Row] | None) -> None:
        """Keep a damaged file under another name, and what is sound of it in its place; where that cannot be, it is
        left out again the next time.
        """
        with suppress(OSError, AppError):
            path.replace(path.with_name(path.name + DAMAGED))
            if found is not None:
                series, rows = found
                json.write_file(path, self._head(series) + rows.tobytes())

    def write(self, series: Sequence[str], rows: Sequence[tuple[int, Row]]) -> None:
        """Append (number, `parts` × series) rows."""
        if not rows:
            return
        layout, head = self._layout(len(series)), self._head(tuple(series))
        made = np.zeros(len(rows), layout)
        for at, (number, figures) in enumerate(rows):
            made[at]["number"] = number
            # A row from before a new card came knows nothing of it.
            made[at]["figures"] = np.nan
            with np.errstate(over="ignore"):
                made[at]["figures"][:, : figures.shape[1]] = figures
            made[at]["crc"] = _checksum(made[at].tobytes(), head)
        first = rows[0][0]
        fresh = self._path is None or self._series != tuple(series) or first >= self._first + self._length
        if fresh:
            self._begin(tuple(series), first)
        with self._open().open("ab") as file:
            file.write(made.tobytes())

    def forget_from(self, number: int) -> None:
        """Drop this row and all newer ones: the clock was set back."""
        self._path = None
        for first, path in self._files():
            if first >= number:
                path.unlink(missing_ok=True)
        found = self._files()
        if not found:
            return
        _, path = found[-1]
        kept = self._rows(path)
        if kept is not None:
            series, rows = kept
            json.write_file(path, self._head(series) + rows[rows["number"] < number].tobytes())

    def _open(self) -> Path:
        if self._path is None:
            raise RuntimeError("no file was begun")
        return self._path

    def _begin(self, series: tuple[str, ...], first: int) -> None:
        """A new file; those that are too old go."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for number, path in (*self._files(), *self._files(DAMAGED)):
            if number + self._length < first - self._shape.capacity:
                path.unlink(missing_ok=True)
        self._path = self._folder / f"{self._shape.step}s-{first:012d}.history"
        self._first, self._series = first, series
        self._path.write_bytes(self._head(series))

    def _head(self, series: tuple[str, ...]) -> bytes:
        return json.encode(Header(schema=SCHEMA, step=self._shape.step, parts=self._shape.parts, series=series)) + b"\n"

    def _files(self, ending: str = "") -> list[tuple[int, Path]]:
        """(first number, path), oldest first."""
        found = []
        for path in self._folder.glob(f"{self._shape.step}s-*.history{ending}"):
            with suppress(ValueError):
                found.append((int(path.name.partition("-")[2].partition(".")[0]), path))
        return sorted(found)

    def _rows(self, path: Path) -> tuple[tuple[str, ...], Row] | None:
        """Series and the sound rows; None for a file that cannot be read at all."""
        try:
            with path.open("rb") as file:
                head = file.readline(LONGEST_HEADER)
                header = json.decode(head, Header)
                body = file.read()
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        if (header.step, header.parts) != (self._shape.step, self._shape.parts):
            return None
        layout = self._layout(len(header.series))
        size = layout.itemsize
        whole = len(body) // size
        sound = [
            _checksum(body[at : at + size], head) == int.from_bytes(body[at + size - 4 : at + size], "little")
            for at in range(0, whole * size, size)
        ]
        rows = np.frombuffer(body, layout, whole)
        self.damaged += sound.count(False) + (len(body) % size > 0)
        return header.series, rows[np.array(sound, bool)]

    def _layout(self, series: int) -> np.dtype[Any]:
        figures = np.dtype(self._shape.dtype).newbyteorder("<")
        return np.dtype([("number", "<i8"), ("figures", figures, (self._shape.parts, series)), ("crc", "<u4")])


def _checksum(row: bytes, head: bytes) -> int:
    """Of everything but the checksum's own four bytes at the end."""
    return zlib.crc32(row[:-4], zlib.crc32(head))
