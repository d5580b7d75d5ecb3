"""What comes after an install: an entry in the menu, an editor with the right Python, a kernel for Jupyter, the lock.

What is written is journaled for the environment, and goes, or becomes again what it was, when that is removed.
"""

from __future__ import annotations

import hashlib
import json as plain_json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ...core import json
from ...core.errors import AppError
from ...core.jobs import JobContext
from ...core.json import storage_error
from ...core.paths import DataDir
from ...system.base import Desktop, MenuEntryFile, Processes, System
from ...system.locks import data_folder_lock
from ..files import inventory
from ..files.inventory import SITE_PACKAGES_GLOBS
from ..host import Host
from ..journal.log import FileWritten, FolderCreated, Journal
from ..journal.recovery import Kinds, recover

EFFECT_KIND = "after"
# A comment for whoever reads the lock; by it a later one of ours may take its place, and nobody else's.
LOCK_COMMENT = b'# Written by GPU Assistant: the exact files of an environment, for "uv pip sync".\n'
INTERPRETER_SETTING = "python.defaultInterpreterPath"


class EnvironmentActions(Struct, frozen=True, kw_only=True):
    """How an environment is used: its interpreter, for any editor to be pointed at; what is typed in a terminal;
    Visual Studio Code's program if it is here; whether Jupyter's kernel is among its packages; the lock to share.
    """

    python: Path
    activation: str
    editor: Path | None
    has_kernel: bool
    lock: Path


def environment_actions(environment: Path, system: Processes, desktop: Desktop) -> EnvironmentActions:
    """Looks only; raises AppError: environment-missing, environment-not-ours."""
    _check_managed(environment)
    return EnvironmentActions(
        python=system.environment_python(environment),
        activation=system.activation_command(environment),
        editor=desktop.find_editor(),
        has_kernel=_has_kernel(environment),
        lock=environment / inventory.LOCK_FILE,
    )


def export_lockfile(environment: Path, target: Path) -> None:
    """Write the lock to a file, under a line that says whose it is; what was there is replaced. Raises AppError:
    environment-not-ours, folder-…
    """
    _check_managed(environment)
    try:
        content = (environment / inventory.LOCK_FILE).read_bytes()
    except OSError as error:
        raise storage_error(error, environment) from error
    json.write_file(target, LOCK_COMMENT + content)


class IntegrationJob:
    """Something that is written for an environment which stands. `run` may be called again: what is there stays.

    `kinds` are all kinds of steps by name: they know what became of an effect whose run was killed.
    """

    def __init__(self, environment: Path, data: DataDir, system: System, desktop: Desktop, kinds: Kinds) -> None:
        self.environment = environment
        self._data = data
        self._system = system
        self._desktop = desktop
        self._kinds = kinds

    def _write_files(self, files: Sequence[MenuEntryFile], context: JobContext[Any]) -> None:
        context.check_cancelled()
        _check_managed(self.environment)
        with data_folder_lock(self._data), Journal(self._data, environment=str(self.environment)) as journal:
            recover(Host(self._system, self._data), journal, self._kinds)
            for file in files:
                previous = _read_bytes(file.path)
                if previous == file.content:
                    continue
                missing = [parent for parent in file.path.parents if not parent.exists()]
                for folder in reversed(missing):
                    with journal.effect(EFFECT_KIND, FolderCreated(path=str(folder))):
                        _make_folder(folder)
                sha256 = hashlib.sha256(file.content).hexdigest()
                with journal.effect(EFFECT_KIND, FileWritten(path=str(file.path), sha256=sha256, before=previous)):
                    json.write_file(file.path, file.content)


class MenuEntryJob(IntegrationJob):
    """Puts the environment into the desktop's menu, as a terminal that has it ready."""

    def run(self, context: JobContext[Any]) -> Path:
        """The entry. Raises AppError: menu-unusable, environment-not-ours, already-running, folder-unwritable."""
        files = self._desktop.menu_entry_files(self.environment)
        self._write_files(files, context)
        return files[-1].path


class JupyterKernelJob(IntegrationJob):
    """Tells Jupyter of the environment, as one of the user's own kernels."""

    def run(self, context: JobContext[Any]) -> Path:
        """Its file. Raises AppError: kernel-missing (with what to type), and those of MenuEntryJob."""
        python = self._system.environment_python(self.environment)
        if not _has_kernel(self.environment):
            raise AppError("kernel-missing", python=str(python))
        path_hash = hashlib.sha256(os.fsencode(self.environment)).hexdigest()[:12]
        content = {
            "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": f"{self.environment.name} (GPU Assistant)",
            "language": "python",
            "metadata": {"debugger": True},
        }
        path = self._desktop.kernels_folder() / f"gpu-assistant-{path_hash}" / "kernel.json"
        self._write_files((MenuEntryFile(path=path, content=_format_json(content)),), context)
        return path


class EditorJob(IntegrationJob):
    """Opens a folder in Visual Studio Code, which then takes the environment's Python for it."""

    def __init__(
        self,
        environment: Path,
        data: DataDir,
        system: System,
        desktop: Desktop,
        kinds: Kinds,
        *,
        folder: Path,
    ) -> None:
        super().__init__(environment, data, system, desktop, kinds)
        self.folder = folder

    def run(self, context: JobContext[Any]) -> Path:
        """The folder. Raises AppError: editor-missing, editor-settings (what is there cannot be added to; nothing
        was changed), not-a-folder, and those of MenuEntryJob.
        """
        python = self._system.environment_python(self.environment)
        editor = self._desktop.find_editor()
        if editor is None:
            raise AppError("editor-missing", python=str(python))
        if not self.folder.is_dir():
            raise AppError("not-a-folder", path=str(self.folder))
        path = self.folder / ".vscode" / "settings.json"
        settings = _read_settings(path, python)
        if settings.get(INTERPRETER_SETTING) != str(python):
            content = _format_json(settings | {INTERPRETER_SETTING: str(python)})
            self._write_files((MenuEntryFile(path=path, content=content),), context)
        self._desktop.start_program([editor, self.folder], self.folder)
        return self.folder


def _read_settings(path: Path, python: Path) -> dict[str, Any]:
    """What is there; comments, which the editor allows, would be lost, so such a file is left alone."""
    text = _read_bytes(path)
    if text is None or not text.strip():
        return {}
    try:
        settings = plain_json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise AppError("editor-settings", path=str(path), python=str(python)) from error
    if not isinstance(settings, dict):
        raise AppError("editor-settings", path=str(path), python=str(python))
    return settings


def _format_json(content: dict[str, Any]) -> bytes:
    return (plain_json.dumps(content, indent=4, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")


def _check_managed(environment: Path) -> None:
    if inventory.read_manifest(environment) is None:
        code = "environment-not-ours" if environment.exists() else "environment-missing"
        raise AppError(code, path=str(environment))


def _has_kernel(environment: Path) -> bool:
    return any(
        next(environment.glob(f"{site}/ipykernel/__init__.py"), None) is not None for site in SITE_PACKAGES_GLOBS
    )


def _read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise storage_error(error, path) from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise storage_error(error, folder) from error
