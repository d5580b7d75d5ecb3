"""Files that are added to a folder which holds others, and taken out of it again.

They are unpacked in a folder of their own inside, `.<receipt>.partial`, and moved from there to their places; the
receipt comes last. A file that is still in that folder has not been moved: what lies in its place is not ours.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Literal

from ..core import json
from ..core.errors import AppError
from ..core.json import storage_error
from . import owned, receipt
from .receipt import LINK, Part, Receipt
from .removal import delete, partial_path

NOTE = "note.json"
TREE = "tree"


def look(folder: Path, name: str) -> Literal["made", "half", "before"]:
    """Whether all files of a receipt are there, some of them, or none."""
    if (folder / name).is_file():
        return "made"
    return "half" if partial_path(folder / name).is_dir() else "before"


def add(folder: Path, name: str, whole: Receipt, unpack: Callable[[Path], Part]) -> None:
    """Unpack into a folder that is given, and move all that is in it to its place.

    `whole` is the receipt without its part. A killed run's unpacking is used where it was finished.
    Raises AppError("toolkit-occupied") before anything is moved, and what unpacking raises.
    """
    stage = partial_path(folder / name)
    part = receipt.read_part(stage / NOTE)
    if part is None:
        delete(stage)
        part = unpack(stage / TREE)
        json.write_file(stage / NOTE, json.encode(part))
    try:
        for file in part.files:
            if os.path.lexists(stage / TREE / file) and os.path.lexists(folder / file):
                raise AppError("toolkit-occupied", path=str(folder / file))
        for file in part.files:
            source, target = stage / TREE / file, folder / file
            if os.path.lexists(source):
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)
    except OSError as error:
        raise storage_error(error, folder) from error
    made = Receipt(
        schema=whole.schema, version=whole.version, platform=whole.platform, index=whole.index, parts=(part,)
    )
    json.write_file(folder / name, json.encode(made))
    delete(stage)


def files(folder: Path, name: str) -> dict[str, str]:
    """What the receipt names, with its hash, and what a killed run had moved to its place without one."""
    there = receipt.read(folder / name)
    if there is not None:
        return there.files
    stage = partial_path(folder / name)
    note = receipt.read_part(stage / NOTE)
    moved = note.files if note is not None else {}
    return {file: digest for file, digest in moved.items() if not os.path.lexists(stage / TREE / file)}


def changed(folder: Path, name: str) -> tuple[str, ...]:
    """Those that somebody changed since."""
    try:
        since = (folder / name).stat().st_mtime_ns
    except OSError:
        since = None
    return tuple(file for file, digest in files(folder, name).items() if _changed(folder / file, digest, since))


def _changed(path: Path, digest: str, since: int | None) -> bool:
    """One that nobody touched since its receipt was written is not read; one that is gone was not changed."""
    if not os.path.lexists(path):
        return False
    if digest.startswith(LINK) or path.is_symlink():
        return not (path.is_symlink() and path.readlink() == Path(digest.removeprefix(LINK)))
    return not owned.whole(path, owned.Digest("sha256", digest), since)


def remove(folder: Path, name: str, *, keep: Container[str] = ()) -> None:
    """Take out what the receipt names, and what a killed run left; what is to be kept stays. Raises AppError."""
    stage = partial_path(folder / name)
    inside = files(folder, name)
    try:
        for file in inside:
            if file not in keep:
                with suppress(FileNotFoundError, NotADirectoryError):
                    (folder / file).unlink()
        # Deepest first: only empty ones go.
        above = {place for file in inside for place in PurePosixPath(file).parents if place.parts}
        for place in sorted(above, key=lambda place: -len(place.parts)):
            with suppress(OSError):
                (folder / place).rmdir()
        (folder / name).unlink(missing_ok=True)
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(folder)) from error
    except OSError as error:
        raise storage_error(error, folder) from error
    delete(stage)
