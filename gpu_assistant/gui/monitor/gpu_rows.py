"""The rows of several GPUs on Home, and beside what runs: each with its values and its state, worst first.

Imports no plot: Home is shown before numpy and pyqtgraph are loaded.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from ...core.results import GpuSample, Health
from ...texts.format import short_name
from ..widgets.base import Breakpoints, Themed
from ..widgets.cards import MetricValue, Pill
from ..widgets.text import TextLabel, label
from .alarms import alarm_tones, gpu_state, sort_by_alarms
from .metrics import GPU_METRICS

MAX_ROWS = 4
COLUMN_SPACING, CRAMPED_SPACING, ROW_SPACING = 20, 10, 6  # pixels


class GpuRows(Themed, QWidget):
    """At most MAX_ROWS rows (`gpus` are their indexes); more GPUs are on Monitor, as are power and totals where large
    text leaves no room for them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gpus: tuple[int, ...] = ()
        self._shape: tuple[tuple[int, str | None], ...] = ()
        self._shown: tuple[tuple[GpuSample, ...], Health | None] = (), None
        self.headings = [label("caption") for _ in range(len(GPU_METRICS) + 2)]
        self.rows: list[GpuRow] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(ROW_SPACING)
        for column, heading in enumerate(self.headings):
            self._grid.addWidget(heading, 0, column)
            self._grid.setColumnStretch(column, 1)
        self._breakpoints = Breakpoints(self)
        self._breakpoints.changed.connect(self._arrange)
        self._arrange()
        self.apply_theme()

    def _arrange(self) -> None:
        is_cramped = self._breakpoints.is_cramped
        self._grid.setHorizontalSpacing(CRAMPED_SPACING if is_cramped else COLUMN_SPACING)
        last = len(GPU_METRICS)
        self._grid.setColumnStretch(last, 0 if is_cramped else 1)
        for widgets in (self.headings, *(row.widgets for row in self.rows)):
            widgets[last].setVisible(not is_cramped)
        self._show_values()

    def retranslate(self) -> None:
        for heading, metric in zip(self.headings[1:], GPU_METRICS, strict=False):
            heading.setText(metric.title_text())
        self.headings[-1].setText(self.tr("State"))

    def show_gpus(self, gpus: tuple[GpuSample, ...], health: Health | None) -> None:
        """Show the values of these GPUs."""
        chosen = select_gpus(gpus, health)
        names_differ = len({gpu.name for gpu in gpus}) > 1
        self._shown = chosen, health
        shape = tuple((gpu.index, gpu.name if names_differ else None) for gpu in chosen)
        if shape != self._shape:
            self._shape, self.gpus = shape, tuple(gpu.index for gpu in chosen)
            self._rebuild()
        self._show_values()

    def _show_values(self) -> None:
        gpus, health = self._shown
        for row, gpu in zip(self.rows, gpus, strict=True):
            row.show_gpu(gpu, health, with_totals=not self._breakpoints.is_cramped)

    def _rebuild(self) -> None:
        while len(self.rows) < len(self._shape):
            row = GpuRow()
            self.rows.append(row)
            for column, widget in enumerate(row.widgets):
                alignment = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
                self._grid.addWidget(widget, len(self.rows), column, alignment)
        while len(self.rows) > len(self._shape):
            for widget in self.rows.pop().widgets:
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
        for row, (index, name) in zip(self.rows, self._shape, strict=True):
            row.name_label.setText(f"GPU {index}" if name is None else f"GPU {index} · {short_name(name)}")
        self._arrange()


class GpuRow:
    """The widgets of one GPU: its name, its values, its state."""

    def __init__(self) -> None:
        self.name_label: TextLabel = label("strong")
        self.name_label.set_one_line(True)
        self.values = [MetricValue("strong") for _ in GPU_METRICS]
        self.state_pill = Pill("ok")
        self.widgets: tuple[QWidget, ...] = (self.name_label, *self.values, self.state_pill)

    def show_gpu(self, gpu: GpuSample, health: Health | None, *, with_totals: bool) -> None:
        """Show the values of this GPU."""
        for widget, metric in zip(self.values, GPU_METRICS, strict=True):
            value, total = metric.read(gpu)
            widget.set(
                None if value is None else metric.format_value(value), metric.unit_text(total if with_totals else None)
            )
            widget.set_tone(alarm_tones(health, gpu.index).get(metric.key, "text"))
        state = gpu_state(gpu.index, gpu, health)
        if state is not None:
            self.state_pill.set(*state)
        self.state_pill.setVisible(state is not None)


def select_gpus(gpus: tuple[GpuSample, ...], health: Health | None) -> tuple[GpuSample, ...]:
    """Those that have a row: the ones with the most severe alarms first, then by number; all of them where there is
    room.
    """
    if len(gpus) <= MAX_ROWS:
        return gpus
    by_index = {gpu.index: gpu for gpu in gpus}
    return tuple(by_index[index] for index in sort_by_alarms(by_index, health)[:MAX_ROWS])
