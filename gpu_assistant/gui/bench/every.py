"""Every figure of a benchmark in a table, and what was left out and why; folded until somebody wants it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QTableWidgetItem

from ...core.results import Benchmark
from ...texts.format import UNKNOWN
from ...texts.format import size as size_of
from .. import language, theme
from ..components import Button, Card, Table
from . import scores

COLUMNS, WIDEST, ROOM = 6, 260, 28  # a column is no wider; room beside its words


class Every(Card):
    """`toggle` opens it."""

    def __init__(self) -> None:
        self._shown: Benchmark | None = None
        self._ready = False
        super().__init__(padding=12)
        self.toggle = Button(kind="ghost", icon="table", after="down")
        self.toggle.clicked.connect(self._fold)
        self.table = Table()
        self.table.setColumnCount(COLUMNS)
        head = self.table.horizontalHeader()
        for column in range(1, COLUMNS):
            head.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
        self.table.setVisible(False)
        self.table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.column.addWidget(self.toggle)
        self.column.addWidget(self.table)
        self._ready = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark) -> None:
        """Another result."""
        self._shown = benchmark
        self.retranslate()

    def refresh(self) -> None:
        """Larger words need a higher table."""
        super().refresh()
        if self._ready:
            self._fit()

    def retranslate(self) -> None:
        """Heads and rows."""
        if not self._ready:
            return
        opened = not self.table.isHidden()
        self.toggle.setText(self.tr("Hide all figures") if opened else self.tr("All figures"))
        self.toggle.set_icon("table", "up" if opened else "down")
        if not opened or self._shown is None:
            return
        self.table.setAccessibleName(self.tr("All figures"))
        heads = (
            self.tr("What"),
            self.tr("Where"),
            self.tr("Size"),
            self.tr("Median"),
            self.tr("Middle half"),
            self.tr("Runs"),
        )
        self.table.setHorizontalHeaderLabels(heads)
        rows = rows_of(self._shown)
        self.table.setRowCount(len(rows))
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                item = QTableWidgetItem(text)
                side = Qt.AlignmentFlag.AlignLeft if column < 2 else Qt.AlignmentFlag.AlignRight
                item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                item.setToolTip(text)
                self.table.setItem(row, column, item)
        words = self.table.fontMetrics()
        for column in range(1, COLUMNS):
            widest = max(words.horizontalAdvance(cells[column]) for cells in (heads, *rows))
            self.table.setColumnWidth(column, min(widest + ROOM, theme.px(WIDEST)))
        self._fit()

    def _fit(self) -> None:
        """As high as its rows: the page scrolls, not the table."""
        rows = self.table.rowCount() * self.table.verticalHeader().defaultSectionSize()
        self.table.setFixedHeight(rows + self.table.horizontalHeader().sizeHint().height() + 4)

    def _fold(self) -> None:
        self.table.setVisible(self.table.isHidden())
        self.retranslate()


def _size(sides: tuple[int, ...], unit: str) -> str:
    """What is copied has bytes, everything else has sides."""
    return size_of(sides[0]) if unit == "GB/s" else scores.extent(sides)


def rows_of(benchmark: Benchmark) -> list[tuple[str, ...]]:
    """Every measurement in words: what, where, size, median, middle half, runs; then what was left out and why."""
    found: list[tuple[str, ...]] = []
    for result in benchmark.results:
        low, high = (scores.amount(each, result.unit) for each in (result.q1, result.q3))
        unit = scores.unit_name(scores.shown(result.q3, result.unit)[1])
        low = low.removesuffix(f" {unit}")  # once is enough, where it is the same
        guessed = result.extrapolated
        size = _size(result.size, result.unit) + (f" · {result.batch}" if result.batch is not None else "")
        found.append(
            (
                scores.name(result),
                scores.device_name(result),
                size,
                ("≈ " if guessed else "") + scores.value(result),
                UNKNOWN if guessed else f"{low} … {high}",
                UNKNOWN if guessed else str(result.runs),
            )
        )
    texts = language.texts()
    for left in benchmark.left_out:
        what = scores.workload(left.id, left.dtype)
        why = texts.say(left.why)
        found.append((what, scores.device_label(left.device), scores.extent(left.size), UNKNOWN, why, UNKNOWN))
    return found
