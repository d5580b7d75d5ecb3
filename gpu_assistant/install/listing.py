"""The list of what in a folder is ours, and what each file was like when it was written down; the one walk for it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..core import json
from ..core.json import storage_error

FILES = "gpu-assistant-files.txt"
# A folder with it is ours and not whole, whatever else it holds.
UNFINISHED = "gpu-assistant-unfinished.txt"
# Python writes these beside our files on its own.
BYTECODE = "__pycache__"
_MARKED = re.compile(r"(.*)\t(-?\d+)\t(-?\d+)\Z", re.ASCII | re.DOTALL)


class Mark(NamedTuple):
    """By what a file is known to be as it was: its bytes, and when it was last written, in nanoseconds."""

    size: int
    written: int


def walk(folder: Path) -> Iterator[str]:
    """Every file and link below a folder, and every empty folder with a "/" at its end, by its path from there with
    "/"; links are not followed. Raises OSError.
    """
    todo = [""]
    while todo:
        inner = todo.pop()
        with os.scandir(folder / inner) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        if inner and not found:
            yield inner
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                todo.append(f"{inner}{entry.name}/")
            else:
                yield f"{inner}{entry.name}"


def files(folder: Path) -> Iterator[str]:
    """The same without the empty folders."""
    return (name for name in walk(folder) if not name.endswith("/"))


def write(folder: Path, names: Collection[str] | None = None) -> None:
    """Write down what in a folder is ours: these files, or all that it holds just now. Raises AppError.

    Empty folders are ours, too; where there was a list before, only those that were on it.
    """
    try:
        empty = {name for name in walk(folder) if name.endswith("/")} if names is not None else set()
        if os.path.lexists(folder / FILES):
            empty &= read(folder).keys()
        json.sweep(folder, {FILES, *(names or ())})
        _write(folder, _marked(folder, walk(folder) if names is None else [*names, *empty]))
    except OSError as error:
        raise storage_error(error, folder) from error


def read(folder: Path) -> dict[str, Mark | None]:
    """What is ours, as it was written down; a folder has no mark. Raises OSError where there is no list."""
    text = (folder / FILES).read_bytes().decode("utf-8", "surrogateescape")
    return dict(_entry(line) for line in text.split("\n") if line)


def adopt(folder: Path, names: Iterable[str]) -> None:
    """Have these on the list, too, as they are just now; raises OSError, AppError."""
    _write(folder, read(folder) | _marked(folder, names))


def untouched(folder: str, name: str, was: Mark | None) -> bool:
    """Whether a file below a folder is as it was; one that is gone is not. Python's own copies of sources count as
    they are.
    """
    # An environment has tens of thousands of files: no Path is made of each.
    path = f"{folder}/{name}"
    if was is None or is_bytecode(name):
        return os.path.lexists(path)
    try:
        return _mark(path) == was
    except OSError:
        return False


def above(names: Iterable[str]) -> set[str]:
    """All folders in which something of these lies, and those that are among them, by their paths without a "/"."""
    found: set[str] = set()
    for name in names:
        place = name[:-1] if name.endswith("/") else name.rpartition("/")[0]
        while place and place not in found:
            found.add(place)
            place = place.rpartition("/")[0]
    return found


def inside(name: str) -> bool:
    """Whether a path stays below the folder that it begins in."""
    parts = name.replace(os.sep, "/").split("/")
    return bool(parts[0]) and not os.path.splitdrive(name)[0] and os.pardir not in parts


def is_bytecode(name: str) -> bool:
    """Whether a path with "/" is that of Python's own copy of a source."""
    return name.endswith(".pyc") and name.rpartition("/")[0].rpartition("/")[2] == BYTECODE


def _marked(folder: Path, names: Iterable[str]) -> dict[str, Mark | None]:
    return {name: None if name.endswith("/") else _mark(f"{folder}/{name}") for name in names}


def _mark(path: str) -> Mark:
    found = os.lstat(path)
    return Mark(found.st_size, found.st_mtime_ns)


def _write(folder: Path, found: dict[str, Mark | None]) -> None:
    lines = [_line(name, mark) for name, mark in found.items() if name not in (FILES, UNFINISHED)]
    # Surrogates stand for bytes that are no text: a name on Linux may have them.
    json.write_file(folder / FILES, "".join(lines).encode("utf-8", "surrogateescape"))


def _line(name: str, mark: Mark | None) -> str:
    return f"{name}\n" if mark is None else f"{name}\t{mark.size}\t{mark.written}\n"


def _entry(line: str) -> tuple[str, Mark | None]:
    found = _MARKED.match(line)
    return (line, None) if found is None else (found[1], Mark(int(found[2]), int(found[3])))
