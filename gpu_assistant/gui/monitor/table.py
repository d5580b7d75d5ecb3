"""The plots as a table, for reading: the same range in at most 60 rows, newest first."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableWidgetItem

from .. import theme
from ..components import DataTable
from . import axis
from .clock import Clock
from .history import SampleHistory
from .plot_card import PlotCard, figure_or_dash

MAX_ROWS = 60
MIN_HEIGHT = 160  # pixels high at least, times the text scale


class PlotDataTable(DataTable):
    """One row a moment, one column a series."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._filled_key: tuple[float, float, int] | None = None
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def invalidate(self) -> None:
        """Fill it again at the next chance (another language, other series)."""
        self._filled_key = None

    def update_rows(self, cards: list[PlotCard], history: SampleHistory) -> None:
        """Show the clock's range; does nothing until a new row is due, so that a reader is not disturbed."""
        start, end = self._clock.view()
        step = self._clock.span / MAX_ROWS
        key = (step, np.floor(end / step), len(cards))
        if key == self._filled_key:
            return
        self._filled_key = key
        columns = [(card, gpu) for card in cards for gpu in card.gpus]
        several = len({gpu for _, gpu in columns if gpu >= 0}) > 1
        headers = [self.tr("Time")]
        for card, gpu in columns:
            prefix = f"GPU {gpu} " if several and gpu >= 0 else ""
            headers.append(f"{prefix}{card.of.title_text()} ({card.of.unit})")
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
        """Larger words need wider columns."""
        super().refresh()
        self._fit_to_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As wide as its columns have room; where not even their longest words have it, it scrolls sideways."""
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
        times: np.ndarray[tuple[int], np.dtype[np.float64]],
        step: float,
    ) -> list[list[str]]:
        """Cells of every moment that has a sample near it."""
        if not len(times):
            return []
        has_sample = np.zeros(len(times), bool)
        columns_values = []
        for card, gpu in columns:
            values = np.full(len(times), np.nan)
            series = history.since(card.of, gpu, times[-1] - step)
            if series is not None and len(series.t):
                nearest = np.clip(np.searchsorted(series.t, times), 0, len(series.t) - 1)
                in_range = np.abs(series.t[nearest] - times) <= max(step, series.step)
                values[in_range] = series.mean[nearest[in_range]] / card.of.scale
                has_sample |= in_range
            columns_values.append(values)
        cells: list[list[str]] = [[axis.said(time, self._clock.span)] for time in times[has_sample]]
        for (card, _), values in zip(columns, columns_values, strict=True):
            for row, value in zip(cells, values[has_sample], strict=True):
                row.append(figure_or_dash(card.of, float(value)))
        return cells
