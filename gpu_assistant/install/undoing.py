"""How each effect is seen in the world, and how it is taken back; the steps' kinds begin from here.

`look` answers "made" (it is there as we made it), "half" (something of it is), "before" (nothing of it is) or
"changed" (somebody else changed it since). `revert` may be called again after it was cut short.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from ..core import json
from ..core.errors import AppError
from ..core.json import storage_error
from . import added, removal
from .effects import (
    Effect,
    FilesAdded,
    FileWritten,
    FolderMade,
    FolderMoved,
    LoginSet,
    PathEntry,
    ProgramInstalled,
    TreeMade,
    VariableSet,
)
from .journal import Why
from .place import Place
from .sweeping import holds_anything

Sight = Literal["made", "half", "before", "changed"]


def look(effect: Effect, place: Place) -> Sight:  # noqa: PLR0911 - one for each effect
    """What the world shows of an effect; raises AppError where it cannot be asked."""
    match effect:
        case FolderMade():
            return "made" if Path(effect.path).is_dir() else "before"
        case TreeMade():
            return removal.look(Path(effect.path))
        case FolderMoved():
            return "made" if Path(effect.to).is_dir() else "before"
        case FilesAdded():
            return added.look(Path(effect.path), effect.receipt)
        case FileWritten():
            return _look_file(effect)
        case VariableSet():
            return _look_variable(effect, place)
        case PathEntry():
            return "made" if place.system.variables.has_on_path(Path(effect.folder)) else "before"
        case LoginSet():
            now = place.system.at_login.get()
            return "before" if now is None else "made" if now == effect.words else "changed"
        case ProgramInstalled():
            raise AppError("internal", detail=f"{effect.name}: its kind has no look")


def revert(effect: Effect, place: Place) -> Why | None:  # noqa: PLR0911, PLR0912 - one for each effect
    """Take an effect back; what of it stays is said, None for nothing. Raises AppError."""
    sight = look(effect, place)
    if sight == "before":
        return None
    if sight == "changed":
        return "changed"
    match effect:
        case FolderMade():
            return _drop_folder(Path(effect.path))
        case TreeMade():
            left = removal.remove(Path(effect.path), stood=effect.stood)
            return "files" if left else None
        case FolderMoved():
            return _move_back(effect)
        case FilesAdded():
            changed = added.changed(Path(effect.path), effect.receipt)
            added.remove(Path(effect.path), effect.receipt, keep=changed)
            return "files" if changed else None
        case FileWritten():
            _put_back(effect)
        case VariableSet():
            if effect.before is None:
                place.system.variables.remove(effect.name)
            else:
                place.system.variables.set(effect.name, effect.before, expand=effect.before_expand)
        case PathEntry():
            place.system.variables.take_from_path(Path(effect.folder))
        case LoginSet():
            place.system.at_login.clear()
        case ProgramInstalled():
            raise AppError("internal", detail=f"{effect.name}: its kind has no undo")
    return None


def _drop_folder(path: Path) -> Why | None:
    """What lies in it may be somebody's own, or what another environment of ours needs."""
    try:
        if any(path.iterdir()):
            return "filled"
        path.rmdir()
    except OSError as error:
        raise storage_error(error, path) from error
    return None


def _move_back(effect: FolderMoved) -> Why | None:
    """Where something else stands by now, it stays where it is."""
    path = Path(effect.path)
    if holds_anything(path):
        return "taken"
    try:
        if path.is_dir():
            path.rmdir()
        Path(effect.to).rename(path)
    except PermissionError as error:
        raise AppError("environment-in-use", path=effect.to) from error
    except OSError as error:
        raise storage_error(error, path) from error
    return None


def _look_file(effect: FileWritten) -> Sight:
    path = Path(effect.path)
    try:
        now: bytes | None = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        now = None
    except OSError as error:
        raise storage_error(error, path) from error
    if now is not None and hashlib.sha256(now).hexdigest() == effect.sha256:
        return "made"
    return "before" if now == effect.before else "changed"


def _put_back(effect: FileWritten) -> None:
    path = Path(effect.path)
    if effect.before is not None:
        json.write_file(path, effect.before)
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise storage_error(error, path) from error


def _look_variable(effect: VariableSet, place: Place) -> Sight:
    now = place.system.variables.get(effect.name)
    if now is not None and (now.value, now.expand) == (effect.value, effect.expand):
        return "made"
    before = None if effect.before is None else (effect.before, effect.before_expand)
    return "before" if (None if now is None else (now.value, now.expand)) == before else "changed"
