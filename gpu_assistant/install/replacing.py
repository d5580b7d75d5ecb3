"""A finished folder gives way to a new one that was proven, and what the user put into it moves over.

The old one is renamed to `.<name>.old` and the new one gets the name. A kill between the two leaves no folder of that
name: then the old one is put back. After it the move goes on with whatever is still in the old one. Of that what is
ours goes, and what has no place in the new one, because something else is there, stays in a folder beside it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from ..core.errors import AppError
from ..core.json import storage_error
from . import listing, manifest, owned, package_list
from .listing import FILE_MANIFEST
from .strangers import find_foreign_files
from .sweeping import remove_listed_files, has_content


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

    foreign, new_manifest = find_foreign_files(old), manifest.read_manifest(folder)
    own_names = {canonicalize_name(name) for name in (new_manifest.packages if new_manifest is not None else ())}
    user_packages = [
        package for package in owned.installed_packages(old) if canonicalize_name(package.name.partition(" ")[0]) not in own_names
    ]
    packaged_files = {name for package in user_packages for name in package.files}
    # Until all else of a package has moved, its record still tells what belongs to it.
    records = {package.record_path for package in user_packages}
    package_files = sorted((name for name in foreign.package_files if name in packaged_files), key=lambda name: name in records)
    for name in (*package_files, *foreign.user_files):
        source, target = old / name, folder / name
        if not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
    # What of their packages is left has its own version in the new one.
    replaced_list = package_list.write_user_packages(old, tuple(name for name in foreign.records if name not in records), environment=folder)
    listing.add_to_file_manifest(old, [name for name in (*foreign.package_files, *foreign.damaged_metadata) if os.path.lexists(old / name)])
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
