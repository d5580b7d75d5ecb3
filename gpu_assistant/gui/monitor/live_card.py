"""The card with the live values of Home: the last minute of the GPU, or of CPU and memory; rows of several GPUs.

Imports no plot: Home is shown before numpy and pyqtgraph are loaded.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.results import GpuSample, Health
from ...texts.format import UNKNOWN_VALUE, join_unit
from ..widgets.buttons import Button
from ..widgets.cards import Card, MetricValue
from ..widgets.charts import Sparkline
from ..widgets.icons import IconWidget
from ..widgets.layouts import FlowLayout, WrappingRow
from ..widgets.text import label
from .alarms import alarm_tones
from .gpu_rows import MAX_ROWS, GpuRows
from .history_model import SampleHistory
from .metrics import CPU_UTILIZATION, GPU_METRICS, MAIN_MEMORY, Metric
from .sampling import SamplingService

MAX_SECONDS, MIN_SECONDS = 60, 2  # of the sparklines


class LiveMetricsCard(Card):
    """CPU and memory, four values of the NVIDIA GPU, or a row for each of several (`gpu_rows`).

    `simulated`: the window shows another machine, so the card says that these are values of this one. Without
    `has_links` it leads nowhere: another page is in use.
    `health_test_requested(gpu)` asks for the health test of the GPU that is shown (None: of all), `monitor_requested`
    for the page with all of them. `note_label` is for what the page has to say of the GPUs.
    """

    health_test_requested = Signal(object)
    monitor_requested = Signal()

    def __init__(self, *, simulated: bool = False, has_links: bool = True) -> None:
        self._simulated, self._has_links = simulated, has_links
        self.metrics: list[LiveMetric] = []
        self._gpus: tuple[tuple[int, str | None], ...] = ()
        self._seconds = MAX_SECONDS
        self._is_built = False
        super().__init__()
        self.icon_widget, self.name_label, self.span_label = (
            IconWidget("chip", size=20),
            label("heading"),
            label("small"),
        )
        self.note_label = label("small")
        heading = QWidget()
        heading_row = QHBoxLayout(heading)
        heading_row.setContentsMargins(0, 0, 0, 0)
        heading_row.setSpacing(10)
        heading_row.addWidget(self.icon_widget)
        heading_row.addWidget(self.name_label)
        heading_row.addWidget(self.span_label, 1, Qt.AlignmentFlag.AlignVCenter)
        self.test_button = Button(kind="ghost", icon_name="doctor", small=True, flush="right")
        self.test_button.clicked.connect(
            lambda: self.health_test_requested.emit(self._gpus[0][0] if len(self._gpus) == 1 else None)
        )
        self.others_button = Button(kind="ghost", trailing_icon="right", small=True, flush="right")
        self.others_button.clicked.connect(self.monitor_requested)
        header = WrappingRow(heading, self.note_label, self.test_button, self.others_button, spacing=10)
        self._metrics_layout = FlowLayout(spacing=32, line_spacing=12, even=True, fill=True)
        self.gpu_rows = GpuRows()
        self.column.addLayout(header)
        self.column.addLayout(self._metrics_layout)
        self.column.addWidget(self.gpu_rows)
        self._is_built = True
        self._rebuild()
        self.retranslate()

    def show_history(self, history: SampleHistory, health: Health | None) -> None:
        """Show the latest sample, and the line up to it."""
        gpus = history.gpus()
        shape = tuple((gpu.index, gpu.name) for gpu in gpus)
        if shape != self._gpus:
            self._gpus = shape
            self._rebuild()
            self.retranslate()
        seconds = min(max(round(history.duration_s), MIN_SECONDS), MAX_SECONDS)
        if seconds != self._seconds:
            self._seconds = seconds
            self._update_span()
        for metric in self.metrics:
            metric.show_history(history, seconds)
            metric.value_widget.set_tone(alarm_tones(health, metric.gpu).get(metric.metric_spec.key, "text"))
        if len(gpus) > 1:
            self.gpu_rows.show_gpus(gpus, health)

    def set_note(self, text: str) -> None:
        """Say this beside the button for the health test."""
        if text != self.note_label.text():
            self.note_label.setText(text)
        self.note_label.setVisible(bool(text) and not self.test_button.isHidden())

    def retranslate(self) -> None:
        if not self._is_built:
            return
        self.name_label.setText(self.tr("The real computer in front of you") if self._simulated else self._gpus_text())
        self._update_span()
        count = len(self._gpus)
        self.test_button.setText(self.tr("Test this card") if count == 1 else self.tr("Run health test"))
        self.test_button.setVisible(self._has_links and count > 0 and not self._simulated)
        self.others_button.setText(self.tr("Show all {count} GPUs").format(count=count))
        self.others_button.setVisible(self._has_links and count > MAX_ROWS)
        for metric in self.metrics:
            metric.update_name()

    def _gpus_text(self) -> str:
        """The name of the GPU, or how many of which there are."""
        names = {name for _, name in self._gpus}
        name = next(iter(names)) if len(names) == 1 else None
        if not self._gpus:
            return self.tr("This computer")
        if len(self._gpus) == 1:
            return name or f"GPU {self._gpus[0][0]}"
        count = len(self._gpus)
        if not name:
            return self.tr("{count} GPUs").format(count=count)
        return self.tr("{count} {name} GPUs").format(count=count, name=name)

    def _update_span(self) -> None:
        self.span_label.setText(
            self.tr("last {count} seconds").format(count=self._seconds) if len(self._gpus) < 2 else self.tr("now")
        )

    def _rebuild(self) -> None:
        for metric in self.metrics:
            self._metrics_layout.removeWidget(metric)
            metric.hide()
            metric.deleteLater()
        if not self._gpus:
            # Without a GPU there are no other lines to distinguish from: the first colours of the theme.
            self.metrics = [
                LiveMetric(CPU_UTILIZATION, -1, "s1", beside=True),
                LiveMetric(MAIN_MEMORY, -1, "s2", beside=True),
            ]
        elif len(self._gpus) == 1:
            self.metrics = [LiveMetric(metric, self._gpus[0][0], metric.colour) for metric in GPU_METRICS]
        else:
            self.metrics = []
        self.gpu_rows.setVisible(len(self._gpus) > 1)
        for metric in self.metrics:
            self._metrics_layout.addWidget(metric)


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
    """The name, current value and sparkline of one metric; `gpu` is an index, -1 the machine.

    The sparkline is below the value, or `beside` it where the metric has the room.
    """

    def __init__(self, metric: Metric, gpu: int, colour: str, *, beside: bool = False) -> None:
        super().__init__()
        self.metric_spec, self.gpu = metric, gpu
        self.name_label, self.value_widget = label("caption"), MetricValue()
        self.sparkline = Sparkline(colour, span=MAX_SECONDS, low=metric.floor if metric.unit == "°C" else 0.0)
        direction = QBoxLayout.Direction
        row = QBoxLayout(direction.LeftToRight if beside else direction.TopToBottom, self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16 if beside else 2)
        column = QVBoxLayout()
        column.setSpacing(2)
        for widget in (self.name_label, self.value_widget):
            column.addWidget(widget)
        row.addLayout(column)
        row.addWidget(self.sparkline, 1)
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
        source = sample if self.gpu < 0 else gpu_sample
        value, total = self.metric_spec.read(source)
        value_text = None if value is None else self.metric_spec.format_value(value)
        unit_text = self.metric_spec.unit_text_with_limit(source)
        self.value_widget.set(value_text, unit_text)
        self.sparkline.span = seconds
        self.sparkline.set_points(history.recent_values(self.metric_spec, self.gpu, seconds), high=total)
        self.setAccessibleName(f"{self.metric_spec.title_text()}: " + join_unit(value_text or UNKNOWN_VALUE, unit_text))
