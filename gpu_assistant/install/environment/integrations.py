"""How a finished environment is used from elsewhere: menu entry, editor, Jupyter kernel, and its lock file to share.

The files that are written are journaled for the environment: its uninstall removes them or restores what was there.
"""

from __future__ import annotations

import hashlib
import json as plain_json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from ...core import filesystem, json
from ...core.errors import AppError, storage_errors
from ...core.jobs import JobContext
from ...core.paths import DataDir
from ...system.base import Desktop, MenuEntryFile, Processes, System, path_hash
from ...system.locks import data_folder_lock
from ..files import inventory
from ..files.installed_packages import SITE_PACKAGES_GLOBS
from ..host import Host
from ..journal.log import FileWritten, FolderCreated, Journal
from ..journal.recovery import Kinds, recover
from ..journal.validation import INTEGRATION_KIND, INTERPRETER_SETTING

KERNEL_PACKAGE, JUPYTER_PACKAGE = "ipykernel", "jupyterlab"
# First line of an exported lock file; a later export may overwrite a file that begins with it, and no other.
LOCK_COMMENT = b'# Written by GPU Assistant: the exact files of an environment, for "uv pip sync".\n'


class EnvironmentActions(Struct, frozen=True, kw_only=True):
    """How an environment can be used: the path of its interpreter, the command that activates it in a terminal, Visual
    Studio Code's and PyCharm's programs where they are installed, whether ipykernel and JupyterLab are among its
    packages, and its lock file.
    """

    python: Path
    activation: str
    editor: Path | None
    pycharm: Path | None
    has_kernel: bool
    has_jupyter: bool
    lock: Path


def environment_actions(environment: Path, system: Processes, desktop: Desktop) -> EnvironmentActions:
    """Changes nothing; raises AppError: environment-missing, environment-not-ours."""
    _check_managed(environment)
    return EnvironmentActions(
        python=system.environment_python(environment),
        activation=system.activation_command(environment),
        editor=desktop.find_editor(),
        pycharm=desktop.find_pycharm(),
        has_kernel=has_package(environment, KERNEL_PACKAGE),
        has_jupyter=has_package(environment, JUPYTER_PACKAGE),
        lock=environment / inventory.LOCK_FILE,
    )


def export_lockfile(environment: Path, target: Path) -> None:
    """Write the lock file to `target` below a comment, replacing what is there.

    Raises AppError: environment-missing, environment-not-ours, and those of `storage_error`.
    """
    _check_managed(environment)
    with storage_errors(environment):
        content = filesystem.read_bytes(environment / inventory.LOCK_FILE)
    json.write_file(target, LOCK_COMMENT + content)


class IntegrationJob:
    """Writes files for a finished environment; those that have the right content already stay. `run` may be called
    again.

    `kinds` are all step kinds by name, for `journal.recovery`.
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
                    with journal.effect(INTEGRATION_KIND, FolderCreated(path=str(folder))), storage_errors(folder):
                        folder.mkdir(exist_ok=True)
                sha256 = hashlib.sha256(file.content).hexdigest()
                with journal.effect(
                    INTEGRATION_KIND, FileWritten(path=str(file.path), sha256=sha256, previous=previous)
                ):
                    json.write_file(file.path, file.content)


class MenuEntryJob(IntegrationJob):
    """Adds a terminal with the activated environment to the desktop's menu."""

    def run(self, context: JobContext[Any]) -> Path:
        """The path of the entry. Raises AppError: menu-unusable, environment-not-ours, already-running, and those of
        `storage_error`.
        """
        files = self._desktop.menu_entry_files(self.environment)
        self._write_files(files, context)
        return files[-1].path


class JupyterKernelJob(IntegrationJob):
    """Registers the environment as one of the user's Jupyter kernels."""

    def run(self, context: JobContext[Any]) -> Path:
        """The path of kernel.json. Raises AppError: kernel-missing (without ipykernel), and those of MenuEntryJob."""
        python = self._system.environment_python(self.environment)
        if not has_package(self.environment, KERNEL_PACKAGE):
            raise AppError("kernel-missing", python=str(python))
        content = {
            "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": kernel_title(self.environment),
            "language": "python",
            "metadata": {"debugger": True},
        }
        path = self._desktop.kernels_folder() / kernel_name(self.environment) / "kernel.json"
        self._write_files((MenuEntryFile(path=path, content=_format_json(content)),), context)
        return path


class NotebookJob(JupyterKernelJob):
    """Opens a notebook in the environment's own JupyterLab, which runs on when this program ends.

    The folder is made, and the notebook (name and content) put into it; one of that name that is there already stays as
    it is: the user may have worked on it.
    """

    def __init__(
        self,
        environment: Path,
        data: DataDir,
        system: System,
        desktop: Desktop,
        kinds: Kinds,
        *,
        folder: Path,
        notebook: tuple[str, bytes],
    ) -> None:
        super().__init__(environment, data, system, desktop, kinds)
        self.folder = folder
        self.notebook = notebook

    def run(self, context: JobContext[Any]) -> Path:
        """The notebook. Raises AppError: jupyter-missing (without JupyterLab), program-missing, and those of
        JupyterKernelJob.
        """
        if not has_package(self.environment, JUPYTER_PACKAGE):
            raise AppError("jupyter-missing", path=str(self.environment))
        super().run(context)
        name, content = self.notebook
        file = self.folder / name
        if not file.exists():
            json.write_file(file, content)
        python = self._system.environment_python(self.environment)
        self._desktop.start_program([python, "-m", "jupyterlab", file], self.folder)
        return file


class PyCharmJob:
    """Opens a folder in PyCharm. Which Python it takes is chosen there: PyCharm has no option for it."""

    def __init__(self, desktop: Desktop, folder: Path, program: tuple[str, bytes]) -> None:
        self._desktop = desktop
        self.folder = folder
        self.program = program

    def run(self, context: JobContext[Any]) -> Path:
        """The folder. Raises AppError: pycharm-missing, program-missing, and those of `storage_error`."""
        context.check_cancelled()
        pycharm = self._desktop.find_pycharm()
        if pycharm is None:
            raise AppError("pycharm-missing")
        name, content = self.program
        file = self.folder / name
        if not file.exists():
            json.write_file(file, content)
        self._desktop.start_program([pycharm, self.folder], self.folder)
        return self.folder


class EditorJob(IntegrationJob):
    """Opens a folder in Visual Studio Code, with the environment's Python as its interpreter.

    With a `program` (name and content) the folder is made, and the program is put into it and opened; a file of that
    name that is there already stays as it is: the user may have worked on it.
    """

    def __init__(
        self,
        environment: Path,
        data: DataDir,
        system: System,
        desktop: Desktop,
        kinds: Kinds,
        *,
        folder: Path,
        program: tuple[str, bytes] | None = None,
    ) -> None:
        super().__init__(environment, data, system, desktop, kinds)
        self.folder = folder
        self.program = program

    def run(self, context: JobContext[Any]) -> Path:
        """The folder. Raises AppError: editor-missing, not-a-folder, editor-settings (a settings file that cannot be
        extended), and those of MenuEntryJob.
        """
        python = self._system.environment_python(self.environment)
        editor = self._desktop.find_editor()
        if editor is None:
            raise AppError("editor-missing", python=str(python))
        opened = [self.folder]
        if self.program is not None:
            name, content = self.program
            file = self.folder / name
            if not file.exists():
                json.write_file(file, content)
            opened.append(file)
        if not self.folder.is_dir():
            raise AppError("not-a-folder", path=str(self.folder))
        path = self.folder / ".vscode" / "settings.json"
        settings = _read_settings(path, python)
        if settings.get(INTERPRETER_SETTING) != str(python):
            content = _format_json(settings | {INTERPRETER_SETTING: str(python)})
            self._write_files((MenuEntryFile(path=path, content=content),), context)
        self._desktop.start_program([editor, *opened], self.folder)
        return self.folder


def _read_settings(path: Path, python: Path) -> dict[str, Any]:
    """The existing settings. A file with comments, which the editor allows, is refused: they would be lost."""
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


def has_package(environment: Path, module: str) -> bool:
    """Whether a module is among the environment's packages."""
    return any(next(environment.glob(f"{site}/{module}/__init__.py"), None) is not None for site in SITE_PACKAGES_GLOBS)


def kernel_name(environment: Path) -> str:
    """The name under which Jupyter knows the environment's kernel."""
    return f"gpu-assistant-{path_hash(environment)}"


def kernel_title(environment: Path) -> str:
    """The kernel's name for people."""
    return f"{environment.name} (GPU Assistant)"


def _read_bytes(path: Path) -> bytes | None:
    with storage_errors(path), suppress(FileNotFoundError, NotADirectoryError):
        return filesystem.read_bytes(path)
    return None
