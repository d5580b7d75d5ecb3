"""What a caller wants to have: a file's addresses, its place, and what is known of its bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from msgspec import Struct


class Digest(Struct, frozen=True, kw_only=True):
    """A checksum that a publisher gives, `hex` in lower case: from the caller, never from a server of bytes."""

    kind: Literal["sha256", "sha512", "sha1", "md5"] = "sha256"
    hex: str

    def new(self) -> hashlib._Hash:
        """An empty hash of this kind."""
        return hashlib.new(self.kind, usedforsecurity=False)


class Wanted(Struct, frozen=True, kw_only=True):
    """A file to get: from where, to where, and what is known of it.

    `url` is the official source, `mirrors` are others of the same bytes; those in `reserve` are asked only when the
    official one gives less than `slow_bytes` a second, or nothing. With `mirrors_first` the official one comes last.
    `sha256` is lower-case hex; `digest` is for publishers that give another kind. `copies` are files on this computer
    that may be it already. With `replace` False another file that stands at `path` stays. A `patient` one waits while
    another download writes it, and takes its file.
    """

    url: str
    path: Path
    sha256: str | None = None
    digest: Digest | None = None
    bytes: int | None = None
    mirrors: tuple[str, ...] = ()
    reserve: tuple[str, ...] = ()
    slow_bytes: float = 0.0
    mirrors_first: bool = False
    copies: tuple[Path, ...] = ()
    replace: bool = True
    patient: bool = False

    @property
    def check(self) -> Digest | None:
        """What the bytes must come to; None if nobody said."""
        return Digest(hex=self.sha256) if self.sha256 is not None else self.digest
