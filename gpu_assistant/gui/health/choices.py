"""What a health test is made with, besides its level: which card, and for how many minutes it is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ...core.results import GpuSample
from ..components import Segments, label
from ..components.picker import Entry, Picker

MINUTES = (10, 20, 30, 60)


class Choices(QWidget):
    """The cards are shown where there are several, the minutes where the level loads them. `changed` comes after a
    choice of the user.
    """

    changed = Signal()

    def __init__(self, cards: Sequence[GpuSample], card: int | None, parent: QWidget) -> None:
        super().__init__(parent)
        translate = QCoreApplication.translate
        self._cards, self._loaded = tuple(cards), False
        self._card = card if len(cards) > 1 else None
        self.cards = Picker()
        self.long = label("body", translate("Health", "Full load for"))
        words = [translate("Health", "{count} min").format(count=minutes) for minutes in MINUTES]
        self.minutes = Segments(words, name=translate("Health", "Full load for"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for widget in (self.cards, self.long, self.minutes):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(1)
        self.cards.chosen.connect(self._choose)
        self.minutes.chosen.connect(lambda _: self.changed.emit())
        self._say()
        self.show_for(loaded=False)

    @property
    def device(self) -> str | None:
        """As `HealthJob` calls it; None: all there are."""
        return None if self._card is None else f"cuda:{self._card}"

    @property
    def load_seconds(self) -> float | None:
        """How long the cards are loaded; None where the level does not."""
        return 60.0 * MINUTES[self.minutes.current()] if self._loaded else None

    def show_for(self, *, loaded: bool) -> None:
        """What fits a level that loads the cards, or one that does not."""
        self._loaded = loaded
        self.cards.setVisible(len(self._cards) > 1)
        for widget in (self.long, self.minutes):
            widget.setVisible(loaded)
        self.setVisible(loaded or len(self._cards) > 1)

    def _choose(self, card: int | None) -> None:
        self._card = card
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        translate = QCoreApplication.translate
        everything = translate("Health", "All cards")
        entries = [Entry(value=None, text=everything)]
        entries += [Entry(value=gpu.index, text=f"GPU {gpu.index}", detail=gpu.name or "") for gpu in self._cards]
        words = everything if self._card is None else f"GPU {self._card}"
        self.cards.set(entries, self._card, words, translate("Health", "Which card"))
