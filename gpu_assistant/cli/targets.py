"""Where a command is told to write: in a folder that is there, and never over a file that is not of the same kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ..core import json
from ..core.errors import CallError
from ..core.paths import plain


def placed(given: str) -> Path:
    """The file that was named; raises CallError("file-is-folder") or ("no-folder"): one that was mistyped is not made,
    for the file would lie where nobody looks for it.
    """
    path = plain(given)
    if path.is_dir():
        raise CallError("file-is-folder", path=str(path))
    in_folder(path)
    return path


def in_folder(path: Path) -> None:
    """Raise CallError("no-folder") where the folder above is none."""
    if not path.parent.is_dir():
        raise CallError("no-folder", path=str(path.parent))


def vacant(given: str, ours: Callable[[bytes], bool] = lambda _data: False) -> Path:
    """The file that was named, which is not there, is empty, or is an earlier one by `ours`; raises what `placed`
    does, and CallError("file-exists").
    """
    path = placed(given)
    if os.path.lexists(path) and not _replaceable(path, ours):
        raise CallError("file-exists", path=str(path))
    return path


def is_plan(data: bytes) -> bool:
    """Whether a file's content is a plan, be it another version's."""
    try:
        found = json.decode(data, dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return str(found.get("schema")).startswith("gpu-assistant/plan/")


def is_lock(data: bytes) -> bool:
    """Whether a file's content is a lock that we wrote: that of another project is somebody's work."""
    from ..install.after import SHARED

    return data.startswith(SHARED)


def _replaceable(path: Path, ours: Callable[[bytes], bool]) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            data = file.read(json.MOST_BYTES + 1)
    except OSError:
        return False
    return not data or (len(data) <= json.MOST_BYTES and ours(data))
