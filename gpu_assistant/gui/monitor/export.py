"""Exports of Monitor: the page as a picture with a title line, the history as CSV.

Encoding and writing run on a worker thread (`gui.saving.FileSaver`).
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QImage, QPainter

from ...core import json
from ...core.errors import AppError
from ...core.results import GpuSample
from .. import language, theme
from ..saving import FileOpener, FileSaver, encode_png
from ..widgets.cards import Banner

if TYPE_CHECKING:
    from ...monitor.history import History

SAVED_MESSAGE_MS = 10_000  # long enough to read a path
IMAGE_MARGIN = 16


class MonitorExporter(FileSaver):
    """Asks for a file and writes it; `saved(Path)` or `failed(AppError)` follows."""

    def ask_picture(self, image: QImage) -> None:
        """Ask for a file name, then save the image."""
        title = self.tr("Save picture")
        self.choose_file(title, "PNG (*.png)", _export_name("png"), lambda path: self.save_picture(image, path))

    def ask_table(self, history: History, seconds: float, gpus: tuple[GpuSample, ...] = ()) -> None:
        """Ask for a file name, then save the last `seconds`; the columns are named after `gpus`."""
        title = self.tr("Save table")
        self.choose_file(
            title, "CSV (*.csv)", _export_name("csv"), lambda path: self.save_table(history, seconds, path, gpus)
        )

    def save_picture(self, image: QImage, path: Path) -> None:
        """Write a PNG file."""
        self.write(path, lambda: json.write_file(path, encode_png(image)))

    def save_table(self, history: History, seconds: float, path: Path, gpus: tuple[GpuSample, ...] = ()) -> None:
        """Write the last `seconds` as CSV."""
        from ...monitor.history_export import export_history
        from ...monitor.series import gpu_key, gpu_label

        names = {gpu_key(gpu): gpu_label(gpu) for gpu in gpus}
        self.write(path, partial(export_history, history, path, seconds, names=names))


class ExportBanner(Banner):
    """Where a file was saved, with a button that opens it, hidden after SAVED_MESSAGE_MS; or why it was not, until the
    user closes it.
    """

    def __init__(self, exporter: MonitorExporter, opener: FileOpener) -> None:
        self._saved_path: Path | None = None
        self._opener = opener
        super().__init__("ok")
        self.hide_timer = QTimer(self, singleShot=True, interval=SAVED_MESSAGE_MS)
        self.hide_timer.timeout.connect(self.hide)
        self.button.clicked.connect(self._on_clicked)
        self.button.show()
        self.hide()
        exporter.saved.connect(self._on_saved)
        for source in (exporter, opener):
            source.failed.connect(self._on_failed)

    def _on_clicked(self) -> None:
        self.hide()
        if self._saved_path is not None:
            self._opener.open(self._saved_path)

    def _on_saved(self, path: Path) -> None:
        self._saved_path = path
        self.retranslate()
        self.set("ok", self.tr("Saved: {path}").format(path=path))
        self.show()
        self.hide_timer.start()

    def _on_failed(self, error: AppError) -> None:
        self._saved_path = None
        self.retranslate()
        self.set("warn", language.texts().error_text(error))
        self.show()
        self.hide_timer.stop()

    def retranslate(self) -> None:
        self.button.setText(self.tr("Close") if self._saved_path is None else self.tr("Open"))


def _export_name(suffix: str) -> str:
    return time.strftime(f"GPU-Assistant-%Y-%m-%d-%H%M.{suffix}")


def add_title(image: QImage, title: str, detail: str) -> QImage:
    """`image` below a line with the title and the current time, and a smaller one with `detail`."""
    ratio = image.devicePixelRatio()
    large, small = QFontMetricsF(theme.font("heading")), QFontMetricsF(theme.font("small"))
    header_height = IMAGE_MARGIN + large.height() + 4 + small.height() + 4
    width = image.width() / ratio
    result = QImage(image.width(), image.height() + round(header_height * ratio), QImage.Format.Format_RGB32)
    result.setDevicePixelRatio(ratio)
    result.fill(theme.color("window"))
    painter = QPainter(result)
    title_rect = QRectF(IMAGE_MARGIN, IMAGE_MARGIN, width - 2 * IMAGE_MARGIN, large.height())
    painter.setPen(theme.color("text"))
    painter.setFont(theme.font("heading"))
    painter.drawText(title_rect, int(Qt.AlignmentFlag.AlignLeft), title)
    painter.drawText(title_rect, int(Qt.AlignmentFlag.AlignRight), time.strftime("%Y-%m-%d %H:%M:%S"))
    painter.setPen(theme.color("soft"))
    painter.setFont(theme.font("small"))
    detail_rect = QRectF(IMAGE_MARGIN, title_rect.bottom() + 4, title_rect.width(), small.height())
    painter.drawText(
        detail_rect,
        int(Qt.AlignmentFlag.AlignLeft),
        small.elidedText(detail, Qt.TextElideMode.ElideRight, title_rect.width()),
    )
    painter.drawImage(0, round(header_height), image)
    painter.end()
    return result
