"""Files and settings that are saved without blocking the window.

FileSaver writes a file where the user chooses, FileOpener opens it; SettingsSaver writes the settings after each
change. All run a job in a thread (worker.py) and report its end by signals.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from PySide6.QtCore import QBuffer, QIODevice, QObject, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from .widgets.dialogs import save_dialog
from .worker import FunctionJob, JobRunner

if TYPE_CHECKING:
    from ..app import App


class FileSaver(QObject):
    """Saves one file at a time; `saved` brings its path, `failed` the AppError."""

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
        """Ask for a file and call `save` with it."""
        dialog = save_dialog(self._parent, title, file_filter, name)
        dialog.fileSelected.connect(lambda file: save(Path(file)))
        dialog.open()

    def write(self, path: Path, write: Callable[[], object]) -> None:
        """Call `write`, which writes `path`, in a thread; ignored while another file is written."""
        if not self._runner.running:
            self._path = path
            self._runner.start(FunctionJob(write))


def encode_png(image: QImage) -> bytes:
    """An image as a PNG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


class FileOpener(QObject):
    """Opens a saved file with the user's own program for it; `failed` brings the AppError."""

    failed = Signal(object)

    def __init__(self, app: App, parent: QObject) -> None:
        super().__init__(parent)
        self._app = app
        self._runner = JobRunner(self)
        self._runner.failed.connect(self.failed)

    def open(self, path: Path) -> None:
        """Open a file; a second click while it opens does nothing."""
        if not self._runner.running:
            self._runner.start(FunctionJob(lambda: self._app.system.open_file(path)))


class SettingsSaver(QObject):
    """`save(theme="dark")` applies at once and is on disk soon after; then `saved` or `failed(AppError)` is emitted."""

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
        """Change settings; several changes during one write are written together."""
        self._app.settings = replace(self._app.settings, **changes)
        if self._runner.running:
            self._save_again = True
        else:
            self._write()

    def _write(self) -> None:
        # The settings at the time of writing, not of the change.
        self._runner.start(FunctionJob(lambda: self._app.save_settings(self._app.settings)))

    def _save_pending(self) -> None:
        if self._save_again:
            self._save_again = False
            self._write()
