"""Which effects a step, or an integration, could have made: a journal is untrusted, it may come with a copied folder.

Each kind of step names its own places (`StepKind.could_have_made`) with the functions below. An effect anywhere else is
treated as absent: nothing of it is read, changed or deleted.
"""

from __future__ import annotations

import hashlib
import json as plain_json
import os
import re
from pathlib import Path

from ...core import filesystem
from ...core.paths import DataDir
from ...system.base import MENU_SCRIPT, menu_entry_name, path_hash
from ..files.inventory import read_unfinished_manifest
from .log import Effect, FileWritten, FolderCreated, LoginCommandSet, PackagesAdded, TreeCreated

INTEGRATION_KIND = "integration"
LOGIN_KIND = "at-login"
INTERPRETER_SETTING = "python.defaultInterpreterPath"  # of Visual Studio Code


def is_plain(path: str) -> bool:
    """Whether it is absolute and without "..", so that its parents are what they seem."""
    return Path(path).is_absolute() and ".." not in Path(path).parts


def is_same(path: str, other: Path) -> bool:
    """Whether both name one place; links above it are followed, the last name is compared."""
    return is_plain(path) and _place(Path(path)) == _place(other)


def is_child(path: str, folder: Path) -> bool:
    """Whether it is directly in a folder."""
    return is_plain(path) and Path(path).name != "" and _real(Path(path).parent) == _real(folder)


def is_inside(path: str, folder: Path) -> bool:
    """Whether it is anywhere below a folder."""
    place = Path(_place(Path(path)))
    return is_plain(path) and Path(_real(folder)) in place.parents


def is_above(path: str, folder: Path) -> bool:
    """Whether it is a folder or one of those that it is in."""
    return is_plain(path) and any(is_same(path, each) for each in (folder, *folder.parents))


def is_tree_in(effect: Effect, folder: Path) -> bool:
    """Whether it is a tree made directly in a folder, or one of the folders that lead there."""
    match effect:
        case FolderCreated(path=path):
            return is_above(path, folder)
        case TreeCreated(path=path):
            return is_child(path, folder)
        case _:
            return False


def could_have_made(kind: str, effect: Effect, environment: str | None, data: DataDir) -> bool:  # noqa: ARG001 - as the method
    """The same for the kinds that are no steps: the files of integrations, and the command at login."""
    if kind == LOGIN_KIND:
        return isinstance(effect, LoginCommandSet)
    if kind != INTEGRATION_KIND or environment is None:
        return False
    match effect:
        case PackagesAdded(path=path):
            return is_same(path, Path(environment)) and _are_added(effect)
        case FolderCreated(path=path):
            return is_plain(path)  # removed only where it is empty
        case FileWritten(path=path):
            return is_plain(path) and (
                _is_own_file(Path(path), Path(environment))
                or Path(path).name == f"{menu_entry_name(Path(environment))}.lnk"
                or (
                    Path(path).parts[-2:] == (".vscode", "settings.json")
                    and _differs_by_interpreter(effect, environment)
                )
            )
        case _:
            return False


def _are_added(effect: PackagesAdded) -> bool:
    """Whether none of the packages is one that the environment was made with, and the lock file has a name for one."""
    manifest = read_unfinished_manifest(Path(effect.path))
    names = {requirement.partition("==")[0] for requirement in effect.packages}
    return (
        re.fullmatch(r"pylock\.[a-z0-9-]+\.toml", effect.lock) is not None
        and manifest is not None
        and names.isdisjoint(manifest.packages)
    )


def has_own_name(path: Path) -> bool:
    """Whether nobody else gives a file this name: what it held before was ours, too, and is not put back."""
    return any(name.startswith("gpu-assistant-") for name in path.parts[-2:])


def _is_own_file(path: Path, environment: Path) -> bool:
    name = f"gpu-assistant-{path_hash(environment)}"
    return path == environment / MENU_SCRIPT or path.parts[-2:] in (
        (name, "kernel.json"),
        ("applications", f"{name}.desktop"),
    )


def _differs_by_interpreter(effect: FileWritten, environment: str) -> bool:
    """Whether the content that is there and the one before it are the same settings but for the interpreter, which is
    now the environment's: then only our own setting is undone. True where the content is another one than was written:
    nothing is undone then.
    """
    try:
        content = filesystem.read_bytes(Path(effect.path))
    except OSError:
        return True
    if hashlib.sha256(content).hexdigest() != effect.sha256:
        return True
    try:
        now = plain_json.loads(content)
        before = plain_json.loads((effect.previous or b"").decode("utf-8-sig").strip() or "{}")
        interpreter = now.pop(INTERPRETER_SETTING)
        before.pop(INTERPRETER_SETTING, None)
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return False
    return isinstance(interpreter, str) and is_inside(interpreter, Path(environment)) and now == before


def _real(folder: Path) -> str:
    return os.path.normcase(os.path.realpath(folder))


def _place(path: Path) -> str:
    return os.path.normcase(os.path.join(os.path.realpath(path.parent), path.name))  # noqa: PTH118 - a text to compare
