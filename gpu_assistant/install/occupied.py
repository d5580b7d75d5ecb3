"""Whose folder stands where the environment is meant to be."""

from __future__ import annotations

from pathlib import Path

from ..core.errors import AppError
from ..core.paths import DataDir
from . import journal, manifest
from .manifest import Manifest


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
