"""What each card did along the run: temperature, clocks, power, and what held it back."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from ...bench import summary
from ...bench.watch import HELD_BACK
from ...core.results import Benchmark, BenchWatch
from ..components import Card, Shape, label
from . import along
from .layouts import emptied, said_of


class AlongCard(Card):
    """Hidden where no driver told anything. Several cards stand beside each other where there is room for two."""

    def __init__(self) -> None:
        self._shown: Benchmark | None = None
        self._ready = False
        super().__init__(" ")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(40)
        self._grid.setVerticalSpacing(16)
        self.column.addLayout(self._grid)
        self._about = label("small")
        self.column.addWidget(self._about)
        self._shape = Shape(self)
        self._shape.changed.connect(self.retranslate)
        self._ready = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark) -> None:
        """Another result."""
        self._shown = benchmark
        self.retranslate()

    def retranslate(self) -> None:
        """All words and figures."""
        if not self._ready or self._shown is None:
            return
        cards = summary.watched(self._shown)
        self.setVisible(bool(cards))
        self.set_title(
            self.tr("What the card did meanwhile") if len(cards) == 1 else self.tr("What the cards did meanwhile")
        )
        self._about.setText(
            self.tr(
                "As the driver told it, twice a second; clocks are medians under load. A card at its power limit is "
                "what one wants: it does all that it is allowed to."
            )
        )
        emptied(self._grid)
        beside = 1 if self._shape.narrow or len(cards) == 1 else 2
        for place, card in enumerate(cards):
            block = self._block(card, along.name(card, cards) if len(cards) > 1 else "")
            self._grid.addWidget(block, place // beside, place % beside, Qt.AlignmentFlag.AlignTop)
        for column in range(2):
            self._grid.setColumnStretch(column, 1 if column < min(beside, len(cards)) else 0)

    def _block(self, card: BenchWatch, name: str) -> QWidget:
        block = QWidget()
        column = QVBoxLayout(block)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        if name:
            column.addWidget(label("strong", name))
        for row, (said, value) in enumerate(along.rows(card)):
            slowed = row == along.HELD and HELD_BACK & set(card.throttle)
            column.addLayout(said_of(said, value, "warn" if slowed else "text"))
        return block
