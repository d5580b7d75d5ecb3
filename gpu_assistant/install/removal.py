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
from .listing import FILE_MANIFEST, UNFINISHED_MARK
from .strangers import find_foreign_files
from .sweeping import remove_listed_files, has_content

DELETE_ATTEMPTS = 20  # to delete what somebody else still writes into


def trash_path(folder: Path) -> Path:
    """Where a folder goes before it is deleted."""
    return folder.with_name(f".{folder.name}.trash")


def partial_path(folder: Path) -> Path:
    """Where a folder is made before it has its name."""
    return folder.with_name(f".{folder.name}.partial")


def staging_path(folder: Path) -> Path:
    """Where a folder is while it is made: in its place if it was begun there, else beside it."""
    return folder if os.path.lexists(folder / UNFINISHED_MARK) else partial_path(folder)


def begin_in_place(folder: Path) -> None:
    """Begin a folder that cannot be moved, empty but for the file that says so; what a killed run left goes.

    Raises AppError.
    """
    discard_unfinished(folder)
    partial = partial_path(folder)
    delete_folder(partial)
    try:
        partial.mkdir()
    except OSError as error:
        raise storage_error(error, partial) from error
    write_mark(partial, "")
    commit_folder(folder)


def write_mark(folder: Path, progress: str) -> None:
    """Write down how far a folder is that is made in its place; raises AppError."""
    json.write_file(folder / UNFINISHED_MARK, progress)


def read_mark(folder: Path) -> str | None:
    """How far it is; None where it is not being made in its place."""
    try:
        return (folder / UNFINISHED_MARK).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def discard_unfinished(folder: Path) -> None:
    """Take away one that was begun in its place, if there is one; a kill leaves one that was begun beside it.

    Raises AppError.
    """
    if not os.path.lexists(folder / UNFINISHED_MARK):
        return
    delete_folder(partial_path(folder))
    try:
        folder.rename(partial_path(folder))
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(folder)) from error
    except OSError as error:
        raise storage_error(error, folder) from error
    delete_folder(partial_path(folder))


def folder_state(folder: Path) -> Literal["made", "half", "before", "changed"]:
    """Whether a folder stands whole as we made it, half made or half removed, not at all, or as somebody else's."""
    if os.path.lexists(folder / UNFINISHED_MARK):
        return "half"
    if os.path.lexists(folder / FILE_MANIFEST):
        return "made"
    if any(path(folder).is_dir() for path in (partial_path, trash_path, replacing.old_path)):
        return "half"
    return "changed" if has_content(folder) else "before"


def commit_folder(folder: Path) -> None:
    """Give a folder that was made its name; an empty one in its place gives way. Raises AppError."""
    staging = staging_path(folder)
    try:
        if staging == folder:
            (folder / UNFINISHED_MARK).unlink()
            return
        if folder.is_dir():
            folder.rmdir()
        staging.rename(folder)
    except OSError as error:
        raise storage_error(error, folder) from error


def remove_folder(folder: Path, *, keep_empty: bool = False) -> bool:
    """Take a folder of ours away, and what a killed run left of it; says whether files of somebody else stay there.

    What packages that were installed into it brought goes with it; their list stays beside it.
    `stood` leaves an empty one in its place. Raises AppError, "environment-in-use" before anything is deleted.
    """
    finish_removal(folder)
    discard_unfinished(folder)
    delete_folder(partial_path(folder))
    if os.path.lexists(folder / FILE_MANIFEST):
        foreign = find_foreign_files(folder)
        # Once they are on the list, nobody knows any more that they were the user's.
        package_list.write_user_packages(folder, foreign.records)
        try:
            if foreign.package_files or foreign.damaged_metadata:
                listing.add_to_file_manifest(folder, (*foreign.package_files, *foreign.damaged_metadata))
            folder.rename(trash_path(folder))
        except PermissionError as error:
            raise AppError("environment-in-use", path=str(folder)) from error
        except OSError as error:
            raise storage_error(error, folder) from error
        finish_removal(folder)
    if keep_empty:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise storage_error(error, folder) from error
    return has_content(folder)


def finish_removal(folder: Path) -> None:
    """Carry a removal through that was begun: our files go, the others return to their place; before it, what gave way
    to a new one. Raises AppError.
    """
    replacing.finish_swap(folder)
    trash = trash_path(folder)
    if not trash.is_dir():
        return
    try:
        remove_listed_files(trash)
        if not any(trash.iterdir()):
            trash.rmdir()
        elif not has_content(folder):
            with suppress(FileNotFoundError):
                folder.rmdir()
            trash.rename(folder)
        else:
            raise AppError("environment-occupied", path=str(folder))
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(trash)) from error
    except OSError as error:
        raise storage_error(error, trash) from error


def delete_folder(folder: Path) -> None:
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
    for attempts_left in reversed(range(DELETE_ATTEMPTS)):
        if not folder.exists():
            return
        try:
            shutil.rmtree(folder)
        except OSError as error:
            if not attempts_left or error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
                raise
