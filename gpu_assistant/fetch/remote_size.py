"""How large a file on a server or on this disk is, and how large once it is unpacked, without fetching it.

A zip (a wheel is one) has its directory at its end, a gzip the length of its contents: only the last bytes are
requested.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import requests

from .http import content_length, content_range, is_html_page
from .partial_file import local_path
from .request import RemoteSize

if TYPE_CHECKING:
    from .http import HttpSession

TIMEOUT_S = (8.0, 30.0)
TAIL = 1 << 16
# No zip directory is as long as this; a server that says so is not believed.
LONGEST_DIRECTORY = 1 << 25
ZIPS, GZIPS = (".whl", ".zip"), (".tar.gz", ".tgz")
GZIP_LENGTH_BYTES = 4

UNREADABLE = (OSError, requests.RequestException, zipfile.BadZipFile, ValueError, NotImplementedError)


def probe(url: str, name: str, session: HttpSession) -> RemoteSize:
    """The sizes of a file of this name. Raises nothing for a server that does not answer: then nothing is known."""
    path = local_path(url)
    try:
        return _local(path, name) if path is not None else _remote(url, name, session)
    except UNREADABLE:
        return RemoteSize()


def _local(path: Path, name: str) -> RemoteSize:
    size = path.stat().st_size
    with path.open("rb") as file:
        return RemoteSize(bytes=size, unpacked=_unpacked(file, name))


def _remote(url: str, name: str, session: HttpSession) -> RemoteSize:
    headers = {"Range": f"bytes=-{TAIL}"}
    with session.get(url, headers=headers, stream=True, timeout=TIMEOUT_S) as response:
        if not response.ok or is_html_page(response.headers, name):
            return RemoteSize()
        sent = content_range(response.headers)
        if response.status_code != requests.codes.partial or sent is None or sent.total is None:
            return RemoteSize(bytes=content_length(response.headers))
        if sent.end != sent.total or sent.end - sent.start > TAIL:
            return RemoteSize(bytes=sent.total)
        tail = response.raw.read(TAIL)
    if len(tail) != sent.end - sent.start:
        return RemoteSize(bytes=sent.total)
    file = cast("IO[bytes]", _RangeFile(url, session, sent.total, tail))
    try:
        return RemoteSize(bytes=sent.total, unpacked=_unpacked(file, name))
    except UNREADABLE:
        return RemoteSize(bytes=sent.total)


def _unpacked(file: IO[bytes], name: str) -> int | None:
    if name.endswith(ZIPS):
        with zipfile.ZipFile(file) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    if name.endswith(GZIPS):
        file.seek(-GZIP_LENGTH_BYTES, io.SEEK_END)
        return int.from_bytes(file.read(GZIP_LENGTH_BYTES), "little")
    return None


class _RangeFile(io.RawIOBase):
    """A file on a server for readers that need little of it: its `tail` is here, anything else is requested."""

    def __init__(self, url: str, session: HttpSession, size: int, tail: bytes) -> None:
        self._url, self._session, self._size, self._tail = url, session, size, tail
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise OSError("before the beginning")
        self._position = start + offset
        return self._position

    def read(self, size: int = -1) -> bytes:
        start = self._position
        end = self._size if size < 0 else min(start + size, self._size)
        if end <= start:
            return b""
        tail_start = self._size - len(self._tail)
        data = self._tail[start - tail_start : end - tail_start] if start >= tail_start else self._request(start, end)
        self._position += len(data)
        return data

    def _request(self, start: int, end: int) -> bytes:
        if end - start > LONGEST_DIRECTORY:
            raise OSError("too long")
        headers = {"Range": f"bytes={start}-{end - 1}"}
        with self._session.get(self._url, headers=headers, stream=True, timeout=TIMEOUT_S) as response:
            sent = content_range(response.headers)
            partial = response.status_code == requests.codes.partial
            if not partial or sent is None or (sent.start, sent.end) != (start, end):
                raise OSError("another range")
            data: bytes = response.raw.read(end - start)
        if len(data) != end - start:
            raise OSError("cut short")
        return data
