"""What the monitor is steered with: the range, the pause, what is saved, the table, the health test.

What is shown as a picture, what was measured as a table: saved where the user says, on a thread of its own.

What the monitor shows, as a picture that says by itself what, where and when.

More graphs, for who looks for the reason: clock, fan, memory temperature, PCI Express, video.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import QT_TRANSLATE_NOOP, QBuffer, QByteArray, QIODevice, QRectF, Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QImage, QKeySequence, QPainter, QShortcut
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...core import json
from ...core.errors import AppError
from ...core.results import GpuSample
from .. import language, theme
from ..saving import FileSaver
from ..widgets.base import Themed
from ..widgets.buttons import Button, SegmentedControl
from ..widgets.cards import Banner
from ..widgets.layouts import FlowLayout
from .metrics import GPU_CLOCK, GPU_FAN, GPU_TEMPERATURE, Metric
from .plot.time_axis import SPANS, TimeAxis

if TYPE_CHECKING:
    from ...monitor.history import History


class MonitorToolbar(Themed, QWidget):
    """One row, or more where it is narrow. Range, pause and the way back steer the clock; the page listens to the
    others' `clicked`. `first` stands before them.
    """

    def __init__(self, clock: TimeAxis, first_widget: QWidget) -> None:
        super().__init__()
        self._clock = clock
        self.range_control = SegmentedControl([""] * len(SPANS), current=SPANS.index(int(clock.span)))
        self.reset_button = Button(icon_name="undo")
        self.pause_button = Button(icon_name="pause")
        self.picture_button, self.csv_button, self.table_button = (
            Button(icon_name="image"),
            Button(icon_name="download"),
            Button(icon_name="table"),
        )
        self.table_button.setCheckable(True)
        self.test_button = Button(icon_name="doctor")
        self._shows_labels, self._available_width = False, 0
        self._layout = FlowLayout(self)
        for widget in (
            first_widget,
            self.range_control,
            self.reset_button,
            self.pause_button,
            self.picture_button,
            self.csv_button,
            self.table_button,
            self.test_button,
        ):
            self._layout.addWidget(widget)
        self.reset_button.hide()
        self.range_control.chosen.connect(lambda index: clock.choose(SPANS[index]))
        self.pause_button.clicked.connect(lambda: clock.pause(not clock.paused))
        self.reset_button.clicked.connect(clock.reset)
        clock.paused_changed.connect(lambda _: self.retranslate())
        clock.moved.connect(self._on_clock_moved)
        self.apply_theme()

    @property
    def min_one_row_width(self) -> int:
        """Pixels that all of it needs in one row at the least, the way back too."""
        reset_width = (
            self.reset_button.sizeHint().width() + self._layout.spacing() if self.reset_button.isHidden() else 0
        )
        return self._layout.sizeHint().width() + reset_width - (self._labels_width() if self._shows_labels else 0)

    def fit_to_width(self, available: int) -> None:
        """What is saved and the table have their words beside their icons where the row has room for them; the way back
        comes in their place.
        """
        self._available_width = available
        labels_width = self._labels_width()
        shows_labels = self._layout.sizeHint().width() + (0 if self._shows_labels else labels_width) <= available
        if shows_labels != self._shows_labels:
            self._shows_labels = shows_labels
            self._update_labels()

    def _labels_width(self) -> int:
        return sum(
            button.width_with_text(text) - button.width_with_text("") for button, text in self._labelled_buttons()
        )

    def _labelled_buttons(self) -> tuple[tuple[Button, str], ...]:
        return (
            (self.picture_button, self.tr("Picture")),
            (self.csv_button, self.tr("CSV")),
            (self.table_button, self.tr("Table")),
        )

    def _update_labels(self) -> None:
        for button, text in self._labelled_buttons():
            button.setText(text if self._shows_labels else "")
            button.refresh()

    def set_one_row(self, one_row: bool) -> None:
        """Beside something that would else take its room, or below it, where it may need more rows."""
        horizontal_policy = QSizePolicy.Policy.Minimum if one_row else QSizePolicy.Policy.Preferred
        policy = QSizePolicy(horizontal_policy, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def add_shortcuts(self, page: QWidget) -> None:
        """The keys of the page."""
        for key, slot in (("T", self.table_button.click), ("P", self.pause_button.click)):
            QShortcut(QKeySequence(key), page).activated.connect(slot)

    def retranslate(self) -> None:
        """All words."""
        self._range_names = self.tr("1 min"), self.tr("10 min"), self.tr("1 h"), self.tr("24 h"), self.tr("30 d")
        self.range_control.set_options(self._range_names)
        self.range_control.setAccessibleName(self.tr("Range"))
        self._update_range()
        paused = self._clock.paused
        self.pause_button.setText(self.tr("Go on") if paused else self.tr("Pause"))
        self.pause_button.set_icon("play" if paused else "pause")
        self.test_button.setText(self.tr("Health test"))
        self._update_labels()
        for button, text in (
            (self.reset_button, self.tr("Back to the chosen range, up to now (0, or double-click)")),
            (self.picture_button, self.tr("Save as a picture")),
            (self.csv_button, self.tr("Save the figures as a table (CSV)")),
            (self.table_button, self.tr("Show the figures as a table (T)")),
            (self.test_button, self.tr("Health test: is the card sound?")),
        ):
            button.setAccessibleName(text)
            button.setToolTip(text)

    def _update_range(self) -> None:
        range_index = SPANS.index(self._clock.chosen)
        zoomed = self._clock.span != self._clock.chosen
        self.range_control.set_current(None if zoomed else range_index)
        reset_text = self.tr("Back to {range}").format(range=self._range_names[range_index])
        self.reset_button.setText(reset_text if zoomed else self.tr("Back to now"))

    def _on_clock_moved(self) -> None:
        if self.reset_button.hasFocus() and self._clock.as_chosen:
            self.pause_button.setFocus()
        self._update_range()
        if self.reset_button.isHidden() is not self._clock.as_chosen:
            self.reset_button.setVisible(not self._clock.as_chosen)
            self.fit_to_width(self._available_width)


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
        self.choose_file(
            title, "CSV (*.csv)", _export_name("csv"), lambda path: self.save_table(history, seconds, path, gpus)
        )

    def save_picture(self, image: QImage, path: Path) -> None:
        """Save it as PNG."""
        self.write(path, lambda: json.write_file(path, _encode_png(image)))

    def save_table(self, history: History, seconds: float, path: Path, gpus: tuple[GpuSample, ...] = ()) -> None:
        """Save the last `seconds` as CSV."""
        from ...monitor.history_export import export_history
        from ...monitor.series import gpu_key, gpu_label

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


IMAGE_MARGIN = 16


def add_title(image: QImage, title: str, detail: str) -> QImage:
    """`image` below a line with `title` and the time of now, and a smaller one with `detail`."""
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


BYTES_PER_MB = 1e6
MEMORY_TEMPERATURE = replace(
    GPU_TEMPERATURE,
    key="temp_memory",
    title=str(QT_TRANSLATE_NOOP("Metric", "Memory temperature")),
    figure_name="temp_memory",
)
PCIE_RX = Metric(
    key="pcie_rx",
    title=str(QT_TRANSLATE_NOOP("Metric", "PCIe to the card")),
    icon="download",
    colour="s4",
    unit="MB/s",
    figure_name="pcie_rx",
    scale=BYTES_PER_MB,
)
PCIE_TX = replace(
    PCIE_RX,
    key="pcie_tx",
    title=str(QT_TRANSLATE_NOOP("Metric", "PCIe from the card")),
    figure_name="pcie_tx",
)
VIDEO_ENCODER = replace(
    GPU_FAN, key="enc", title=str(QT_TRANSLATE_NOOP("Metric", "Video encoder")), icon="long", figure_name="enc"
)
VIDEO_DECODER = replace(
    VIDEO_ENCODER, key="dec", title=str(QT_TRANSLATE_NOOP("Metric", "Video decoder")), figure_name="dec"
)
SECONDARY_METRICS = (MEMORY_TEMPERATURE, GPU_CLOCK, GPU_FAN, PCIE_RX, PCIE_TX, VIDEO_ENCODER, VIDEO_DECODER)


class SecondaryPlotsButton(Button):
    """The switch, to be seen where a card reports any of it. What was reported once stays, so that no plot comes and
    goes with a card that falls asleep.
    """

    def __init__(self) -> None:
        self._reported_keys: set[str] = set()
        self._enabled = False
        super().__init__(kind="ghost", icon_name="monitor")
        self.clicked.connect(self._toggle)
        self.hide()
        self.retranslate()

    @property
    def shown_metrics(self) -> tuple[Metric, ...]:
        """What is to be drawn besides; nothing while the switch is off."""
        return (
            tuple(metric for metric in SECONDARY_METRICS if metric.key in self._reported_keys) if self._enabled else ()
        )

    def update_reported(self, gpus: Iterable[GpuSample]) -> bool:
        """What cards report now; whether something that is shown is new."""
        new_keys = {
            metric.key for gpu in gpus for metric in SECONDARY_METRICS if metric.read(gpu)[0] is not None
        } - self._reported_keys
        self._reported_keys |= new_keys
        self.setVisible(bool(self._reported_keys))
        return bool(new_keys) and self._enabled

    def reset(self) -> None:
        """Other cards than before."""
        self._reported_keys.clear()

    def _toggle(self) -> None:
        self._enabled = not self._enabled
        self.retranslate()

    def retranslate(self) -> None:
        """Its words."""
        self.setText(self.tr("Fewer graphs") if self._enabled else self.tr("More graphs"))
        self.setToolTip(self.tr("Clock, fan, memory temperature, PCI Express and video, where the card reports them"))
