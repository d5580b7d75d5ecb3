"""The plots of the Monitor page in cards, and the line above them that says what the cross-hair points at."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QMoveEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ....core.results import GpuSample
from ....texts.format import join_unit
from ... import language, theme
from ...event_loop import IncrementalQueue
from ...widgets.cards import Card, MetricValue
from ...widgets.layouts import FlowLayout
from ...widgets.text import SEPARATOR, label
from ..history_model import SampleHistory
from ..metrics import GPU_COLOURS, GPU_METRICS, MACHINE_METRICS, Metric
from .annotations import TONES_BY_WEIGHT, Event
from .curves import LINE_WIDTH, STRONG_WIDTH, THIN_WIDTH, LineStyle, SeriesCurve
from .legend import LimitLegendRow, LineLegendRow, Readout
from .overlay import MAX_LANES, Limit, Reading, event_reasons
from .time_axis import TimeAxis, format_moment, format_since
from .widget import Plot

MIN_PLOT_HEIGHT = 132  # pixels
NEW_PER_TURN = 1  # plots that are drawn for the first time, or in another look, in one turn of the event loop
QWIDGETSIZE_MAX = (1 << 24) - 1  # qwidget.h; PySide6 has no name for it
MAX_VALUES_WITH_UNIT = 2  # of more lines only the plot's name has the unit
EMPTY_SHARE = 0.1  # of the shown range may be older than the history before the line above the plots says so
POINTER_SHARE = 0.003  # of the shown range: an event as near to the cross-hair as this is at it


def gpu_line(slot: int, gpu: int, *, fill: bool) -> LineStyle:
    """The line of GPU number `gpu`: as many as are drawn together differ in colour and in dash.

    `fill` is for a line that is alone in its plot; it is solid.
    """
    slot %= len(GPU_COLOURS)
    return LineStyle(colour_token=GPU_COLOURS[slot], name=f"GPU {gpu}", dash=0 if fill else slot, fill=fill)


class PlotCard(Card):
    """One metric of some GPUs: name, limit, legend, present value and plot.

    `gpus` are the indexes drawn, in the order of the legend; (-1,) is the computer itself. `slots` give their colours
    and dashes; None where there is one GPU only, or for the computer. `has_gpus`: whether the page shows any. The
    legend of several has the signs of their lines with their names and values, in a row of its own. `limit` gives the
    temperature in °C at which a GPU slows down.
    """

    def __init__(
        self,
        metric: Metric,
        gpus: tuple[int, ...],
        time_axis: TimeAxis,
        *,
        has_gpus: bool,
        slots: tuple[int, ...] | None = None,
        limit: Callable[[GpuSample], float | None] = lambda _: None,
    ) -> None:
        self.plotted_metric, self.gpus, self.has_gpus = metric, gpus, has_gpus
        self._limit = limit
        self._names_gpus = slots is not None
        self._total: float | None = None
        self.legend_rows: dict[int, LineLegendRow] = {}
        self._latest_values: dict[int, float | None] = {}
        self._readings: dict[int, Reading] | None = None
        self._time_axis = time_axis
        self._ready = False
        super().__init__(padding=14)
        self._name, self.pointed_label = label("strong"), label("caption")
        self.pointed_label.set_one_line(True)
        self.figure = MetricValue("heading")
        self.plot = Plot(
            time_axis, ticks=lambda highest: metric.ticks(highest, self._total), has_strips=metric.has_strips
        )
        self.plot.pointed.connect(self._on_pointed)
        self.plot.setMinimumHeight(theme.px(MIN_PLOT_HEIGHT))
        head = QHBoxLayout()
        head.setSpacing(8)
        self._name.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Minimum)  # the legend wraps instead
        self.limit_row = LimitLegendRow()
        head.addWidget(self._name)
        self._legend = FlowLayout(spacing=7 if len(gpus) > MAX_VALUES_WITH_UNIT else 14, line_spacing=0, even=True)
        for number, gpu in enumerate(gpus):
            line = self._line(None if slots is None else slots[number], gpu)
            self.plot.set_line(str(gpu), line)
            if line.name:
                self.legend_rows[gpu] = LineLegendRow(line)
                self._legend.addWidget(self.legend_rows[gpu])
        if len(gpus) == 1 and self.legend_rows:
            self._legend.addWidget(self.limit_row)
            head.addLayout(self._legend, 1)
        else:
            head.addWidget(self.limit_row)
            head.addStretch(1)
        head.addWidget(self.pointed_label)
        head.addWidget(self.figure)
        self.column.setSpacing(4)
        self.column.addLayout(head)
        if len(gpus) > 1:
            self.column.addLayout(self._legend)
        self.column.addWidget(self.plot, 1)
        self._ready = True
        self.retranslate()

    def reorder(self, gpus: Sequence[int]) -> bool:
        """Take this order of its GPUs for the legend; whether it was another one."""
        order = tuple(gpu for gpu in gpus if gpu in self.gpus)
        if len(order) < max(len(self.gpus), 2) or order == self.gpus:
            return False
        self.gpus = order
        self._legend.reorder([self.legend_rows[gpu] for gpu in order])
        self.plot.reorder_lines([str(gpu) for gpu in order])
        return True

    def emphasize(self, gpus: Collection[int]) -> None:
        """Make the lines of these GPUs strong and those of others thin; all alike where that leaves no others."""
        strong = [gpu for gpu in self.legend_rows if gpu in gpus]
        differ = 0 < len(strong) < len(self.legend_rows)
        for gpu, row in self.legend_rows.items():
            width = LINE_WIDTH if not differ else STRONG_WIDTH if gpu in strong else THIN_WIDTH
            if width != row.line.width:
                row.set_line(replace(row.line, width=width))
                self.plot.set_line(str(gpu), row.line)

    def _line(self, slot: int | None, gpu: int) -> LineStyle:
        if slot is not None:
            return gpu_line(slot, gpu, fill=len(self.gpus) == 1)
        # Without GPUs, the computer's load and memory have the colours of a GPU's.
        gpu_colour = None if self.has_gpus else {"cpu": "s1", "ram": "s2"}.get(self.plotted_metric.key)
        return LineStyle(colour_token=gpu_colour or self.plotted_metric.colour)

    def retranslate(self) -> None:
        """Set the metric's name, of several lines with the unit of their axis."""
        if self._ready:
            name = self.plotted_metric.title_text()
            self.plot.setAccessibleName(name)
            unit = self.plotted_metric.unit if len(self.gpus) > 1 else ""
            if self.plot.strips > 1:
                first, *_, last = self.plotted_metric.ticks(0, None)
                unit = join_unit(f"{first:g}–{last:g}", self.plotted_metric.unit)
            self._name.setText(self.tr("{name} ({unit})").format(name=name, unit=unit) if unit else name)

    def refresh(self) -> None:
        """Apply theme and text size."""
        super().refresh()
        if self._ready:
            self.plot.apply_theme()

    def update_colours(self) -> None:
        """Apply the theme's colours to the plot."""
        super().update_colours()
        if self._ready:
            self.plot.apply_theme()

    def show_latest(self, history: SampleHistory) -> None:
        """Show the newest value, and of a single GPU the limit."""
        sample = history.latest
        if sample is None:
            return
        gpus: dict[int, GpuSample] = {gpu.index: gpu for gpu in sample.gpus}
        values = [self.plotted_metric.read(sample if index < 0 else gpus.get(index)) for index in self.gpus]
        totals = [total for _, total in values if total is not None]
        # The total of a GPU that does not answer stays as it was.
        self._total = max(totals, default=self._total)
        self._latest_values = {gpu: value for gpu, (value, _) in zip(self.gpus, values, strict=True)}
        self._show_values()
        self._update_limit([gpus[index] for index in self.gpus if index in gpus], set(totals))
        figures = ", ".join(self.plotted_metric.format_with_unit(value) for value, _ in values)
        self.plot.setAccessibleDescription(self.tr("now {figures}").format(figures=figures))

    def _on_pointed(self, readings: list[Reading] | None) -> None:
        """Show the values at the cross-hair or at the end of an earlier range, or the newest ones again (None)."""
        if readings is None and self._readings is None:
            return
        self._readings = None if readings is None else {int(reading.key): reading for reading in readings}
        self._show_values()

    def _show_values(self) -> None:
        """Each line's value at the cross-hair, else at the right edge; of a single line also time and range there."""
        values, metric = self._latest_values, self.plotted_metric
        if self._readings is not None:
            values = {gpu: self._readings[gpu].value if gpu in self._readings else None for gpu in self.gpus}
        is_single, cursor = len(self.gpus) == 1, self._time_axis.cursor if self._readings is not None else None
        self.figure.setVisible(is_single)
        self.figure.set_tone("text" if cursor is None else "soft")
        if is_single:
            value = values.get(self.gpus[0])
            self.figure.set(None if value is None else metric.format_value(value), metric.unit)
        self.pointed_label.setVisible(is_single and cursor is not None)
        if is_single and cursor is not None:
            extremes = self._readings[self.gpus[0]].extremes if self._readings else None
            low, high = (metric.format_value(value) for value in extremes) if extremes is not None else ("", "")
            parts = format_moment(cursor, self._time_axis.span), f"{low} – {high}" if low != high else ""
            self.pointed_label.setText(SEPARATOR.join(part for part in parts if part))
        for gpu, row in self.legend_rows.items() if not is_single else ():
            value, many = values.get(gpu), len(self.gpus) > MAX_VALUES_WITH_UNIT
            text = metric.format_value(value) if many else metric.format_with_unit(value)
            row.show_value(text, tagged=cursor is not None)

    def _update_limit(self, gpus: list[GpuSample], totals: set[float]) -> None:
        """Show the limit that all GPUs of the plot have; a GPU that does not answer leaves it as it was."""
        if self.plotted_metric.key == "power" and len(totals) == 1:
            (power,) = totals
            text = self.tr("limit {power}").format(power=self.plotted_metric.format_with_unit(power))
            self.plot.set_limit(Limit(value=power, text=text, tone="soft"))
        limits = {self._limit(gpu) for gpu in gpus} if self.plotted_metric.key == "temp" else set()
        degrees = limits.pop() if len(limits) == 1 else None
        if degrees is not None:
            text = self.tr("slows at {temperature}").format(temperature=self.plotted_metric.format_with_unit(degrees))
            self.plot.set_limit(Limit(value=degrees, text=text, tone="error"))
        self.limit_row.show_limit(self.plot.limit)

    def show_events(self, events: tuple[Event, ...]) -> None:
        """Show the events of its GPUs and of the computer, labelled for this plot (see `Event`).

        Of several GPUs only those of its metric: in another plot nothing would say whose state it is.
        """
        own_events = [event for event in events if event.gpu is None or event.gpu in self.gpus]
        if len(self.gpus) > 1:
            metrics = ("", self.plotted_metric.key)
            own_events = [event for event in own_events if event.gpu is None or event.metric_key in metrics]
        self.plot.set_events(tuple(map(self._label_event, own_events)))

    def _label_event(self, event: Event) -> Event:
        short_text = event.text if event.metric_key in ("", self.plotted_metric.key) else ""
        if not short_text or not self._names_gpus or event.gpu is None:
            return replace(event, text=short_text, short_text=short_text)
        text = language.texts().title_of_gpus((event.gpu,), short_text)
        return replace(event, text=text, gpu_label=f"GPU {event.gpu}", short_text=short_text)

    def draw(self, history: SampleHistory) -> None:
        """Draw the shown range of the history, as far as it has changed."""

        def fetch(key: str, since: float, oldest: float) -> SeriesCurve | None:
            window = history.since(self.plotted_metric, int(key), since, oldest)
            if window is None:
                return None
            scale = self.plotted_metric.scale
            return SeriesCurve(
                t=window.t, mean=window.mean / scale, low=window.low / scale, high=window.high / scale, step=window.step
            )

        self.plot.refresh(fetch)

    @property
    def frame_height(self) -> int:
        """What the card has above and below its plot, in pixels."""
        self.column.activate()
        above: int = self.plot.y()
        return above + self.column.contentsMargins().bottom() + self.column.spacing()

    def is_in_view(self) -> bool:
        """Whether any part of it is visible and not scrolled away."""
        return self.isVisible() and not self.visibleRegion().isEmpty()


class Plots(QWidget):
    """The cards of all plots in reading order (`cards`), below the line with time and events.

    `outdated` is emitted once after any plots changed size or theme and need `draw`, `moved` when what is above them
    has another height.
    """

    outdated = Signal()
    moved = Signal()

    def __init__(self, time_axis: TimeAxis, limit: Callable[[GpuSample], float | None]) -> None:
        super().__init__()
        self._time_axis, self._limit = time_axis, limit
        self.cards: list[PlotCard] = []
        self._old_cards: list[PlotCard] = []  # hidden ones that are yet to be deleted
        self._deleting = IncrementalQueue(self)
        self._outdated_timer = QTimer(self, singleShot=True, interval=0)
        self._outdated_timer.timeout.connect(self.outdated)
        self.readout = Readout()
        self._plot_height = MIN_PLOT_HEIGHT
        self._arranged: list[PlotCard] = []  # those that have this height
        self._columns, self._first_metric = 1, ""
        self._events: tuple[Event, ...] = ()
        self._since = ""
        self._names_gpus = False
        time_axis.cursor_moved.connect(self._update_readout)
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.setContentsMargins(0, 0, 0, 0)
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        column.addWidget(self.readout)
        column.addLayout(self._grid, 1)

    def build(
        self,
        gpus: tuple[GpuSample, ...],
        slots: Mapping[int, int],
        *,
        side_by_side: bool,
        extra_metrics: tuple[Metric, ...] = (),
    ) -> None:
        """Create the cards for those of all `gpus` whose index has a slot, in the order of `slots`: one for each metric
        and, with `side_by_side`, each GPU; those of the computer below them. `arrange` lays them out.
        """
        # The computer's own cards look the same for the same GPUs in both layouts.
        kept = [card for card in self.cards if card.gpus == (-1,) and card.has_gpus == bool(gpus)]
        self._hide_cards(card for card in self.cards if card not in kept)
        self._names_gpus = len(gpus) > 1
        present = {gpu.index for gpu in gpus}
        shown = tuple(index for index in slots if index in present)
        groups = [(index,) for index in shown] if side_by_side else [shown]
        create = partial(PlotCard, time_axis=self._time_axis, has_gpus=bool(gpus))
        self.cards = kept or self._create_cards([partial(create, metric, (-1,)) for metric in MACHINE_METRICS])
        wanted: list[Callable[[], PlotCard]] = []
        if gpus and shown:
            for metric in (*GPU_METRICS, *extra_metrics):
                for group in groups:
                    group_slots = tuple(slots[index] for index in group) if len(gpus) > 1 else None
                    wanted.append(partial(create, metric, group, slots=group_slots, limit=self._limit))
        self.cards = [*self._create_cards(wanted), *self.cards]
        strip_names = next((card.plot.strip_names for card in self.cards if card.plot.strips > 1), ())
        for card in self.cards:
            card.plot.reserve_names(strip_names)

    def _create_cards(self, wanted: Iterable[Callable[[], PlotCard]]) -> list[PlotCard]:
        created = [create() for create in wanted]
        for card in created:
            card.setParent(self)
            card.plot.outdated.connect(self._outdated_timer.start)
        return created

    def _hide_cards(self, cards: Iterable[PlotCard]) -> None:
        """Take cards away; they are deleted one a turn."""
        for card in cards:
            card.hide()
            self._grid.removeWidget(card)
            self._old_cards.append(card)
        self._deleting.start([lambda: self._old_cards.pop().deleteLater()] * len(self._old_cards))

    def reorder(self, gpus: Sequence[int]) -> bool:
        """Take this order of the GPUs, for the legends or for the plots of single ones, which `arrange` moves.

        True where it was another one.
        """
        legends = [card.reorder(gpus) for card in self.cards]
        metrics = list(dict.fromkeys(card.plotted_metric.key for card in self.cards))
        places = {gpu: place for place, gpu in enumerate(gpus)}
        ordered = sorted(
            self.cards, key=lambda card: (metrics.index(card.plotted_metric.key), places.get(card.gpus[0], 0))
        )
        changed, self.cards = any(legends) or ordered != self.cards, ordered
        return changed

    def arrange(self, columns: int, *, plot_height: int, max_lanes: int = MAX_LANES, first_metric: str = "") -> None:
        """Lay the cards out in this many columns (1 or 2), those of the metric with the key `first_metric` before the
        others; each plot has at least this height in pixels at 100 % text (see `fill`), of which the labels of events
        take up to `max_lanes` lines.
        """
        for card in self.cards:
            card.plot.set_max_lanes(max_lanes)
        if (plot_height, self.cards) != (self._plot_height, self._arranged):
            self._plot_height, self._arranged = plot_height, list(self.cards)
            for card in self.cards:
                card.plot.setMinimumHeight(theme.px(plot_height))
                card.plot.setMaximumHeight(QWIDGETSIZE_MAX)
        self._columns, self._first_metric = columns, first_metric
        self._place_cards()

    def _place_cards(self) -> None:
        columns, first_metric = self._columns, self._first_metric
        for row in range(self._grid.rowCount()):
            self._grid.setRowStretch(row, 0)
        ordered = sorted(self.cards, key=lambda card: card.plotted_metric.key != first_metric)
        for index, card in enumerate(ordered):
            self._grid.addWidget(card, index // columns, index % columns)
            self._grid.setRowStretch(index // columns, 1)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1 if columns == 2 else 0)

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self.moved.emit()

    def fill(self, height: int) -> None:
        """Make the plots higher, so that the rows that have room in `height` pixels fill it, and the next one is not
        cut; where all have room the layout does so.
        """
        columns = 2 if self._grid.columnStretch(1) else 1
        if not self.cards or not self.cards[0].height():
            return
        top = min(card.y() for card in self.cards)
        gap, row = self._grid.verticalSpacing(), max(card.frame_height for card in self.cards)
        rows = max((height - top) // (theme.px(self._plot_height) + row + gap), 1)
        lowest, is_cut = (
            theme.px(self._plot_height),
            rows < math.ceil(len(self.cards) / columns),
        )
        filling = max((height - top) // rows - row - gap, lowest) if is_cut else lowest
        for card in self.cards:
            # A card with fewer lines in its head than the one beside it has a higher plot.
            fixed = filling + row - card.frame_height
            card.plot.setMaximumHeight(fixed if is_cut else QWIDGETSIZE_MAX)
            card.plot.setMinimumHeight(filling)
        self._outdated_timer.start()

    def show_latest(self, history: SampleHistory, alarmed_gpus: Collection[int] = ()) -> None:
        """Show the newest values, and of several lines those of the GPUs with an alarm as the strong ones."""
        for card in self.cards:
            card.show_latest(history)
            card.emphasize(alarmed_gpus)

    def show_events(self, events: tuple[Event, ...]) -> None:
        """Show these events in the plots, and those in the shown range in the key."""
        self._events = events
        start, end = self._time_axis.view()
        # What is only for information has its text in the one plot that shows it.
        keyed = (event for event in events if event.tone != "soft" or event.gpu is None)
        self.readout.show_key(event for event in keyed if event.within(start, end))
        self._update_readout()
        for card in self.cards:
            card.show_events(events)

    def _update_since(self, history: SampleHistory) -> None:
        """Explain an empty left part by the time at which the history starts."""
        oldest = history.store.oldest_t if history.store is not None else None
        start, end = self._time_axis.view()
        self._since = ""
        if oldest is not None and oldest - start > EMPTY_SHARE * (end - start):
            self._since = self.tr("History since {time}").format(time=format_since(oldest, end))
        self._update_readout()

    def _update_readout(self) -> None:
        """Say the time at the cross-hair and what was the matter then; else whether the plots are live, and since when
        there are any values. Of paused plots say that nothing else is paused: a card may be hot that is not in them.
        """
        axis, at = self._time_axis, self._time_axis.cursor
        end = axis.view()[1]
        paused_text = self.tr("Graphs paused at {time}").format(time=format_moment(end, 0))
        self.readout.show_pause(paused_text if axis.paused else "")
        if at is not None:
            near = POINTER_SHARE * axis.span
            events = [event for event in self._events if event.within(at - near, at + near)]
            events.sort(key=lambda event: TONES_BY_WEIGHT.index(event.tone))
            reasons = event_reasons(events, names_gpus=self._names_gpus)
            time_text = self.tr("Values at {time}").format(time=format_moment(at, axis.span))
            self.readout.show_time(time_text, SEPARATOR.join(reasons))
        elif axis.paused:
            parts = self.tr("Everything above is live"), self._since
            self.readout.show_time("", SEPARATOR.join(part for part in parts if part))
        elif axis.live:
            self.readout.show_time(self.tr("Live"), self._since)
        else:
            self.readout.show_time(self.tr("Up to {time}").format(time=format_moment(end, axis.span)), self._since)

    def draw(self, history: SampleHistory, *, include_hidden: bool = False) -> None:
        """Draw the visible cards as far as they have changed, new ones a few a turn; `include_hidden`: all cards."""
        self._update_since(history)
        new = 0
        for card in self.cards:
            if not include_hidden and not card.is_in_view():
                continue
            new += card.plot.view is None
            if include_hidden or new <= NEW_PER_TURN or card.plot.view is not None:
                card.draw(history)
        if new > NEW_PER_TURN and not include_hidden:
            self._outdated_timer.start()


def figure_or_dash(metric: Metric, value: float) -> str:
    """A value as text, a dash for NaN."""
    return metric.format_value(None if math.isnan(value) else value)
