"""One plot in its card: title, key of the GPUs, the figure of now."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec.structs import replace
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHBoxLayout

from ...core.results import GpuSample
from .. import theme
from ..widgets.cards import Card, MetricValue
from ..widgets.layouts import FlowLayout
from ..widgets.text import label
from .clock import Clock
from .events import Event
from .history_model import LineStyle, SampleHistory, SeriesCurve
from .metrics import GPU_COLOURS, Metric
from .overlay import Limit
from .plot import Plot
from .sign import Sign
from .strokes import pen

SMALLEST_PLOT = 104
STROKE = 24  # pixels


class Key(Sign):
    """A stroke as a GPU's line has it, and its name."""

    def __init__(self, line: LineStyle) -> None:
        super().__init__(line.name, STROKE)
        self.line = line

    def draw(self, painter: QPainter) -> None:
        """The stroke."""
        painter.setPen(pen(theme.color(self.line.colour_token), 2, self.line.dash))
        middle = round(self.height() / 2)
        painter.drawLine(0, middle, STROKE, middle)


def line_of(place: int, gpu: int, *, fill: bool) -> LineStyle:
    """How one of several GPUs is drawn: eight of them differ in colour or dash. One that is filled stands alone."""
    count = len(GPU_COLOURS)
    dash = 0 if fill else (place + place // count) % count
    return LineStyle(colour_token=GPU_COLOURS[place % count], name=f"GPU {gpu}", dash=dash, fill=fill)


class PlotCard(Card):
    """`gpus` are the indexes drawn; (-1,) is the machine itself. `alone`: there is no GPU beside it.

    `places` are the cards' positions among all of them, which give colour and dash; None where there is one card
    only. `limit` tells from how many °C on a card is slowed down.
    """

    def __init__(
        self,
        metric: Metric,
        gpus: tuple[int, ...],
        clock: Clock,
        *,
        alone: bool,
        places: tuple[int, ...] | None = None,
        limit: Callable[[GpuSample], float | None] = lambda _: None,
    ) -> None:
        self.of, self.gpus = metric, gpus
        self._limit = limit
        self._several = places is not None
        self._total: float | None = None
        self._ready = False
        super().__init__(padding=14)
        self._name = label("strong")
        self.figure = MetricValue("heading")
        self.plot = Plot(
            clock,
            ticks=lambda highest: metric.ticks(highest, self._total),
            figure=metric.format_with_unit,
        )
        self.plot.setMinimumHeight(theme.px(SMALLEST_PLOT))
        head = QHBoxLayout()
        head.setSpacing(14)
        head.addWidget(self._name, 0 if places is not None else 1)
        keys = FlowLayout(spacing=14)
        for at, gpu in enumerate(gpus):
            line = self._line(None if places is None else places[at], gpu, alone=alone)
            self.plot.series(str(gpu), line)
            if line.name:
                keys.addWidget(Key(line))
        if keys.count():
            head.addLayout(keys, 1)
        head.addWidget(self.figure)
        self.column.setSpacing(4)
        self.column.addLayout(head)
        self.column.addWidget(self.plot, 1)
        self._ready = True
        self.retranslate()
        self.refresh()

    def _line(self, place: int | None, gpu: int, *, alone: bool) -> LineStyle:
        if place is not None:
            return line_of(place, gpu, fill=len(self.gpus) == 1)
        # Without a card, load and memory wear the colours that they have on a card.
        own = {"cpu": "s1", "ram": "s2"}.get(self.of.key) if alone else None
        return LineStyle(colour_token=own or self.of.colour)

    def retranslate(self) -> None:
        """The metric's name."""
        if self._ready:
            self._name.setText(self.of.title_text())
            self.plot.setAccessibleName(self.of.title_text())

    def refresh(self) -> None:
        """Theme and text size of now."""
        super().refresh()
        if self._ready:
            self.plot.setMinimumHeight(theme.px(SMALLEST_PLOT))
            self.plot.restyle()

    def update_colours(self) -> None:
        """The plot in the colours of now."""
        super().update_colours()
        if self._ready:
            self.plot.restyle()

    def show_now(self, history: SampleHistory) -> None:
        """The figure of now; a single GPU's limit."""
        sample = history.latest
        if sample is None:
            return
        cards: dict[int, GpuSample] = {gpu.index: gpu for gpu in sample.gpus}
        read = [self.of.read(sample if gpu < 0 else cards.get(gpu)) for gpu in self.gpus]
        totals = [total for _, total in read if total is not None]
        # A card that does not answer has as much memory as before.
        self._total = max(totals, default=self._total)
        several = len(self.gpus) > 1
        value = None if several else read[0][0]
        self.figure.setVisible(not several)
        self.figure.set(None if value is None else self.of.format_value(value), self.of.unit)
        if not several:
            self._mark_limit(cards.get(self.gpus[0]))
        names = ", ".join(self.of.format_with_unit(value) for value, _ in read)
        self.plot.setAccessibleDescription(self.tr("now {figures}").format(figures=names))

    def _mark_limit(self, card: GpuSample | None) -> None:
        if self.of.key == "power" and self._total is not None:
            text = self.tr("limit {power}").format(power=self.of.format_with_unit(self._total))
            self.plot.set_limit(Limit(value=self._total, text=text))
        degrees = self._limit(card) if card is not None and self.of.key == "temp" else None
        if degrees is not None:
            text = self.tr("slows down at {temperature}").format(temperature=self.of.format_with_unit(degrees))
            self.plot.set_limit(Limit(value=degrees, text=text))

    def mark(self, events: tuple[Event, ...]) -> None:
        """Those of its cards and of the whole computer; what it was stands in one plot alone. Of several cards each
        mark says whose it is.
        """
        mine = [event for event in events if event.gpu is None or event.gpu in self.gpus]
        self.plot.set_events(tuple(map(self._said, mine)))

    def _said(self, event: Event) -> Event:
        word = event.text if event.about in ("", self.of.key) else ""
        whose = f"GPU {event.gpu}" if self._several and event.gpu is not None else ""
        return replace(event, text=f"{whose} {word}".strip(), whose=whose, word=word, told=event.text)

    def draw(self, history: SampleHistory) -> None:
        """Draw what the clock shows of the history, as far as that is new."""

        def fetch(key: str, since: float, reach: float) -> SeriesCurve | None:
            found = history.since(self.of, int(key), since, reach)
            if found is None:
                return None
            scale = self.of.scale
            return SeriesCurve(
                t=found.t, mean=found.mean / scale, low=found.low / scale, high=found.high / scale, step=found.step
            )

        self.plot.refresh(fetch)

    def in_sight(self) -> bool:
        """Whether any of it is on the screen, not scrolled away."""
        return self.isVisible() and not self.visibleRegion().isEmpty()


def figure_or_dash(metric: Metric, value: float) -> str:
    """A table's cell."""
    return metric.format_value(None if math.isnan(value) else value)
