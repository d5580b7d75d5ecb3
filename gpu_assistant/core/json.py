"""JSON in and out: strict decoding of untrusted files, and writing that never leaves half a file."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from .errors import AppError, CallError

T = TypeVar("T")


def encode(value: Any) -> bytes:  # noqa: ANN401 - any struct of ours
    """One line of UTF-8 JSON."""
    return msgspec.json.encode(value)


def encode_pretty(value: Any) -> str:  # noqa: ANN401 - any struct of ours
    """Indented JSON for people."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def decode(data: bytes | str, kind: type[T]) -> T:
    """Decode and check; raises msgspec.ValidationError or msgspec.DecodeError."""
    return msgspec.json.decode(data, type=kind)


def read_file(path: Path, kind: type[T], *, code: str) -> T:
    """Decode a file that a person gave us; raises CallError(code, path=…, detail=…) on anything wrong."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CallError("file-unreadable", path=str(path), detail=error.strerror or str(error)) from error
    try:
        # Editors on Windows put a byte-order mark in front.
        return decode(data.removeprefix(b"\xef\xbb\xbf"), kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CallError(code, path=str(path), detail=str(error)) from error


def write_file(path: Path, data: bytes | str) -> None:
    """Write so that `path` is at every moment the old file or the whole new one; flushed to disk."""
    raw = data.encode() if isinstance(data, str) else data
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        # Where the folder is a file, or the disk has gone, the clean-up fails for the same reason.
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise storage_error(error, path) from error


def storage_error(error: OSError, path: Path) -> AppError:
    """The sentence for a failed write: full disk, no permission, or what the system says."""
    import errno

    folder = str(path)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return AppError("disk-full", path=folder)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return AppError("folder-unwritable", path=folder)
    return AppError("storage", path=folder, detail=error.strerror or str(error))
