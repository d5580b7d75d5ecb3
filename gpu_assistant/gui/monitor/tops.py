"""The figures of now above the plots: tiles of one GPU or of the machine, or a head for each of several GPUs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from ...core.health import Health
from ...core.results import GpuSample, Sample
from ..components import MetricTile
from .gpu_head import GpuHead
from .metrics import OF_MACHINE, TILES_OF_GPU, Metric

ACROSS = 6


class Tops(QWidget):
    """`picked(gpu)`: show or hide the lines of a GPU. `dense` heads from `most` + 1 GPUs on."""

    picked = Signal(int)

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self.tiles: list[tuple[Metric, int, MetricTile]] = []
        self.heads: list[GpuHead] = []
        self._laid = (0, 0)
        self._room = self._widest = 0
        self._low = False
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)

    def build(self, gpus: tuple[GpuSample, ...]) -> None:
        """For other GPUs than before."""
        for widget in self._widgets():
            widget.hide()
            self._grid.removeWidget(widget)
            widget.deleteLater()
        self.tiles, self.heads, self._laid = [], [], (0, 0)
        if len(gpus) > 1:
            dense = len(gpus) > self._most
            self.heads = [GpuHead(gpu, place, dense=dense) for place, gpu in enumerate(gpus)]
            for head in self.heads:
                head.picked.connect(self.picked)
        elif gpus:
            of = ((metric, gpus[0].index, metric.colour) for metric in TILES_OF_GPU)
            self.tiles = [(metric, gpu, MetricTile(metric.icon, token=colour)) for metric, gpu, colour in of]
        else:
            pairs = zip(OF_MACHINE, ("s1", "s2"), strict=True)
            self.tiles = [(metric, -1, MetricTile(metric.icon, token=colour)) for metric, colour in pairs]

    def arrange(self, room: int, *, low: bool = False) -> None:
        """As many in a row as fit into `room` pixels. In a `low` window tiles have one row, so that a whole plot is in
        sight below them; what the others say stands above the plots.
        """
        self._room, self._low, self._widest = room, low, self._least()
        self._place()

    def _least(self) -> int:
        """What the widest of them cannot do without."""
        return max((widget.minimumSizeHint().width() for widget in self._widgets()), default=0)

    def _place(self) -> None:
        widgets = self._widgets()
        most = 2 if self.heads and len(self.heads) <= self._most else 4 if self.heads else ACROSS
        gap = self._grid.horizontalSpacing()
        ways = (count for count in (6, 4, 3, 2) if count <= min(most, len(widgets)))
        across = next((count for count in ways if count * (self._widest + gap) - gap <= self._room), 1)
        if self._low and self.tiles:
            widgets = widgets[:across]
        across = math.ceil(len(widgets) / math.ceil(len(widgets) / across)) if widgets else 1  # rows of equal length
        if (across, len(widgets)) == self._laid:
            return
        self._laid = (across, len(widgets))
        for index, widget in enumerate(widgets):
            self._grid.addWidget(widget, index // across, index % across)
        for widget in self._widgets():
            widget.setVisible(widget in widgets)
        for column in range(ACROSS):
            self._grid.setColumnStretch(column, 1 if column < across else 0)

    def retranslate(self) -> None:
        """The names on the tiles; heads follow by themselves."""
        for metric, _, tile in self.tiles:
            tile.set_label(metric.name())

    def show_picked(self, picked: list[int]) -> None:
        """Whose lines are drawn."""
        for head in self.heads:
            head.show_picked(head.gpu in picked)

    @contextmanager
    def without_buttons(self) -> Iterator[None]:
        """For a picture, on which nothing can be pressed."""
        shown = [head.button for head in self.heads if not head.button.isHidden()]
        for button in shown:
            button.hide()
        try:
            yield
        finally:
            for button in shown:
                button.show()

    def show_now(self, sample: Sample, health: Health | None) -> None:
        """The figures of a sample."""
        by_index = {gpu.index: gpu for gpu in sample.gpus}
        for metric, gpu, tile in self.tiles:
            value, total = metric.read(sample if gpu < 0 else by_index.get(gpu))
            fraction = min(value / total, 1.0) if value is not None and total else None
            figure = None if value is None else metric.figure(value)
            tile.set_value(figure, metric.unit_of(total), fraction)
        for head in self.heads:
            head.show_sample(by_index.get(head.gpu), health)
        least = self._least()
        # Figures grow longer; when they are shorter again, nothing jumps back.
        if least > self._widest:
            self._widest = least
            self._place()

    def _widgets(self) -> list[QWidget]:
        return [*self.heads] or [tile for _, _, tile in self.tiles]
