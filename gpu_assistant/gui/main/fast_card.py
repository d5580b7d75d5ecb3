"""How fast: the last benchmark in one figure and a few bars, or the way to a first one."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout

from ...core.results import Benchmark
from ..bench import moments, scores
from ..components import Bars, Button, Card, Icon, label


class FastCard(Card):
    """`button` leads to the Benchmark page."""

    BARS = 3

    def __init__(self) -> None:
        self._benchmark: Benchmark | None = None
        self._ready = False
        super().__init__()
        head = QHBoxLayout()
        head.setSpacing(10)
        self._heading = label("heading")
        head.addWidget(Icon("bench", size=20))
        head.addWidget(self._heading, 1)
        self.column.addLayout(head)
        row = QHBoxLayout()
        row.setSpacing(14)
        self.figure, self.of_what = label("display"), label("small")
        self.figure.set_one_line(True)
        row.addWidget(self.figure)
        row.addWidget(self.of_what, 1)
        self.column.addLayout(row)
        self.bars = Bars()
        self.column.addWidget(self.bars)
        self.column.addStretch(1)
        foot = QHBoxLayout()
        self.when, self.button = label("small"), Button(kind="ghost", after="right")
        foot.addWidget(self.when, 1)
        foot.addWidget(self.button)
        self.column.addLayout(foot)
        self._ready = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark | None) -> None:
        """Another last result."""
        self._benchmark = benchmark
        self.retranslate()

    def retranslate(self) -> None:
        """Words and figures."""
        if not self._ready:
            return
        self._heading.setText(self.tr("How fast"))
        benchmark = self._benchmark
        best = scores.headline(benchmark) if benchmark is not None else None
        self.figure.setVisible(best is not None)
        self.bars.hide()
        if benchmark is None or best is None:
            self.of_what.setText(self.tr("Not measured yet. It takes about a minute."))
            self.when.setText("")
            self.button.setText(self.tr("Measure"))
            return
        self.figure.setText(best.figure)
        self.of_what.setText(best.brief)
        shown = scores.comparable(benchmark)[: self.BARS]
        self.bars.set_bars(
            [
                (scores.device_name(result), result.median, scores.value(result), scores.colour(result))
                for result in shown
            ]
        )
        self.bars.setVisible(len(shown) > 1)  # a length says nothing where there is nothing beside it
        self.when.setText(moments.when(benchmark))
        self.button.setText(self.tr("Details"))
