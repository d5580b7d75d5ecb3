"""The unfinished file `<name>.part` and what is known about it, in `<name>.part.json` beside it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from ..core import json
from ..core.errors import Cancelled

CHUNK = 1 << 20


class PartState(msgspec.Struct, frozen=True, kw_only=True):
    """Which file the part belongs to. `sha256` is what is expected, not what is there."""

    url: str
    sha256: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    total: int | None = None

    def continues(self, url: str, sha256: str | None) -> bool:
        """Whether a part with this state may be added to for a file wanted like that.

        With a hash the address may have changed: the whole is checked in the end. Without one only the
        same address with a validator is safe.
        """
        if sha256 is not None:
            return self.sha256 == sha256
        return self.sha256 is None and self.url == url and (self.etag or self.last_modified) is not None


def part_path(path: Path) -> Path:
    """The unfinished file of a final name."""
    return path.with_name(path.name + ".part")


def state_path(path: Path) -> Path:
    """The state file of a final name."""
    return path.with_name(path.name + ".part.json")


def read_state(path: Path) -> PartState | None:
    """The state beside a final name; None if missing or damaged."""
    try:
        return json.decode(state_path(path).read_bytes(), PartState)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def write_state(path: Path, state: PartState) -> None:
    """Keep the state; raises AppError."""
    json.write_file(state_path(path), json.encode(state))


def drop(path: Path) -> None:
    """Forget the unfinished file of a final name."""
    part_path(path).unlink(missing_ok=True)
    state_path(path).unlink(missing_ok=True)


def digest(
    file: BinaryIO, stop: threading.Event, progress: Callable[[int], None] = lambda _count: None
) -> hashlib._Hash:
    """The sha256 of a file from where it stands to its end; raises Cancelled within one chunk of `stop`."""
    sha256 = hashlib.sha256()
    while chunk := file.read(CHUNK):
        if stop.is_set():
            raise Cancelled
        sha256.update(chunk)
        progress(len(chunk))
    return sha256


def file_matches(
    path: Path, sha256: str | None, size: int | None, stop: threading.Event, progress: Callable[[int], None]
) -> bool:
    """Whether a file is whole: its size and its hash, as far as they are known. Without a hash it is not."""
    try:
        if sha256 is None or (size is not None and path.stat().st_size != size):
            return False
        with path.open("rb") as file:
            return digest(file, stop, progress).hexdigest() == sha256
    except OSError:
        return False
