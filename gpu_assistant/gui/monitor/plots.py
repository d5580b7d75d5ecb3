"""The plots of the page: one for each metric with the lines of all picked GPUs, or one for each GPU, side by side."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from ...core.results import GpuSample
from . import axis
from .clock import Clock
from .events import Event
from .history_model import SampleHistory
from .legend import Legend
from .metrics import GPU_METRICS, MACHINE_METRICS, Metric
from .plot_card import PlotCard

BARE = 0.1  # of the range may be without history before that is said


class Plots(QWidget):
    """`cards` in reading order. `outdated` comes once after plots got another size or look: draw them."""

    outdated = Signal()

    def __init__(self, clock: Clock, limit: Callable[[GpuSample], float | None]) -> None:
        super().__init__()
        self._clock, self._limit = clock, limit
        self.cards: list[PlotCard] = []
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self.outdated)
        self.legend = Legend()
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.setContentsMargins(0, 0, 0, 0)
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        column.addWidget(self.legend)
        column.addLayout(self._grid, 1)

    def build(
        self, gpus: tuple[GpuSample, ...], picked: list[int], *, beside: bool, more: tuple[Metric, ...] = ()
    ) -> None:
        """For other GPUs, or another choice among them; `more` is drawn besides."""
        for card in self.cards:
            card.hide()
            self._grid.removeWidget(card)
            card.deleteLater()
        places = {gpu.index: place for place, gpu in enumerate(gpus)}
        shown = tuple(index for index in places if index in picked)
        groups = [(index,) for index in shown] if beside else [shown]
        self.cards = []
        if gpus and shown:
            for metric in (*GPU_METRICS, *more):
                for group in groups:
                    several = tuple(places[index] for index in group) if len(gpus) > 1 else None
                    card = PlotCard(metric, group, self._clock, alone=False, places=several, limit=self._limit)
                    self.cards.append(card)
        self.cards += [PlotCard(metric, (-1,), self._clock, alone=not gpus) for metric in MACHINE_METRICS]
        for card in self.cards:
            card.plot.outdated.connect(self._soon.start)

    def arrange(self, columns: int) -> None:
        """In so many columns."""
        for row in range(self._grid.rowCount()):
            self._grid.setRowStretch(row, 0)
        for index, card in enumerate(self.cards):
            self._grid.addWidget(card, index // columns, index % columns)
            self._grid.setRowStretch(index // columns, 1)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1 if columns == 2 else 0)

    def show_now(self, history: SampleHistory) -> None:
        """The figures of now."""
        for card in self.cards:
            card.show_now(history)

    def mark(self, events: tuple[Event, ...]) -> None:
        """What happened."""
        start, end = self._clock.view()
        self.legend.show_events(event for event in events if event.within(start, end))
        for card in self.cards:
            card.mark(events)

    def _say_since(self, history: SampleHistory) -> None:
        """Where a good part of the range was before anything was kept, it looks empty for no reason."""
        begins = history.store.oldest_t if history.store is not None else None
        start, end = self._clock.view()
        bare = begins is not None and begins - start > BARE * (end - start)
        words = self.tr("History since {time}").format(time=axis.since(begins, end)) if bare and begins else ""
        self.legend.say_since(words)

    def draw(self, history: SampleHistory, *, all_of_them: bool = False) -> None:
        """Draw what is on the screen, as far as it is new."""
        self._say_since(history)
        for card in self.cards:
            if all_of_them or card.in_sight():
                card.draw(history)
