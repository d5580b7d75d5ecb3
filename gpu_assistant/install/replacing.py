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
from .listing import FILES
from .strangers import strangers
from .sweeping import delete_listed, holds_anything


def old_path(folder: Path) -> Path:
    """Where a folder is whose name another one has."""
    return folder.with_name(f".{folder.name}.old")


def kept_path(folder: Path) -> Path:
    """A free place beside a folder for what has none in it: "pytorch-kept", "pytorch-kept-2"."""
    number, found = 1, folder.with_name(f"{folder.name}-kept")
    while os.path.lexists(found):
        number += 1
        found = folder.with_name(f"{folder.name}-kept-{number}")
    return found


def give_way(folder: Path) -> None:
    """Make room for the new one. Raises AppError, "environment-in-use" while a program works in it."""
    _rename(folder, old_path(folder))


def put_back(folder: Path) -> None:
    """Give the old one its name again, where it had to give way; raises AppError."""
    if old_path(folder).is_dir():
        if folder.is_dir():
            with suppress(OSError):
                folder.rmdir()  # only an empty one goes
        _rename(old_path(folder), folder)


class Rest(Struct, frozen=True):
    """What of the old one has no place in the new one: the folder where it is `kept`, and the list of the `packages`
    that were the user's and are there in our versions again; None where there is none.
    """

    kept: Path | None = None
    packages: Path | None = None


def finish(folder: Path) -> Rest:
    """Carry a replacement through that was begun, else put the old one back. Raises AppError."""
    old, packages = old_path(folder), None
    if not old.is_dir():
        return Rest()
    if not holds_anything(folder):
        put_back(folder)
        return Rest()
    try:
        if os.path.lexists(old / FILES):
            packages = _move_over(old, folder)
            delete_listed(old)
        _drop_empty(old)
        if not old.is_dir():
            return Rest(packages=packages)
        kept = kept_path(folder)
        old.rename(kept)
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(old)) from error
    except OSError as error:
        raise storage_error(error, old) from error
    return Rest(kept, packages)


def _move_over(old: Path, folder: Path) -> Path | None:
    """Files of the user's, and packages that the new one does not have in a version of its own; of the others, their
    list.
    """
    from packaging.utils import canonicalize_name

    theirs, made = strangers(old), manifest.read(folder)
    own = {canonicalize_name(name) for name in (made.packages if made is not None else ())}
    others = [
        package for package in owned.packages(old) if canonicalize_name(package.name.partition(" ")[0]) not in own
    ]
    packaged = {name for package in others for name in package.files}
    # Until all else of a package has moved, its record still tells what belongs to it.
    records = {package.record for package in others}
    moving = sorted((name for name in theirs.theirs if name in packaged), key=lambda name: name in records)
    for name in (*moving, *theirs.stay):
        source, target = old / name, folder / name
        if not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
    # What of their packages is left has its own version in the new one.
    replaced = package_list.keep(old, tuple(name for name in theirs.records if name not in records), named=folder)
    listing.adopt(old, [name for name in (*theirs.theirs, *theirs.notes) if os.path.lexists(old / name)])
    return replaced


def _drop_empty(folder: Path) -> None:
    for place, _folders, _files in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(place).rmdir()


def _rename(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(source)) from error
    except OSError as error:
        raise storage_error(error, source) from error
