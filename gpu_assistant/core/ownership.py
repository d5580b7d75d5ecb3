"""Which folders below the data folder this program made, so that it deletes nothing that somebody else put there.

A folder that the program makes for its own files gets a marker with the folder's inode. A folder that held something
before has none, and a copy has the inode of the original: neither is deleted. The device's number is not recorded: it
changes with each start of the computer for btrfs, LVM and USB disks. The folder must be on the disk of the folder that
it is in, so that what is mounted there is not ours either. A folder that has another name while it is made or removed
also bears the place that it is for: on some disks (FAT, exFAT) a new name means a new inode.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from . import filesystem, json
from .errors import storage_errors

MARKER_NAME = ".gpu-assistant-folder.json"
# What Windows' launcher writes into the data folder before Python begins (installers/windows/report.c): a folder with
# nothing else was made by it.
LAUNCHER_NAMES = frozenset({"logs", "start.txt"})
_claiming = threading.Lock()  # threads of one process would write the marker by the same temporary name


class FolderMarker(Struct, frozen=True, kw_only=True):
    """`existed`: the folder was there before, empty, so it stays when what is in it is deleted. `place`: where it goes,
    or comes from, if it has a temporary name; the data folder that it belongs to, if it lies outside. `emptied`: of
    what we made only the marker is left.
    """

    schema: Literal["gpu-assistant/folder/1"]
    inode: str
    existed: bool = False
    place: str | None = None
    emptied: bool = False


def claim_folder(folder: Path, place: Path | None = None) -> bool:
    """Make a folder with its marker, or mark an empty one; returns whether files may be written there.

    False for a folder that holds something and has no marker. One with a marker of another folder is a copy: it may be
    used. Raises AppError.
    """
    with _claiming, storage_errors(folder):
        try:
            folder.mkdir(parents=True)
            existed = False
        except FileExistsError:
            names = {path.name for path in folder.iterdir() if MARKER_NAME not in path.name}
            # Another process may be marking it now: its marker comes before anything else.
            if os.path.lexists(folder / MARKER_NAME) or not names <= LAUNCHER_NAMES:
                return _read_marker(folder) is not None
            existed = not names
        _write_marker(folder, existed=existed, place=place)
    return True


def mark_folder(folder: Path, place: Path) -> None:
    """Mark a folder that something else proves to be ours, before it gets a temporary name. Raises AppError."""
    if not is_owned(folder, place):
        with storage_errors(folder):
            _write_marker(folder, existed=False, place=place)


def mark_emptied(folder: Path, place: Path) -> None:
    """Record that what is left in a folder of ours belongs to others; raises AppError."""
    with storage_errors(folder):
        _write_marker(folder, existed=False, place=place, emptied=True)


def is_emptied(folder: Path) -> bool:
    """Whether `mark_emptied` was called for a folder, which has its own name again."""
    marker = _own_marker(folder, folder)
    return marker is not None and marker.emptied


def is_owned(folder: Path, place: Path | None = None) -> bool:
    """Whether the program made what is in a folder: a real folder with its own marker, no link and no mount. The marker
    of one with a temporary name has the inode or the `place`.
    """
    return _own_marker(folder, place) is not None


def belongs_to(folder: Path, data_root: Path) -> bool:
    """Whether a folder that lies elsewhere was made for this data folder, and for no other one."""
    marker = _read_marker(folder)
    return marker is not None and marker.place == str(data_root) and is_real_folder(folder)


def is_blank(folder: Path) -> bool:
    """Whether a real folder holds nothing but its marker, or what a killed process had written of it."""
    try:
        return is_real_folder(folder) and all(MARKER_NAME in path.name for path in folder.iterdir())
    except OSError:
        return False


def bears_own_marker(folder: Path) -> bool:
    """The same for the data folder itself, which may be a link or a disk of its own."""
    marker = _read_marker(folder)
    try:
        return marker is not None and marker.inode == str(folder.stat().st_ino)
    except OSError:
        return False


def empty_owned_folder(folder: Path, place: Path | None = None, *, keep_names: Collection[str] = ()) -> None:
    """Delete what is in a folder of ours, but for its marker and `keep_names`; nothing in any other folder. Raises
    OSError.

    The marker stays until the end: a removal that was interrupted can be continued.
    """
    if not is_owned(folder, place):
        return
    for path in tuple(folder.iterdir()):
        if path.name == MARKER_NAME or path.name in keep_names:
            continue
        if is_real_folder(path):
            filesystem.rmtree(path)
        else:
            filesystem.unlink(path)


def remove_marked_folder(folder: Path, place: Path | None = None) -> None:
    """Remove a folder that holds nothing but its own marker; the marker alone where the folder was there before. Any
    other folder stays as it is.
    """
    marker = _read_marker(folder)
    if marker is None or not (bears_own_marker(folder) or is_owned(folder, place)):
        return
    with suppress(OSError):
        paths = tuple(folder.iterdir())
        if not all(MARKER_NAME in path.name for path in paths):
            return
        for path in paths:
            filesystem.unlink(path)
        if not marker.existed:
            filesystem.rmdir(folder)


def is_real_folder(path: Path) -> bool:
    """Whether it is a folder and no link or, on Windows, junction."""
    try:
        status = path.lstat()
    except OSError:
        return False
    is_reparse_point = getattr(status, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT
    return stat.S_ISDIR(status.st_mode) and not is_reparse_point


def _write_marker(folder: Path, *, existed: bool, place: Path | None, emptied: bool = False) -> None:
    marker = FolderMarker(
        schema="gpu-assistant/folder/1",
        inode=str(folder.stat().st_ino),
        existed=existed,
        place=str(place) if place is not None else None,
        emptied=emptied,
    )
    json.write_file(folder / MARKER_NAME, json.encode(marker))


def _own_marker(folder: Path, place: Path | None = None) -> FolderMarker | None:
    marker = _read_marker(folder)
    try:
        status, parent_status = folder.lstat(), folder.parent.stat()
    except OSError:
        return None
    if marker is None or not is_real_folder(folder):
        return None
    if place is not None and marker.place == str(place):
        return marker
    return marker if (marker.inode, status.st_dev) == (str(status.st_ino), parent_status.st_dev) else None


def _read_marker(folder: Path) -> FolderMarker | None:
    path = folder / MARKER_NAME
    try:
        return None if path.is_symlink() else json.decode(filesystem.read_bytes(path), FolderMarker)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
