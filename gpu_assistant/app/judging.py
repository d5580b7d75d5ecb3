"""Whether the cards are well, asked of every sample on the thread that takes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core.errors import AppError

if TYPE_CHECKING:
    from ..core.health import Health
    from ..core.results import Sample
    from ..health.watch import Watch
    from ..monitor.history import History

LEARN_S = 3600.0  # how hot a card usually is changes over days
GUESSES = ("well", "watching", "untold")  # what the past may turn into an alarm


class Judge:
    """Makes the watch with the first sample, and tells it what the history knows of the cards: of each one as soon as
    it is there, and of all once an hour. Until then nobody is called well.

    `cuda` is the outcome of the last check of CUDA ("pass", "fail"); any thread may set it. After a rule that cannot
    be read nothing is judged any more.
    """

    def __init__(
        self,
        make: Callable[[], Watch],
        remember: Callable[[Watch, History, Sample], None],
    ) -> None:
        self._make = make
        self._remember = remember
        self._watch: Watch | None = None
        self._learn_at: float | None = None
        self._learned: frozenset[str | int] = frozenset()  # the cards of which the past was told
        self._over = False
        self.cuda: str | None = None

    def look(self, sample: Sample, history: History | None) -> Health | None:
        """How things stand now, `history` being None until it is read; None where nobody can say. Raises AppError once,
        where the rules cannot be read.
        """
        if self._over:
            return None
        if self._watch is None:
            try:
                self._watch = self._make()
            except AppError:
                self._over = True
                raise
        self._watch.cuda = self.cuda
        if history is None:
            health = self._watch.look(sample)
            return replace(health, state="unknown") if health.state in GUESSES else health
        cards = frozenset(gpu.uuid or gpu.index for gpu in sample.gpus)
        due = self._learn_at is None or not 0 < self._learn_at - sample.t <= LEARN_S
        if due or not cards <= self._learned:  # a driver that takes its time names its cards later
            self._learn_at = sample.t + LEARN_S
            self._learned = cards if due else self._learned | cards
            self._remember(self._watch, history, sample)
        return self._watch.look(sample)
