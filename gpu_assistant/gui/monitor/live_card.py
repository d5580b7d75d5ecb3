"""The card with the live values of Home: the last minute of one GPU, or of CPU and memory.

Imports no plot: Home is shown before numpy and pyqtgraph are loaded.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.results import GpuSample, Health
from ...texts.format import UNKNOWN_VALUE, join_unit
from ..widgets.buttons import Button
from ..widgets.cards import Card, MetricValue
from ..widgets.charts import Sparkline
from ..widgets.text import label
from .history_model import SampleHistory
from .metrics import CPU_UTILIZATION, GPU_METRICS, MAIN_MEMORY, Metric
from .sampling import SamplingService

MAX_SECONDS, MIN_SECONDS = 60, 2  # of the sparklines
# Another GPU is shown once it is this many °C hotter: two similar ones would alternate otherwise.
HYSTERESIS_C = 3


class LiveMetricsCard(Card):
    """CPU and memory, or four values of the primary NVIDIA GPU (see `select_primary_gpu`).

    `simulated`: the window shows another machine, so the card says that these are values of this one. Without
    `has_links` it leads nowhere: another page is in use.
    `health_test_requested(gpu)` asks for the health test of the GPU that is shown (None: of all), `monitor_requested`
    for the page with all of them.
    """

    health_test_requested = Signal(object)
    monitor_requested = Signal()

    def __init__(self, *, simulated: bool = False, has_links: bool = True) -> None:
        self._simulated, self._has_links = simulated, has_links
        self.metrics: list[LiveMetric] = []
        self._gpu: tuple[int, str] | None = None
        self._other_count = 0
        self._seconds = MAX_SECONDS
        super().__init__()
        self.name_label, self.span_label = label("small-strong"), label("small")
        header = QHBoxLayout()
        header.setSpacing(10)
        header.addWidget(self.name_label)
        header.addWidget(self.span_label, 1)
        self.test_button = Button(kind="ghost", icon_name="doctor", small=True, flush="right")
        self.test_button.clicked.connect(
            lambda: self.health_test_requested.emit(self._gpu[0] if self._gpu is not None else None)
        )
        header.addWidget(self.test_button, 0, Qt.AlignmentFlag.AlignVCenter)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(32)
        self._grid.setVerticalSpacing(12)
        self.column.addLayout(header)
        self.others_button = Button(kind="ghost", trailing_icon="right", small=True, flush="left")
        self.others_button.clicked.connect(self.monitor_requested)
        self.column.addLayout(self._grid)
        self.column.addWidget(self.others_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._rebuild()
        self.retranslate()

    def show_history(self, history: SampleHistory, health: Health | None) -> None:
        """Show the latest sample, and the line up to it."""
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
        for metric in self.metrics:
            metric.show_history(history, seconds)

    def retranslate(self) -> None:
        if not self.metrics:
            return
        name = self._gpu[1] if self._gpu is not None else self.tr("This computer")
        if self._simulated:
            name = self.tr("The real computer in front of you")
        self.name_label.setText(name)
        self._update_span()
        self.test_button.setText(self.tr("Test this card"))
        self.test_button.setVisible(self._has_links and self._gpu is not None and not self._simulated)
        self.others_button.setText(self.tr("Show all {count} GPUs").format(count=self._other_count + 1))
        self.others_button.setVisible(self._has_links and self._other_count > 0)
        for metric in self.metrics:
            metric.update_name()

    def _update_span(self) -> None:
        self.span_label.setText(self.tr("last {count} seconds").format(count=self._seconds))

    def _rebuild(self) -> None:
        for metric in self.metrics:
            self._grid.removeWidget(metric)
            metric.hide()
            metric.deleteLater()
        if self._gpu is None:
            # Without a GPU there are no other lines to distinguish from: the first colours of the theme.
            self.metrics = [LiveMetric(CPU_UTILIZATION, -1, "s1"), LiveMetric(MAIN_MEMORY, -1, "s2")]
        else:
            self.metrics = [LiveMetric(metric, self._gpu[0], metric.colour) for metric in GPU_METRICS]
        for column, metric in enumerate(self.metrics):
            self._grid.addWidget(metric, 0, column)
            self._grid.setColumnStretch(column, 1)


class RunMetricsCard(LiveMetricsCard):
    """The live values beside a test or benchmark that runs; samples are requested by `client` while it is shown."""

    def __init__(self, sampling: SamplingService, client: str) -> None:
        self._sampling, self._client = sampling, client
        super().__init__(has_links=False)
        sampling.sampled.connect(lambda _: self._show_latest())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._sampling.request_samples(self._client, True)
        self._show_latest()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():
            self._sampling.request_samples(self._client, False)

    def retranslate(self) -> None:
        super().retranslate()
        self._show_latest()

    def _show_latest(self) -> None:
        """Show the latest sample, in the current language."""
        if self.isVisible():
            self.show_history(self._sampling.history, self._sampling.health)


class LiveMetric(QWidget):
    """The name, current value and sparkline of one metric; `gpu` is an index, -1 the machine."""

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
        """Show the name in the current language."""
        self.name_label.setText(self.metric_spec.title_text())

    def show_history(self, history: SampleHistory, seconds: int) -> None:
        """Show the current value and the line of the last `seconds`."""
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
            f"{self.metric_spec.title_text()}: "
            + join_unit(value_text or UNKNOWN_VALUE, self.metric_spec.unit_text(total))
        )


def select_primary_gpu(gpus: tuple[GpuSample, ...], health: Health | None, current: int | None) -> GpuSample | None:
    """The GPU with the most severe alarm unless it was removed, else the hottest that responds.

    `current` (an index) stays where another one is less than HYSTERESIS_C hotter. None without a GPU.
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


def _gpu_name(gpu: GpuSample, *, single: bool) -> str:
    """A GPU's name, with its index where there are several."""
    number = f"GPU {gpu.index}"
    return (gpu.name or number) if single else " · ".join(part for part in (number, gpu.name) if part)
