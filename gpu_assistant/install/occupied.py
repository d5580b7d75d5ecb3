"""Whose folder stands where the environment is meant to be."""

from __future__ import annotations

import os
from pathlib import Path

from ..core.errors import AppError, CallError
from ..core.paths import DataDir
from . import journal, manifest
from .manifest import Manifest


def refuse_shared(environment: Path) -> None:
    """Raise CallError("folder-shared") for a disk's root, the user's home and what lies above it."""
    home = Path.home()
    if environment in (environment.parent, home, *home.parents):
        raise CallError("folder-shared", path=str(environment))


def refuse_files(environment: Path) -> None:
    """Raise AppError("not-a-folder") if a file stands where one of the folders above is meant to be."""
    for place in environment.parents:
        if place.is_dir():
            return
        if os.path.lexists(place):
            raise AppError("not-a-folder", path=str(place))


def ours(environment: Path, data: DataDir) -> Manifest | None:
    """The manifest of a whole environment that an install from this data folder made there; else None."""
    found = manifest.read(environment)
    return found if found is not None and environment in journal.environments(data) else None


def refuse_strangers(environment: Path, data: DataDir) -> None:
    """Raise AppError("environment-occupied") if anything stands at `environment` that we did not make."""
    try:
        empty = not environment.exists() or (environment.is_dir() and not any(environment.iterdir()))
    except PermissionError as error:
        raise AppError("folder-unwritable", path=str(environment)) from error
    if not empty and ours(environment, data) is None:
        raise AppError("environment-occupied", path=str(environment))
