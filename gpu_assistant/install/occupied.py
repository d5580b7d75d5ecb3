"""Whose folder stands where the environment is meant to be, and whether anything can be written there."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from ..core.errors import AppError, CallError
from ..core.json import storage_error
from ..core.paths import DataDir
from ..system.own_folders import odd_name, system_folder
from ..system.path_limits import longest_path, synced_folder
from . import journal, listing, manifest, removal, replacing
from .manifest import Manifest

# The longest path inside a wheel of PyTorch (measured on 2.15.0 for Windows), and what stands before it.
LONGEST_INSIDE = 127
IN_ENVIRONMENT = len("..partial/Lib/site-packages/")
IN_DATA = len("/cache/uv/archive-v0/0123456789abcdef/")


def refuse_shared(environment: Path) -> None:
    """Raise CallError("folder-shared") for a disk's root, the user's home and what lies above it, links followed."""
    home = Path.home()
    real = Path(os.path.realpath(environment))
    if {environment, real} & {environment.parent, real.parent, home, *home.parents}:
        raise CallError("folder-shared", path=str(environment))


def refuse_unfit(environment: Path) -> None:
    """Raise CallError: "folder-shared", "folder-of-system", "folder-name-odd" where Windows makes no such folder,
    "folder-synced" in OneDrive, "folder-too-long" where PyTorch would not fit.
    """
    odd = odd_name(environment)
    if odd is not None:
        raise CallError("folder-name-odd", path=str(environment), name=odd)
    refuse_shared(environment)
    own = system_folder(environment)
    if own is not None:
        raise CallError("folder-of-system", path=str(environment), own=str(own))
    synced = synced_folder(environment)
    if synced is not None:
        raise CallError("folder-synced", path=str(environment), synced=str(synced))
    refuse_long(environment, IN_ENVIRONMENT)


def refuse_long(folder: Path, between: int) -> None:
    """Raise CallError("folder-too-long") where the longest path in a wheel does not fit `between` letters below."""
    longest = longest_path()
    if longest is not None and len(str(folder)) + between + LONGEST_INSIDE > longest:
        most = longest - between - LONGEST_INSIDE
        raise CallError("folder-too-long", path=str(folder), length=len(str(folder)), most=most)


def refuse_files(environment: Path) -> None:
    """Raise AppError("not-a-folder") if a file stands where it, or one of the folders above, is meant to be."""
    for place in (environment, *environment.parents):
        if place.is_dir():
            return
        if os.path.lexists(place):
            raise AppError("not-a-folder", path=str(place))


def refuse_unwritable(folder: Path) -> None:
    """Raise "folder-unwritable", "disk-read-only", "storage" where nothing can be written to a folder, or to the
    nearest one above while it is not there; leaves nothing behind. A full disk is told by the plan.
    """
    try:
        place = next(place for place in (folder, *folder.parents) if place.is_dir())
        probe = place / f".gpu-assistant-probe-{secrets.token_hex(4)}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        failure = storage_error(error, folder)
        if failure.code != "disk-full":
            raise failure from error


def ours(environment: Path, data: DataDir) -> Manifest | None:
    """The manifest of a whole environment that an install from this data folder made there; else None."""
    found = manifest.read(environment)
    return found if found is not None and environment in journal.environments(data) else None


def wrecked(environment: Path, data: DataDir) -> tuple[str, ...]:
    """Our own notes that are gone or damaged in an environment that an install made there, and in which the list of its
    files still lies; nothing for any other folder.
    """
    if not _made_here(environment, data) or not (environment / listing.FILES).is_file():
        return ()
    return manifest.lacking(environment)


def without_notes(environment: Path, data: DataDir) -> bool:
    """Whether an install made it there, and nothing tells any more what in it is ours."""
    holds = environment.is_dir() and any(environment.iterdir())
    listed = os.path.lexists(environment / listing.FILES)
    return holds and not listed and _made_here(environment, data) and not journal.left_files(data, environment)


def _made_here(environment: Path, data: DataDir) -> bool:
    return environment in journal.environments(data) and not os.path.lexists(environment / listing.UNFINISHED)


def refuse_strangers(environment: Path, data: DataDir) -> None:
    """Raise AppError("environment-occupied") if anything stands at `environment` that we did not make, and that no
    removal of ours left there: that is moved aside. ("environment-elsewhere") for an environment that GPU Assistant
    made from another data folder, ("environment-without-notes") for one of ours that nothing can tell
    from the user's files any more.
    """
    try:
        empty = not environment.exists() or (environment.is_dir() and not any(environment.iterdir()))
    except PermissionError as error:
        raise AppError("folder-unwritable", path=str(environment)) from error
    begun = removal.said(environment) is not None and environment in journal.environments(data)
    if empty or begun or ours(environment, data) is not None or left_over(environment, data):
        return
    if wrecked(environment, data):
        return
    if without_notes(environment, data):
        raise AppError("environment-without-notes", path=str(environment))
    if manifest.written(environment) is not None:
        raise AppError("environment-elsewhere", path=str(environment))
    raise AppError("environment-occupied", path=str(environment))


def left_over(environment: Path, data: DataDir) -> bool:
    """Whether what stands there is what a removal left of the user's."""
    if not environment.is_dir() or not journal.left_files(data, environment):
        return False
    return not any(os.path.lexists(environment / name) for name in (listing.FILES, listing.UNFINISHED))


def refuse_ours(folder: Path, data: DataDir) -> None:
    """Raise CallError("folder-of-ours") for a folder in which we keep our own files, and what lies in one."""
    own = data.own(folder)
    if own is not None:
        raise CallError("folder-of-ours", path=str(folder), own=str(own))


def refuse_taken(environment: Path, data: DataDir) -> None:
    """Raise what an install would where the place is not free: "folder-of-ours", "not-a-folder",
    "environment-occupied"; changes nothing.
    """
    refuse_ours(environment, data)
    refuse_files(environment)
    refuse_strangers(environment, data)
    if environment in journal.environments(data):
        return
    for path in (removal.partial_path, removal.trash_path, replacing.old_path):
        if path(environment).exists():
            raise AppError("environment-occupied", path=str(path(environment)))
