"""What of a folder of ours is deleted by its list; whatever else lies there stays."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from . import listing
from .listing import BYTECODE_FOLDER, FILE_MANIFEST


def remove_listed_files(folder: Path) -> None:
    """Delete the files of a folder's list that are as they were, and the folders that are empty then; raises OSError.

    The list goes last: as long as it is there, the rest can be deleted by it.
    """
    try:
        managed = listing.read_file_manifest(folder)
    except FileNotFoundError:
        return  # gone already: what is left is not ours
    root = os.fspath(folder)
    inside_stamps = {name: stamp for name, stamp in managed.items() if listing.is_inside(name)}
    # Where somebody put a link in a folder's place, what lies behind it is not ours.
    link_free = {"": True}
    for name, stamp in inside_stamps.items():
        if name.endswith("/") or not _has_no_link(root, name.rpartition("/")[0], link_free):
            continue
        if listing.is_unchanged(root, name, stamp):
            (folder / name).unlink()
    managed_folders = listing.parent_folders(inside_stamps)
    for walked, folders, files in os.walk(folder, topdown=False):
        current = Path(walked)
        is_bytecode_folder = current.name == BYTECODE_FOLDER
        if is_bytecode_folder and not folders and all(file.endswith(".pyc") for file in files):
            for file in files:
                _remove_stale_bytecode(current / file)
        if current != folder and (is_bytecode_folder or current.relative_to(folder).as_posix() in managed_folders):
            with suppress(OSError):
                current.rmdir()  # only an empty one goes
    (folder / FILE_MANIFEST).unlink()


def _has_no_link(root: str, subfolder: str, checked: dict[str, bool]) -> bool:
    """Whether no folder on the way down is a link."""
    if subfolder not in checked:
        checked[subfolder] = _has_no_link(root, subfolder.rpartition("/")[0], checked) and not Path(root, subfolder).is_symlink()
    return checked[subfolder]


def _remove_stale_bytecode(file: Path) -> None:
    """Python's own copy of a source that is gone."""
    source = file.parent.parent / f"{file.name.partition('.')[0]}.py"
    if not source.exists():
        file.unlink()


def has_content(folder: Path) -> bool:
    """Whether anything but an empty folder is there."""
    return os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir()))
