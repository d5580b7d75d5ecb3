"""How large a file on a server or on this disk is, and how large once it is unpacked, without fetching it.

A zip (a wheel is one) has its table of contents at its end, a gzip the length of what it holds: the last bytes are
asked for, and no others.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import requests

from .answers import content_length, content_range, is_page
from .extent import Extent
from .local import local_path

if TYPE_CHECKING:
    from .session import Session

TIMEOUT_S = (8.0, 30.0)
TAIL = 1 << 16
# No table of contents is as long as this; a server that says so is not believed.
LONGEST_TABLE = 1 << 25
ZIPS, GZIPS = (".whl", ".zip"), (".tar.gz", ".tgz")
GZIP_LENGTH_BYTES = 4


def extent(url: str, name: str, session: Session) -> Extent:
    """What a file of this name takes. Raises nothing for a server that does not answer: then nothing is known."""
    path = local_path(url)
    try:
        return _here(path, name) if path is not None else _there(url, name, session)
    except (OSError, requests.RequestException, zipfile.BadZipFile, ValueError, NotImplementedError):
        return Extent()


def _here(path: Path, name: str) -> Extent:
    size = path.stat().st_size
    with path.open("rb") as file:
        return Extent(bytes=size, unpacked=_unpacked(file, name))


def _there(url: str, name: str, session: Session) -> Extent:
    wanted = {"Range": f"bytes=-{TAIL}"}
    with session.get(url, headers=wanted, stream=True, timeout=TIMEOUT_S) as answer:
        if not answer.ok or is_page(answer.headers, name):
            return Extent()
        part = content_range(answer.headers)
        if answer.status_code != requests.codes.partial or part is None or part.total is None:
            return Extent(bytes=content_length(answer.headers))
        if part.end != part.total or part.end - part.start > TAIL:
            return Extent(bytes=part.total)
        tail = answer.raw.read(TAIL)
    if len(tail) != part.end - part.start:
        return Extent(bytes=part.total)
    return Extent(
        bytes=part.total, unpacked=_try_unpacked(cast("IO[bytes]", _Remote(url, session, part.total, tail)), name)
    )


def _try_unpacked(file: IO[bytes], name: str) -> int | None:
    """The size is known all the same where the table of contents is none."""
    try:
        return _unpacked(file, name)
    except (OSError, requests.RequestException, zipfile.BadZipFile, ValueError, NotImplementedError):
        return None


def _unpacked(file: IO[bytes], name: str) -> int | None:
    if name.endswith(ZIPS):
        with zipfile.ZipFile(file) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    if name.endswith(GZIPS):
        file.seek(-GZIP_LENGTH_BYTES, io.SEEK_END)
        return int.from_bytes(file.read(GZIP_LENGTH_BYTES), "little")
    return None


class _Remote(io.RawIOBase):
    """A file on a server for those who read little of it: its `tail` is here, anything else is asked for."""

    def __init__(self, url: str, session: Session, size: int, tail: bytes) -> None:
        self._url, self._session, self._size, self._tail = url, session, size, tail
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise OSError("before the beginning")
        self._at = start + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self._size if size < 0 else min(self._at + size, self._size)
        if end <= self._at:
            return b""
        here = self._size - len(self._tail)
        data = self._tail[self._at - here : end - here] if self._at >= here else self._ask(self._at, end)
        self._at += len(data)
        return data

    def _ask(self, start: int, end: int) -> bytes:
        if end - start > LONGEST_TABLE:
            raise OSError("too long")
        wanted = {"Range": f"bytes={start}-{end - 1}"}
        with self._session.get(self._url, headers=wanted, stream=True, timeout=TIMEOUT_S) as answer:
            part = content_range(answer.headers)
            if answer.status_code != requests.codes.partial or part is None or (part.start, part.end) != (start, end):
                raise OSError("another part")
            data: bytes = answer.raw.read(end - start)
        if len(data) != end - start:
            raise OSError("cut short")
        return data
