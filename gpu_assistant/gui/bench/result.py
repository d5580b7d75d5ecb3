"""A benchmark's result: headline, bars, whether it was fair, and what came before."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.results import Benchmark
from ..components import Bars, Card, Icon, Live, Shape, label
from . import scores
from .result_row import ResultRow

PAST = 5
ICONS = {"ok": ("ok", "ok"), "warn": ("warn", "warn"), "neutral": ("info", "soft")}


class BenchResultView(Live, QWidget):
    """Filled by `show_benchmark`."""

    def __init__(self) -> None:
        self._shown: tuple[Benchmark, tuple[Benchmark, ...]] | None = None
        self._ready = False
        super().__init__()
        self.head, self.bars, self.fair, self.past = Card(), Card(" "), Card(" "), Card(" ")
        self.figure, self.text, self.detail = (
            label("display", "", "accent_text"),
            label("verdict"),
            label("body", "", "soft"),
        )
        self.figure.set_one_line(True)
        row = QHBoxLayout()
        row.setSpacing(24)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.text)
        words.addWidget(self.detail)
        row.addWidget(self.figure)
        row.addLayout(words, 1)
        self.head.column.addLayout(row)
        self._rows = QVBoxLayout()
        self.bars.column.addLayout(self._rows)
        self._legend = label("small")
        self.bars.column.addWidget(self._legend)
        self.bars.column.addStretch(1)
        self._fair = QGridLayout()
        self._fair.setColumnStretch(1, 1)
        self._fair.setVerticalSpacing(8)
        self._fair.setHorizontalSpacing(10)
        self.fair.column.addLayout(self._fair)
        self.fair.column.addStretch(1)
        self._past_of, self._past = label("small"), Bars()
        self.past.column.addWidget(self._past_of)
        self.past.column.addWidget(self._past)
        self.past.column.addStretch(1)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        self._shape = Shape(self)
        self._shape.changed.connect(self._arrange)
        self._arrange()
        self._ready = True
        self.follow()

    def show_benchmark(self, benchmark: Benchmark, kept: tuple[Benchmark, ...]) -> None:
        """This result, and the ones of before (oldest first, this one among them)."""
        if self._shown != (benchmark, kept):
            self._shown = (benchmark, kept)
            self.retranslate()

    def retranslate(self) -> None:
        """All words and figures."""
        if not self._ready or self._shown is None:
            return
        benchmark, kept = self._shown
        self.bars.set_title(self.tr("Measured"))
        self.fair.set_title(self.tr("Was it a fair test?"))
        self.past.set_title(self.tr("Your own past"))
        self._legend.setText(self.tr("The green bracket holds the middle half of the runs."))
        head = scores.headline(benchmark)
        self.head.setVisible(head is not None)
        if head is not None:
            self.figure.setText(head.figure)
            self.text.setText(head.text)
            parts = (head.detail, scores.when(benchmark))
            self.detail.setText(" · ".join(part for part in parts if part))
        self._fill_rows(benchmark)
        self._fill_fairness(benchmark, kept)
        self._fill_past(benchmark, kept)

    def _fill_rows(self, benchmark: Benchmark) -> None:
        _empty(self._rows)
        scales: dict[str, float] = {}
        for result in benchmark.results:
            scales[result.unit] = max(scales.get(result.unit, 0.0), result.median, result.q3)
        for result in benchmark.results:
            self._rows.addWidget(ResultRow(result, scales[result.unit]))

    def _fill_fairness(self, benchmark: Benchmark, kept: tuple[Benchmark, ...]) -> None:
        _empty(self._fair)
        for row, line in enumerate(scores.fairness(benchmark, kept)):
            icon, token = ICONS[line.kind]
            value = label("body", line.value)
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            self._fair.addWidget(Icon(icon, token, 16), row, 0, Qt.AlignmentFlag.AlignTop)
            self._fair.addWidget(label("body", line.text, "soft"), row, 1)
            self._fair.addWidget(value, row, 2)

    def _fill_past(self, benchmark: Benchmark, kept: tuple[Benchmark, ...]) -> None:
        """The same workload on the same device over time: other figures cannot be compared."""
        rows = [
            (scores.day(each), result.median, scores.value(result), "accent" if each is benchmark else "s5")
            for each, result in scores.history(benchmark, kept)[-PAST:]
        ]
        self._past.set_bars(rows)
        best = scores.reference(benchmark)
        self._past_of.setText(f"{scores.name(best)} · {scores.extent(best.size)}" if best is not None else "")
        self.past.setVisible(len(rows) > 1)

    def _arrange(self) -> None:
        """Bars at the left, the rest at their right; all in one column where it is narrow."""
        for card in (self.head, self.bars, self.fair, self.past):
            self._grid.removeWidget(card)
        self._grid.addWidget(self.head, 0, 0, 1, 3)
        if self._shape.narrow:
            for row, card in enumerate((self.bars, self.fair, self.past), start=1):
                self._grid.addWidget(card, row, 0, 1, 3)
        else:
            self._grid.addWidget(self.bars, 1, 0, 2, 2)
            self._grid.addWidget(self.fair, 1, 2)
            self._grid.addWidget(self.past, 2, 2)
        for column in range(3):
            self._grid.setColumnStretch(column, 1)
        # What the page has to spare goes below everything, or into the cards beside the bars.
        for row in range(5):
            self._grid.setRowStretch(row, 1 if row == (4 if self._shape.narrow else 2) else 0)


def _empty(layout: QVBoxLayout | QGridLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
