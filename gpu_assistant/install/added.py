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
from .receipt import LINK_PREFIX, ReceiptPart, Receipt
from .removal import delete_folder, partial_path

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
    part = receipt.read_receipt_part(staging / PART_FILE)
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
        schema=receipt_head.schema, version=receipt_head.version, platform=receipt_head.platform, index=receipt_head.index, parts=(part,)
    )
    json.write_file(folder / name, json.encode(merged_receipt))
    delete_folder(staging)


def merged_files(folder: Path, name: str) -> dict[str, str]:
    """What the receipt names, with its hash, and what a killed run had moved to its place without one."""
    existing = receipt.read_receipt(folder / name)
    if existing is not None:
        return existing.files
    staging = partial_path(folder / name)
    part = receipt.read_receipt_part(staging / PART_FILE)
    moved_files = part.files if part is not None else {}
    return {file: digest for file, digest in moved_files.items() if not os.path.lexists(staging / TREE_FOLDER / file)}


def changed_files(folder: Path, name: str) -> tuple[str, ...]:
    """Those that somebody changed since."""
    try:
        written_ns = (folder / name).stat().st_mtime_ns
    except OSError:
        written_ns = None
    return tuple(file for file, digest in merged_files(folder, name).items() if _is_changed(folder / file, digest, written_ns))


def _is_changed(path: Path, content_hash: str, written_ns: int | None) -> bool:
    """One that nobody touched since its receipt was written is not read; one that is gone was not changed."""
    if not os.path.lexists(path):
        return False
    if content_hash.startswith(LINK_PREFIX) or path.is_symlink():
        return not (path.is_symlink() and path.readlink() == Path(content_hash.removeprefix(LINK_PREFIX)))
    return not owned.matches_hash(path, owned.FileHash("sha256", content_hash), written_ns)


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
