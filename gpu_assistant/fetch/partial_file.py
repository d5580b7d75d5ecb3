"""The unfinished `<name>.part`, its journal `<name>.part.json`, and files of this computer that need no network.

The journal has one JSON line for each piece that is there. A line is appended only after its bytes were written, and
has their CRC: what a later run resumes is what the disk gives back and the line confirms, whatever a crash, a power cut
or the disk itself did in between.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, BinaryIO
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from ..core import filesystem, json
from ..core.errors import Cancelled
from .request import Digest, DownloadRequest

CHUNK = 1 << 20

# Of a file: 1 PiB. What a journal says beyond it is damage.
MAX_BYTES = 1 << 50
# RFC 9110, 8.8.3: etagc, in ISO-8859-1 as headers are sent.
STRONG_ETAG = r'^"[\x21\x23-\x7e\x80-\xff]*"\Z'

# Is told of bytes that were read, as they are.
Progress = Callable[[int], None]


# The journal


class FileHeader(msgspec.Struct, frozen=True, kw_only=True, tag="file"):
    """Which file the part belongs to. `digest` is what is expected, not what is there."""

    url: str
    digest: Digest | None = None
    total: Annotated[int, Meta(ge=0, lt=MAX_BYTES)] | None = None


class SourceVersion(msgspec.Struct, frozen=True, kw_only=True, tag="version"):
    """How a source names the version of its bytes: a strong ETag, or a date, which may be too coarse to name it
    (`http.strong_date`).
    """

    url: str
    etag: Annotated[str, Meta(pattern=STRONG_ETAG)] | None = None
    last_modified: Annotated[str, Meta(pattern=r"^[\x20-\x7e\xa0-\xff]*\Z")] | None = None
    is_date_strong: bool = False

    @property
    def validator(self) -> str | None:
        """What names these very bytes, for If-Range; None if nothing does (RFC 9110, 13.1.5)."""
        return self.etag or (self.last_modified if self.is_date_strong else None)


class Piece(msgspec.Struct, frozen=True, kw_only=True, tag="bytes"):
    """Bytes from `start` up to `end` are on disk; the source at `url` gave them."""

    start: Annotated[int, Meta(ge=0, lt=MAX_BYTES)]
    end: Annotated[int, Meta(ge=0, lt=MAX_BYTES)]
    crc: int
    url: str

    @property
    def size(self) -> int:
        """The size of the piece in bytes."""
        return self.end - self.start


Line = FileHeader | SourceVersion | Piece


class PieceRecord(msgspec.Struct, kw_only=True):
    """The content of a journal file."""

    header: FileHeader
    versions: dict[str, SourceVersion]
    pieces: list[Piece]


class PieceJournal:
    """The journal while bytes come. Every method may raise AppError or OSError."""

    def __init__(self, path: Path, record: PieceRecord) -> None:
        self.record = record
        self._path = journal_path(path)
        self._lock = threading.Lock()
        lines: list[Line] = [record.header, *record.versions.values(), *record.pieces]
        json.write_file(self._path, b"".join(json.encode(line) + b"\n" for line in lines))
        self._file = self._path.open("ab", buffering=0)

    def add_piece(self, piece: Piece) -> None:
        """Record bytes that have been written."""
        self._append(piece)
        self.record.pieces.append(piece)

    def set_total(self, total: int) -> None:
        """Record the file's size."""
        self.record.header = msgspec.structs.replace(self.record.header, total=total)
        self._append(self.record.header)

    def set_version(self, version: SourceVersion) -> None:
        """Record how a source names its bytes."""
        if self.record.versions.get(version.url) != version:
            self._append(version)
            self.record.versions[version.url] = version

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _append(self, line: Line) -> None:
        data = json.encode(line) + b"\n"
        with self._lock:
            if self._file.write(data) != len(data):
                # The disk took half a line: the next one begins anew, the half one does not count.
                os.write(self._file.fileno(), b"\n")


def read_record(path: Path) -> PieceRecord | None:
    """The journal beside a final name; None if missing or damaged. A last line that was cut off does not count."""
    try:
        lines = filesystem.read_bytes(journal_path(path)).split(b"\n")[:-1]
        header = json.decode(lines[0], FileHeader)
    except (OSError, IndexError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    record = PieceRecord(header=header, versions={}, pieces=[])
    for raw in lines[1:]:
        try:
            line: Line = json.decode(raw, Line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # A crash of the system may leave holes; what the other lines say is checked against the disk.
            continue
        if isinstance(line, FileHeader):
            record.header = line
        elif isinstance(line, Piece):
            record.pieces.append(line)
        else:
            record.versions[line.url] = line
    return record


def can_resume(record: PieceRecord, request: DownloadRequest) -> bool:
    """Whether a part with this journal may be added to.

    With a checksum the address may have changed: the whole file is checked in the end. Without one only the same
    address with something that names the version is safe.
    """
    if request.expected is not None or record.header.digest is not None:
        return record.header.digest == request.expected
    url = request.file.url
    version = record.versions.get(url)
    return record.header.url == url and version is not None and version.validator is not None


def intact_pieces(
    path: Path, pieces: Iterable[Piece], stopped: threading.Event, progress: Progress = lambda _count: None
) -> list[Piece]:
    """The pieces that the disk really holds, in order and without overlaps; raises OSError, Cancelled."""
    intact: list[Piece] = []
    position = 0
    with filesystem.open_regular(part_path(path)) as file:
        for piece in sorted(pieces, key=lambda piece: (piece.start, piece.end)):
            if piece.start < position or piece.end <= piece.start:
                continue
            file.seek(piece.start)
            crc, left = 0, piece.size
            while left and (chunk := file.read(min(CHUNK, left))):
                if stopped.is_set():
                    raise Cancelled
                crc, left = zlib.crc32(chunk, crc), left - len(chunk)
            if not left and crc == piece.crc:
                intact.append(piece)
                position = piece.end
                progress(piece.size)
    return intact


# Files beside the final name


def part_path(path: Path) -> Path:
    """The unfinished file of a final name."""
    return path.with_name(path.name + ".part")


def journal_path(path: Path) -> Path:
    """The journal of a final name."""
    return path.with_name(path.name + ".part.json")


def lock_path(path: Path) -> Path:
    """What is locked while a download writes the unfinished file."""
    return path.with_name(path.name + ".part.lock")


def is_foreign(path: Path) -> bool:
    """Whether the file with the name of the unfinished one is not ours: ours has its journal beside it, unless nothing
    was written into it yet.
    """
    try:
        return part_path(path).lstat().st_size > 0 and not journal_path(path).is_file()
    except FileNotFoundError:
        return False


def discard_what_is_no_file(path: Path) -> None:
    """Remove links, pipes and devices in the place of the unfinished file or its journal: what is written there would
    go elsewhere, also into a file with another name (a copy that a backup made of hard links), or wait for a reader.
    Raises OSError.
    """
    for each in (part_path(path), journal_path(path)):
        if os.path.lexists(each) and (not stat.S_ISREG((status := each.lstat()).st_mode) or status.st_nlink > 1):
            filesystem.unlink(each)


def discard(path: Path) -> None:
    """Remove the unfinished file of a final name."""
    filesystem.unlink(part_path(path), missing_ok=True)
    filesystem.unlink(journal_path(path), missing_ok=True)


def has_leftovers(path: Path) -> bool:
    """Whether a run that was killed at its end left its journal or lock beside the complete file."""
    is_complete = path.is_file() and not os.path.lexists(part_path(path))
    return is_complete and (os.path.lexists(journal_path(path)) or os.path.lexists(lock_path(path)))


def discard_empty(path: Path) -> None:
    """Remove an unfinished file without one byte; what cannot be removed stays."""
    with suppress(OSError):
        if part_path(path).stat().st_size == 0:
            discard(path)


# Files of this computer


def local_path(url: str) -> Path | None:
    """The file that a file:// address names; None for any other address."""
    parts = urlsplit(url)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    from urllib.request import url2pathname  # loads clients of HTTP and TLS, which the idle window does not need

    return Path(url2pathname(parts.path))


def is_complete(request: DownloadRequest, stopped: threading.Event, progress: Progress) -> bool:
    """Whether the requested file lies under its final name."""
    return matches(request.path, request.expected, request.file.bytes, stopped, progress)


def use_local_copy(request: DownloadRequest, stopped: threading.Event, progress: Progress) -> bool:
    """Whether the requested file lies under its final name, made from a copy if one is right; raises OSError."""
    if is_complete(request, stopped, progress):
        return True
    for copy in request.copies:
        size = 0

        def count(read: int) -> None:
            nonlocal size
            size += read

        if copy != request.path and matches(copy, request.expected, request.file.bytes, stopped, count):
            _link_or_copy(copy, request.path, stopped)
            progress(size)
            return True
    return False


def matches(
    path: Path, expected: Digest | None, size: int | None, stopped: threading.Event, progress: Progress
) -> bool:
    """Whether a file has the expected size (if known) and checksum; False without a checksum. Raises Cancelled."""
    try:
        if expected is None or (size is not None and path.stat().st_size != size):
            return False
        with filesystem.open_regular(path) as file:
            return hash_rest(file, expected.new(), stopped, progress).hexdigest() == expected.hex
    except OSError:
        return False


def hash_rest(file: BinaryIO, into: hashlib._Hash, stopped: threading.Event, progress: Progress) -> hashlib._Hash:
    """Hash a file from its position to its end; raises Cancelled within one chunk of `stopped`."""
    while chunk := file.read(CHUNK):
        if stopped.is_set():
            raise Cancelled
        into.update(chunk)
        progress(len(chunk))
    return into


def _link_or_copy(copy: Path, path: Path, stopped: threading.Event) -> None:
    """Without taking the space a second time where the file system allows it; raises Cancelled, OSError."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    filesystem.unlink(partial, missing_ok=True)
    try:
        try:
            partial.hardlink_to(copy)
        except OSError:
            _copy(copy, partial, stopped)
        filesystem.replace(partial, path)
    finally:
        filesystem.unlink(partial, missing_ok=True)


def _copy(source: Path, target: Path, stopped: threading.Event) -> None:
    """Copy and flush: a removable disk may be pulled out at once."""
    with filesystem.open_regular(source) as old, target.open("wb") as new:
        while chunk := old.read(CHUNK):
            if stopped.is_set():
                raise Cancelled
            new.write(chunk)
        new.flush()
        os.fsync(new.fileno())
