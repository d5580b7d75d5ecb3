"""How each effect is seen in the world, and how it is taken back; the steps' kinds begin from here.

`effect_state` answers "made" (it is there as we made it), "half" (something of it is), "before" (nothing of it is) or
"changed" (somebody else changed it since). `revert` may be called again after it was cut short.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from ...core import json
from ...core.errors import AppError
from ...core.json import storage_error
from ..files import staging
from ..files.inventory import has_content
from ..host import Host
from .log import (
    Effect,
    FilesAdded,
    FileWritten,
    FolderCreated,
    FolderMoved,
    LoginCommandSet,
    PathEntryAdded,
    ProgramInstalled,
    RetentionReason,
    TreeCreated,
    VariableSet,
)

EffectState = Literal["made", "half", "before", "changed"]


def effect_state(effect: Effect, host: Host) -> EffectState:  # noqa: PLR0911 - one for each effect
    """What the world shows of an effect; raises AppError where it cannot be asked."""
    match effect:
        case FolderCreated():
            return "made" if Path(effect.path).is_dir() else "before"
        case TreeCreated():
            return staging.folder_state(Path(effect.path))
        case FolderMoved():
            return "made" if Path(effect.to).is_dir() else "before"
        case FilesAdded():
            return staging.merge_state(Path(effect.path), effect.receipt)
        case FileWritten():
            return _file_state(effect)
        case VariableSet():
            return _variable_state(effect, host)
        case PathEntryAdded():
            return "made" if host.system.variables.is_on_path(Path(effect.folder)) else "before"
        case LoginCommandSet():
            now = host.system.login_command.get()
            return "before" if now is None else "made" if now == effect.words else "changed"
        case ProgramInstalled():
            raise AppError("internal", detail=f"{effect.name}: its kind has no look")


def revert(effect: Effect, host: Host) -> RetentionReason | None:  # noqa: PLR0911, PLR0912 - one for each effect
    """Take an effect back; what of it stays is said, None for nothing. Raises AppError."""
    state = effect_state(effect, host)
    if state == "before":
        return None
    if state == "changed":
        return "changed"
    match effect:
        case FolderCreated():
            return _remove_empty_folder(Path(effect.path))
        case TreeCreated():
            has_foreign_files = staging.remove_folder(Path(effect.path), keep_empty=effect.stood)
            return "files" if has_foreign_files else None
        case FolderMoved():
            return _restore_moved_folder(effect)
        case FilesAdded():
            changed = staging.changed_files(Path(effect.path), effect.receipt)
            staging.remove_merged_files(Path(effect.path), effect.receipt, keep_names=changed)
            return "files" if changed else None
        case FileWritten():
            _restore_file(effect)
        case VariableSet():
            if effect.before is None:
                host.system.variables.remove(effect.name)
            else:
                host.system.variables.set(effect.name, effect.before, expand=effect.before_expand)
        case PathEntryAdded():
            host.system.variables.remove_from_path(Path(effect.folder))
        case LoginCommandSet():
            host.system.login_command.clear()
        case ProgramInstalled():
            raise AppError("internal", detail=f"{effect.name}: its kind has no undo")
    return None


def _remove_empty_folder(path: Path) -> RetentionReason | None:
    """What lies in it may be somebody's own, or what another environment of ours needs."""
    try:
        if any(path.iterdir()):
            return "filled"
        path.rmdir()
    except OSError as error:
        raise storage_error(error, path) from error
    return None


def _restore_moved_folder(effect: FolderMoved) -> RetentionReason | None:
    """Where something else stands by now, it stays where it is."""
    path = Path(effect.path)
    if has_content(path):
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


def _file_state(effect: FileWritten) -> EffectState:
    path = Path(effect.path)
    try:
        current: bytes | None = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        current = None
    except OSError as error:
        raise storage_error(error, path) from error
    if current is not None and hashlib.sha256(current).hexdigest() == effect.sha256:
        return "made"
    return "before" if current == effect.before else "changed"


def _restore_file(effect: FileWritten) -> None:
    path = Path(effect.path)
    if effect.before is not None:
        json.write_file(path, effect.before)
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise storage_error(error, path) from error


def _variable_state(effect: VariableSet, host: Host) -> EffectState:
    current = host.system.variables.get(effect.name)
    if current is not None and (current.value, current.expand) == (effect.value, effect.expand):
        return "made"
    previous = None if effect.before is None else (effect.before, effect.before_expand)
    return "before" if (None if current is None else (current.value, current.expand)) == previous else "changed"
