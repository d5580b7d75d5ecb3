"""Brings samples into the history, on the thread that takes them: reading a month from the disk takes a moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.errors import AppError
from ..core.results import Sample
from .series import Figures

if TYPE_CHECKING:
    from .history import History

PATIENCE_S = 1.0  # a window that just opened is drawn first; nobody is called well until the past is read


class Recorder:
    """Keeps samples; the history (and numpy with it) is loaded once there are `patience_s` seconds of them, or at the
    next one after `hurry`.

    `history` is None until then; others may look into it while one thread calls `keep` and `close`.
    """

    def __init__(self, make: Callable[[], History], *, patience_s: float = PATIENCE_S) -> None:
        self._make = make
        self._patience_s = patience_s
        self._hurried = threading.Event()
        self._waiting: list[Sample] = []
        self._said: set[str] = set()
        self._figures = Figures()
        self.history: History | None = None

    def hurry(self) -> None:
        """Somebody wants to see the history."""
        self._hurried.set()

    def keep(self, sample: Sample) -> None:
        """Add a sample. Raises AppError where the disk cannot be read or written, once for each reason."""
        history = self.history
        if history is None:
            self._waiting.append(sample)
            if not self._hurried.is_set() and sample.t - self._waiting[0].t < self._patience_s:
                return
            self.history = history = self._make()
            try:
                self._try(lambda: history.load(mend=True))
            finally:
                self._figures.know(history.names)
                for each in self._waiting:
                    history.add(each.t, self._figures.of(each))
                self._waiting = []
            self._try(lambda: history.cards.note(sample.gpus))
            self._try(lambda: _tell_damage(history))
            return
        history.add(sample.t, self._figures.of(sample))
        self._try(lambda: history.cards.note(sample.gpus))
        self._try(history.write)

    def flush(self) -> None:
        """Sampling pauses: bring everything to the disk. Raises as `keep` does."""
        if self.history is not None:
            history = self.history
            self._try(lambda: history.write(now=True))

    def close(self) -> None:
        """The end: also what is under way. Raises as `keep` does."""
        if self.history is not None:
            self._try(self.history.close)

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except AppError as error:
            # The graphs go on without the disk; a full one is said once and not each second.
            if error.code not in self._said:
                self._said.add(error.code)
                raise


def _tell_damage(history: History) -> None:
    """Raise AppError("history-damaged") where something was left out."""
    if history.damaged:
        raise AppError("history-damaged", count=history.damaged, path=str(history.folder))
