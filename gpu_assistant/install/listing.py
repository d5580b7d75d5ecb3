"""The list of what in a folder is ours, and what each file was like when it was written down; the one walk for it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..core import json
from ..core.json import storage_error

FILE_MANIFEST = "gpu-assistant-files.txt"
# A folder with it is ours and not whole, whatever else it holds.
UNFINISHED_MARK = "gpu-assistant-unfinished.txt"
# Python writes these beside our files on its own.
BYTECODE_FOLDER = "__pycache__"
_STAMPED_LINE = re.compile(r"(.*)\t(-?\d+)\t(-?\d+)\Z", re.ASCII | re.DOTALL)


class FileStamp(NamedTuple):
    """By what a file is known to be as it was: its bytes, and when it was last written, in nanoseconds."""

    size: int
    mtime_ns: int


def walk(folder: Path) -> Iterator[str]:
    """Every file and link below a folder, and every empty folder with a "/" at its end, by its path from there with
    "/"; links are not followed. Raises OSError.
    """
    pending = [""]
    while pending:
        subfolder = pending.pop()
        with os.scandir(folder / subfolder) as entries:
            children = sorted(entries, key=lambda entry: entry.name)
        if subfolder and not children:
            yield subfolder
        for entry in children:
            if entry.is_dir(follow_symlinks=False):
                pending.append(f"{subfolder}{entry.name}/")
            else:
                yield f"{subfolder}{entry.name}"


def iter_files(folder: Path) -> Iterator[str]:
    """The same without the empty folders."""
    return (name for name in walk(folder) if not name.endswith("/"))


def write_file_manifest(folder: Path, names: Collection[str] | None = None) -> None:
    """Write down what in a folder is ours: these files, or all that it holds just now. Raises AppError.

    Empty folders are ours, too; where there was a list before, only those that were on it.
    """
    try:
        empty_folders = {name for name in walk(folder) if name.endswith("/")} if names is not None else set()
        if os.path.lexists(folder / FILE_MANIFEST):
            empty_folders &= read_file_manifest(folder).keys()
        json.remove_partial_files(folder, {FILE_MANIFEST, *(names or ())})
        _save_file_manifest(folder, _stamp_files(folder, walk(folder) if names is None else [*names, *empty_folders]))
    except OSError as error:
        raise storage_error(error, folder) from error


def read_file_manifest(folder: Path) -> dict[str, FileStamp | None]:
    """What is ours, as it was written down; a folder has no mark. Raises OSError where there is no list."""
    text = (folder / FILE_MANIFEST).read_bytes().decode("utf-8", "surrogateescape")
    return dict(_parse_line(line) for line in text.split("\n") if line)


def add_to_file_manifest(folder: Path, names: Iterable[str]) -> None:
    """Have these on the list, too, as they are just now; raises OSError, AppError."""
    _save_file_manifest(folder, read_file_manifest(folder) | _stamp_files(folder, names))


def is_unchanged(folder: str, name: str, stamp: FileStamp | None) -> bool:
    """Whether a file below a folder is as it was; one that is gone is not. Python's own copies of sources count as
    they are.
    """
    # An environment has tens of thousands of files: no Path is made of each.
    path = f"{folder}/{name}"
    if stamp is None or is_bytecode(name):
        return os.path.lexists(path)
    try:
        return _stamp_file(path) == stamp
    except OSError:
        return False


def parent_folders(names: Iterable[str]) -> set[str]:
    """All folders in which something of these lies, and those that are among them, by their paths without a "/"."""
    parents: set[str] = set()
    for name in names:
        parent = name[:-1] if name.endswith("/") else name.rpartition("/")[0]
        while parent and parent not in parents:
            parents.add(parent)
            parent = parent.rpartition("/")[0]
    return parents


def is_inside(name: str) -> bool:
    """Whether a path stays below the folder that it begins in."""
    parts = name.replace(os.sep, "/").split("/")
    return bool(parts[0]) and not os.path.splitdrive(name)[0] and os.pardir not in parts


def is_bytecode(name: str) -> bool:
    """Whether a path with "/" is that of Python's own copy of a source."""
    return name.endswith(".pyc") and name.rpartition("/")[0].rpartition("/")[2] == BYTECODE_FOLDER


def _stamp_files(folder: Path, names: Iterable[str]) -> dict[str, FileStamp | None]:
    return {name: None if name.endswith("/") else _stamp_file(f"{folder}/{name}") for name in names}


def _stamp_file(path: str) -> FileStamp:
    status = os.lstat(path)
    return FileStamp(status.st_size, status.st_mtime_ns)


def _save_file_manifest(folder: Path, stamps: dict[str, FileStamp | None]) -> None:
    lines = [_format_line(name, stamp) for name, stamp in stamps.items() if name not in (FILE_MANIFEST, UNFINISHED_MARK)]
    # Surrogates stand for bytes that are no text: a name on Linux may have them.
    json.write_file(folder / FILE_MANIFEST, "".join(lines).encode("utf-8", "surrogateescape"))


def _format_line(name: str, stamp: FileStamp | None) -> str:
    return f"{name}\n" if stamp is None else f"{name}\t{stamp.size}\t{stamp.mtime_ns}\n"


def _parse_line(line: str) -> tuple[str, FileStamp | None]:
    match = _STAMPED_LINE.match(line)
    return (line, None) if match is None else (match[1], FileStamp(int(match[2]), int(match[3])))
