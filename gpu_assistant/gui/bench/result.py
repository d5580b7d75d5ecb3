"""A benchmark's result: headline, bars, whether that is right, whether it was fair, and what came before."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...bench import summary
from ...core.results import Benchmark
from ...texts.sentences import closed_up
from ..components import Banner, Card, Icon, Live, Pill, Shape, label
from . import moments, scores
from .along_card import AlongCard
from .every import Every
from .fairness import fairness
from .layouts import emptied, said_of
from .meanings import meaning
from .pair_row import PairRow
from .past_card import PastCard
from .right_card import BELOW, WELL, RangeSource, RightCard, verdict_words

GAP = 12
ICONS = {"ok": ("ok", "ok"), "warn": ("warn", "warn"), "neutral": ("info", "soft")}


class BenchResultView(Live, QWidget):
    """Filled by `show_benchmark`."""

    def __init__(self) -> None:
        self._shown: tuple[Benchmark, tuple[Benchmark, ...]] | None = None
        self._ready = False
        super().__init__()
        self.head, self.bars, self.fair = Card(), Card(), Card(" ")
        self.right, self.past, self.every = RightCard(), PastCard(), Every()
        self.along = AlongCard()
        self.figure, self.text, self.detail = (
            label("display", "", "accent_text"),
            label("verdict"),
            label("body", "", "soft"),
        )
        self.figure.set_one_line(True)
        self.pill = Pill()
        self._line = row = QHBoxLayout()
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.text)
        words.addWidget(self.detail)
        row.addWidget(self.figure)
        row.addLayout(words, 1)
        row.addWidget(self.pill, 0, Qt.AlignmentFlag.AlignVCenter)
        self.unmeasured = Banner("warn")
        self.head.column.addLayout(row)
        self.head.column.addWidget(self.unmeasured)
        self._heading, self._legend = label("heading"), label("small")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        self.bars.column.addWidget(self._heading)
        self.bars.column.addLayout(self._rows)
        self.bars.column.addWidget(self._legend)
        self.bars.column.addStretch(1)
        self._fair = QGridLayout()
        self._fair.setColumnStretch(1, 1)
        self._fair.setVerticalSpacing(8)
        self._fair.setHorizontalSpacing(10)
        self.fair.column.addLayout(self._fair)
        self.fair.column.addStretch(1)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._grid.addWidget(self.head, 0, 0, 1, 3)
        for place in range(3):
            self._grid.setColumnStretch(place, 1)
        self._grid.setRowStretch(5, 1)  # what the page has to spare goes below everything
        self._left, self._of_left = _column(self.bars, self.right)
        self._side, self._of_side = _column(self.fair, self.past)
        self._shape = Shape(self)
        self._shape.changed.connect(self._arrange)
        self._arrange()
        self._ready = True
        self.follow()

    def show_benchmark(
        self, benchmark: Benchmark, kept: tuple[Benchmark, ...], source: RangeSource | None = None
    ) -> None:
        """This result, and those of before (oldest first, this one among them); `source` is where ranges are from."""
        if self._shown != (benchmark, kept):
            self._shown = (benchmark, kept)
            self.right.show_benchmark(benchmark, source)
            self.past.show_benchmark(benchmark, kept)
            self.along.show_benchmark(benchmark)
            self.every.show_benchmark(benchmark)
            self.retranslate()

    def retranslate(self) -> None:
        """All words and figures."""
        if not self._ready or self._shown is None:
            return
        benchmark, kept = self._shown
        self.fair.set_title(self.tr("Was it a fair test?"))
        head = scores.headline(benchmark)
        self.head.setVisible(head is not None)
        if head is not None:
            self.figure.setText(head.figure)
            self.text.setText(head.text)
            words = "\n".join(part for part in (head.detail, head.missing) if part)
            self.detail.setText(words)
            self.detail.setVisible(bool(words))
        judged = benchmark.verdict == BELOW or benchmark.verdict in WELL
        self.pill.setVisible(judged)
        if judged:
            self.pill.set("warn" if benchmark.verdict == BELOW else "ok", verdict_words(benchmark))
        said = "\n".join(part for part in (scores.unmeasured(benchmark), scores.unfinished(benchmark)) if part)
        self.unmeasured.set("warn", said)
        self.unmeasured.setVisible(bool(said))
        self._fill_rows(benchmark, kept)
        self._fill_fairness(benchmark, kept)
        self._arrange()

    def _fill_rows(self, benchmark: Benchmark, kept: tuple[Benchmark, ...]) -> None:
        emptied(self._rows)
        before = summary.before(benchmark, kept)
        shown = summary.pairs(benchmark, before)
        with_cards, bracketed = any(pair.gpus for pair in shown), False
        rows = []
        for pair in shown:
            usual = scores.usual(pair, benchmark)
            bracketed = bracketed or usual is not None
            rows.append(PairRow(pair, meaning(pair, benchmark), usual, moments.of_before(before)))
        for row in rows:
            row.stand_with(rows)
            self._rows.addWidget(row)
        self._heading.setText(self.tr("GPU beside CPU") if with_cards else self.tr("Measured on the CPU"))
        parts = [self.tr("Blue: the GPU. Grey: the CPU.")] if with_cards else []
        if any(pair.before is not None for pair in shown):
            parts.append(self.tr("Blue: this time. Grey: your last test before it."))
        if bracketed:
            parts.append(self.tr("The green bracket is the usual range of healthy cards of this kind."))
        if any(pair.together is not None for pair in shown):
            parts.append(self.tr("Several GPUs train one model together."))
        if why := scores.doubt(*(each for pair in shown for each in pair.results)):
            parts.append(self.tr("Doubtful: {why}.").format(why=why))
        self._legend.setText(closed_up(" ".join(parts)))
        self._legend.setVisible(bool(parts))

    def _fill_fairness(self, benchmark: Benchmark, kept: tuple[Benchmark, ...]) -> None:
        emptied(self._fair)
        for row, line in enumerate(fairness(benchmark, kept)):
            icon, token = ICONS[line.kind]
            self._fair.addWidget(Icon(icon, token, 16), row, 0, Qt.AlignmentFlag.AlignTop)
            if not line.value:
                words = "\n".join(part for part in (line.text, line.below) if part)
                self._fair.addWidget(label("body", words, "soft"), row, 1)
                continue
            self._fair.addLayout(said_of(line.text, line.value), row, 1)

    def _arrange(self) -> None:
        """Figures at the left, what speaks for them at their right; all in one column where it is narrow."""
        narrow = self._shape.narrow
        for part in (self._left, self._side, self.along, self.every):
            self._grid.removeWidget(part)
        self._grid.addWidget(self._left, 1, 0, 1, 3 if narrow else 2)
        self._grid.addWidget(self._side, *((2, 0, 1, 3) if narrow else (1, 2, 1, 1)))
        cards = len(summary.watched(self._shown[0])) if self._shown is not None else 0
        # A processor alone has nothing else below its bars; several cards need the whole width.
        (self._of_side if cards else self._of_left).insertWidget(1, self.past)
        if cards > 1:
            self._grid.addWidget(self.along, 3, 0, 1, 3)
        else:
            self._of_side.insertWidget(2, self.along)
        self._grid.addWidget(self.every, 4, 0, 1, 3)
        direction = QBoxLayout.Direction
        self._line.setDirection(direction.TopToBottom if self._shape.small else direction.LeftToRight)
        self._line.setSpacing(4 if self._shape.small else 24)


def _column(*cards: QWidget) -> tuple[QWidget, QVBoxLayout]:
    """Cards below each other; what is to spare is below them."""
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(GAP)
    for card in cards:
        column.addWidget(card)
    column.addStretch(1)
    return holder, column
