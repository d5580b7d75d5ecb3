"""What in a folder of ours is somebody else's: packages that were put into it since, and files that nobody listed."""

from __future__ import annotations

import os
from collections.abc import Collection, Container
from pathlib import Path

from msgspec import Struct

from ..core.json import storage_error
from . import listing, manifest, owned

# So many are named; of more only the number is told.
MAX_NAMED = 5


class ForeignFiles(Struct, frozen=True):
    """`packages` were installed, or changed, by somebody else, and `theirs` are their files, which go with the folder;
    `records` say where it is written down what each of them is.

    `stay`: files that no package brought, or that were changed, and folders (with a "/" at their end) that are empty or
    hold nothing else. `notes` are our own that are damaged: nobody's work.
    """

    packages: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    package_files: tuple[str, ...] = ()
    user_files: tuple[str, ...] = ()
    damaged_metadata: tuple[str, ...] = ()


def find_foreign_files(folder: Path, removed: Collection[Path] = frozenset()) -> ForeignFiles:
    """Look through a whole folder of ours; what is `gone` by then is passed over. Raises AppError."""
    try:
        return _scan_foreign_files(folder, removed)
    except OSError as error:
        raise storage_error(error, folder) from error


def _scan_foreign_files(folder: Path, removed: Collection[Path]) -> ForeignFiles:
    managed = listing.read_file_manifest(folder)
    package_records = owned.installed_packages(folder)
    root, ignored = os.fspath(folder), {path.relative_to(folder).as_posix() for path in removed if folder in path.parents}

    def is_managed(name: str) -> bool:
        return name in managed and listing.is_unchanged(root, name, managed[name])

    changed_packages = [package for package in package_records if not is_managed(package.record_path)]
    recorded_times = {package.name: package.recorded_ns for package in changed_packages}
    owners = {name: (digest, package) for package in package_records for name, digest in package.files.items()}
    managed_folders = listing.parent_folders((*managed, *owners))
    damaged = tuple(name for name in manifest.missing_metadata(folder) if (folder / name).is_file())
    package_files, user_files = [], []
    for name in listing.walk(folder):
        if name in (listing.FILE_MANIFEST, listing.UNFINISHED_MARK, *damaged) or name in ignored:
            continue
        if name.endswith("/"):
            if name[:-1] not in managed_folders and name[:-1].rpartition("/")[2] != listing.BYTECODE_FOLDER:
                user_files.append(name)
        elif listing.is_bytecode(name) or is_managed(name):
            continue
        elif name in owners and owned.matches_hash(folder / name, owners[name][0], recorded_times.get(owners[name][1].name)):
            package_files.append(name)
        else:
            user_files.append(name)
    return ForeignFiles(
        packages=tuple(recorded_times),
        records=tuple(package.record_path for package in changed_packages),
        package_files=tuple(package_files),
        user_files=tuple(dict.fromkeys(_highest_foreign_folder(name, managed_folders) for name in user_files)),
        damaged_metadata=damaged,
    )


def _highest_foreign_folder(name: str, managed_folders: Container[str]) -> str:
    """The highest folder above it in which nothing is ours; else itself."""
    parts = name.rstrip("/").split("/")
    parents = ("/".join(parts[:count]) for count in range(1, len(parts)))
    return next((f"{parent}/" for parent in parents if parent not in managed_folders), name)


def format_names(names: tuple[str, ...]) -> str:
    """Some of them, for people to read."""
    return ", ".join((*names[:MAX_NAMED], *(["…"] if len(names) > MAX_NAMED else [])))
