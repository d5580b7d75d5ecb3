"""Which folders below the data folder this program made, so that it deletes nothing that somebody else put there.

A folder that the program makes for its own files gets a marker with the folder's inode. A folder that held something
before has none, and a copy has the inode of the original: neither is deleted. The device's number is not recorded: it
changes with each start of the computer for btrfs, LVM and USB disks. The folder must be on the disk of the folder that
it is in, so that what is mounted there is not ours either.
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
    """`existed`: the folder was there before, empty, so it stays when what is in it is deleted."""

    schema: Literal["gpu-assistant/folder/1"]
    inode: str
    existed: bool = False


def claim_folder(folder: Path) -> bool:
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
        marker = FolderMarker(schema="gpu-assistant/folder/1", inode=str(folder.stat().st_ino), existed=existed)
        json.write_file(folder / MARKER_NAME, json.encode(marker))
    return True


def is_owned(folder: Path) -> bool:
    """Whether the program made what is in a folder: a real folder with its own marker, no link and no mount."""
    return _own_marker(folder) is not None


def bears_own_marker(folder: Path) -> bool:
    """The same for the data folder itself, which may be a link or a disk of its own."""
    marker = _read_marker(folder)
    try:
        return marker is not None and marker.inode == str(folder.stat().st_ino)
    except OSError:
        return False


def empty_owned_folder(folder: Path, *, keep_names: Collection[str] = ()) -> None:
    """Delete what is in a folder of ours, but for its marker and `keep_names`; nothing in any other folder. Raises
    OSError.

    The marker stays until the end: a removal that was interrupted can be continued.
    """
    if not is_owned(folder):
        return
    for path in tuple(folder.iterdir()):
        if path.name == MARKER_NAME or path.name in keep_names:
            continue
        if is_real_folder(path):
            filesystem.rmtree(path)
        else:
            filesystem.unlink(path)


def remove_marked_folder(folder: Path) -> None:
    """Remove a folder that holds nothing but its own marker; the marker alone where the folder was there before. Any
    other folder stays as it is.
    """
    marker = _read_marker(folder)
    if marker is None or not bears_own_marker(folder):
        return
    with suppress(OSError):
        if any(path.name != MARKER_NAME for path in folder.iterdir()):
            return
        filesystem.unlink(folder / MARKER_NAME)
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


def _own_marker(folder: Path) -> FolderMarker | None:
    marker = _read_marker(folder)
    try:
        status, parent_status = folder.lstat(), folder.parent.stat()
    except OSError:
        return None
    is_here = marker is not None and marker.inode == str(status.st_ino) and status.st_dev == parent_status.st_dev
    return marker if is_here and is_real_folder(folder) else None


def _read_marker(folder: Path) -> FolderMarker | None:
    path = folder / MARKER_NAME
    try:
        return None if path.is_symlink() else json.decode(path.read_bytes(), FolderMarker)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
