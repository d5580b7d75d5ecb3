"""Saves a result where the user wants it: as a picture, or as a page for a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, SignalInstance
from PySide6.QtWidgets import QFileDialog, QWidget

from ...core import json
from ...core.results import Benchmark
from ..main.tasks import Task
from ..worker import JobRunner
from . import scores


class Sharing(QObject):
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

    def ask_picture(self, benchmark: Benchmark) -> None:
        """Ask where the picture shall lie, and save it there."""
        self._ask(self.tr("Where shall the picture be saved?"), "PNG (*.png)", _name(benchmark, "png")).connect(
            lambda file: self.save_picture(benchmark, Path(file))
        )

    def ask_report(self, benchmark: Benchmark, kept: tuple[Benchmark, ...]) -> None:
        """Ask where the report shall lie, and save it there."""
        self._ask(self.tr("Where shall the report be saved?"), "HTML (*.html)", _name(benchmark, "html")).connect(
            lambda file: self.save_report(benchmark, kept, Path(file))
        )

    def save_picture(self, benchmark: Benchmark, path: Path) -> None:
        """Save the picture."""
        from .picture import png

        self._save(path, lambda: png(benchmark))

    def save_report(self, benchmark: Benchmark, kept: tuple[Benchmark, ...], path: Path) -> None:
        """Save the report."""
        from .report import html

        self._save(path, lambda: html(benchmark, kept).encode())

    def _save(self, path: Path, make: Callable[[], bytes]) -> None:
        if self._runner.running:
            return
        self._path = path
        # Made and written on a thread of its own: packing a picture takes longer than a window may stand still.
        self._runner.start(Task(lambda: json.write_file(path, make())))

    def _ask(self, title: str, kinds: str, name: str) -> SignalInstance:
        dialog = QFileDialog(self._parent, title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(kinds)
        dialog.setDefaultSuffix(name.rpartition(".")[2])
        dialog.selectFile(name)
        dialog.open()
        return dialog.fileSelected


def _name(benchmark: Benchmark, ending: str) -> str:
    """A file name that says what it is: "RTX-4060.png"."""
    best = scores.reference(benchmark)
    device = "CPU" if best is None or best.device == "cpu" else scores.card(benchmark, best.device)
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in device).strip("-")
    return f"GPU-Assistant-{plain}.{ending}"
