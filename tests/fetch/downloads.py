"""Downloads as the tests ask for them: some bytes, their checksum, and parts that an earlier run left."""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.files import RemoteFile
from gpu_assistant.fetch import partial_file
from gpu_assistant.fetch.file_download import FileDownload
from gpu_assistant.fetch.partial_file import FileHeader, Piece, PieceJournal, PieceRecord
from gpu_assistant.fetch.rate import RateLimiter
from gpu_assistant.fetch.request import Digest, DownloadRequest, Limits
from gpu_assistant.fetch.transfer_state import TransferState

MIB = 1 << 20
SMALL = os.urandom(1_500_000)  # fetched over one connection
LARGE = os.urandom(24 * MIB)  # fetched over several


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def request(
    path: Path,
    *urls: str,
    data: bytes | None = SMALL,
    sha256: str | None = None,
    size: int | None = None,
    **more: object,
) -> DownloadRequest:
    """For a file with the checksum of `data`; without one where that is None."""
    sha256 = sha256 if sha256 is not None or data is None else sha256_of(data)
    file = RemoteFile(urls=urls, name=path.name, sha256=sha256, bytes=size)
    return DownloadRequest(file=file, path=path, **more)  # type: ignore[arg-type]


def download(wanted: DownloadRequest, limits: Limits, rate: RateLimiter | None = None) -> FileDownload:
    return FileDownload(wanted, TransferState(limits, threading.Event(), rate or RateLimiter()))


def fetch(
    path: Path, limits: Limits, *urls: str, data: bytes | None = SMALL, rate: RateLimiter | None = None, **more: object
) -> FileDownload:
    """Fetch a file, and see that it has these bytes."""
    done = download(request(path, *urls, data=data, **more), limits, rate)  # type: ignore[arg-type]
    assert done.run() == path
    assert data is None or path.read_bytes() == data
    return done


def flipped(data: bytes, *positions: int) -> bytes:
    """The same bytes but for one bit at each of these positions."""
    wrong = bytearray(data)
    for position in positions:
        wrong[position] ^= 1
    return bytes(wrong)


def write_part(
    path: Path, data: bytes, *pieces: tuple[int, int, str, bytes], total: int | None = None, crc_ok: bool = True
) -> None:
    """A part of `data` as an earlier run leaves it: from where to where, by which source, cut from what it serves.
    Without `crc_ok` the disk gives back other bytes than were written.
    """
    content = bytearray(max(end for _, end, _, _ in pieces))
    lines = []
    for start, end, url, served in pieces:
        content[start:end] = served[start:end]
        lines.append(Piece(start=start, end=end, crc=zlib.crc32(served[start:end]) if crc_ok else 0, url=url))
    partial_file.part_path(path).write_bytes(content)
    header = FileHeader(url=pieces[0][2], digest=Digest(hex=sha256_of(data)), total=total)
    PieceJournal(path, PieceRecord(header=header, versions={}, pieces=lines)).close()


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


class BackgroundDownload(threading.Thread):
    """A download on a thread of its own, which can be paused, limited and stopped."""

    def __init__(self, wanted: DownloadRequest, limits: Limits) -> None:
        super().__init__()
        self.rate, self.stopped = RateLimiter(), threading.Event()
        self.error: AppError | None = None
        self.download = FileDownload(wanted, TransferState(limits, self.stopped, self.rate))

    def run(self) -> None:
        try:
            self.download.run()
        except AppError as error:
            self.error = error

    def until(self, condition: Callable[[], bool], seconds: float = 20) -> None:
        for _ in range(int(seconds * 100)):
            if condition():
                return
            self.join(0.01)
        raise AssertionError("waited in vain")
