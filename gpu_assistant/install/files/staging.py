"""Folders and files that appear and disappear as a whole, so that a killed run leaves nothing that looks complete.

    make      .<name>.partial ── write_file_manifest ── commit_folder (rename) ──► <name>
    remove    <name> ── rename ──► .<name>.trash ── remove_listed_files ──► gone; foreign files go back to <name>
    replace   <name> ── swap_out (rename) ──► .<name>.old;  .<name>.partial ── commit_folder ──► <name>
              finish_swap: the user's files and packages move from .old to <name>, the rest of .old is removed;
              what has no place in <name> stays in `<name>-kept`
    merge     .<receipt>.partial/tree/* ── merge_files (rename each) ──► among the files of a shared folder

Each of them bears a marker with the place that it is for (`core/ownership.py`): a folder of such a name without one is
somebody else's, and stays.

An environment made by conda cannot be renamed, since conda writes the folder's path into its files: it is made in its
final place, and UNFINISHED_MARK in it plays the part of the `.partial` name. `journal/revert.py` reads these states;
every function may be called again after it was interrupted. Foreign files (`inventory.find_foreign_files`) are never
deleted, except those of packages that the user installed into an environment, whose list is written beside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from contextlib import AbstractContextManager, suppress
from pathlib import Path, PurePosixPath
from typing import Literal

from msgspec import Struct

from ...core import filesystem, json
from ...core.errors import AppError, storage_errors
from ...core.ownership import (
    MARKER_NAME,
    claim_folder,
    empty_owned_folder,
    is_blank,
    is_emptied,
    is_owned,
    mark_emptied,
    mark_folder,
)
from . import archives, inventory
from .archives import LINK_PREFIX, Receipt, ReceiptPart
from .installed_packages import ContentHash, installed_packages, matches_hash, write_user_packages
from .inventory import FILE_MANIFEST, UNFINISHED_MARK, find_foreign_files, has_content, remove_listed_files

PART_FILE = "part.json"
TREE_FOLDER = "tree"


def partial_path(folder: Path) -> Path:
    """The folder's name while it is being made."""
    return folder.with_name(f".{folder.name}.partial")


def trash_path(folder: Path) -> Path:
    """The folder's name while it is being deleted."""
    return folder.with_name(f".{folder.name}.trash")


def old_path(folder: Path) -> Path:
    """The folder's name while another one has taken its place."""
    return folder.with_name(f".{folder.name}.old")


def aside_path(folder: Path) -> Path:
    """A free name beside a folder for what has no place in it: "pytorch-kept", "pytorch-kept-2"."""
    number, candidate = 1, folder.with_name(f"{folder.name}-kept")
    while os.path.lexists(candidate):
        number += 1
        candidate = folder.with_name(f"{folder.name}-kept-{number}")
    return candidate


def staging_path(folder: Path) -> Path:
    """Where a folder is while it is made: in its final place if it was begun there, else its partial path."""
    return folder if os.path.lexists(folder / UNFINISHED_MARK) else partial_path(folder)


def is_ours(path: Path) -> bool:
    """Whether a folder under a temporary name is one that we made or moved there; a link never is."""
    return is_owned(path, _final_path(path))


def _is_left(path: Path) -> bool:
    """Whether a folder of ours has a temporary name, or a killed run left one with nothing in it."""
    return is_ours(path) or is_blank(path)


def _final_path(path: Path) -> Path:
    """The folder's own name, from one of its temporary ones."""
    return path.with_name(path.name.removeprefix(".").rpartition(".")[0])


def folder_state(folder: Path) -> Literal["applied", "partial", "absent", "modified"]:
    """Complete as we made it, partly made or removed, not there, or somebody else's."""
    if os.path.lexists(folder / UNFINISHED_MARK):
        return "partial"
    if os.path.lexists(folder / FILE_MANIFEST):
        return "applied"
    if is_emptied(folder) or any(_is_left(path(folder)) for path in (partial_path, trash_path, old_path)):
        return "partial"
    return "modified" if has_content(folder) else "absent"


def commit_folder(folder: Path) -> None:
    """Give a complete folder its final name, replacing an empty one. Raises AppError."""
    staging = staging_path(folder)
    with storage_errors(folder):
        if staging == folder:
            filesystem.unlink(folder / UNFINISHED_MARK)
            return
        if folder.is_dir():
            filesystem.rmdir(folder)
        filesystem.rename(staging, folder)


def begin_partial(folder: Path) -> Path:
    """Make the empty folder in which one is made; what a killed run left there is removed.

    Raises AppError, "environment-occupied" for a folder of somebody else's.
    """
    partial = partial_path(folder)
    delete_folder(partial)
    claim_folder(partial, folder)
    return partial


def resume_partial(folder: Path) -> Path:
    """The same with what a killed run left there."""
    partial = partial_path(folder)
    return partial if is_ours(partial) else begin_partial(folder)


def begin_in_place(folder: Path) -> None:
    """Begin a folder that cannot be renamed: empty but for its mark; what a killed run left there is removed.

    Raises AppError.
    """
    discard_unfinished(folder)
    write_mark(begin_partial(folder), "")
    commit_folder(folder)


def write_mark(folder: Path, progress: str) -> None:
    """Record how far a folder is that is made in its final place; raises AppError."""
    json.write_file(folder / UNFINISHED_MARK, progress)


def read_mark(folder: Path) -> str | None:
    """The recorded progress; None where the folder is not being made in its final place."""
    try:
        return filesystem.read_text(folder / UNFINISHED_MARK, errors="replace")
    except OSError:
        return None


def discard_unfinished(folder: Path) -> None:
    """Remove a folder that was begun in its final place, if there is one.

    Raises AppError, "environment-occupied" for a folder of somebody else's that has such a file.
    """
    if not os.path.lexists(folder / UNFINISHED_MARK):
        return
    if not is_owned(folder, folder):
        raise AppError("environment-occupied", path=str(folder))
    delete_folder(partial_path(folder))
    _rename_folder(folder, partial_path(folder))
    delete_folder(partial_path(folder))


def remove_folder(folder: Path, *, keep_empty: bool = False) -> bool:
    """Remove a folder of ours, and what a killed run left of it; returns whether foreign files stay there.

    The files of packages that the user installed into it go with it; their list stays beside it. `keep_empty` leaves
    an empty folder. Raises AppError, "environment-in-use" before anything is deleted.
    """
    finish_removal(folder)
    discard_unfinished(folder)
    _discard_partial(folder)
    if os.path.lexists(folder / FILE_MANIFEST):
        foreign = find_foreign_files(folder)
        # Before they are in the file manifest: afterwards they cannot be told from ours.
        write_user_packages(folder, foreign.records)
        with _in_use_errors(folder):
            if foreign.package_files or foreign.damaged_metadata:
                inventory.add_to_file_manifest(folder, (*foreign.package_files, *foreign.damaged_metadata))
            mark_folder(folder, folder)
            filesystem.rename(folder, trash_path(folder))
        finish_removal(folder)
    if keep_empty:
        with storage_errors(folder):
            folder.mkdir(exist_ok=True)
    return has_content(folder)


def finish_removal(folder: Path) -> None:
    """Complete a removal that was begun: our files go, foreign ones return. Before it, complete a replacement.

    Raises AppError.
    """
    finish_swap(folder)
    trash = trash_path(folder)
    if _is_left(trash):
        with _in_use_errors(trash):
            remove_listed_files(trash)
            if is_blank(trash):
                delete_folder(trash)
            elif not has_content(folder):
                with suppress(FileNotFoundError):
                    filesystem.rmdir(folder)
                mark_emptied(trash, folder)
                filesystem.rename(trash, folder)
            else:
                raise AppError("environment-occupied", path=str(folder))
    if is_emptied(folder):
        with _in_use_errors(folder):
            filesystem.unlink(folder / MARKER_NAME)


def discard_folder(folder: Path) -> None:
    """Delete a complete folder of ours with everything in it; raises AppError, "environment-occupied" for others."""
    trash = trash_path(folder)
    delete_folder(trash)
    if not os.path.lexists(folder):
        return
    if not is_owned(folder, folder) and not is_blank(folder) and not os.path.lexists(folder / FILE_MANIFEST):
        raise AppError("environment-occupied", path=str(folder))
    mark_folder(folder, folder)
    _rename_folder(folder, trash)
    delete_folder(trash)


def delete_folder(folder: Path) -> None:
    """Delete a folder of ours under a temporary name, if it is there. Its marker goes last, so that what is left of it
    after a kill is still ours.

    Raises AppError, "environment-occupied" for somebody else's folder or link.
    """
    if not os.path.lexists(folder):
        return
    place = _final_path(folder)
    if not is_owned(folder, place) and not is_blank(folder):
        raise AppError("environment-occupied", path=str(folder))
    with _in_use_errors(folder):
        empty_owned_folder(folder, place)
        filesystem.rmtree(folder)


def _rename_folder(source: Path, target: Path) -> None:
    with _in_use_errors(source):
        filesystem.rename(source, target)


def _in_use_errors(folder: Path) -> AbstractContextManager[None]:
    """OSErrors as AppError; a permission error on a folder of ours means that a program has it open."""
    return storage_errors(folder, permission_code="environment-in-use")


class SwapRemainder(Struct, frozen=True):
    """What of a replaced folder has no place in the new one: the `folder` where it is now, and the file that lists the
    user's packages which the new one has in other versions; None where there is none.
    """

    folder: Path | None = None
    package_list: Path | None = None


def swap_out(folder: Path) -> None:
    """Move a folder away for a new one. Raises AppError, "environment-in-use" while a program works in it."""
    mark_folder(folder, folder)
    _rename_folder(folder, old_path(folder))


def restore_old(folder: Path) -> None:
    """Undo `swap_out`, if it was done; raises AppError."""
    if is_ours(old_path(folder)):
        if folder.is_dir():
            with suppress(OSError):
                filesystem.rmdir(folder)  # only if it is empty
        _rename_folder(old_path(folder), folder)


def finish_swap(folder: Path) -> SwapRemainder:
    """Complete a replacement that was begun; without a new folder, restore the old one. Raises AppError."""
    old, package_list = old_path(folder), None
    if is_blank(old):
        delete_folder(old)
    if not is_ours(old):
        return SwapRemainder()
    if not has_content(folder):
        restore_old(folder)
        return SwapRemainder()
    with _in_use_errors(old):
        if os.path.lexists(old / FILE_MANIFEST):
            package_list = _move_user_files(old, folder)
            remove_listed_files(old)
        _remove_empty_folders(old)
        if is_blank(old):
            delete_folder(old)
            return SwapRemainder(package_list=package_list)
        aside = aside_path(folder)
        filesystem.rename(old, aside)
        filesystem.unlink(aside / MARKER_NAME)
    return SwapRemainder(aside, package_list)


def _move_user_files(old: Path, folder: Path) -> Path | None:
    """Move the user's files, and the packages that the new folder does not have in a version of its own; returns the
    list of the other packages.
    """
    from packaging.utils import canonicalize_name

    foreign, new_manifest = find_foreign_files(old), inventory.read_manifest(folder)
    own_names = {canonicalize_name(name) for name in (new_manifest.packages if new_manifest is not None else ())}
    user_packages = [
        package
        for package in installed_packages(old)
        if canonicalize_name(package.name.partition(" ")[0]) not in own_names
    ]
    packaged_files = {name for package in user_packages for name in package.files}
    # A package's RECORD moves last: until then it tells which files belong to the package.
    records = {package.record_path for package in user_packages}
    package_files = sorted(
        (name for name in foreign.package_files if name in packaged_files), key=lambda name: name in records
    )
    for name in (*package_files, *foreign.user_files):
        source, target = old / name, folder / name
        if not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            filesystem.rename(source, target)
    # Packages whose files stay in `old` are in the new folder in its own versions.
    package_list = write_user_packages(
        old, tuple(name for name in foreign.records if name not in records), environment=folder
    )
    inventory.add_to_file_manifest(
        old, [name for name in (*foreign.package_files, *foreign.damaged_metadata) if os.path.lexists(old / name)]
    )
    return package_list


def _remove_empty_folders(folder: Path) -> None:
    for root, _folders, _files in os.walk(folder, topdown=False):
        filesystem.remove_if_empty(Path(root))


def merge_state(folder: Path, name: str) -> Literal["applied", "partial", "absent"]:
    """Whether all files of the receipt `name` are in the folder, some of them, or none."""
    if (folder / name).is_file():
        return "applied"
    return "partial" if _is_left(partial_path(folder / name)) else "absent"


def merge_files(folder: Path, name: str, receipt_head: Receipt, unpack: Callable[[Path], ReceiptPart]) -> None:
    """Have `unpack` fill a folder, move its files into `folder`, and write the receipt `name` there last.

    `receipt_head` is the receipt without its part. What a killed run had unpacked completely is used. A file that is
    still in the unpacked tree has not been moved: one in its place is not ours. Raises AppError("toolkit-occupied")
    before anything is moved, and what `unpack` raises.
    """
    staging = resume_partial(folder / name)
    part = archives.read_receipt_part(staging / PART_FILE)
    if part is None:
        begin_partial(folder / name)
        part = unpack(staging / TREE_FOLDER)
        json.write_file(staging / PART_FILE, json.encode(part))
    with storage_errors(folder):
        json.remove_partial_files(folder, {name})
        for file in part.files:
            if os.path.lexists(staging / TREE_FOLDER / file) and os.path.lexists(folder / file):
                raise AppError("toolkit-occupied", path=str(folder / file))
        for file in part.files:
            source, target = staging / TREE_FOLDER / file, folder / file
            if os.path.lexists(source):
                target.parent.mkdir(parents=True, exist_ok=True)
                filesystem.rename(source, target)
    merged_receipt = Receipt(
        schema=receipt_head.schema,
        version=receipt_head.version,
        platform=receipt_head.platform,
        index=receipt_head.index,
        parts=(part,),
    )
    json.write_file(folder / name, json.encode(merged_receipt))
    delete_folder(staging)


def finish_merge(folder: Path, name: str) -> None:
    """Remove what a run that was killed after the receipt `name` was written left of its unpacking; raises AppError."""
    _discard_partial(folder / name)


def _discard_partial(folder: Path) -> None:
    """Delete what a killed run left of making a folder, if it is ours, or nothing but an empty folder."""
    if _is_left(partial_path(folder)):
        delete_folder(partial_path(folder))


def merged_files(folder: Path, name: str) -> dict[str, str]:
    """The files of the receipt with their hashes; without one, those that a killed run had moved into the folder."""
    existing = archives.read_receipt(folder / name)
    if existing is not None:
        return existing.files
    staging = partial_path(folder / name)
    part = archives.read_receipt_part(staging / PART_FILE)
    part_files = part.files if part is not None else {}
    return {file: digest for file, digest in part_files.items() if not os.path.lexists(staging / TREE_FOLDER / file)}


def changed_files(folder: Path, name: str) -> tuple[str, ...]:
    """The files of the receipt that somebody changed since."""
    try:
        written_ns = (folder / name).stat().st_mtime_ns
    except OSError:
        written_ns = None
    return tuple(
        file for file, digest in merged_files(folder, name).items() if _is_changed(folder / file, digest, written_ns)
    )


def _is_changed(path: Path, content_hash: str, written_ns: int | None) -> bool:
    """A file that is older than its receipt is not read; a missing one is not changed."""
    if not os.path.lexists(path):
        return False
    if content_hash.startswith(LINK_PREFIX) or path.is_symlink():
        return not (path.is_symlink() and path.readlink() == Path(content_hash.removeprefix(LINK_PREFIX)))
    return not matches_hash(path, ContentHash("sha256", content_hash), written_ns)


def remove_merged_files(folder: Path, name: str, *, keep_names: Container[str] = ()) -> None:
    """Remove the files of the receipt except `keep_names`, and what a killed run left. Raises AppError."""
    names = merged_files(folder, name)
    with _in_use_errors(folder):
        if folder.is_dir():
            json.remove_partial_files(folder, {name})
        for file in names:
            if file not in keep_names:
                with suppress(FileNotFoundError, NotADirectoryError):
                    filesystem.unlink(folder / file)
        # Deepest first; those that are not empty stay.
        parents = {parent for file in names for parent in PurePosixPath(file).parents if parent.parts}
        for parent in sorted(parents, key=lambda path: -len(path.parts)):
            filesystem.remove_if_empty(folder / parent)
        filesystem.unlink(folder / name, missing_ok=True)
    finish_merge(folder, name)
