"""What is shown as a picture, what was measured as a table: saved where the user says, on a thread of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, Qt, Signal, SignalInstance
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QWidget

from ...core import json
from ..main.tasks import Task
from ..worker import JobRunner

if TYPE_CHECKING:
    from ...monitor.history import History


class Exports(QObject):
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

    def ask_picture(self, image: QImage) -> None:
        """Ask where the picture shall lie, and save it there."""
        answer = self._ask(self.tr("Where shall the picture be saved?"), "PNG (*.png)", "png")
        answer.connect(lambda file: self.save_picture(image, Path(file)))

    def ask_table(self, history: History, seconds: float) -> None:
        """Ask where the table of the last `seconds` shall lie, and save it there."""
        answer = self._ask(self.tr("Where shall the table be saved?"), "CSV (*.csv)", "csv")
        answer.connect(lambda file: self.save_table(history, seconds, Path(file)))

    def save_picture(self, image: QImage, path: Path) -> None:
        """Save it as PNG."""
        # Packed on a thread of its own: that takes longer than a window may stand still.
        self._start(path, lambda: json.write_file(path, _png(image)))

    def save_table(self, history: History, seconds: float, path: Path) -> None:
        """Save the last `seconds` as CSV."""
        from ...monitor.history_csv import export

        self._start(path, partial(export, history, path, seconds))

    def _start(self, path: Path, write: Callable[[], object]) -> None:
        if not self._runner.running:
            self._path = path
            self._runner.start(Task(write))

    def _ask(self, title: str, kinds: str, ending: str) -> SignalInstance:
        dialog = QFileDialog(self._parent, title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(kinds)
        dialog.setDefaultSuffix(ending)
        dialog.selectFile(time.strftime(f"GPU-Assistant-%Y-%m-%d-%H%M.{ending}"))
        dialog.open()
        return dialog.fileSelected


def _png(image: QImage) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(data.data())
