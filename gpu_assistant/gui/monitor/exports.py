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


SAVED_MS = 10_000  # long enough to read a path


class Exports(FileSaver):
    """What the monitor shows, as a file."""

    def ask_picture(self, image: QImage) -> None:
        """Ask where the picture shall lie, and save it there."""
        title = self.tr("Where shall the picture be saved?")
        self.ask(title, "PNG (*.png)", _name("png"), lambda path: self.save_picture(image, path))

    def ask_table(self, history: History, seconds: float, gpus: tuple[GpuSample, ...] = ()) -> None:
        """Ask where the table of the last `seconds` shall lie, and save it there; `gpus` name its columns."""
        title = self.tr("Where shall the table be saved?")
        self.ask(title, "CSV (*.csv)", _name("csv"), lambda path: self.save_table(history, seconds, path, gpus))

    def save_picture(self, image: QImage, path: Path) -> None:
        """Save it as PNG."""
        self.write(path, lambda: json.write_file(path, _png(image)))

    def save_table(self, history: History, seconds: float, path: Path, gpus: tuple[GpuSample, ...] = ()) -> None:
        """Save the last `seconds` as CSV."""
        from ...monitor.history_csv import export
        from ...monitor.known_cards import card_name
        from ...monitor.series import card

        names = {card(gpu): card_name(gpu) for gpu in gpus}
        self.write(path, partial(export, history, path, seconds, names=names))


class SavedNote(Banner):
    """Where something was saved, or why it could not be. It can be closed; good news goes by itself."""

    def __init__(self, exports: Exports) -> None:
        super().__init__("ok")
        self.gone = QTimer(self, singleShot=True, interval=SAVED_MS)
        self.gone.timeout.connect(self.hide)
        self.button.clicked.connect(self.hide)
        self.button.show()
        self.hide()
        exports.saved.connect(self._saved)
        exports.failed.connect(self._not_saved)

    def _saved(self, path: Path) -> None:
        self.set("ok", self.tr("Saved: {path}").format(path=path))
        self.show()
        self.gone.start()

    def _not_saved(self, error: AppError) -> None:
        self.set("warn", language.texts().error(error))
        self.show()
        self.gone.stop()

    def retranslate(self) -> None:
        """The button's word."""
        self.button.setText(self.tr("Close"))


def _name(ending: str) -> str:
    return time.strftime(f"GPU-Assistant-%Y-%m-%d-%H%M.{ending}")


def _png(image: QImage) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(data.data())
