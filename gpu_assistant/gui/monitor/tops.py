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
from .gpu_head import GpuHeader
from .metrics import MACHINE_METRICS, GPU_TILE_METRICS, Metric

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
        columns = next((count for count in candidates if count * (self._min_tile_width + gap) - gap <= self._available_width), 1)
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
