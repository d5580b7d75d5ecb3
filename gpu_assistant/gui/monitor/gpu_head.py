"""One of several GPUs: its line's key, name, how it is, and four figures."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout

from ...core.health import Health
from ...core.results import GpuSample
from ...texts.format import memory
from .. import language
from ..components import Button, Card, Figure, Pill, Text, label
from .metrics import OF_GPU
from .plot_card import Key, line_of


class GpuHead(Card):
    """`place` is its position among the GPUs, which gives colour and dash.

    Where there are more GPUs than lines can be told apart it is `dense`, and a button shows or hides its lines:
    `picked(gpu)`.
    """

    picked = Signal(int)

    def __init__(self, gpu: GpuSample, place: int, *, dense: bool) -> None:
        self.gpu = gpu.index
        self._figures: list[tuple[Text, Figure]] = []
        self._shown = True
        super().__init__(padding=12 if dense else 16)
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(Key(line_of(place, gpu.index, fill=False)))
        parts = [gpu.name, memory(gpu.mem_total) if gpu.mem_total is not None else None]
        words = " · ".join(part for part in parts if part)
        if dense:
            head.addStretch(1)
            self.setToolTip(words)
        else:
            head.addWidget(label("small", words), 1)
        self.pill = Pill("ok")
        head.addWidget(self.pill)
        self.button = Button(kind="ghost", small=True)
        self.button.setVisible(dense)
        self.button.clicked.connect(lambda: self.picked.emit(self.gpu))
        head.addWidget(self.button)
        self.column.addLayout(head)
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        for column, metric in enumerate(OF_GPU):
            name, figure = label("caption"), Figure("heading")
            grid.setColumnStretch(column, 1)
            name.setToolTip(metric.name())
            if not dense:
                grid.addWidget(name, 0, column)
            grid.addWidget(figure, 1, column)
            self._figures.append((name, figure))
        self.column.addLayout(grid)
        self.retranslate()

    def retranslate(self) -> None:
        """The metrics' names, and what the button does."""
        for (name, _), metric in zip(self._figures, OF_GPU, strict=False):
            name.setText(metric.name())
        if self._figures:
            self.show_picked(self._shown)

    def show_picked(self, shown: bool) -> None:
        """Whether its lines are among those drawn."""
        self._shown = shown
        self.button.setText(self.tr("Hide") if shown else self.tr("Show"))
        self.button.setAccessibleName(f"{self.button.text()} GPU {self.gpu}")

    def show_sample(self, gpu: GpuSample | None, health: Health | None) -> None:
        """The figures of now."""
        for (_, figure), metric in zip(self._figures, OF_GPU, strict=True):
            value, _total = metric.read(gpu)
            figure.set(None if value is None else metric.figure(value), metric.unit)
        self._show_state(gpu, health)

    def _show_state(self, gpu: GpuSample | None, health: Health | None) -> None:
        alarms = [alarm for alarm in (health.alarms if health else ()) if alarm.gpu == self.gpu]
        state = gpu.state if gpu is not None else "silent"
        if alarms and alarms[0].level == "error":
            self.pill.set("error", self.tr("Not well"))
        elif alarms and alarms[0].level == "warn":
            self.pill.set("warn", self.tr("Look"))
        elif state != "ready":
            self.pill.set("neutral", language.texts().say(f"monitor.gpu.{state}"))
        elif health is not None and self.gpu in health.watching:
            self.pill.set("neutral", self.tr("Watching"))
        elif health is not None and self.gpu in health.untold:
            self.pill.set("neutral", self.tr("Not known"))
        elif health is not None and health.state != "unknown":
            self.pill.set("ok", self.tr("Well"))
        self.pill.setVisible(state != "ready" or (health is not None and health.state != "unknown"))
