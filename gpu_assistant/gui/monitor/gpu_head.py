"""One of several GPUs: its line's key, name, and four figures."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QHBoxLayout

from ...core.results import GpuSample
from ...texts.format import memory
from ..components import Card, Figure, Text, label
from .metrics import GPU_COLOURS, OF_GPU
from .plot_card import Key
from .series import Line


class GpuHead(Card):
    """`place` is its position among the GPUs, which gives colour and dash."""

    def __init__(self, gpu: GpuSample, place: int) -> None:
        self.gpu = gpu.index
        self._figures: list[tuple[Text, Figure]] = []
        super().__init__(padding=16)
        place %= len(GPU_COLOURS)
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(Key(Line(colour=GPU_COLOURS[place], name=f"GPU {gpu.index}", dash=place)))
        parts = [gpu.name, memory(gpu.mem_total) if gpu.mem_total is not None else None]
        head.addWidget(label("small", " · ".join(part for part in parts if part)), 1)
        self.column.addLayout(head)
        grid = QGridLayout()
        for column, _ in enumerate(OF_GPU):
            name, figure = label("caption"), Figure("heading")
            grid.addWidget(name, 0, column)
            grid.addWidget(figure, 1, column)
            self._figures.append((name, figure))
        self.column.addLayout(grid)
        self.retranslate()

    def retranslate(self) -> None:
        """The metrics' names."""
        for (name, _), metric in zip(self._figures, OF_GPU, strict=False):
            name.setText(metric.name())

    def show_sample(self, gpu: GpuSample | None) -> None:
        """The figures of now."""
        for (_, figure), metric in zip(self._figures, OF_GPU, strict=True):
            value, _total = metric.read(gpu)
            figure.set(None if value is None else metric.figure(value), metric.unit)
