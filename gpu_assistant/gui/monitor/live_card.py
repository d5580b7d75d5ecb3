"""The last minute in a few figures with small lines; as much of it as there is yet."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.health import Health
from ...core.results import GpuSample
from ..components import Button, Card, MetricValue, Sparkline, label
from .foremost import select_primary_gpu
from .history import SampleHistory
from .metrics import CPU_UTILIZATION, GPU_METRICS, MAIN_MEMORY, Metric

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
        self.setAccessibleName(f"{self.metric_spec.title_text()}: {value_text or '—'} {self.metric_spec.unit_text(total)}")


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
        self.test_button.clicked.connect(lambda: self.health_test_requested.emit(self._gpu[0] if self._gpu is not None else None))
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
