"""Taking folders away so that a kill leaves nothing that looks whole."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..core.errors import AppError
from ..core.json import storage_error


def trash_path(folder: Path) -> Path:
    """Where a folder goes before it is deleted."""
    return folder.with_name(f".{folder.name}.trash")


def partial_path(folder: Path) -> Path:
    """Where a folder is made before it has its name."""
    return folder.with_name(f".{folder.name}.partial")


def remove(folder: Path) -> None:
    """Rename out of the way at once, then delete; raises AppError. Left-overs of a killed removal go too."""
    trash = trash_path(folder)
    delete(trash)
    try:
        if not folder.exists():
            return
        folder.rename(trash)
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(folder)) from error
    except OSError as error:
        raise storage_error(error, folder) from error
    delete(trash)


def delete(folder: Path) -> None:
    """Delete a folder that nothing counts as whole, if it is there; raises AppError."""
    try:
        if folder.is_symlink():
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)
    except PermissionError as error:
        raise AppError("environment-in-use", path=str(folder)) from error
    except OSError as error:
        raise storage_error(error, folder) from error
