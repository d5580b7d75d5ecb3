"""Where a command is told to write: in a folder that is there, and never over a file that is not of the same kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ..core import json
from ..core.errors import UsageError
from ..core.paths import normalize_path


def output_path(typed_path: str) -> Path:
    """The file that was named; raises CallError("file-is-folder") or ("no-folder"): one that was mistyped is not made,
    for the file would lie where nobody looks for it.
    """
    path = normalize_path(typed_path)
    if path.is_dir():
        raise UsageError("file-is-folder", path=str(path))
    require_parent_folder(path)
    return path


def require_parent_folder(path: Path) -> None:
    """Raise CallError("no-folder") where the folder above is none."""
    if not path.parent.is_dir():
        raise UsageError("no-folder", path=str(path.parent))


def new_file_path(typed_path: str, may_replace: Callable[[bytes], bool] = lambda _data: False) -> Path:
    """The file that was named, which is not there, is empty, or is an earlier one by `ours`; raises what `placed`
    does, and CallError("file-exists").
    """
    path = output_path(typed_path)
    if os.path.lexists(path) and not _replaceable(path, may_replace):
        raise UsageError("file-exists", path=str(path))
    return path


def is_plan(data: bytes) -> bool:
    """Whether a file's content is a plan, be it another version's."""
    try:
        document = json.decode(data, dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return str(document.get("schema")).startswith("gpu-assistant/plan/")


def is_exported_lockfile(data: bytes) -> bool:
    """Whether a file's content is a lock that we wrote: that of another project is somebody's work."""
    from ..install.after import LOCK_COMMENT

    return data.startswith(LOCK_COMMENT)


def _replaceable(path: Path, may_replace: Callable[[bytes], bool]) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            data = file.read(json.MAX_FILE_BYTES + 1)
    except OSError:
        return False
    return not data or (len(data) <= json.MAX_FILE_BYTES and may_replace(data))
