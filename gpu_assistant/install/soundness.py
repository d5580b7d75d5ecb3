"""What of a finished environment is damaged: files that are gone, cut short, or not as their package brought them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ..core.json import storage_error
from ..system.base import System
from . import listing, owned
from .manifest import Manifest
from .owned import Package

INFO = ".dist-info"
SITE_NAME = "site-packages"


def damage(folder: Path, made: Manifest, system: System) -> tuple[str, ...]:
    """The damaged files by their paths from there, and the packages of its own list that are gone, by name.

    A package that the user put into it, or changed to another version, is none; nor are files of the user's. Files
    that nobody touched are not read. Raises AppError.
    """
    try:
        found = owned.packages(folder)
        return tuple(dict.fromkeys((*_lacking(found, made), *_files(folder, found), *_python(folder, system))))
    except OSError as error:
        raise storage_error(error, folder) from error


def _lacking(found: tuple[Package, ...], made: Manifest) -> Iterator[str]:
    """The packages of its list of which no version is there."""
    from packaging.utils import canonicalize_name

    there = {canonicalize_name(package.name.partition(" ")[0]) for package in found}
    return (name for name in made.packages if canonicalize_name(name) not in there)


def _files(folder: Path, found: tuple[Package, ...]) -> Iterator[str]:
    owners = {name: digest for package in found for name, digest in package.files.items()}
    root = os.fspath(folder)
    for name, was in listing.read(folder).items():
        if name.endswith("/") or listing.is_bytecode(name) or listing.untouched(root, name, was):
            continue
        path = folder / name
        if name in owners:
            if not owned.whole(path, owners[name], None):
                yield name
        elif _told(folder, PurePosixPath(name)) and not (path.is_symlink() or _holds_bytes(path)):
            yield name


def _told(folder: Path, name: PurePosixPath) -> bool:
    """Whether a file that no package's record has should be there: in the packages' own folder only what stands
    beside a record; what else is gone went with its package.
    """
    return SITE_NAME not in name.parts or (name.parent.suffix == INFO and (folder / name.parent).is_dir())


def _holds_bytes(path: Path) -> bool:
    """What the user changed is the user's, but an empty file was not written on purpose."""
    return path.is_file() and path.stat().st_size > 0


def _python(folder: Path, system: System) -> Iterator[str]:
    """Its Python, which may be a link to one that is gone."""
    python = system.environment_python(folder)
    if not python.is_file():
        yield python.relative_to(folder).as_posix()
