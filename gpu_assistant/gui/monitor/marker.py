"""Keeps what is marked on the time line up to date, without asking more often than it can change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication, QObject, Signal

from ...core.results import GpuSample
from ...health.baselines import temperature_limit
from ..worker import JobRunner
from . import marks
from .events import Event

if TYPE_CHECKING:
    from ...app import App
    from .clock import Clock
    from .sampling import SamplingService


# Events are looked up again after this share of what is shown, but not more often than every few seconds.
SHARE, LEAST_S = 200, 5.0


class Marker(QObject):
    """`changed`: installs and benchmarks were read."""

    changed = Signal()

    def __init__(self, app: App, sampling: SamplingService, parent: QObject) -> None:
        super().__init__(parent)
        self._app, self._sampling = app, sampling
        self._happened: tuple[Event, ...] = ()
        self._due = 0.0
        self._known = (False, False)
        self._reading = JobRunner(self)
        self._again = False
        self._reading.done.connect(self._have)
        self._reading.finished.connect(self._next)

    def limit(self, gpu: GpuSample) -> float | None:
        """°C from which on a card is slowed down; the catalog is asked once the sampling thread has read it."""
        allowed = self._app.monitoring.max_temperature if self._sampling.health is not None else _nobody_knows
        return temperature_limit(gpu, allowed)

    def look(self) -> None:
        """Read installs and benchmarks again, on a thread of their own."""
        if self._app.simulated:
            return
        if self._reading.running:
            self._again = True
        else:
            self._reading.start(marks.Happenings(self._app))

    def forget(self) -> None:
        """Something else is shown: the next question is answered anew."""
        self._due = 0.0

    def news(self, clock: Clock, picked: list[int]) -> tuple[Event, ...] | None:
        """What happened in what the clock shows; None where it is too early to ask again."""
        latest = self._sampling.history.latest
        now = latest.t if latest is not None else 0.0
        # What was kept and the rules come some seconds after the window: then it is not too early.
        known = (self._sampling.history.store is not None, self._sampling.health is not None)
        if known == self._known and now < self._due <= now + clock.span:
            return None
        self._known = known
        self._due = now + max(LEAST_S, clock.span / SHARE)
        start, end = clock.view()
        history = self._sampling.history
        cards = [history.last_response(gpu) for gpu in history.gpus() if gpu.index in picked]
        # The rules, as the catalog, are there once the sampling thread has read them.
        rules = self._app.monitoring.health_rules if self._sampling.health is not None else None
        found = marks.of_cards(history, cards, start, end - start, allowed=self.limit, rules=rules)
        translate = QCoreApplication.translate
        happened = (replace(event, text=translate("Marks", event.text)) for event in self._happened)
        return (*found, *happened)

    def _next(self) -> None:
        """What was read may have been too early."""
        if self._again:
            self._again = False
            self.look()

    def _have(self, events: tuple[Event, ...]) -> None:
        self._happened = events
        self.forget()
        self.changed.emit()


def _nobody_knows(_gpu: GpuSample) -> float | None:
    return None
