"""Saves something where the user says, on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from ..components.dialogs import save_dialog
from ..worker import JobRunner
from .tasks import FunctionJob


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
