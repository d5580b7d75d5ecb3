"""Folders that are made whole and taken away whole, so that a kill leaves nothing that looks whole.

A folder is made as `.<name>.partial` and renamed when everything is in it; with it goes a list of its files. It is
taken away by a rename to `.<name>.trash`; there only the files of the list are deleted that are as they were, and what
is left over was never ours, or was changed, and goes back to where it was. What others' packages brought into it is put
on the list before.

What cannot be moved (conda writes a folder's path into its files) is made in its place: then a file in it says that
it is unfinished, and taking that file away is what the rename is to the others.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Literal

from ..core import json
from ..core.errors import AppError
from ..core.json import storage_error
from . import listing, package_list, replacing
from .listing import FILES, UNFINISHED
from .strangers import strangers
from .sweeping import delete_listed, holds_anything

TRIES = 20  # to delete what somebody else still writes into


def trash_path(folder: Path) -> Path:
    """Where a folder goes before it is deleted."""
    return folder.with_name(f".{folder.name}.trash")


def partial_path(folder: Path) -> Path:
    """Where a folder is made before it has its name."""
    return folder.with_name(f".{folder.name}.partial")


def making(folder: Path) -> Path:
    """Where a folder is while it is made: in its place if it was begun there, else beside it."""
    return folder if os.path.lexists(folder / UNFINISHED) else partial_path(folder)


def begin_in_place(folder: Path) -> None:
    """Begin a folder that cannot be moved, empty but for the file that says so; what a killed run left goes.

    Raises AppError.
    """
    discard(folder)
    partial = partial_path(folder)
    delete(partial)
    try:
        partial.mkdir()
    except OSError as error:
        raise storage_error(error, partial) from error
    say(partial, "")
    name(folder)


def say(folder: Path, how_far: str) -> None:
    """Write down how far a folder is that is made in its place; raises AppError."""
    json.write_file(folder / UNFINISHED, how_far)


def said(folder: Path) -> str | None:
    """How far it is; None where it is not being made in its place."""
    try:
        return (folder / UNFINISHED).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def discard(folder: Path) -> None:
    """Take away one that was begun in its place, if there is one; a kill leaves one that was begun beside it.

    Raises AppError.
    """
    if not os.path.lexists(folder / UNFINISHED):
        return
    delete(partial_path(folder))
    try:
        folder.rename(partial_path(folder))
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(folder)) from error
    except OSError as error:
        raise storage_error(error, folder) from error
    delete(partial_path(folder))


def look(folder: Path) -> Literal["made", "half", "before", "changed"]:
    """Whether a folder stands whole as we made it, half made or half removed, not at all, or as somebody else's."""
    if os.path.lexists(folder / UNFINISHED):
        return "half"
    if os.path.lexists(folder / FILES):
        return "made"
    if any(path(folder).is_dir() for path in (partial_path, trash_path, replacing.old_path)):
        return "half"
    return "changed" if holds_anything(folder) else "before"


def name(folder: Path) -> None:
    """Give a folder that was made its name; an empty one in its place gives way. Raises AppError."""
    made = making(folder)
    try:
        if made == folder:
            (folder / UNFINISHED).unlink()
            return
        if folder.is_dir():
            folder.rmdir()
        made.rename(folder)
    except OSError as error:
        raise storage_error(error, folder) from error


def remove(folder: Path, *, stood: bool = False) -> bool:
    """Take a folder of ours away, and what a killed run left of it; says whether files of somebody else stay there.

    What packages that were installed into it brought goes with it; their list stays beside it.
    `stood` leaves an empty one in its place. Raises AppError, "environment-in-use" before anything is deleted.
    """
    finish(folder)
    discard(folder)
    delete(partial_path(folder))
    if os.path.lexists(folder / FILES):
        found = strangers(folder)
        # Once they are on the list, nobody knows any more that they were the user's.
        package_list.keep(folder, found.records)
        try:
            if found.theirs or found.notes:
                listing.adopt(folder, (*found.theirs, *found.notes))
            folder.rename(trash_path(folder))
        except PermissionError as error:
            raise AppError("environment-in-use", path=str(folder)) from error
        except OSError as error:
            raise storage_error(error, folder) from error
        finish(folder)
    if stood:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise storage_error(error, folder) from error
    return holds_anything(folder)


def finish(folder: Path) -> None:
    """Carry a removal through that was begun: our files go, the others return to their place; before it, what gave way
    to a new one. Raises AppError.
    """
    replacing.finish(folder)
    trash = trash_path(folder)
    if not trash.is_dir():
        return
    try:
        delete_listed(trash)
        if not any(trash.iterdir()):
            trash.rmdir()
        elif not holds_anything(folder):
            with suppress(FileNotFoundError):
                folder.rmdir()
            trash.rename(folder)
        else:
            raise AppError("environment-occupied", path=str(folder))
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(trash)) from error
    except OSError as error:
        raise storage_error(error, trash) from error


def delete(folder: Path) -> None:
    """Delete a folder that nothing counts as whole, if it is there; raises AppError."""
    try:
        if folder.is_symlink():
            folder.unlink()
        else:
            _delete_tree(folder)
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(folder)) from error
    except OSError as error:
        raise storage_error(error, folder) from error


def _delete_tree(folder: Path) -> None:
    """What a killed run had started may be ending just now: its files come and go while they are deleted."""
    for left in reversed(range(TRIES)):
        if not folder.exists():
            return
        try:
            shutil.rmtree(folder)
        except OSError as error:
            if not left or error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
                raise
