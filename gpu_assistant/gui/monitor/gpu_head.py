"""One of several GPUs: its line's key, name, how it is, and four figures."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout

from ...core.health import Health
from ...core.results import GpuSample
from ...texts.format import format_memory
from .. import language
from ..components import Button, Card, MetricValue, Pill, TextLabel, label
from .metrics import GPU_METRICS
from .plot_card import Key, line_of


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
        header.addWidget(Key(line_of(position, gpu.index, fill=False)))
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
