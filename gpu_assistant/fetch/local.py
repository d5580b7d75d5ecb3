"""Bytes that need no network: the file itself, a copy of it elsewhere on this computer, a file:// address."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ..core.errors import Cancelled
from .wanted import Digest, Wanted

CHUNK = 1 << 20


def local_path(url: str) -> Path | None:
    """The file that a file:// address names; None for any other address."""
    parts = urlsplit(url)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" and parts.netloc in ("", "localhost") else None


def stands(wanted: Wanted, stopped: threading.Event, progress: Callable[[int], None]) -> bool:
    """Whether the wanted file stands under its name."""
    return matches(wanted.path, wanted.check, wanted.bytes, stopped, progress)


def here(wanted: Wanted, stopped: threading.Event, progress: Callable[[int], None]) -> bool:
    """Whether the wanted file stands under its name, made from a copy if there is a right one; raises OSError."""
    if stands(wanted, stopped, progress):
        return True
    for copy in wanted.copies:
        counted = [0]

        def count(size: int, counted: list[int] = counted) -> None:
            counted[0] += size

        if copy != wanted.path and matches(copy, wanted.check, wanted.bytes, stopped, count):
            _bring(copy, wanted.path, stopped)
            progress(counted[0])
            return True
    return False


def _bring(copy: Path, path: Path, stopped: threading.Event) -> None:
    """Without taking the space a second time where the file system allows it; raises Cancelled, OSError."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.unlink(missing_ok=True)
    try:
        try:
            partial.hardlink_to(copy)
        except OSError:
            _copy(copy, partial, stopped)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _copy(source: Path, target: Path, stopped: threading.Event) -> None:
    """A whole copy on the disk: a stick may be pulled out at once."""
    with source.open("rb", buffering=0) as old, target.open("wb") as new:
        while chunk := old.read(CHUNK):
            if stopped.is_set():
                raise Cancelled
            new.write(chunk)
        new.flush()
        os.fsync(new.fileno())


def digest(
    file: BinaryIO, found: hashlib._Hash, stopped: threading.Event, progress: Callable[[int], None]
) -> hashlib._Hash:
    """The hash of a file from where it stands to its end; raises Cancelled within one chunk of `stopped`."""
    while chunk := file.read(CHUNK):
        if stopped.is_set():
            raise Cancelled
        found.update(chunk)
        progress(len(chunk))
    return found


def matches(
    path: Path, check: Digest | None, size: int | None, stopped: threading.Event, progress: Callable[[int], None]
) -> bool:
    """Whether a file is whole: its size and its checksum, as far as they are known. Without a checksum it is not."""
    try:
        if check is None or (size is not None and path.stat().st_size != size):
            return False
        with path.open("rb", buffering=0) as file:
            return digest(file, check.new(), stopped, progress).hexdigest() == check.hex
    except OSError:
        return False
