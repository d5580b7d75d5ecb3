"""`RemoteFile`, the description of a file on servers, what may be its host, and the hash of files on disk."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from . import filesystem
from .errors import Cancelled

HASH_CHUNK_BYTES = 1 << 20


def hash_file(
    file: str | Path | BinaryIO,
    cancel: threading.Event | None = None,
    *,
    algorithm: str = "sha256",
    progress: Callable[[int], None] | None = None,
) -> str:
    """The hash, in lower-case hex, of a file, or of an open one from its position to its end.

    `progress` gets the bytes of each chunk. Raises OSError, and Cancelled within one chunk after `cancel` was set.
    """
    if not isinstance(file, (str, Path)):
        return _hash_chunks(partial(file.read, HASH_CHUNK_BYTES), cancel, algorithm, progress)
    descriptor, size = filesystem.open_descriptor(file)
    try:
        # A read allocates all that it is asked for, and an environment has 16,000 files of some KB.
        read = partial(os.read, descriptor, min(HASH_CHUNK_BYTES, size + 1))
        return _hash_chunks(read, cancel, algorithm, progress)
    finally:
        os.close(descriptor)


def _hash_chunks(
    read: Callable[[], bytes],
    cancel: threading.Event | None,
    algorithm: str,
    progress: Callable[[int], None] | None,
) -> str:
    hasher = hashlib.new(algorithm, usedforsecurity=False)
    while chunk := read():
        if cancel is not None and cancel.is_set():
            raise Cancelled
        hasher.update(chunk)
        if progress is not None:
            progress(len(chunk))
    return hasher.hexdigest()


def is_plain_authority(authority: str) -> bool:
    """Whether all who read an address see the same host in this part of it: for urllib it ends at "/", for urllib3,
    which connects, at a backslash, too.
    """
    return not re.search(r"[\\\s]", authority)


class RemoteFile(Struct, frozen=True, kw_only=True):
    """A file on the network. `urls` are addresses of the same bytes, the publisher's own first, then mirrors.

    `sha256` is lower-case hex from an official index or the catalog, never from a server of the bytes. It and the size
    in bytes are None where nobody published them.
    """

    urls: tuple[str, ...]
    name: str
    bytes: int | None = None
    sha256: str | None = None

    @property
    def url(self) -> str:
        """The publisher's own address."""
        return self.urls[0]
