"""A finished folder gives way to a new one that was proven, and what the user put into it moves over.

The old one is renamed to `.<name>.old` and the new one gets the name. A kill between the two leaves no folder of that
name: then the old one is put back. After it the move goes on with whatever is still in the old one. Of that what is
ours goes, and what has no place in the new one, because something else is there, stays in a folder beside it.

Folders that are made whole and taken away whole, so that a kill leaves nothing that looks whole.

A folder is made as `.<name>.partial` and renamed when everything is in it; with it goes a list of its files. It is
taken away by a rename to `.<name>.trash`; there only the files of the list are deleted that are as they were, and what
is left over was never ours, or was changed, and goes back to where it was. What others' packages brought into it is put
on the list before.

What cannot be moved (conda writes a folder's path into its files) is made in its place: then a file in it says that
it is unfinished, and taking that file away is what the rename is to the others.

Files that are added to a folder which holds others, and taken out of it again.

They are unpacked in a folder of their own inside, `.<receipt>.partial`, and moved from there to their places; the
receipt comes last. A file that is still in that folder has not been moved: what lies in its place is not ours.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Container
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Literal

from msgspec import Struct

from ...core import json
from ...core.errors import AppError
from ...core.json import storage_error
from . import archives, inventory
from .archives import LINK_PREFIX, Receipt, ReceiptPart
from .inventory import FILE_MANIFEST, UNFINISHED_MARK, find_foreign_files, has_content, remove_listed_files


def old_path(folder: Path) -> Path:
    """Where a folder is whose name another one has."""
    return folder.with_name(f".{folder.name}.old")


def aside_path(folder: Path) -> Path:
    """A free place beside a folder for what has none in it: "pytorch-kept", "pytorch-kept-2"."""
    number, candidate = 1, folder.with_name(f"{folder.name}-kept")
    while os.path.lexists(candidate):
        number += 1
        candidate = folder.with_name(f"{folder.name}-kept-{number}")
    return candidate


def swap_out(folder: Path) -> None:
    """Make room for the new one. Raises AppError, "environment-in-use" while a program works in it."""
    _rename_folder(folder, old_path(folder))


def restore_old(folder: Path) -> None:
    """Give the old one its name again, where it had to give way; raises AppError."""
    if old_path(folder).is_dir():
        if folder.is_dir():
            with suppress(OSError):
                folder.rmdir()  # only an empty one goes
        _rename_folder(old_path(folder), folder)


class SwapRemainder(Struct, frozen=True):
    """What of the old one has no place in the new one: the folder where it is `kept`, and the list of the `packages`
    that were the user's and are there in our versions again; None where there is none.
    """

    folder: Path | None = None
    package_list: Path | None = None


def finish_swap(folder: Path) -> SwapRemainder:
    """Carry a replacement through that was begun, else put the old one back. Raises AppError."""
    old, package_list = old_path(folder), None
    if not old.is_dir():
        return SwapRemainder()
    if not has_content(folder):
        restore_old(folder)
        return SwapRemainder()
    try:
        if os.path.lexists(old / FILE_MANIFEST):
            package_list = _move_user_files(old, folder)
            remove_listed_files(old)
        _remove_empty_folders(old)
        if not old.is_dir():
            return SwapRemainder(package_list=package_list)
        aside = aside_path(folder)
        old.rename(aside)
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(old)) from error
    except OSError as error:
        raise storage_error(error, old) from error
    return SwapRemainder(aside, package_list)


def _move_user_files(old: Path, folder: Path) -> Path | None:
    """Files of the user's, and packages that the new one does not have in a version of its own; of the others, their
    list.
    """
    from packaging.utils import canonicalize_name

    foreign, new_manifest = find_foreign_files(old), inventory.read_manifest(folder)
    own_names = {canonicalize_name(name) for name in (new_manifest.packages if new_manifest is not None else ())}
    user_packages = [
        package
        for package in inventory.installed_packages(old)
        if canonicalize_name(package.name.partition(" ")[0]) not in own_names
    ]
    packaged_files = {name for package in user_packages for name in package.files}
    # Until all else of a package has moved, its record still tells what belongs to it.
    records = {package.record_path for package in user_packages}
    package_files = sorted(
        (name for name in foreign.package_files if name in packaged_files), key=lambda name: name in records
    )
    for name in (*package_files, *foreign.user_files):
        source, target = old / name, folder / name
        if not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
    # What of their packages is left has its own version in the new one.
    replaced_list = inventory.write_user_packages(
        old, tuple(name for name in foreign.records if name not in records), environment=folder
    )
    inventory.add_to_file_manifest(
        old, [name for name in (*foreign.package_files, *foreign.damaged_metadata) if os.path.lexists(old / name)]
    )
    return replaced_list


def _remove_empty_folders(folder: Path) -> None:
    for root, _folders, _files in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(root).rmdir()


def _rename_folder(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(source)) from error
    except OSError as error:
        raise storage_error(error, source) from error


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
    if any(path(folder).is_dir() for path in (partial_path, trash_path, old_path)):
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
        inventory.write_user_packages(folder, foreign.records)
        try:
            if foreign.package_files or foreign.damaged_metadata:
                inventory.add_to_file_manifest(folder, (*foreign.package_files, *foreign.damaged_metadata))
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
    finish_swap(folder)
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


PART_FILE = "note.json"
TREE_FOLDER = "tree"


def merge_state(folder: Path, name: str) -> Literal["made", "half", "before"]:
    """Whether all files of a receipt are there, some of them, or none."""
    if (folder / name).is_file():
        return "made"
    return "half" if partial_path(folder / name).is_dir() else "before"


def merge_files(folder: Path, name: str, receipt_head: Receipt, unpack: Callable[[Path], ReceiptPart]) -> None:
    """Unpack into a folder that is given, and move all that is in it to its place.

    `whole` is the receipt without its part. A killed run's unpacking is used where it was finished.
    Raises AppError("toolkit-occupied") before anything is moved, and what unpacking raises.
    """
    staging = partial_path(folder / name)
    part = archives.read_receipt_part(staging / PART_FILE)
    if part is None:
        delete_folder(staging)
        part = unpack(staging / TREE_FOLDER)
        json.write_file(staging / PART_FILE, json.encode(part))
    try:
        for file in part.files:
            if os.path.lexists(staging / TREE_FOLDER / file) and os.path.lexists(folder / file):
                raise AppError("toolkit-occupied", path=str(folder / file))
        for file in part.files:
            source, target = staging / TREE_FOLDER / file, folder / file
            if os.path.lexists(source):
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)
    except OSError as error:
        raise storage_error(error, folder) from error
    merged_receipt = Receipt(
        schema=receipt_head.schema,
        version=receipt_head.version,
        platform=receipt_head.platform,
        index=receipt_head.index,
        parts=(part,),
    )
    json.write_file(folder / name, json.encode(merged_receipt))
    delete_folder(staging)


def merged_files(folder: Path, name: str) -> dict[str, str]:
    """What the receipt names, with its hash, and what a killed run had moved to its place without one."""
    existing = archives.read_receipt(folder / name)
    if existing is not None:
        return existing.files
    staging = partial_path(folder / name)
    part = archives.read_receipt_part(staging / PART_FILE)
    moved_files = part.files if part is not None else {}
    return {file: digest for file, digest in moved_files.items() if not os.path.lexists(staging / TREE_FOLDER / file)}


def changed_files(folder: Path, name: str) -> tuple[str, ...]:
    """Those that somebody changed since."""
    try:
        written_ns = (folder / name).stat().st_mtime_ns
    except OSError:
        written_ns = None
    return tuple(
        file for file, digest in merged_files(folder, name).items() if _is_changed(folder / file, digest, written_ns)
    )


def _is_changed(path: Path, content_hash: str, written_ns: int | None) -> bool:
    """One that nobody touched since its receipt was written is not read; one that is gone was not changed."""
    if not os.path.lexists(path):
        return False
    if content_hash.startswith(LINK_PREFIX) or path.is_symlink():
        return not (path.is_symlink() and path.readlink() == Path(content_hash.removeprefix(LINK_PREFIX)))
    return not inventory.matches_hash(path, inventory.FileHash("sha256", content_hash), written_ns)


def remove_merged_files(folder: Path, name: str, *, keep_names: Container[str] = ()) -> None:
    """Take out what the receipt names, and what a killed run left; what is to be kept stays. Raises AppError."""
    staging = partial_path(folder / name)
    names = merged_files(folder, name)
    try:
        for file in names:
            if file not in keep_names:
                with suppress(FileNotFoundError, NotADirectoryError):
                    (folder / file).unlink()
        # Deepest first: only empty ones go.
        parents = {parent for file in names for parent in PurePosixPath(file).parents if parent.parts}
        for parent in sorted(parents, key=lambda place: -len(place.parts)):
            with suppress(OSError):
                (folder / parent).rmdir()
        (folder / name).unlink(missing_ok=True)
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(folder)) from error
    except OSError as error:
        raise storage_error(error, folder) from error
    delete_folder(staging)
