"""What of a finished environment is damaged: files that are gone, cut short, or not as their package brought them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ..core.json import storage_error
from ..system.base import System
from . import listing, owned
from .manifest import EnvironmentManifest
from .owned import InstalledPackage

DIST_INFO_SUFFIX = ".dist-info"
SITE_PACKAGES = "site-packages"


def find_damage(folder: Path, environment_manifest: EnvironmentManifest, system: System) -> tuple[str, ...]:
    """The damaged files by their paths from there, and the packages of its own list that are gone, by name.

    A package that the user put into it, or changed to another version, is none; nor are files of the user's. Files
    that nobody touched are not read. Raises AppError.
    """
    try:
        package_records = owned.installed_packages(folder)
        return tuple(dict.fromkeys((*_missing_packages(package_records, environment_manifest), *_damaged_files(folder, package_records), *_missing_python(folder, system))))
    except OSError as error:
        raise storage_error(error, folder) from error


def _missing_packages(package_records: tuple[InstalledPackage, ...], environment_manifest: EnvironmentManifest) -> Iterator[str]:
    """The packages of its list of which no version is there."""
    from packaging.utils import canonicalize_name

    installed = {canonicalize_name(package.name.partition(" ")[0]) for package in package_records}
    return (name for name in environment_manifest.packages if canonicalize_name(name) not in installed)


def _damaged_files(folder: Path, package_records: tuple[InstalledPackage, ...]) -> Iterator[str]:
    owners = {name: digest for package in package_records for name, digest in package.files.items()}
    root = os.fspath(folder)
    for name, stamp in listing.read_file_manifest(folder).items():
        if name.endswith("/") or listing.is_bytecode(name) or listing.is_unchanged(root, name, stamp):
            continue
        path = folder / name
        if name in owners:
            if not owned.matches_hash(path, owners[name], None):
                yield name
        elif _is_expected(folder, PurePosixPath(name)) and not (path.is_symlink() or _is_not_empty(path)):
            yield name


def _is_expected(folder: Path, name: PurePosixPath) -> bool:
    """Whether a file that no package's record has should be there: in the packages' own folder only what stands
    beside a record; what else is gone went with its package.
    """
    return SITE_PACKAGES not in name.parts or (name.parent.suffix == DIST_INFO_SUFFIX and (folder / name.parent).is_dir())


def _is_not_empty(path: Path) -> bool:
    """What the user changed is the user's, but an empty file was not written on purpose."""
    return path.is_file() and path.stat().st_size > 0


def _missing_python(folder: Path, system: System) -> Iterator[str]:
    """Its Python, which may be a link to one that is gone."""
    python = system.environment_python(folder)
    if not python.is_file():
        yield python.relative_to(folder).as_posix()
