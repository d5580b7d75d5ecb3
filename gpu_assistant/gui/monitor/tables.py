"""The tables of the page: the plots' values in place of the plots, and processes and details of the GPUs below them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableWidgetItem, QVBoxLayout, QWidget

from ...core.results import GpuSample, Health
from ...texts.format import UNKNOWN_VALUE, format_memory, join_unit
from .. import language, theme
from ..widgets.base import Themed
from ..widgets.buttons import Button
from ..widgets.cards import Card
from ..widgets.table import DataTable
from ..widgets.text import label
from .alarms import sort_by_alarms
from .history_model import SampleHistory
from .plot.cards import PlotCard, figure_or_dash
from .plot.curves import Array
from .plot.time_axis import DAY, TimeAxis, format_moment

MAX_ROWS = 60
MIN_HEIGHT = 160  # pixels at 100 % text
MIN_SAMPLES_WITH_PROCESSES = 2  # the first sample after a request may have been taken without processes


class PlotDataTable(DataTable):
    """The range of the time axis in at most MAX_ROWS rows, newest first, with one column for each line of the plots."""

    def __init__(self, time_axis: TimeAxis) -> None:
        super().__init__()
        self._time_axis = time_axis
        self._filled_key: tuple[float, float, int] | None = None
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def invalidate(self) -> None:
        """Fill the table again with the next `update_rows`, for another language or other lines."""
        self._filled_key = None

    def update_rows(self, cards: list[PlotCard], history: SampleHistory) -> None:
        """Fill the table, but not before a new row is due, so that it does not change while somebody reads it."""
        start, end = self._time_axis.view()
        step = self._time_axis.span / MAX_ROWS
        key = (step, np.floor(end / step), len(cards))
        if key == self._filled_key:
            return
        self._filled_key = key
        columns = [(card, gpu) for card in cards for gpu in card.gpus]
        several = len({gpu for _, gpu in columns if gpu >= 0}) > 1
        headers = [self.tr("Time")]
        for card, gpu in columns:
            prefix = f"GPU {gpu} " if several and gpu >= 0 else ""
            headers.append(f"{prefix}{card.plotted_metric.title_text()} ({card.plotted_metric.unit})")
        times = [time for time in np.arange(np.floor(end / step) * step, start, -step) if time > 0]
        self.setColumnCount(len(headers))
        self.setHorizontalHeaderLabels(headers)
        rows = self._rows(columns, history, np.array(times), step)
        self.setRowCount(len(rows))
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                item = QTableWidgetItem(text)
                item.setTextAlignment(
                    Qt.AlignmentFlag.AlignVCenter
                    | (Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft)
                )
                self.setItem(row, column, item)
        self._fit_to_width()

    def refresh(self) -> None:
        super().refresh()
        self._fit_to_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_to_width()

    def _fit_to_width(self) -> None:
        self.setMinimumHeight(theme.px(MIN_HEIGHT))
        scroll_bar_width = self.verticalScrollBar().sizeHint().width()
        self.fit_columns(self.width() - 2 * self.frameWidth() - scroll_bar_width)

    def _rows(
        self,
        columns: list[tuple[PlotCard, int]],
        history: SampleHistory,
        times: Array,
        step: float,
    ) -> list[list[str]]:
        """The cells of each time that has a sample within a step."""
        if not len(times):
            return []
        has_sample = np.zeros(len(times), bool)
        columns_values = []
        for card, gpu in columns:
            values = np.full(len(times), np.nan)
            series = history.since(card.plotted_metric, gpu, times[-1] - step)
            if series is not None and len(series.t):
                nearest = np.clip(np.searchsorted(series.t, times), 0, len(series.t) - 1)
                in_range = np.abs(series.t[nearest] - times) <= max(step, series.step)
                values[in_range] = series.mean[nearest[in_range]] / card.plotted_metric.scale
                has_sample |= in_range
            columns_values.append(values)
        cells: list[list[str]] = [[format_moment(time, self._time_axis.span)] for time in times[has_sample]]
        for (card, _), values in zip(columns, columns_values, strict=True):
            for row, value in zip(cells, values[has_sample], strict=True):
                row.append(figure_or_dash(card.plotted_metric, float(value)))
        return cells


class GpuDetails(Themed, QWidget):
    """Processes on the GPUs and details of the driver, expanded by `toggle_button`, which the page places.

    Processes are sampled only while this is open: `toggled` is emitted when it was opened or closed. Hidden without a
    GPU.
    """

    toggled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._gpus: tuple[GpuSample, ...] = ()
        self._worst_first: list[GpuSample] = []
        self._last_xids: dict[int, tuple[int, float]] = {}
        self.is_open = False
        self._samples_since_open = 0
        self.toggle_button = Button(kind="ghost", icon_name="table", small=True)
        self.processes_card, self.details_card = _TableCard(), _TableCard()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self.cards = (self.processes_card, self.details_card)
        for card in self.cards:
            card.hide()
            column.addWidget(card)
        self.toggle_button.clicked.connect(self._toggle)
        self.toggle_button.hide()
        self.apply_theme()

    def show_sample(self, gpus: tuple[GpuSample, ...], health: Health | None) -> None:
        """Show the GPUs of a sample, the programs of those with the most severe alarms first; `health` has the last Xid
        error of each.
        """
        self._gpus, by_index = gpus, {gpu.index: gpu for gpu in gpus}
        self._worst_first = [by_index[index] for index in sort_by_alarms(by_index, health)]
        self._last_xids = health.reported if health is not None else {}
        self._samples_since_open += 1
        self.toggle_button.setVisible(bool(gpus))
        self._update_cards()

    def retranslate(self) -> None:
        self.toggle_button.setText(self.tr("Programs and details"))
        self.toggle_button.set_icon("table", "up" if self.is_open else "down")
        self.processes_card.set_title(self.tr("Programs using the card"))
        self.details_card.set_title(self.tr("Card details"))
        if self.is_open and self._gpus:
            self._fill()

    def open(self) -> None:
        """Show them, as by the button."""
        if not self.is_open:
            self._toggle()

    def _toggle(self) -> None:
        self.is_open = not self.is_open
        self._samples_since_open = 0
        self._update_cards()
        self.retranslate()
        self.toggled.emit()

    def _update_cards(self) -> None:
        shown = self.is_open and bool(self._gpus)
        for card in self.cards:
            card.setVisible(shown)
        if shown:
            self._fill()

    def _fill(self) -> None:
        several = len(self._gpus) > 1
        headers = [self.tr("Program"), self.tr("PID"), self.tr("Memory")]
        rows = []
        for gpu in self._worst_first:
            for each in sorted(gpu.processes or (), key=lambda each: -(each.mem_used or 0)):
                memory_text = UNKNOWN_VALUE if each.mem_used is None else format_memory(each.mem_used)
                cells = [each.name or UNKNOWN_VALUE, str(each.pid), memory_text]
                rows.append([f"GPU {gpu.index}", *cells] if several else cells)
        is_reported = any(gpu.processes is not None for gpu in self._gpus)
        pending_text = (
            self.tr("Reading from the driver…") if self._samples_since_open < MIN_SAMPLES_WITH_PROCESSES else ""
        )
        empty_text = pending_text or self.tr("The driver does not report which programs use it.")
        empty_text = self.tr("No program is using it now.") if is_reported else empty_text
        self.processes_card.set_rows([self.tr("Card"), *headers] if several else headers, rows, empty_text)
        figures = [(name, values) for name, values in self._detail_rows() if any(values)]
        self.details_card.set_rows(
            [self.tr("Reading"), *(f"GPU {gpu.index}" if several else self.tr("Now") for gpu in self._gpus)],
            [[name, *(value or UNKNOWN_VALUE for value in values)] for name, values in figures],
            self.tr("The card reports nothing more right now."),
        )

    def _detail_rows(self) -> list[tuple[str, list[str | None]]]:
        """(name, value of each GPU) of every detail; None where the driver does not report it."""
        gpus = self._gpus
        return [
            (
                self.tr("Shared memory: borrowed from the computer, slow"),
                [self._memory_text(gpu.mem_shared) for gpu in gpus],
            ),
            (self.tr("Memory temperature"), [self._value_text(gpu.temp_memory, None, "°C") for gpu in gpus]),
            (self.tr("Memory clock"), [self._value_text(gpu.clock_mem, gpu.clock_mem_max, "MHz") for gpu in gpus]),
            (self.tr("Graphics clock"), [self._value_text(gpu.clock_sm, gpu.clock_sm_max, "MHz") for gpu in gpus]),
            (
                self.tr("Performance state (P0 is the fastest)"),
                [None if gpu.pstate is None else f"P{gpu.pstate}" for gpu in gpus],
            ),
            (self.tr("PCI Express generation"), [self._value_text(gpu.pcie_gen, gpu.pcie_gen_max) for gpu in gpus]),
            (self.tr("PCI Express lanes"), [self._value_text(gpu.pcie_width, gpu.pcie_width_max) for gpu in gpus]),
            (self.tr("Limited by"), [self._throttle_text(gpu) for gpu in gpus]),
            (self.tr("Fan speed"), [self._value_text(gpu.fan_rpm, None, self.tr("RPM")) for gpu in gpus]),
            (self.tr("Memory errors (ECC)"), [self._ecc_text(gpu) for gpu in gpus]),
            (self.tr("Retired memory pages"), [self._value_text(gpu.retired_pages) for gpu in gpus]),
            (self.tr("Replaced memory rows"), [self._value_text(gpu.remapped_rows) for gpu in gpus]),
            (
                self.tr("Last driver error (Xid)"),
                [self._xid_text(gpu) for gpu in gpus],
            ),
        ]

    def _value_text(self, value: int | None, maximum: int | None = None, unit: str = "") -> str | None:
        if value is None:
            return None
        text = (
            f"{value:,}"
            if maximum is None
            else self.tr("{value} of {most}").format(value=f"{value:,}", most=f"{maximum:,}")
        )
        return join_unit(text, unit)

    def _memory_text(self, value: int | None) -> str | None:
        return None if value is None else format_memory(value)

    def _xid_text(self, gpu: GpuSample) -> str | None:
        """The last Xid error with its time; the driver reports only those since it was loaded."""
        if gpu.index in self._last_xids:
            number, time = self._last_xids[gpu.index]
            return f"{number} · {format_moment(time, DAY)}"
        return None if gpu.xid is None else str(gpu.xid or self.tr("none"))

    def _ecc_text(self, gpu: GpuSample) -> str | None:
        if not gpu.ecc:
            return None if gpu.ecc is None else self.tr("not monitored")
        corrected, uncorrected = (UNKNOWN_VALUE if n is None else n for n in (gpu.ecc_corrected, gpu.ecc_uncorrected))
        return self.tr("{mended} corrected, {rest} not").format(mended=corrected, rest=uncorrected)

    def _throttle_text(self, gpu: GpuSample) -> str | None:
        if not gpu.throttle:
            return None if gpu.throttle is None else self.tr("nothing")
        return " · ".join(language.texts().translate(f"monitor.throttle.{name}") for name in gpu.throttle)


class _TableCard(Card):
    """A table as high as its rows, since the page scrolls; `empty_label` in its place without rows."""

    def __init__(self) -> None:
        self._ready = False
        super().__init__(padding=14)
        self.table, self.empty_label = DataTable(wraps=True, frameless=True), label("small")
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.column.addWidget(self.table)
        self.column.addWidget(self.empty_label)
        self._ready = True

    def set_rows(self, headers: Sequence[str], rows: Sequence[Sequence[str]], empty_text: str) -> None:
        """Show these rows; only changed cells are written, so that scroll position and selection stay."""
        self.empty_label.setText(empty_text)
        self.empty_label.setVisible(not rows)
        self.table.setVisible(bool(rows))
        self.table.setAccessibleName(self.card_title.text())
        self.table.setColumnCount(len(headers))
        self.table.setHorizontalHeaderLabels(headers)
        self.table.setRowCount(len(rows))
        changed = False
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                item = self.table.item(row, column)
                if item is None:
                    item = QTableWidgetItem()
                    item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
                    self.table.setItem(row, column, item)
                if item.text() != text:
                    item.setText(text)
                    changed = True
        if changed:
            self._fit_to_width()

    def refresh(self) -> None:
        super().refresh()
        if self._ready:
            self.table.refresh()  # first, since `_fit_to_width` measures its texts
            self._fit_to_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_to_width()

    def _fit_to_width(self) -> None:
        margins = self.column.contentsMargins()
        available = self.width() - margins.left() - margins.right() - 2 * self.table.frameWidth()
        self.table.fit_columns(available)
        header = self.table.horizontalHeader()
        scroll_bar_height = self.table.horizontalScrollBar().sizeHint().height() if header.length() > available else 0
        self.table.setFixedHeight(
            self.table.verticalHeader().length() + header.sizeHint().height() + scroll_bar_height + 4
        )
