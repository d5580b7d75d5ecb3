"""The summary above the plots: status line and pill, tiles of one GPU or of the machine, a header for each of several,
a table of many.

Texts are in the translation context of the page, which shows the first two.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from ...core.results import GpuSample, Health, Sample
from ...health.rules import temperature_margin
from ...texts.format import format_memory, short_name
from .. import language
from ..widgets.cards import Card, MetricTile, MetricValue, Pill, PillKind
from ..widgets.text import TextLabel, label
from .gpu_table import MAX_LINES, GpuTable, gpu_state
from .metrics import GPU_METRICS, GPU_TILE_METRICS, MACHINE_METRICS, Metric
from .plot.cards import gpu_line
from .plot.legend import LineLegendRow

MAX_COLUMNS = 6
# Driver states that say no more than that there is no NVIDIA GPU.
STATES_WITHOUT_MESSAGE = ("untried", "absent", "ready")


def status_text(sample: Sample | None, health: Health | None, *, simulated: bool) -> str:
    """The line below the page's title: the GPUs and the most severe alarm, or the problem of the driver."""
    translate, texts = QCoreApplication.translate, language.texts()
    if simulated:
        return translate("MonitorPage", "Readings from the real computer in front of you, not from the simulated one.")
    gpus = sample.gpus if sample is not None else ()
    state = sample.nvml if sample is not None else "untried"
    if state not in STATES_WITHOUT_MESSAGE:
        message = texts.translate(f"monitor.nvml.{state}")
        lost_gpus = [gpu.index for gpu in gpus if gpu.state == "lost"]
        names_gpus = state == "lost" and lost_gpus and len(gpus) > 1
        return texts.title_of_gpus(lost_gpus, message) if names_gpus else message
    if not gpus:
        return translate("MonitorPage", "No NVIDIA GPU. CPU and memory are shown.")
    names = {gpu.name for gpu in gpus}
    name = next(iter(names)) if len(names) == 1 else None
    if len(gpus) > 1:
        count = len(gpus)
        # Up to MAX_LINES of them have headers with their names.
        subject = translate("MonitorPage", "{count} GPUs").format(count=count)
        if name and count > MAX_LINES:
            subject = f"{count} × {short_name(name)}"
    else:
        subject = short_name(name) if name else translate("MonitorPage", "GPU, CPU and memory")
    if health is None or not health.alarms:
        margin = temperature_margin(gpus) if health is not None and health.state == "well" else None
        return subject if margin is None else f"{subject} · {_margin_text(margin)}"
    parts = [subject]
    # What is no problem takes fewer words.
    is_info = len(gpus) == 1 and health.alarms[0].level == "info"
    parts.append(texts.calm_alarm_state(health.alarms[0]) if is_info else texts.most_severe_alarm_title(health))
    # The title names all GPUs with its alarm; the next alarm is named, too.
    others = [alarm for alarm in health.alarms if alarm.level != "info" and alarm.id != health.alarms[0].id]
    if others:
        next_gpus = [alarm.gpu for alarm in others if alarm.id == others[0].id and alarm.gpu is not None]
        next_text = texts.alarm_state(others[0])
        parts.append(texts.title_of_gpus(next_gpus, next_text) if len(gpus) > 1 and next_gpus else next_text)
    left = sum(alarm.id != others[0].id for alarm in others)
    if left:
        parts.append(translate("MonitorPage", "and {count} more").format(count=left))
    # Last: a narrow window cuts the end of the line.
    if health.state == "well" and (margin := temperature_margin(gpus)) is not None:
        parts.append(_margin_text(margin))
    return " · ".join(parts)


def _margin_text(degrees: int) -> str:
    return QCoreApplication.translate("MonitorPage", "Cool: {degrees} °C below the limit").format(degrees=degrees)


def status_pill(health: Health | None) -> tuple[PillKind, str] | None:
    """(kind, text) of the GPUs' state; None while it is unknown."""
    translate, texts = QCoreApplication.translate, language.texts()
    pills: dict[str, tuple[PillKind, str]] = {
        "well": ("ok", translate("MonitorPage", "Healthy")),
        "watching": ("neutral", translate("MonitorPage", "Watching")),
        "untold": ("neutral", translate("MonitorPage", "Unknown")),
        "warn": ("warn", translate("MonitorPage", "Attention")),
        "error": ("error", translate("MonitorPage", "Problem")),
        "asleep": ("neutral", texts.translate("monitor.gpu.asleep")),
        "slow": ("neutral", texts.translate("monitor.gpu.silent")),
    }
    return pills.get(health.state) if health is not None else None


class SummaryTiles(QWidget):
    """Tiles, or headers for several GPUs, or a table for more than MAX_LINES of them.

    `toggle_requested(gpu)` of the table asks to show or hide the lines of a GPU. `tiles` are (metric, GPU index or -1,
    tile).
    """

    toggle_requested = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.tiles: list[tuple[Metric, int, MetricTile]] = []
        self.headers: list[GpuHeader] = []
        self.table: GpuTable | None = None
        self._table_card: Card | None = None
        self._laid_out = (0, 0)
        self._available_width = self._min_tile_width = 0
        self._low_window = False
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)

    def rebuild(self, gpus: tuple[GpuSample, ...]) -> None:
        """Make tiles, headers or a table for these GPUs; `update_layout` places them."""
        for widget in self._widgets():
            widget.hide()
            self._grid.removeWidget(widget)
            widget.deleteLater()
        self.tiles, self.headers, self.table, self._table_card, self._laid_out = [], [], None, None, (0, 0)
        if len(gpus) > MAX_LINES:
            self._table_card, self.table = Card(padding=10), GpuTable(gpus)
            self._table_card.column.addWidget(self.table)
            self.table.toggle_requested.connect(self.toggle_requested)
        elif len(gpus) > 1:
            self.headers = [GpuHeader(gpu, position) for position, gpu in enumerate(gpus)]
        elif gpus:
            tiles = ((metric, gpus[0].index, metric.colour) for metric in GPU_TILE_METRICS)
            self.tiles = [(metric, gpu, MetricTile(metric.icon, token=colour)) for metric, gpu, colour in tiles]
        else:
            pairs = zip(MACHINE_METRICS, ("s1", "s2"), strict=True)
            self.tiles = [(metric, -1, MetricTile(metric.icon, token=colour)) for metric, colour in pairs]

    def update_layout(self, available: int, *, low_window: bool = False, short_window: bool = False) -> None:
        """As many columns as fit into `available` pixels.

        In a low window only the first row of tiles is shown, so that a whole plot is visible below; the plots have the
        other values too. In a short one the rows of the table are lower.
        """
        if self.table is not None:
            self.table.set_dense(low_window or short_window)
        self._available_width, self._low_window, self._min_tile_width = available, low_window, self._widest_minimum()
        self._place_tiles()

    def _widest_minimum(self) -> int:
        return max((widget.minimumSizeHint().width() for widget in self._widgets()), default=0)

    def _place_tiles(self) -> None:
        widgets = self._widgets()
        max_columns = 2 if self.headers else MAX_COLUMNS
        gap = self._grid.horizontalSpacing()
        candidates = (count for count in (6, 4, 3, 2) if count <= min(max_columns, len(widgets)))
        columns = next(
            (count for count in candidates if count * (self._min_tile_width + gap) - gap <= self._available_width), 1
        )
        if self._low_window and self.tiles:
            widgets = widgets[:columns]
        columns = math.ceil(len(widgets) / math.ceil(len(widgets) / columns)) if widgets else 1  # rows of equal length
        if (columns, len(widgets)) == self._laid_out:
            return
        self._laid_out = (columns, len(widgets))
        for index, widget in enumerate(widgets):
            self._grid.addWidget(widget, index // columns, index % columns)
        for widget in self._widgets():
            widget.setVisible(widget in widgets)
        for column in range(MAX_COLUMNS):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def retranslate(self) -> None:
        """Update the names on the tiles; headers do so themselves."""
        for metric, _, tile in self.tiles:
            tile.set_label(metric.title_text())

    def set_selected_gpus(self, gpus: list[int]) -> None:
        if self.table is not None:
            self.table.set_selected_gpus(gpus)

    def show_sample(self, sample: Sample, health: Health | None) -> None:
        by_index = {gpu.index: gpu for gpu in sample.gpus}
        for metric, gpu, tile in self.tiles:
            value, total = metric.read(sample if gpu < 0 else by_index.get(gpu))
            fraction = min(value / total, 1.0) if value is not None and total else None
            value_text = None if value is None else metric.format_value(value)
            tile.set_value(value_text, metric.unit_text(total), fraction)
        for header in self.headers:
            header.show_sample(by_index.get(header.gpu), health)
        if self.table is not None:
            self.table.show_sample(by_index, health)
        min_width = self._widest_minimum()
        # Only ever wider: the layout does not jump back when values get shorter again.
        if min_width > self._min_tile_width:
            self._min_tile_width = min_width
            self._place_tiles()

    def _widgets(self) -> list[QWidget]:
        if self._table_card is not None:
            return [self._table_card]
        return [*self.headers] or [tile for _, _, tile in self.tiles]


class GpuHeader(Card):
    """One of several GPUs: the sign of its line, name, state and four values; `position` gives colour and dash."""

    def __init__(self, gpu: GpuSample, position: int) -> None:
        self.gpu = gpu.index
        self._value_widgets: list[tuple[TextLabel, MetricValue]] = []
        super().__init__(padding=16)
        header = QHBoxLayout()
        header.setSpacing(10)
        header.addWidget(LineLegendRow(gpu_line(position, gpu.index, fill=False)))
        parts = [
            short_name(gpu.name) if gpu.name else None,
            format_memory(gpu.mem_total) if gpu.mem_total is not None else None,
        ]
        description = " · ".join(part for part in parts if part)
        header.addWidget(label("small", description), 1)
        self.state_pill = Pill("ok")
        header.addWidget(self.state_pill)
        self.column.addLayout(header)
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        for column, metric in enumerate(GPU_METRICS):
            name, figure = label("caption"), MetricValue("heading")
            grid.setColumnStretch(column, 1)
            name.setToolTip(metric.title_text())
            grid.addWidget(name, 0, column)
            grid.addWidget(figure, 1, column)
            self._value_widgets.append((name, figure))
        self.column.addLayout(grid)
        self.retranslate()

    def retranslate(self) -> None:
        for (name, _), metric in zip(self._value_widgets, GPU_METRICS, strict=False):
            name.setText(metric.title_text())

    def show_sample(self, gpu: GpuSample | None, health: Health | None) -> None:
        for (_, figure), metric in zip(self._value_widgets, GPU_METRICS, strict=True):
            value, _total = metric.read(gpu)
            figure.set(None if value is None else metric.format_value(value), metric.unit)
        self._update_state(gpu, health)

    def _update_state(self, gpu: GpuSample | None, health: Health | None) -> None:
        state = gpu_state(self.gpu, gpu, health)
        if state is not None:
            self.state_pill.set(*state)
        self.state_pill.setVisible(state is not None)
