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
    # Where somebody put a link in a folder's place, what lies behind it is not ours.
    real: dict[Path, bool] = {folder: True}
    for name, was in ours.items():
        path = folder / name
        if name.endswith("/") or not listing.inside(name) or not _real(path.parent, real):
            continue
        if listing.untouched(path, was):
            path.unlink()
    places = listing.above(name for name in ours if listing.inside(name))
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


def _real(folder: Path, known: dict[Path, bool]) -> bool:
    """Whether no folder on the way down is a link."""
    if folder not in known:
        known[folder] = _real(folder.parent, known) and not folder.is_symlink()
    return known[folder]


def _drop_bytecode(file: Path) -> None:
    """Python's own copy of a source that is gone."""
    source = file.parent.parent / f"{file.name.partition('.')[0]}.py"
    if not source.exists():
        file.unlink()


def holds_anything(folder: Path) -> bool:
    """Whether anything but an empty folder is there."""
    return os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir()))
