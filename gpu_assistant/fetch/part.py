"""The unfinished file `<name>.part`, and `<name>.part.json` beside it: one JSON line for each piece that is there.

A line is appended only after its bytes were written, and carries their CRC: what is taken up later is what the disk
gives back and the line confirms, whatever a crash, a power cut or the disk itself did in between.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from ..core import json
from ..core.errors import Cancelled
from .wanted import Digest, Wanted

CHUNK = 1 << 20


class Head(msgspec.Struct, frozen=True, kw_only=True, tag="file"):
    """Which file the part belongs to. `digest` is what is expected, not what is there."""

    url: str
    digest: Digest | None = None
    total: int | None = None


class Version(msgspec.Struct, frozen=True, kw_only=True, tag="version"):
    """By what a source names its bytes: a strong ETag, or a date."""

    url: str
    etag: str | None = None
    last_modified: str | None = None


class Piece(msgspec.Struct, frozen=True, kw_only=True, tag="bytes"):
    """Bytes from `start` up to `end` are on disk; `url` gave them."""

    start: int
    end: int
    crc: int
    url: str


Line = Head | Version | Piece


class Kept(msgspec.Struct, kw_only=True):
    """What a state file says."""

    head: Head
    versions: dict[str, Version]
    pieces: list[Piece]


def part_path(path: Path) -> Path:
    """The unfinished file of a final name."""
    return path.with_name(path.name + ".part")


def state_path(path: Path) -> Path:
    """The state file of a final name."""
    return path.with_name(path.name + ".part.json")


def lock_path(path: Path) -> Path:
    """What is locked while a download writes the unfinished file."""
    return path.with_name(path.name + ".part.lock")


def strange(path: Path) -> bool:
    """Whether what has the name of the unfinished file is somebody else's: ours has its state beside it, but for one
    into which nothing was written yet.
    """
    try:
        return part_path(path).lstat().st_size > 0 and not state_path(path).is_file()
    except FileNotFoundError:
        return False


def drop(path: Path) -> None:
    """Forget the unfinished file of a final name."""
    part_path(path).unlink(missing_ok=True)
    state_path(path).unlink(missing_ok=True)


def drop_empty(path: Path) -> None:
    """Leave no unfinished file where not one byte of it came; what cannot be taken away stays."""
    with suppress(OSError):
        if part_path(path).stat().st_size == 0:
            drop(path)


def read(path: Path) -> Kept | None:
    """The state beside a final name; None if missing or damaged. A last line that was cut off does not count."""
    try:
        lines = state_path(path).read_bytes().split(b"\n")[:-1]
        head = json.decode(lines[0], Head)
    except (OSError, IndexError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    kept = Kept(head=head, versions={}, pieces=[])
    for raw in lines[1:]:
        try:
            line: Line = json.decode(raw, Line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # A crash of the system may leave holes; what the other lines say is checked against the disk.
            continue
        if isinstance(line, Head):
            kept.head = line
        elif isinstance(line, Piece):
            kept.pieces.append(line)
        else:
            kept.versions[line.url] = line
    return kept


def continues(kept: Kept, wanted: Wanted) -> bool:
    """Whether a part with this state may be added to.

    With a checksum the address may have changed: the whole is checked in the end. Without one only the same address
    with something that names the version is safe.
    """
    if wanted.check is not None or kept.head.digest is not None:
        return kept.head.digest == wanted.check
    version = kept.versions.get(wanted.url)
    return kept.head.url == wanted.url and version is not None and bool(version.etag or version.last_modified)


def sound(
    path: Path, pieces: Iterable[Piece], stopped: threading.Event, progress: Callable[[int], None] = lambda _count: None
) -> list[Piece]:
    """The pieces that the disk really holds, in order and without overlaps; raises OSError, Cancelled."""
    found: list[Piece] = []
    at = 0
    with part_path(path).open("rb", buffering=0) as file:
        for piece in sorted(pieces, key=lambda piece: (piece.start, piece.end)):
            if piece.start < at or piece.end <= piece.start:
                continue
            file.seek(piece.start)
            crc, left = 0, piece.end - piece.start
            while left and (chunk := file.read(min(CHUNK, left))):
                if stopped.is_set():
                    raise Cancelled
                crc, left = zlib.crc32(chunk, crc), left - len(chunk)
            if not left and crc == piece.crc:
                found.append(piece)
                at = piece.end
                progress(piece.end - piece.start)
    return found


class State:
    """The state file while bytes come. Every method may raise AppError or OSError."""

    def __init__(self, path: Path, kept: Kept) -> None:
        self.kept = kept
        self._path = state_path(path)
        self._guard = threading.Lock()
        lines: list[Line] = [kept.head, *kept.versions.values(), *kept.pieces]
        json.write_file(self._path, b"".join(json.encode(line) + b"\n" for line in lines))
        self._file = self._path.open("ab", buffering=0)

    def piece(self, piece: Piece) -> None:
        """Note bytes that have been written."""
        self._add(piece)
        self.kept.pieces.append(piece)

    def total(self, total: int) -> None:
        """Note the file's size."""
        self.kept.head = msgspec.structs.replace(self.kept.head, total=total)
        self._add(self.kept.head)

    def version(self, version: Version) -> None:
        """Note by what a source names its bytes."""
        if self.kept.versions.get(version.url) != version:
            self._add(version)
            self.kept.versions[version.url] = version

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _add(self, line: Line) -> None:
        data = json.encode(line) + b"\n"
        with self._guard:
            if self._file.write(data) != len(data):
                # The disk took half a line: the next one begins anew, the half one does not count.
                os.write(self._file.fileno(), b"\n")
