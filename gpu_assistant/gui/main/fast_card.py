"""How fast: the last benchmark in one figure and a few bars, or the way to a first one."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout

from ...core.results import Benchmark
from ..bench import moments, scores
from ..components import BarChart, Button, Card, IconWidget, label


class LatestBenchmarkCard(Card):
    """`button` leads to the Benchmark page."""

    MAX_BARS = 3

    def __init__(self) -> None:
        self._benchmark: Benchmark | None = None
        self._is_built = False
        super().__init__()
        heading_layout = QHBoxLayout()
        heading_layout.setSpacing(10)
        self._heading = label("heading")
        heading_layout.addWidget(IconWidget("bench", size=20))
        heading_layout.addWidget(self._heading, 1)
        self.column.addLayout(heading_layout)
        row = QHBoxLayout()
        row.setSpacing(14)
        self.value_label, self.caption_label = label("display"), label("small")
        self.value_label.set_one_line(True)
        row.addWidget(self.value_label)
        row.addWidget(self.caption_label, 1)
        self.column.addLayout(row)
        self.bars = BarChart()
        self.column.addWidget(self.bars)
        self.column.addStretch(1)
        footer_layout = QHBoxLayout()
        self.date_label, self.button = label("small"), Button(kind="ghost", trailing_icon="right")
        footer_layout.addWidget(self.date_label, 1)
        footer_layout.addWidget(self.button)
        self.column.addLayout(footer_layout)
        self._is_built = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark | None) -> None:
        """Another last result."""
        self._benchmark = benchmark
        self.retranslate()

    def retranslate(self) -> None:
        """Words and figures."""
        if not self._is_built:
            return
        self._heading.setText(self.tr("How fast"))
        benchmark = self._benchmark
        headline = scores.make_headline(benchmark) if benchmark is not None else None
        self.value_label.setVisible(headline is not None)
        self.bars.hide()
        if benchmark is None or headline is None:
            self.caption_label.setText(self.tr("Not measured yet. It takes about a minute."))
            self.date_label.setText("")
            self.button.setText(self.tr("Measure"))
            return
        self.value_label.setText(headline.figure)
        self.caption_label.setText(headline.brief)
        results = scores.device_results(benchmark)[: self.MAX_BARS]
        self.bars.set_bars(
            [
                (scores.result_device(result), result.median, scores.median_text(result), scores.bar_colour(result))
                for result in results
            ]
        )
        self.bars.setVisible(len(results) > 1)  # a length says nothing where there is nothing beside it
        self.date_label.setText(moments.measured_when(benchmark))
        self.button.setText(self.tr("Details"))
