"""What happened to the cards, as marks on the time line."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

Tone = Literal["warn", "error", "soft", "accent"]


class Event(Struct, frozen=True, kw_only=True):
    """From `start` to `end` in seconds since the epoch (inf: it goes on), or at a moment where both are the same.

    `text` is what is said of it: where there are several cards, `whose` it is and the `word` for it; `told` is the
    word in every plot, for the cross-hair.
    `tone` is a token's name for its colour, `gpu` the card's index (None: the whole computer); `about` is the key of
    the metric whose plot says the text, "" for all of them.
    """

    start: float
    end: float
    text: str
    tone: Tone
    gpu: int | None = None
    about: str = ""
    whose: str = ""
    word: str = ""
    told: str = ""

    @property
    def moment(self) -> bool:
        """Whether it has no length."""
        return self.end <= self.start

    @property
    def says(self) -> bool:
        """Whether its text is more than a card's number."""
        return bool(self.word if self.whose else self.text)

    def within(self, start: float, end: float) -> bool:
        """Whether any of it lies between two moments."""
        return self.start <= end and (self.end >= start or math.isinf(self.end))
