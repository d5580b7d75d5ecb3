"""The plots of the page in their cards, the signs of their lines, and the legend of what is marked on the time line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from msgspec.structs import replace
from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ....core.results import GpuSample
from ... import theme
from ...widgets.base import Themed
from ...widgets.cards import Card, MetricValue
from ...widgets.layouts import FlowLayout
from ...widgets.text import label
from ..history_model import SampleHistory
from ..metrics import GPU_COLOURS, GPU_METRICS, MACHINE_METRICS, Metric
from .annotations import Event, Tone
from .curves import LineStyle, SeriesCurve
from .overlay import Limit
from .renderer import dashed_pen
from .time_axis import TimeAxis, format_since
from .widget import Plot

SMALLEST_PLOT, LOW_WINDOW_PLOT = 104, 80  # pixels
QWIDGETSIZE_MAX = (1 << 24) - 1  # qwidget.h; PySide6 has no name for it
LINE_WIDTH, EVENT_WIDTH = 24, 18  # pixels of a legend's signs
LEGEND_GAP, LEGEND_MARGIN = 7, 3  # pixels between sign and text, and behind the text
EMPTY_SHARE = 0.1  # of the range may be without history before that is said

# (tone, whether it has no length, text)
LegendKey = tuple[Tone, bool, str]


class LegendRow(Themed, QWidget):
    """A sign as the plots paint it, and its text. `draw` paints the sign, `width` pixels of it."""

    def __init__(self, text: str, width: int) -> None:
        super().__init__()
        self._text, self._indent = text, width + LEGEND_GAP
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def draw(self, painter: QPainter) -> None:
        """The sign, at the left edge and in the colours of now."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Fonts of now."""
        self.setFont(theme.font("caption"))
        super().refresh()

    def sizeHint(self) -> QSize:
        """Sign and text."""
        metrics = self.fontMetrics()
        return QSize(self._indent + metrics.horizontalAdvance(self._text) + LEGEND_MARGIN, metrics.height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The sign, then the text."""
        del event
        painter = QPainter(self)
        self.draw(painter)
        painter.setPen(theme.color("soft"))
        painter.setFont(self.font())
        room = QRectF(self._indent, 0, self.width() - self._indent, self.height())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), self._text)


class LineSign(LegendRow):
    """A stroke as a GPU's line has it, and its name."""

    def __init__(self, line: LineStyle) -> None:
        super().__init__(line.name, LINE_WIDTH)
        self.line = line

    def draw(self, painter: QPainter) -> None:
        """The stroke."""
        painter.setPen(dashed_pen(theme.color(self.line.colour_token), 2, self.line.dash))
        middle = round(self.height() / 2)
        painter.drawLine(0, middle, LINE_WIDTH, middle)


class EventSign(LegendRow):
    """A shaded piece of time, or a line where it has no length, and its text."""

    def __init__(self, key: LegendKey) -> None:
        tone, moment, text = key
        super().__init__(text, EVENT_WIDTH)
        self._tone, self._moment = tone, moment

    def draw(self, painter: QPainter) -> None:
        """As the plots paint it."""
        if not self._moment:
            painter.fillRect(0, 3, EVENT_WIDTH, self.height() - 6, theme.color(self._tone, 0.3))
        painter.setPen(dashed_pen(theme.color(self._tone), 1, 2))
        painter.drawLine(0, 2, 0, self.height() - 3)


class Legend(QWidget):
    """To be seen while anything is marked, or less is kept than is shown."""

    def __init__(self) -> None:
        super().__init__()
        self._keys: tuple[LegendKey, ...] = ()
        self._row = FlowLayout(self, spacing=14)
        self.since = label("caption")
        self.since.hide()
        self._row.addWidget(self.since)
        self.hide()

    def set_since(self, text: str) -> None:
        """From when on there is anything to be seen; "" where that is before what is shown."""
        if text != self.since.text():
            self.since.setText(text)
            self.since.setVisible(bool(text))
            self._show()

    def show_events(self, events: Iterable[Event]) -> None:
        """Each kind once, in the order of their beginning."""
        ordered = sorted(events, key=lambda event: event.start)
        keys = tuple(dict.fromkeys((event.tone, event.moment, event.text) for event in ordered if event.text))
        if keys == self._keys:
            return
        self._keys = keys
        while (item := self._row.takeAt(1)) is not None:
            if (sign := item.widget()) is not None:
                sign.hide()
                sign.deleteLater()
        for key in keys:
            self._row.addWidget(EventSign(key))
        self._show()

    def _show(self) -> None:
        self.setVisible(bool(self._keys or self.since.text()))


def gpu_line(place: int, gpu: int, *, fill: bool) -> LineStyle:
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
        time_axis: TimeAxis,
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
            time_axis,
            ticks=lambda highest: metric.ticks(highest, self._total),
            format_value=metric.format_with_unit,
        )
        self.plot.setMinimumHeight(theme.px(SMALLEST_PLOT))
        head = QHBoxLayout()
        head.setSpacing(14)
        head.addWidget(self._name, 0 if places is not None else 1)
        keys = FlowLayout(spacing=14)
        for at, gpu in enumerate(gpus):
            line = self._line(None if places is None else places[at], gpu, alone=alone)
            self.plot.set_line(str(gpu), line)
            if line.name:
                keys.addWidget(LineSign(line))
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
            return gpu_line(place, gpu, fill=len(self.gpus) == 1)
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
            self.plot.apply_theme()

    def update_colours(self) -> None:
        """The plot in the colours of now."""
        super().update_colours()
        if self._ready:
            self.plot.apply_theme()

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
        self.plot.set_events(tuple(map(self._labelled, mine)))

    def _labelled(self, event: Event) -> Event:
        word = event.text if event.about in ("", self.of.key) else ""
        whose = f"GPU {event.gpu}" if self._several and event.gpu is not None else ""
        return replace(event, text=f"{whose} {word}".strip(), whose=whose, word=word, reason=event.text)

    def draw(self, history: SampleHistory) -> None:
        """Draw what the time_axis shows of the history, as far as that is new."""

        def fetch(key: str, since: float, reach: float) -> SeriesCurve | None:
            window = history.since(self.of, int(key), since, reach)
            if window is None:
                return None
            scale = self.of.scale
            return SeriesCurve(
                t=window.t, mean=window.mean / scale, low=window.low / scale, high=window.high / scale, step=window.step
            )

        self.plot.refresh(fetch)

    def set_compact(self, compact: bool) -> None:
        """Give the plot the height for low windows, or what the layout has for it."""
        self.plot.setMinimumHeight(theme.px(LOW_WINDOW_PLOT if compact else SMALLEST_PLOT))
        self.plot.setMaximumHeight(theme.px(LOW_WINDOW_PLOT) if compact else QWIDGETSIZE_MAX)

    def in_sight(self) -> bool:
        """Whether any of it is on the screen, not scrolled away."""
        return self.isVisible() and not self.visibleRegion().isEmpty()


class Plots(QWidget):
    """`cards` in reading order. `outdated` comes once after plots got another size or look: draw them."""

    outdated = Signal()

    def __init__(self, time_axis: TimeAxis, limit: Callable[[GpuSample], float | None]) -> None:
        super().__init__()
        self._time_axis, self._limit = time_axis, limit
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
                    card = PlotCard(metric, group, self._time_axis, alone=False, places=several, limit=self._limit)
                    self.cards.append(card)
        self.cards += [PlotCard(metric, (-1,), self._time_axis, alone=not gpus) for metric in MACHINE_METRICS]
        for card in self.cards:
            card.plot.outdated.connect(self._soon.start)

    def arrange(self, columns: int, *, low_window: bool) -> None:
        """In so many columns; in a low window the plots are lower, so that one is seen whole."""
        for card in self.cards:
            card.set_compact(low_window)
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
        start, end = self._time_axis.view()
        self.legend.show_events(event for event in events if event.within(start, end))
        for card in self.cards:
            card.mark(events)

    def _say_since(self, history: SampleHistory) -> None:
        """Where a good part of the range was before anything was kept, it looks empty for no reason."""
        begins = history.store.oldest_t if history.store is not None else None
        start, end = self._time_axis.view()
        bare = begins is not None and begins - start > EMPTY_SHARE * (end - start)
        words = self.tr("History since {time}").format(time=format_since(begins, end)) if bare and begins else ""
        self.legend.set_since(words)

    def draw(self, history: SampleHistory, *, all_of_them: bool = False) -> None:
        """Draw what is on the screen, as far as it is new."""
        self._say_since(history)
        for card in self.cards:
            if all_of_them or card.in_sight():
                card.draw(history)


def figure_or_dash(metric: Metric, value: float) -> str:
    """A table's cell."""
    return metric.format_value(None if math.isnan(value) else value)
