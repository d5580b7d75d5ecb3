"""The plots as a table, for reading: the same range in at most 60 rows, newest first."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableWidgetItem

from .. import theme
from ..components import Table
from . import axis
from .clock import Clock
from .history import History
from .plot_card import PlotCard, figure_or_dash

ROWS = 60
LEAST = 160  # pixels high at least, times the text scale


class MonitorTable(Table):
    """One row a moment, one column a series."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._filled: tuple[float, float, int] | None = None
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def forget(self) -> None:
        """Fill it again at the next chance (another language, other series)."""
        self._filled = None

    def fill(self, cards: list[PlotCard], history: History) -> None:
        """Show the clock's range; does nothing until a new row is due, so that a reader is not disturbed."""
        start, end = self._clock.view()
        step = self._clock.span / ROWS
        due = (step, np.floor(end / step), len(cards))
        if due == self._filled:
            return
        self._filled = due
        columns = [(card, gpu) for card in cards for gpu in card.gpus]
        several = len({gpu for _, gpu in columns if gpu >= 0}) > 1
        heads = [self.tr("Time")]
        for card, gpu in columns:
            which = f"GPU {gpu} " if several and gpu >= 0 else ""
            heads.append(f"{which}{card.of.name()} ({card.of.unit})")
        moments = [moment for moment in np.arange(np.floor(end / step) * step, start, -step) if moment > 0]
        self.setColumnCount(len(heads))
        self.setHorizontalHeaderLabels(heads)
        rows = self._rows(columns, history, np.array(moments), step)
        self.setRowCount(len(rows))
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                item = QTableWidgetItem(text)
                item.setTextAlignment(
                    Qt.AlignmentFlag.AlignVCenter
                    | (Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft)
                )
                self.setItem(row, column, item)
        self._fit()

    def refresh(self) -> None:
        """Larger words need wider columns."""
        super().refresh()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As wide as its columns have room; where not even their longest words have it, it scrolls sideways."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.setMinimumHeight(theme.px(LEAST))
        upright = self.verticalScrollBar().sizeHint().width()
        self.fit_columns(self.width() - 2 * self.frameWidth() - upright)

    def _rows(
        self,
        columns: list[tuple[PlotCard, int]],
        history: History,
        moments: np.ndarray[tuple[int], np.dtype[np.float64]],
        step: float,
    ) -> list[list[str]]:
        """Cells of every moment that has a sample near it."""
        if not len(moments):
            return []
        kept = np.zeros(len(moments), bool)
        figures = []
        for card, gpu in columns:
            values = np.full(len(moments), np.nan)
            found = history.since(card.of, gpu, moments[-1] - step)
            if found is not None and len(found.t):
                nearest = np.clip(np.searchsorted(found.t, moments), 0, len(found.t) - 1)
                near = np.abs(found.t[nearest] - moments) <= max(step, found.step)
                values[near] = found.mean[nearest[near]] / card.of.scale
                kept |= near
            figures.append(values)
        cells: list[list[str]] = [[axis.said(moment, self._clock.span)] for moment in moments[kept]]
        for (card, _), values in zip(columns, figures, strict=True):
            for row, value in zip(cells, values[kept], strict=True):
                row.append(figure_or_dash(card.of, float(value)))
        return cells
