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

from ..core import json
from ..core.errors import AppError
from ..core.jobs import JobContext
from ..core.json import storage_error
from ..core.paths import DataDir
from ..system.base import System
from ..system.desktop import Desktop, EntryFile
from . import manifest
from .effects import FileWritten, FolderMade
from .owned import SITE

KIND = "after"
# A comment for whoever reads the lock; by it a later one of ours may take its place, and nobody else's.
SHARED = b'# Written by GPU Assistant: the exact files of an environment, for "uv pip sync".\n'
SETTING = "python.defaultInterpreterPath"


class Ways(Struct, frozen=True, kw_only=True):
    """How an environment is used: its interpreter, for any editor to be pointed at; what is typed in a terminal;
    Visual Studio Code's program if it is here; whether Jupyter's kernel is among its packages; the lock to share.
    """

    python: Path
    activation: str
    editor: Path | None
    kernel: bool
    lock: Path


def ways(environment: Path, system: System, desktop: Desktop) -> Ways:
    """Looks only; raises AppError: environment-missing, environment-not-ours."""
    _refuse_strange(environment)
    return Ways(
        python=system.environment_python(environment),
        activation=system.activation(environment),
        editor=desktop.editor(),
        kernel=_has_kernel(environment),
        lock=environment / manifest.LOCK,
    )


def share_lock(environment: Path, target: Path) -> None:
    """Write the lock to a file, under a line that says whose it is; what was there is replaced. Raises AppError:
    environment-not-ours, folder-…
    """
    _refuse_strange(environment)
    try:
        content = (environment / manifest.LOCK).read_bytes()
    except OSError as error:
        raise storage_error(error, environment) from error
    json.write_file(target, SHARED + content)


class After:
    """Something that is written for an environment which stands. `run` may be called again: what is there stays."""

    def __init__(self, environment: Path, data: DataDir, system: System, desktop: Desktop) -> None:
        self.environment = environment
        self._data = data
        self._system = system
        self._desktop = desktop

    def _write(self, files: Sequence[EntryFile], context: JobContext[Any]) -> None:
        from ..system.single import one_at_a_time
        from .journal import Journal
        from .ledger import settle
        from .place import Place
        from .reporter import Reporter

        context.check_cancelled()
        _refuse_strange(self.environment)
        with one_at_a_time(self._data), Journal(self._data, env=str(self.environment)) as book:
            settle(Place(self._system, self._data, reporter=Reporter(context), cancel=context.cancel), book)
            for file in files:
                before = _read(file.path)
                if before == file.content:
                    continue
                lacking = [place for place in file.path.parents if not place.exists()]
                for place in reversed(lacking):
                    with book.effect(KIND, FolderMade(path=str(place))):
                        _make(place)
                sha256 = hashlib.sha256(file.content).hexdigest()
                with book.effect(KIND, FileWritten(path=str(file.path), sha256=sha256, before=before)):
                    json.write_file(file.path, file.content)


class MenuEntryJob(After):
    """Puts the environment into the desktop's menu, as a terminal that has it ready."""

    def run(self, context: JobContext[Any]) -> Path:
        """The entry. Raises AppError: menu-unusable, environment-not-ours, already-running, folder-unwritable."""
        files = self._desktop.entry(self.environment)
        self._write(files, context)
        return files[-1].path


class KernelJob(After):
    """Tells Jupyter of the environment, as one of the user's own kernels."""

    def run(self, context: JobContext[Any]) -> Path:
        """Its file. Raises AppError: kernel-missing (with what to type), and those of MenuEntryJob."""
        python = self._system.environment_python(self.environment)
        if not _has_kernel(self.environment):
            raise AppError("kernel-missing", python=str(python))
        mark = hashlib.sha256(os.fsencode(self.environment)).hexdigest()[:12]
        content = {
            "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": f"{self.environment.name} (GPU Assistant)",
            "language": "python",
            "metadata": {"debugger": True},
        }
        path = self._desktop.kernels() / f"gpu-assistant-{mark}" / "kernel.json"
        self._write((EntryFile(path=path, content=_pretty(content)),), context)
        return path


class EditorJob(After):
    """Opens a folder in Visual Studio Code, which then takes the environment's Python for it."""

    def __init__(self, environment: Path, data: DataDir, system: System, desktop: Desktop, *, folder: Path) -> None:
        super().__init__(environment, data, system, desktop)
        self.folder = folder

    def run(self, context: JobContext[Any]) -> Path:
        """The folder. Raises AppError: editor-missing, editor-settings (what is there cannot be added to; nothing
        was changed), not-a-folder, and those of MenuEntryJob.
        """
        python = self._system.environment_python(self.environment)
        editor = self._desktop.editor()
        if editor is None:
            raise AppError("editor-missing", python=str(python))
        if not self.folder.is_dir():
            raise AppError("not-a-folder", path=str(self.folder))
        path = self.folder / ".vscode" / "settings.json"
        settings = _settings(path, python)
        if settings.get(SETTING) != str(python):
            content = _pretty(settings | {SETTING: str(python)})
            self._write((EntryFile(path=path, content=content),), context)
        self._desktop.start([editor, self.folder], self.folder)
        return self.folder


def _settings(path: Path, python: Path) -> dict[str, Any]:
    """What is there; comments, which the editor allows, would be lost, so such a file is left alone."""
    text = _read(path)
    if text is None or not text.strip():
        return {}
    try:
        found = plain_json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise AppError("editor-settings", path=str(path), python=str(python)) from error
    if not isinstance(found, dict):
        raise AppError("editor-settings", path=str(path), python=str(python))
    return found


def _pretty(content: dict[str, Any]) -> bytes:
    return (plain_json.dumps(content, indent=4, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")


def _refuse_strange(environment: Path) -> None:
    if manifest.read(environment) is None:
        code = "environment-not-ours" if environment.exists() else "environment-missing"
        raise AppError(code, path=str(environment))


def _has_kernel(environment: Path) -> bool:
    return any(next(environment.glob(f"{site}/ipykernel/__init__.py"), None) is not None for site in SITE)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise storage_error(error, path) from error


def _make(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise storage_error(error, folder) from error
