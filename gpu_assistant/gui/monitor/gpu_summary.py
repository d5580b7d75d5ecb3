"""One of several GPUs: its line's key, name, how it is, and four figures.

The figures of now above the plots: tiles of one GPU or of the machine, or a head for each of several GPUs.

Which of several cards is shown where there is room for one.

The last minute in a few figures with small lines; as much of it as there is yet.

The page's one sentence, and the cards' state as a pill.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.results import GpuSample, Health, Sample
from ...texts.format import format_memory
from .. import language
from ..widgets.buttons import Button
from ..widgets.cards import Card, MetricTile, MetricValue, Pill, PillKind
from ..widgets.charts import Sparkline
from ..widgets.text import TextLabel, label
from .history_model import SampleHistory
from .metrics import CPU_UTILIZATION, GPU_METRICS, GPU_TILE_METRICS, MACHINE_METRICS, MAIN_MEMORY, Metric
from .plot.cards import LineSign, gpu_line


class GpuHeader(Card):
    """`place` is its position among the GPUs, which gives colour and dash.

    Where there are more GPUs than lines can be told apart it is `dense`, and a button shows or hides its lines:
    `picked(gpu)`.
    """

    toggle_requested = Signal(int)

    def __init__(self, gpu: GpuSample, position: int, *, dense: bool) -> None:
        self.gpu = gpu.index
        self._value_widgets: list[tuple[TextLabel, MetricValue]] = []
        self._lines_shown = True
        super().__init__(padding=12 if dense else 16)
        header = QHBoxLayout()
        header.setSpacing(10)
        header.addWidget(LineSign(gpu_line(position, gpu.index, fill=False)))
        parts = [gpu.name, format_memory(gpu.mem_total) if gpu.mem_total is not None else None]
        description = " · ".join(part for part in parts if part)
        if dense:
            header.addStretch(1)
            self.setToolTip(description)
        else:
            header.addWidget(label("small", description), 1)
        self.state_pill = Pill("ok")
        header.addWidget(self.state_pill)
        self.toggle_button = Button(kind="ghost", small=True)
        self.toggle_button.setVisible(dense)
        self.toggle_button.clicked.connect(lambda: self.toggle_requested.emit(self.gpu))
        header.addWidget(self.toggle_button)
        self.column.addLayout(header)
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        for column, metric in enumerate(GPU_METRICS):
            name, figure = label("caption"), MetricValue("heading")
            grid.setColumnStretch(column, 1)
            name.setToolTip(metric.title_text())
            if not dense:
                grid.addWidget(name, 0, column)
            grid.addWidget(figure, 1, column)
            self._value_widgets.append((name, figure))
        self.column.addLayout(grid)
        self.retranslate()

    def retranslate(self) -> None:
        """The metrics' names, and what the button does."""
        for (name, _), metric in zip(self._value_widgets, GPU_METRICS, strict=False):
            name.setText(metric.title_text())
        if self._value_widgets:
            self.set_lines_shown(self._lines_shown)

    def set_lines_shown(self, shown: bool) -> None:
        """Whether its lines are among those drawn."""
        self._lines_shown = shown
        self.toggle_button.setText(self.tr("Hide") if shown else self.tr("Show"))
        self.toggle_button.setAccessibleName(f"{self.toggle_button.text()} GPU {self.gpu}")

    def show_sample(self, gpu: GpuSample | None, health: Health | None) -> None:
        """The figures of now."""
        for (_, figure), metric in zip(self._value_widgets, GPU_METRICS, strict=True):
            value, _total = metric.read(gpu)
            figure.set(None if value is None else metric.format_value(value), metric.unit)
        self._update_state(gpu, health)

    def _update_state(self, gpu: GpuSample | None, health: Health | None) -> None:
        alarms = [alarm for alarm in (health.alarms if health else ()) if alarm.gpu == self.gpu]
        state = gpu.state if gpu is not None else "silent"
        if alarms and alarms[0].level == "error":
            self.state_pill.set("error", self.tr("Not well"))
        elif alarms and alarms[0].level == "warn":
            self.state_pill.set("warn", self.tr("Look"))
        elif state != "ready":
            self.state_pill.set("neutral", language.texts().translate(f"monitor.gpu.{state}"))
        elif health is not None and self.gpu in health.watching:
            self.state_pill.set("neutral", self.tr("Watching"))
        elif health is not None and self.gpu in health.untold:
            self.state_pill.set("neutral", self.tr("Not known"))
        elif health is not None and health.state != "unknown":
            self.state_pill.set("ok", self.tr("Well"))
        self.state_pill.setVisible(state != "ready" or (health is not None and health.state != "unknown"))


MAX_COLUMNS = 6


class SummaryTiles(QWidget):
    """`picked(gpu)`: show or hide the lines of a GPU. `dense` heads from `most` + 1 GPUs on."""

    toggle_requested = Signal(int)

    def __init__(self, max_lines: int) -> None:
        super().__init__()
        self._max_lines = max_lines
        self.tiles: list[tuple[Metric, int, MetricTile]] = []
        self.headers: list[GpuHeader] = []
        self._laid_out = (0, 0)
        self._available_width = self._min_tile_width = 0
        self._low_window = False
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)

    def rebuild(self, gpus: tuple[GpuSample, ...]) -> None:
        """For other GPUs than before."""
        for widget in self._widgets():
            widget.hide()
            self._grid.removeWidget(widget)
            widget.deleteLater()
        self.tiles, self.headers, self._laid_out = [], [], (0, 0)
        if len(gpus) > 1:
            dense = len(gpus) > self._max_lines
            self.headers = [GpuHeader(gpu, position, dense=dense) for position, gpu in enumerate(gpus)]
            for header in self.headers:
                header.toggle_requested.connect(self.toggle_requested)
        elif gpus:
            tiles = ((metric, gpus[0].index, metric.colour) for metric in GPU_TILE_METRICS)
            self.tiles = [(metric, gpu, MetricTile(metric.icon, token=colour)) for metric, gpu, colour in tiles]
        else:
            pairs = zip(MACHINE_METRICS, ("s1", "s2"), strict=True)
            self.tiles = [(metric, -1, MetricTile(metric.icon, token=colour)) for metric, colour in pairs]

    def update_layout(self, available: int, *, low_window: bool = False) -> None:
        """As many in a row as fit into `room` pixels. In a `low` window tiles have one row, so that a whole plot is in
        sight below them; what the others say stands above the plots.
        """
        self._available_width, self._low_window, self._min_tile_width = available, low_window, self._widest_minimum()
        self._place_tiles()

    def _widest_minimum(self) -> int:
        """What the widest of them cannot do without."""
        return max((widget.minimumSizeHint().width() for widget in self._widgets()), default=0)

    def _place_tiles(self) -> None:
        widgets = self._widgets()
        max_columns = 2 if self.headers and len(self.headers) <= self._max_lines else 4 if self.headers else MAX_COLUMNS
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
        """The names on the tiles; heads follow by themselves."""
        for metric, _, tile in self.tiles:
            tile.set_label(metric.title_text())

    def set_selected_gpus(self, gpus: list[int]) -> None:
        """Whose lines are drawn."""
        for header in self.headers:
            header.set_lines_shown(header.gpu in gpus)

    @contextmanager
    def hidden_buttons(self) -> Iterator[None]:
        """For a picture, on which nothing can be pressed."""
        visible = [head.toggle_button for head in self.headers if not head.toggle_button.isHidden()]
        for button in visible:
            button.hide()
        try:
            yield
        finally:
            for button in visible:
                button.show()

    def show_sample(self, sample: Sample, health: Health | None) -> None:
        """The figures of a sample."""
        by_index = {gpu.index: gpu for gpu in sample.gpus}
        for metric, gpu, tile in self.tiles:
            value, total = metric.read(sample if gpu < 0 else by_index.get(gpu))
            fraction = min(value / total, 1.0) if value is not None and total else None
            value_text = None if value is None else metric.format_value(value)
            tile.set_value(value_text, metric.unit_text(total), fraction)
        for header in self.headers:
            header.show_sample(by_index.get(header.gpu), health)
        min_width = self._widest_minimum()
        # Figures grow longer; when they are shorter again, nothing jumps back.
        if min_width > self._min_tile_width:
            self._min_tile_width = min_width
            self._place_tiles()

    def _widgets(self) -> list[QWidget]:
        return [*self.headers] or [tile for _, _, tile in self.tiles]


# °C by which another card must be hotter before it takes the place: two alike would change places each second.
HYSTERESIS_C = 3


def select_primary_gpu(gpus: tuple[GpuSample, ...], health: Health | None, current: int | None) -> GpuSample | None:
    """The card with the gravest alarm, of which the sentence above it speaks, whether it answers or not, but never
    one that is gone; else the hottest of those that answer, and `shown` (an index) stays where another is hardly
    hotter. None without a card.
    """
    present = {gpu.index: gpu for gpu in gpus if gpu.state != "gone"}
    for alarm in health.alarms if health is not None else ():
        if alarm.level != "info" and alarm.gpu in present:
            return present[alarm.gpu]
    responding = [gpu for gpu in gpus if gpu.state == "ready"] or list(gpus)
    hottest = max(responding, key=lambda gpu: gpu.temp or 0, default=None)
    current_gpu = next((gpu for gpu in responding if gpu.index == current), None)
    if current_gpu is None or hottest is None:
        return hottest
    return hottest if (hottest.temp or 0) >= (current_gpu.temp or 0) + HYSTERESIS_C else current_gpu


MAX_SECONDS, MIN_SECONDS = 60, 2


class LiveMetric(QWidget):
    """One metric: its name, the figure of now, the line of the last minute."""

    def __init__(self, metric: Metric, gpu: int, colour: str) -> None:
        super().__init__()
        self.metric_spec, self.gpu = metric, gpu
        self.name_label, self.value_widget = label("caption"), MetricValue()
        self.sparkline = Sparkline(colour, span=MAX_SECONDS, low=metric.floor if metric.unit == "°C" else 0.0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        for widget in (self.name_label, self.value_widget, self.sparkline):
            column.addWidget(widget)
        self.update_name()

    def update_name(self) -> None:
        """The name in the language of now."""
        self.name_label.setText(self.metric_spec.title_text())

    def show_history(self, history: SampleHistory, seconds: int) -> None:
        """The figure of now, and the line of the last `seconds`."""
        sample = history.latest
        if sample is None:
            return
        gpu_sample: GpuSample | None = next((gpu for gpu in sample.gpus if gpu.index == self.gpu), None)
        value, total = self.metric_spec.read(sample if self.gpu < 0 else gpu_sample)
        value_text = None if value is None else self.metric_spec.format_value(value)
        self.value_widget.set(value_text, self.metric_spec.unit_text(total))
        self.sparkline.span = seconds
        self.sparkline.set_points(history.recent_values(self.metric_spec, self.gpu, seconds), high=total)
        self.setAccessibleName(
            f"{self.metric_spec.title_text()}: {value_text or '—'} {self.metric_spec.unit_text(total)}"
        )


class LiveMetricsCard(Card):
    """CPU and memory, or the four figures of an NVIDIA GPU; of several, the one that is not well, or the hottest.

    `simulated`: the window shows another machine, so the card says whose figures these are. `test_wanted(card)` asks
    for the health test of the card that is shown, `others_wanted` for the page with all of them.
    """

    health_test_requested = Signal(object)
    monitor_requested = Signal()

    def __init__(self, *, simulated: bool = False) -> None:
        self._simulated = simulated
        self.metrics: list[LiveMetric] = []
        self._gpu: tuple[int, str] | None = None
        self._other_count = 0
        self._seconds = MAX_SECONDS
        super().__init__()
        self._name_label, self._span_label = label("small-strong"), label("small")
        header = QHBoxLayout()
        header.setSpacing(10)
        header.addWidget(self._name_label)
        header.addWidget(self._span_label, 1)
        self.test_button = Button(kind="ghost", icon_name="doctor", small=True)
        self.test_button.clicked.connect(
            lambda: self.health_test_requested.emit(self._gpu[0] if self._gpu is not None else None)
        )
        header.addWidget(self.test_button, 0, Qt.AlignmentFlag.AlignVCenter)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(32)
        self._grid.setVerticalSpacing(12)
        self.column.addLayout(header)
        self.others_button = Button(kind="ghost", trailing_icon="right", small=True)
        self.others_button.clicked.connect(self.monitor_requested)
        self.column.addLayout(self._grid)
        self.column.addWidget(self.others_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._rebuild()
        self.retranslate()

    def show_history(self, history: SampleHistory, health: Health | None) -> None:
        """Follow the latest sample."""
        gpus = history.gpus()
        primary = select_primary_gpu(gpus, health, self._gpu[0] if self._gpu is not None else None)
        gpu = (primary.index, _gpu_name(primary, single=len(gpus) == 1)) if primary is not None else None
        other_count = max(len(gpus) - 1, 0)
        if (gpu, other_count) != (self._gpu, self._other_count):
            gpu_changed = gpu != self._gpu
            self._gpu, self._other_count = gpu, other_count
            if gpu_changed:
                self._rebuild()
            self.retranslate()
        seconds = min(max(round(history.duration_s), MIN_SECONDS), MAX_SECONDS)
        if seconds != self._seconds:
            self._seconds = seconds
            self._update_span()
        for figure in self.metrics:
            figure.show_history(history, seconds)

    def retranslate(self) -> None:
        """Names."""
        if not self.metrics:
            return
        name = self._gpu[1] if self._gpu is not None else self.tr("This computer")
        if self._simulated:
            name = self.tr("The real computer you sit at")
        self._name_label.setText(name)
        self._update_span()
        self.test_button.setText(self.tr("Test this card"))
        self.test_button.setVisible(self._gpu is not None and not self._simulated)
        self.others_button.setText(self.tr("{count} more on Monitor").format(count=self._other_count))
        self.others_button.setVisible(self._other_count > 0)
        for figure in self.metrics:
            figure.update_name()

    def _update_span(self) -> None:
        self._span_label.setText(self.tr("last {count} seconds").format(count=self._seconds))

    def _rebuild(self) -> None:
        for figure in self.metrics:
            self._grid.removeWidget(figure)
            figure.hide()
            figure.deleteLater()
        if self._gpu is None:
            # Without a card there is nothing to tell apart from, so load and memory wear their own colours.
            self.metrics = [LiveMetric(CPU_UTILIZATION, -1, "s1"), LiveMetric(MAIN_MEMORY, -1, "s2")]
        else:
            self.metrics = [LiveMetric(metric, self._gpu[0], metric.colour) for metric in GPU_METRICS]
        for column, figure in enumerate(self.metrics):
            self._grid.addWidget(figure, 0, column)
            self._grid.setColumnStretch(column, 1)


def _gpu_name(gpu: GpuSample, *, single: bool) -> str:
    """A card's name, with its number where there are several."""
    number = f"GPU {gpu.index}"
    return (gpu.name or number) if single else " · ".join(part for part in (number, gpu.name) if part)


# States that say no more than that there is no card.
STATES_WITHOUT_MESSAGE = ("untried", "absent", "ready")


def status_text(sample: Sample | None, health: Health | None, *, simulated: bool) -> str:
    """What the machine is, or what is the matter with it."""
    translate, texts = QCoreApplication.translate, language.texts()
    if simulated:
        return translate("MonitorPage", "Figures of the real computer you sit at, not of the simulated machine.")
    gpus = sample.gpus if sample is not None else ()
    state = sample.nvml if sample is not None else "untried"
    if state not in STATES_WITHOUT_MESSAGE:
        message = texts.translate(f"monitor.nvml.{state}")
        lost_indexes = ", ".join(str(gpu.index) for gpu in gpus if gpu.state == "lost")
        names_gpus = state == "lost" and lost_indexes and len(gpus) > 1
        return texts.translate("health.of-card", {"number": lost_indexes, "title": message}) if names_gpus else message
    if not gpus:
        return translate("MonitorPage", "No NVIDIA GPU. CPU and memory are shown.")
    names = {gpu.name for gpu in gpus}
    name = next(iter(names)) if len(names) == 1 else None
    if len(gpus) > 1:
        count = len(gpus)
        subject = f"{count} × {name}" if name else translate("MonitorPage", "{count} GPUs").format(count=count)
    else:
        subject = name or translate("MonitorPage", "GPU, CPU and memory")
    if health is None or not health.alarms:
        return subject
    parts = [subject, texts.most_severe_alarm_title(health)]
    others = sum(alarm.level != "info" for alarm in health.alarms[1:])
    if others:
        parts.append(translate("MonitorPage", "and {count} more").format(count=others))
    return " · ".join(parts)


def status_pill(health: Health | None) -> tuple[PillKind, str] | None:
    """How the cards are; None while nobody knows."""
    translate, texts = QCoreApplication.translate, language.texts()
    pills: dict[str, tuple[PillKind, str]] = {
        "well": ("ok", translate("MonitorPage", "Well")),
        "watching": ("neutral", translate("MonitorPage", "Watching")),
        "untold": ("neutral", translate("MonitorPage", "Not known")),
        "warn": ("warn", translate("MonitorPage", "Look")),
        "error": ("error", translate("MonitorPage", "Not well")),
        "asleep": ("neutral", texts.translate("monitor.gpu.asleep")),
        "slow": ("neutral", texts.translate("monitor.gpu.silent")),
    }
    return pills.get(health.state) if health is not None else None
