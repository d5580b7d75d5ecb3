"""All figures of a benchmark in a table, with what was left out and why; collapsed at first."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableWidgetItem

from ....core.results import Benchmark
from ....reports.result_messages import table_rows
from ....texts.format import format_counted
from ...widgets.buttons import Button
from ...widgets.cards import Card
from ...widgets.table import DataTable

translate = QCoreApplication.translate


class ResultsTable(Card):
    """A button that expands the table; six columns, or three where six do not fit."""

    def __init__(self) -> None:
        self._benchmark: Benchmark | None = None
        self._ready = self._narrow = False
        self._wide_minimum = 0
        super().__init__(padding=12)
        self.toggle_button = Button(kind="ghost", icon_name="table", trailing_icon="down")
        self.toggle_button.clicked.connect(self._toggle)
        self.table = DataTable(wraps=True)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.setVisible(False)
        self.table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.column.addWidget(self.toggle_button)
        self.column.addWidget(self.table)
        self._ready = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self.retranslate()

    def refresh(self) -> None:
        super().refresh()
        if self._ready and self._benchmark is not None and not self.table.isHidden():
            self.table.refresh()  # first, since its texts are measured
            self._fill(narrow=False)
            self._fit_to_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():  # its height follows its rows
            self._fit_to_width()

    def retranslate(self) -> None:
        if not self._ready:
            return
        is_open = not self.table.isHidden()
        self.toggle_button.setText(self.tr("Hide all results") if is_open else self.tr("All results"))
        self.toggle_button.set_icon("table", "up" if is_open else "down")
        if not is_open or self._benchmark is None:
            return
        self.table.setAccessibleName(self.tr("All results"))
        self._fill(narrow=False)
        self._fit_to_width()

    def _fill(self, *, narrow: bool) -> None:
        """Fill six columns, or three if `narrow`."""
        if self._benchmark is None:
            return
        self._narrow = narrow
        headers = [
            self.tr("What"),
            self.tr("Where"),
            self.tr("Size"),
            self.tr("Median"),
            self.tr("Middle 50%"),
            self.tr("Runs"),
        ]
        rows = table_rows(self._benchmark)
        if narrow:
            headers = [headers[0], headers[3], headers[4]]
            rows = [_narrow_row(row) for row in rows]
        median_column = 1 if narrow else 3  # the reason of an omission spans all columns from here
        self.table.clearSpans()
        self.table.clearContents()
        self.table.setColumnCount(len(headers))
        self.table.setHorizontalHeaderLabels(headers)
        self.table.setRowCount(len(rows))
        for row in range(len(self._benchmark.results), len(rows)):
            self.table.setSpan(row, median_column, 1, len(headers) - median_column)
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                item = QTableWidgetItem(text)
                left_aligned = column < min(2, median_column) or (len(cells) < len(headers) and column == median_column)
                alignment = Qt.AlignmentFlag.AlignLeft if left_aligned else Qt.AlignmentFlag.AlignRight
                item.setTextAlignment(alignment | Qt.AlignmentFlag.AlignVCenter)
                item.setToolTip(text)
                self.table.setItem(row, column, item)
        if not narrow:
            self._wide_minimum = self.table.min_columns_width()

    def _fit_to_width(self) -> None:
        """Make the table as high as its rows: the page scrolls, not the table."""
        if self.table.isHidden():
            return
        margins = self.column.contentsMargins()
        available = self.width() - margins.left() - margins.right() - 2 * self.table.frameWidth()
        narrow = available < self._wide_minimum
        if narrow != self._narrow:
            self._fill(narrow=narrow)
        self.table.fit_columns(available)
        scroll_bar = self.table.horizontalScrollBar()
        scroll_bar_height = (
            scroll_bar.sizeHint().height() if self.table.horizontalHeader().length() > self.table.width() else 0
        )
        rows = self.table.verticalHeader().length()
        self.table.setFixedHeight(rows + self.table.horizontalHeader().sizeHint().height() + scroll_bar_height + 4)

    def _toggle(self) -> None:
        self.table.setVisible(self.table.isHidden())
        self.retranslate()


def _narrow_row(row: tuple[str, ...]) -> tuple[str, ...]:
    """A row of `table_rows` in three columns: device and size below the name, the runs below the spread."""
    name, device, size, median, *rest = row
    first_cell = "\n".join((name, device, size))
    if not rest:
        return first_cell, median
    spread, runs = rest
    runs_text = format_counted(translate("ResultsTable", "{runs} runs"), runs=int(runs)) if runs.isdigit() else runs
    return first_cell, median, f"{spread}\n{runs_text}"
