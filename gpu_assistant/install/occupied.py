"""Whose folder stands where the environment is meant to be, and whether anything can be written there."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from ..core.errors import AppError, UsageError
from ..core.json import storage_error
from ..core.paths import DataDir
from ..system.own_folders import reserved_path_part, enclosing_system_folder
from ..system.path_limits import max_path_length, onedrive_root
from . import journal, listing, manifest, removal, replacing
from .manifest import EnvironmentManifest

# The longest path inside a wheel of PyTorch (measured on 2.15.0 for Windows), and what stands before it.
LONGEST_WHEEL_PATH = 127
ENVIRONMENT_PREFIX_LENGTH = len("..partial/Lib/site-packages/")
CACHE_PREFIX_LENGTH = len("/cache/uv/archive-v0/0123456789abcdef/")


def check_not_shared(environment: Path) -> None:
    """Raise CallError("folder-shared") for a disk's root, the user's home and what lies above it, links followed."""
    home = Path.home()
    real_path = Path(os.path.realpath(environment))
    if {environment, real_path} & {environment.parent, real_path.parent, home, *home.parents}:
        raise UsageError("folder-shared", path=str(environment))


def check_location(environment: Path) -> None:
    """Raise CallError: "folder-shared", "folder-of-system", "folder-name-odd" where Windows makes no such folder,
    "folder-synced" in OneDrive, "folder-too-long" where PyTorch would not fit.
    """
    invalid_name = reserved_path_part(environment)
    if invalid_name is not None:
        raise UsageError("folder-name-odd", path=str(environment), name=invalid_name)
    check_not_shared(environment)
    system_path = enclosing_system_folder(environment)
    if system_path is not None:
        raise UsageError("folder-of-system", path=str(environment), own=str(system_path))
    sync_root = onedrive_root(environment)
    if sync_root is not None:
        raise UsageError("folder-synced", path=str(environment), synced=str(sync_root))
    check_path_length(environment, ENVIRONMENT_PREFIX_LENGTH)


def check_path_length(folder: Path, prefix_length: int) -> None:
    """Raise CallError("folder-too-long") where the longest path in a wheel does not fit `between` letters below."""
    max_length = max_path_length()
    if max_length is not None and len(str(folder)) + prefix_length + LONGEST_WHEEL_PATH > max_length:
        max_folder_length = max_length - prefix_length - LONGEST_WHEEL_PATH
        raise UsageError("folder-too-long", path=str(folder), length=len(str(folder)), most=max_folder_length)


def check_no_file(environment: Path) -> None:
    """Raise AppError("not-a-folder") if a file stands where it, or one of the folders above, is meant to be."""
    for parent in (environment, *environment.parents):
        if parent.is_dir():
            return
        if os.path.lexists(parent):
            raise AppError("not-a-folder", path=str(parent))


def check_writable(folder: Path) -> None:
    """Raise "folder-unwritable", "disk-read-only", "storage" where nothing can be written to a folder, or to the
    nearest one above while it is not there; leaves nothing behind. A full disk is told by the plan.
    """
    try:
        existing = next(existing for existing in (folder, *folder.parents) if existing.is_dir())
        probe = existing / f".gpu-assistant-probe-{secrets.token_hex(4)}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        failure = storage_error(error, folder)
        if failure.code != "disk-full":
            raise failure from error


def managed_manifest(environment: Path, data: DataDir) -> EnvironmentManifest | None:
    """The manifest of a whole environment that an install from this data folder made there; else None."""
    environment_manifest = manifest.read_manifest(environment)
    return environment_manifest if environment_manifest is not None and environment in journal.environment_paths(data) else None


def damaged_metadata(environment: Path, data: DataDir) -> tuple[str, ...]:
    """Our own notes that are gone or damaged in an environment that an install made there, and in which the list of its
    files still lies; nothing for any other folder.
    """
    if not _is_managed(environment, data) or not (environment / listing.FILE_MANIFEST).is_file():
        return ()
    return manifest.missing_metadata(environment)


def has_lost_metadata(environment: Path, data: DataDir) -> bool:
    """Whether an install made it there, and nothing tells any more what in it is ours."""
    is_not_empty = environment.is_dir() and any(environment.iterdir())
    has_file_manifest = os.path.lexists(environment / listing.FILE_MANIFEST)
    return is_not_empty and not has_file_manifest and _is_managed(environment, data) and not journal.has_retained_files(data, environment)


def _is_managed(environment: Path, data: DataDir) -> bool:
    return environment in journal.environment_paths(data) and not os.path.lexists(environment / listing.UNFINISHED_MARK)


def check_not_foreign(environment: Path, data: DataDir) -> None:
    """Raise AppError("environment-occupied") if anything stands at `environment` that we did not make, and that no
    removal of ours left there: that is moved aside. ("environment-elsewhere") for an environment that GPU Assistant
    made from another data folder, ("environment-without-notes") for one of ours that nothing can tell
    from the user's files any more.
    """
    try:
        is_empty = not environment.exists() or (environment.is_dir() and not any(environment.iterdir()))
    except PermissionError as error:
        raise AppError("folder-unwritable", path=str(environment)) from error
    is_unfinished = removal.read_mark(environment) is not None and environment in journal.environment_paths(data)
    if is_empty or is_unfinished or managed_manifest(environment, data) is not None or has_leftovers(environment, data):
        return
    if damaged_metadata(environment, data):
        return
    if has_lost_metadata(environment, data):
        raise AppError("environment-without-notes", path=str(environment))
    if manifest.read_unfinished_manifest(environment) is not None:
        raise AppError("environment-elsewhere", path=str(environment))
    raise AppError("environment-occupied", path=str(environment))


def has_leftovers(environment: Path, data: DataDir) -> bool:
    """Whether what stands there is what a removal left of the user's."""
    if not environment.is_dir() or not journal.has_retained_files(data, environment):
        return False
    return not any(os.path.lexists(environment / name) for name in (listing.FILE_MANIFEST, listing.UNFINISHED_MARK))


def check_not_app_data(folder: Path, data: DataDir) -> None:
    """Raise CallError("folder-of-ours") for a folder in which we keep our own files, and what lies in one."""
    app_path = data.managed_folder(folder)
    if app_path is not None:
        raise UsageError("folder-of-ours", path=str(folder), own=str(app_path))


def check_available(environment: Path, data: DataDir) -> None:
    """Raise what an install would where the place is not free: "folder-of-ours", "not-a-folder",
    "environment-occupied"; changes nothing.
    """
    check_not_app_data(environment, data)
    check_no_file(environment)
    check_not_foreign(environment, data)
    if environment in journal.environment_paths(data):
        return
    for path in (removal.partial_path, removal.trash_path, replacing.old_path):
        if path(environment).exists():
            raise AppError("environment-occupied", path=str(path(environment)))
