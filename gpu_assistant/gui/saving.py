"""Keeps the settings without making the window wait for the disk.

A single call as a job.

Saves something where the user says, on a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from ..core.jobs import JobContext
from .widgets.dialogs import save_dialog
from .worker import JobRunner

if TYPE_CHECKING:
    from ..app import App


class FunctionJob:
    """Runs one function that may wait for the system."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function

    def run(self, context: JobContext[Any]) -> None:
        """Do it, unless it was cancelled before it began."""
        context.check_cancelled()
        self._function()


class FileSaver(QObject):
    """`saved` comes with the file, `failed` with the AppError."""

    saved = Signal(Path)
    failed = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self._path = Path()
        self._runner = JobRunner(self)
        self._runner.done.connect(lambda _: self.saved.emit(self._path))
        self._runner.failed.connect(self.failed)

    def choose_file(self, title: str, file_filter: str, name: str, save: Callable[[Path], None]) -> None:
        """Ask where the file shall lie, and save it there."""
        dialog = save_dialog(self._parent, title, file_filter, name)
        dialog.fileSelected.connect(lambda file: save(Path(file)))
        dialog.open()

    def write(self, path: Path, write: Callable[[], object]) -> None:
        """Do what writes the file: packing takes longer than a window may stand still."""
        if not self._runner.running:
            self._path = path
            self._runner.start(FunctionJob(write))


class _SaveSettingsJob:
    """Writes the settings that hold when it runs."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> None:  # noqa: ARG002
        self._app.save_settings(self._app.settings)


class SettingsSaver(QObject):
    """`keep(theme="dark")` holds at once and is on disk soon after. `failed(AppError)`, `saved` tell how it went."""

    failed = Signal(object)
    saved = Signal()

    def __init__(self, app: App, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self._save_again = False
        self._runner = JobRunner(self)
        self._runner.failed.connect(self.failed)
        self._runner.done.connect(lambda _: self.saved.emit())
        self._runner.finished.connect(self._save_pending)

    def save(self, **changes: Any) -> None:  # noqa: ANN401 - the settings' own fields
        """Change settings."""
        self._app.settings = replace(self._app.settings, **changes)
        if self._runner.running:
            self._save_again = True
        else:
            self._runner.start(_SaveSettingsJob(self._app))

    def _save_pending(self) -> None:
        if self._save_again:
            self._save_again = False
            self._runner.start(_SaveSettingsJob(self._app))
