"""What is shown as a picture, what was measured as a table: saved where the user says, on a thread of its own."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QTimer
from PySide6.QtGui import QImage

from ...core import json
from ...core.errors import AppError
from .. import language
from ..components import Banner
from ..main.file_saver import FileSaver

if TYPE_CHECKING:
    from ...core.results import GpuSample
    from ...monitor.history import History


SAVED_MESSAGE_MS = 10_000  # long enough to read a path


class MonitorExporter(FileSaver):
    """What the monitor shows, as a file."""

    def ask_picture(self, image: QImage) -> None:
        """Ask where the picture shall lie, and save it there."""
        title = self.tr("Where shall the picture be saved?")
        self.choose_file(title, "PNG (*.png)", _export_name("png"), lambda path: self.save_picture(image, path))

    def ask_table(self, history: History, seconds: float, gpus: tuple[GpuSample, ...] = ()) -> None:
        """Ask where the table of the last `seconds` shall lie, and save it there; `gpus` name its columns."""
        title = self.tr("Where shall the table be saved?")
        self.choose_file(title, "CSV (*.csv)", _export_name("csv"), lambda path: self.save_table(history, seconds, path, gpus))

    def save_picture(self, image: QImage, path: Path) -> None:
        """Save it as PNG."""
        self.write(path, lambda: json.write_file(path, _encode_png(image)))

    def save_table(self, history: History, seconds: float, path: Path, gpus: tuple[GpuSample, ...] = ()) -> None:
        """Save the last `seconds` as CSV."""
        from ...monitor.history_csv import export_history
        from ...monitor.known_cards import gpu_label
        from ...monitor.series import gpu_key

        names = {gpu_key(gpu): gpu_label(gpu) for gpu in gpus}
        self.write(path, partial(export_history, history, path, seconds, names=names))


class ExportBanner(Banner):
    """Where something was saved, or why it could not be. It can be closed; good news goes by itself."""

    def __init__(self, exports: MonitorExporter) -> None:
        super().__init__("ok")
        self.hide_timer = QTimer(self, singleShot=True, interval=SAVED_MESSAGE_MS)
        self.hide_timer.timeout.connect(self.hide)
        self.button.clicked.connect(self.hide)
        self.button.show()
        self.hide()
        exports.saved.connect(self._on_saved)
        exports.failed.connect(self._on_failed)

    def _on_saved(self, path: Path) -> None:
        self.set("ok", self.tr("Saved: {path}").format(path=path))
        self.show()
        self.hide_timer.start()

    def _on_failed(self, error: AppError) -> None:
        self.set("warn", language.texts().error_text(error))
        self.show()
        self.hide_timer.stop()

    def retranslate(self) -> None:
        """The button's word."""
        self.button.setText(self.tr("Close"))


def _export_name(suffix: str) -> str:
    return time.strftime(f"GPU-Assistant-%Y-%m-%d-%H%M.{suffix}")


def _encode_png(image: QImage) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(data.data())
