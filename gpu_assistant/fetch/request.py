"""What a caller asks of a download: the file, its place, its checksum, and how patient and greedy to be."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ..core.files import RemoteFile


class Digest(Struct, frozen=True, kw_only=True):
    """A checksum that a publisher gives, `hex` in lower case: from the caller, never from a server of the bytes."""

    kind: Literal["sha256", "sha512", "sha1", "md5"] = "sha256"
    hex: str

    def new(self) -> hashlib._Hash:
        """An empty hash of this kind."""
        return hashlib.new(self.kind, usedforsecurity=False)


class DownloadRequest(Struct, frozen=True, kw_only=True):
    """A file to download: `file.urls[0]` is the official source, the others are mirrors of the same bytes.

    `digest` is for publishers that give another checksum than SHA-256. The addresses in `reserve` are asked only when
    the others give less than `slow_bytes` a second, or nothing. With `mirrors_first` the official source comes last.
    `copies` are files on this computer that may be it already. With `replace` False another file that lies at `path`
    stays. A `patient` request waits while another download writes the file, and takes its result.
    """

    file: RemoteFile
    path: Path
    digest: Digest | None = None
    reserve: tuple[str, ...] = ()
    slow_bytes: float = 0.0
    mirrors_first: bool = False
    copies: tuple[Path, ...] = ()
    replace: bool = True
    patient: bool = False

    @property
    def expected(self) -> Digest | None:
        """The checksum that the bytes must have; None if nobody published one."""
        return Digest(hex=self.file.sha256) if self.file.sha256 is not None else self.digest

    @property
    def name(self) -> str:
        """The file's name for people."""
        return self.path.name


class RemoteSize(Struct, frozen=True, kw_only=True):
    """Bytes of a file, and of what it unpacks to; None where neither its server nor the file says so."""

    bytes: int | None = None
    unpacked: int | None = None


class Limits(Struct, frozen=True, kw_only=True):
    """Timeouts in seconds, and counts. `tries` are attempts in a row that brought not one new byte.

    `connections` are to one server at a time, for all files together; a file smaller than two segments of
    `min_segment_bytes` is fetched over one. After `probe_seconds` a source that gives less than `slow_ratio` of the
    fastest one's rate is left. `reserve_bytes` stay free on the disk.
    """

    connect_seconds: float = 10.0
    stall_seconds: float = 30.0
    tries: int = 6
    backoff_seconds: float = 0.5
    max_backoff_seconds: float = 20.0
    files_at_once: int = 3
    reserve_bytes: int = 64 * 2**20
    connections: int = 8
    min_segment_bytes: int = 2 * 2**20
    probe_seconds: float = 2.0
    slow_ratio: float = 0.2
