"""What of a folder of ours is deleted by its list; whatever else lies there stays."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from . import listing
from .listing import BYTECODE, FILES


def delete_listed(folder: Path) -> None:
    """Delete the files of a folder's list that are as they were, and the folders that are empty then; raises OSError.

    The list goes last: as long as it is there, the rest can be deleted by it.
    """
    try:
        ours = listing.read(folder)
    except FileNotFoundError:
        return  # gone already: what is left is not ours
    root = os.fspath(folder)
    inside = {name: was for name, was in ours.items() if listing.inside(name)}
    # Where somebody put a link in a folder's place, what lies behind it is not ours.
    real = {"": True}
    for name, was in inside.items():
        if name.endswith("/") or not _real(root, name.rpartition("/")[0], real):
            continue
        if listing.untouched(root, name, was):
            (folder / name).unlink()
    places = listing.above(inside)
    for place, folders, files in os.walk(folder, topdown=False):
        here = Path(place)
        bytecode = here.name == BYTECODE
        if bytecode and not folders and all(file.endswith(".pyc") for file in files):
            for file in files:
                _drop_bytecode(here / file)
        if here != folder and (bytecode or here.relative_to(folder).as_posix() in places):
            with suppress(OSError):
                here.rmdir()  # only an empty one goes
    (folder / FILES).unlink()


def _real(root: str, inner: str, known: dict[str, bool]) -> bool:
    """Whether no folder on the way down is a link."""
    if inner not in known:
        known[inner] = _real(root, inner.rpartition("/")[0], known) and not Path(root, inner).is_symlink()
    return known[inner]


def _drop_bytecode(file: Path) -> None:
    """Python's own copy of a source that is gone."""
    source = file.parent.parent / f"{file.name.partition('.')[0]}.py"
    if not source.exists():
        file.unlink()


def holds_anything(folder: Path) -> bool:
    """Whether anything but an empty folder is there."""
    return os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir()))
