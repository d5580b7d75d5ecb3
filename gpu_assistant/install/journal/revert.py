"""How each effect is seen on the computer, and how it is reverted; step kinds add what their own programs need.

`revert` may be called again after it was interrupted.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from ...core import filesystem, json
from ...core.errors import AppError, storage_error
from ..files import staging
from ..files.installed_packages import present_packages, remove_packages
from ..files.inventory import has_content
from ..host import Host
from .log import (
    Effect,
    FilesAdded,
    FileWritten,
    FolderCreated,
    FolderMoved,
    LoginCommandSet,
    PackagesAdded,
    PathEntryAdded,
    ProgramInstalled,
    RetentionReason,
    TreeCreated,
    VariableSet,
)
from .validation import has_own_name

# "applied": as we made it; "partial": some of it, by a run that was killed; "absent": nothing of it; "modified":
# somebody else changed it since.
EffectState = Literal["applied", "partial", "absent", "modified"]


def effect_state(effect: Effect, host: Host) -> EffectState:  # noqa: PLR0911 - one for each effect
    """The state of an effect on the computer; raises AppError where it cannot be read."""
    match effect:
        case FolderCreated():
            return "applied" if Path(effect.path).is_dir() else "absent"
        case TreeCreated():
            return staging.folder_state(Path(effect.path))
        case FolderMoved():
            return "applied" if Path(effect.to).is_dir() else "absent"
        case FilesAdded():
            return staging.merge_state(Path(effect.path), effect.receipt)
        case PackagesAdded():
            return _packages_state(effect)
        case FileWritten():
            return _file_state(effect)
        case VariableSet():
            return _variable_state(effect, host)
        case PathEntryAdded():
            return "applied" if host.system.variables.is_on_path(Path(effect.folder)) else "absent"
        case LoginCommandSet():
            command = host.system.login_command.get()
            return "absent" if command is None else "applied" if command == effect.command else "modified"
        case ProgramInstalled():
            raise AppError("internal", detail=f"{effect.name}: its step kind has no effect_state")


def revert(effect: Effect, host: Host) -> RetentionReason | None:  # noqa: PLR0911, PLR0912 - one for each effect
    """Revert an effect; returns why some or all of it stays, None if nothing does. Raises AppError."""
    state = effect_state(effect, host)
    if state == "absent":
        return None
    if state == "modified":
        return "changed"
    match effect:
        case FolderCreated():
            return _remove_empty_folder(Path(effect.path))
        case TreeCreated():
            has_foreign_files = staging.remove_folder(Path(effect.path), keep_empty=effect.existed)
            return "files" if has_foreign_files else None
        case FolderMoved():
            return _restore_moved_folder(effect)
        case FilesAdded():
            changed_names = staging.changed_files(Path(effect.path), effect.receipt)
            staging.remove_merged_files(Path(effect.path), effect.receipt, keep_names=changed_names)
            return "files" if changed_names else None
        case PackagesAdded():
            return _remove_packages(effect, host)
        case FileWritten():
            _restore_file(effect)
        case VariableSet():
            if effect.previous is None:
                host.system.variables.remove(effect.name)
            else:
                host.system.variables.set(effect.name, effect.previous, expand=effect.previous_expand)
        case PathEntryAdded():
            host.system.variables.remove_from_path(Path(effect.folder))
        case LoginCommandSet():
            host.system.login_command.clear()
        case ProgramInstalled():
            raise AppError("internal", detail=f"{effect.name}: its step kind has no revert")
    return None


def _remove_empty_folder(path: Path) -> RetentionReason | None:
    """A folder that is not empty stays: it holds the user's files, or what another environment needs."""
    try:
        if any(path.iterdir()):
            return "filled"
        filesystem.rmdir(path)
    except OSError as error:
        raise storage_error(error, path) from error
    return None


def _restore_moved_folder(effect: FolderMoved) -> RetentionReason | None:
    """Move it back, unless something else is there by now."""
    path = Path(effect.path)
    if has_content(path):
        return "taken"
    try:
        if path.is_dir():
            filesystem.rmdir(path)
        filesystem.rename(Path(effect.to), path)
    except PermissionError as error:
        raise AppError("environment-in-use", path=effect.to) from error
    except OSError as error:
        raise storage_error(error, path) from error
    return None


def _packages_state(effect: PackagesAdded) -> EffectState:
    environment = Path(effect.path)
    present = present_packages(environment, effect.packages)
    if not present:
        return "partial" if (environment / effect.lock).is_file() else "absent"
    return "applied" if len(present) == len(effect.packages) else "partial"


def _remove_packages(effect: PackagesAdded, host: Host) -> RetentionReason | None:
    """The lock file goes last: as long as it is there, an interrupted removal can go on."""
    environment = Path(effect.path)
    changed_files = remove_packages(environment, effect.packages, host.data.files)
    try:
        filesystem.unlink(environment / effect.lock, missing_ok=True)
    except OSError as error:
        raise storage_error(error, environment) from error
    return "files" if changed_files else None


def _file_state(effect: FileWritten) -> EffectState:
    path = Path(effect.path)
    try:
        content: bytes | None = filesystem.read_bytes(path)
    except (FileNotFoundError, NotADirectoryError):
        content = None
    except OSError as error:
        raise storage_error(error, path) from error
    if content is not None and hashlib.sha256(content).hexdigest() == effect.sha256:
        return "applied"
    return "absent" if content == effect.previous else "modified"


def _restore_file(effect: FileWritten) -> None:
    path = Path(effect.path)
    if effect.previous is not None and not has_own_name(path):
        json.write_file(path, effect.previous)
        return
    try:
        filesystem.unlink(path, missing_ok=True)
    except OSError as error:
        raise storage_error(error, path) from error


def _variable_state(effect: VariableSet, host: Host) -> EffectState:
    variable = host.system.variables.get(effect.name)
    current = None if variable is None else (variable.value, variable.expand)
    if current == (effect.value, effect.expand):
        return "applied"
    previous = None if effect.previous is None else (effect.previous, effect.previous_expand)
    return "absent" if current == previous else "modified"
