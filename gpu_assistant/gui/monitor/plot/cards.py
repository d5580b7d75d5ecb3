"""The plots of the Monitor page in cards, with the legends of their lines and of the events on the time axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from msgspec.structs import replace
from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ....core.results import GpuSample
from ... import language, theme
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
from .time_axis import TimeAxis, format_moment, format_since
from .widget import Plot

MIN_PLOT_HEIGHT, LOW_WINDOW_PLOT_HEIGHT = 150, 84  # pixels
QWIDGETSIZE_MAX = (1 << 24) - 1  # qwidget.h; PySide6 has no name for it
LINE_WIDTH, EVENT_WIDTH = 24, 18  # pixels of a legend's symbols
LEGEND_GAP, LEGEND_MARGIN = 7, 3  # pixels between symbol and text, and after the text
MAX_LEGEND_VALUES = 2
EMPTY_SHARE = 0.1  # of the shown range may be older than the history before the legend says so

# (tone, whether it is an instant, text)
LegendKey = tuple[Tone, bool, str]


class LegendRow(Themed, QWidget):
    """A symbol as the plots paint it, followed by its text; `width` is the symbol's width in pixels."""

    def __init__(self, text: str, width: int) -> None:
        super().__init__()
        self._text, self._indent = text, width + LEGEND_GAP
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def draw(self, painter: QPainter) -> None:
        """Paint the symbol at the left edge, in the theme's colours."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Apply the theme's font."""
        self.setFont(theme.font("caption"))
        super().refresh()

    def sizeHint(self) -> QSize:
        """Symbol, gap and text."""
        metrics = self.fontMetrics()
        return QSize(self._indent + metrics.horizontalAdvance(self._text) + LEGEND_MARGIN, metrics.height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint symbol and text."""
        del event
        painter = QPainter(self)
        self.draw(painter)
        painter.setPen(theme.color("soft"))
        painter.setFont(self.font())
        text_rect = QRectF(self._indent, 0, self.width() - self._indent, self.height())
        painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignVCenter), self._text)


class LineLegendRow(LegendRow):
    """A GPU's line, with its colour and dash pattern, its name, and its value where `show_value` gives one.

    The room for the value only grows, so that nothing beside it moves while values change.
    """

    def __init__(self, line: LineStyle) -> None:
        self.value = ""
        self._value_width = 0
        super().__init__(line.name, LINE_WIDTH)
        self.line = line

    def show_value(self, value: str) -> None:
        """Show this value, in the line's unit, behind the name."""
        if value == self.value:
            return
        self.value = value
        self.setAccessibleName(f"{self.line.name}: {value}")
        self._widen()
        self.update()

    def _widen(self) -> None:
        needed = math.ceil(theme.advance("caption-strong", self.value))
        if needed > self._value_width:
            self._value_width = needed
            self.updateGeometry()

    def refresh(self) -> None:
        super().refresh()
        self._value_width = 0
        self._widen()

    def sizeHint(self) -> QSize:
        return super().sizeHint() + QSize(self._value_width + LEGEND_GAP if self._value_width else 0, 0)

    def draw(self, painter: QPainter) -> None:
        """Paint a piece of the line, and the value."""
        painter.setPen(dashed_pen(theme.color(self.line.colour_token), 2, self.line.dash))
        middle = round(self.height() / 2)
        painter.drawLine(0, middle, LINE_WIDTH, middle)
        if self.value:
            painter.setPen(theme.color("text"))
            painter.setFont(theme.font("caption-strong"))
            left = super().sizeHint().width() - LEGEND_MARGIN + LEGEND_GAP
            value_rect = QRectF(left, 0, self.width() - left, self.height())
            painter.drawText(value_rect, int(Qt.AlignmentFlag.AlignVCenter), self.value)


class EventLegendRow(LegendRow):
    """An event's shading and start line, or the line alone for an instant, and its text."""

    def __init__(self, key: LegendKey) -> None:
        tone, is_instant, text = key
        super().__init__(text, EVENT_WIDTH)
        self._tone, self._is_instant = tone, is_instant

    def draw(self, painter: QPainter) -> None:
        """Paint shading and line."""
        if not self._is_instant:
            painter.fillRect(0, 3, EVENT_WIDTH, self.height() - 6, theme.color(self._tone, 0.3))
        painter.setPen(dashed_pen(theme.color(self._tone), 1, 2))
        painter.drawLine(0, 2, 0, self.height() - 3)


class Legend(QWidget):
    """What is said of the shown time, and the events in it; hidden while it is empty."""

    def __init__(self) -> None:
        super().__init__()
        self._keys: tuple[LegendKey, ...] = ()
        self._row = FlowLayout(self, spacing=14)
        self.since = label("caption")
        self.since.hide()
        self._row.addWidget(self.since)
        self.hide()

    def set_since(self, text: str) -> None:
        """Set the text about the shown time; "" for none."""
        if text != self.since.text():
            self.since.setText(text)
            self.since.setVisible(bool(text))
            self._update_visibility()

    def show_events(self, events: Iterable[Event]) -> None:
        """Show each kind of shading and line once with its events, in the order of their starts."""
        ordered = sorted(events, key=lambda event: event.start)
        texts: dict[tuple[Tone, bool], dict[str, None]] = {}  # what looks alike shares a symbol
        for event in ordered:
            if event.text:
                texts.setdefault((event.tone, event.is_instant), {})[event.text] = None
        comma = self.tr(", ")
        keys = tuple((tone, is_instant, comma.join(named)) for (tone, is_instant), named in texts.items())
        if keys == self._keys:
            return
        self._keys = keys
        while (item := self._row.takeAt(1)) is not None:
            if (row := item.widget()) is not None:
                row.hide()
                row.deleteLater()
        for key in keys:
            self._row.addWidget(EventLegendRow(key))
        self._update_visibility()

    def _update_visibility(self) -> None:
        self.setVisible(bool(self._keys or self.since.text()))


def gpu_line(position: int, gpu: int, *, fill: bool) -> LineStyle:
    """The line of GPU number `gpu` at `position` among several: eight differ in colour or dash.

    `fill` is for a line that is alone in its plot; it is solid.
    """
    count = len(GPU_COLOURS)
    dash = 0 if fill else (position + position // count) % count
    return LineStyle(colour_token=GPU_COLOURS[position % count], name=f"GPU {gpu}", dash=dash, fill=fill)


class PlotCard(Card):
    """One metric of some GPUs: name, legend, present value and plot.

    `gpus` are the indexes drawn; (-1,) is the computer itself. `positions` are their positions among all GPUs, which
    give colour and dash; None where there is one GPU only, or for the computer. `has_gpus`: whether the page shows
    any. `limit` gives the temperature in °C at which a GPU slows down.
    """

    def __init__(
        self,
        metric: Metric,
        gpus: tuple[int, ...],
        time_axis: TimeAxis,
        *,
        has_gpus: bool,
        positions: tuple[int, ...] | None = None,
        limit: Callable[[GpuSample], float | None] = lambda _: None,
    ) -> None:
        self.plotted_metric, self.gpus = metric, gpus
        self._limit = limit
        self._names_gpus = positions is not None
        self._total: float | None = None
        self.legend_rows: dict[int, LineLegendRow] = {}
        self._latest_values: dict[int, float | None] = {}
        self._ready = False
        super().__init__(padding=14)
        self._name = label("strong")
        self.figure = MetricValue("heading")
        self.plot = Plot(
            time_axis,
            ticks=lambda highest: metric.ticks(highest, self._total),
            format_value=metric.format_with_unit,
        )
        self.plot.setMinimumHeight(theme.px(MIN_PLOT_HEIGHT))
        head = QHBoxLayout()
        head.setSpacing(14)
        head.addWidget(self._name, 0 if positions is not None else 1, Qt.AlignmentFlag.AlignTop)
        legend = FlowLayout(spacing=14 if len(gpus) <= MAX_LEGEND_VALUES else 9)
        for number, gpu in enumerate(gpus):
            line = self._line(None if positions is None else positions[number], gpu, has_gpus=has_gpus)
            self.plot.set_line(str(gpu), line)
            if line.name:
                self.legend_rows[gpu] = LineLegendRow(line)
                legend.addWidget(self.legend_rows[gpu])
        if legend.count():
            head.addLayout(legend, 1)
        head.addWidget(self.figure)
        self.column.setSpacing(4)
        self.column.addLayout(head)
        self.column.addWidget(self.plot, 1)
        self._ready = True
        self.retranslate()
        self.refresh()

    def _line(self, position: int | None, gpu: int, *, has_gpus: bool) -> LineStyle:
        if position is not None:
            return gpu_line(position, gpu, fill=len(self.gpus) == 1)
        # Without GPUs, the computer's load and memory have the colours of a GPU's.
        gpu_colour = None if has_gpus else {"cpu": "s1", "ram": "s2"}.get(self.plotted_metric.key)
        return LineStyle(colour_token=gpu_colour or self.plotted_metric.colour)

    def retranslate(self) -> None:
        """Set the metric's name."""
        if self._ready:
            self._name.setText(self.plotted_metric.title_text())
            self.plot.setAccessibleName(self.plotted_metric.title_text())

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
        is_single = len(self.gpus) == 1
        value = values[0][0] if is_single else None
        self.figure.setVisible(is_single)
        self.figure.set(None if value is None else self.plotted_metric.format_value(value), self.plotted_metric.unit)
        self._latest_values = {gpu: value for gpu, (value, _) in zip(self.gpus, values, strict=True)}
        self._show_legend_values()
        self._update_limit([gpus[index] for index in self.gpus if index in gpus], set(totals))
        figures = ", ".join(self.plotted_metric.format_with_unit(value) for value, _ in values)
        self.plot.setAccessibleDescription(self.tr("now {figures}").format(figures=figures))

    def _show_legend_values(self) -> None:
        """Of two lines: each one's newest value. A single line has `figure`, and more have no room in one row."""
        if len(self.gpus) != MAX_LEGEND_VALUES:
            return
        for gpu, row in self.legend_rows.items():
            row.show_value(self.plotted_metric.format_with_unit(self._latest_values.get(gpu)))

    def _update_limit(self, gpus: list[GpuSample], totals: set[float]) -> None:
        """Show the limit that all GPUs of the plot have; a GPU that does not answer leaves it as it was."""
        if self.plotted_metric.key == "power" and len(totals) == 1:
            (power,) = totals
            text = self.tr("limit {power}").format(power=self.plotted_metric.format_with_unit(power))
            self.plot.set_limit(Limit(value=power, text=text))
        limits = {self._limit(gpu) for gpu in gpus} if self.plotted_metric.key == "temp" else set()
        degrees = limits.pop() if len(limits) == 1 else None
        if degrees is not None:
            text = self.tr("slows down at {temperature}").format(
                temperature=self.plotted_metric.format_with_unit(degrees)
            )
            self.plot.set_limit(Limit(value=degrees, text=text))

    def show_events(self, events: tuple[Event, ...]) -> None:
        """Show the events of its GPUs and of the computer, labelled for this plot (see `Event`)."""
        own_events = [event for event in events if event.gpu is None or event.gpu in self.gpus]
        self.plot.set_events(tuple(map(self._label_event, own_events)))

    def _label_event(self, event: Event) -> Event:
        short_text = event.text if event.metric_key in ("", self.plotted_metric.key) else ""
        gpu_label = f"GPU {event.gpu}" if self._names_gpus and event.gpu is not None else ""
        text = short_text or gpu_label
        if gpu_label and short_text and event.gpu is not None:
            text = language.texts().title_of_gpus((event.gpu,), short_text)
        return replace(event, text=text, gpu_label=gpu_label, short_text=short_text, reason=event.text)

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

    def set_compact(self, compact: bool) -> None:
        """Give the plot the height for low windows, or what the layout has for it."""
        self.plot.setMinimumHeight(theme.px(LOW_WINDOW_PLOT_HEIGHT if compact else MIN_PLOT_HEIGHT))
        self.plot.setMaximumHeight(theme.px(LOW_WINDOW_PLOT_HEIGHT) if compact else QWIDGETSIZE_MAX)

    def is_in_view(self) -> bool:
        """Whether any part of it is visible and not scrolled away."""
        return self.isVisible() and not self.visibleRegion().isEmpty()


class Plots(QWidget):
    """The cards of all plots in reading order (`cards`), below the legend of events.

    `outdated` is emitted once after any plots changed size or theme and need `draw`.
    """

    outdated = Signal()

    def __init__(self, time_axis: TimeAxis, limit: Callable[[GpuSample], float | None]) -> None:
        super().__init__()
        self._time_axis, self._limit = time_axis, limit
        self.cards: list[PlotCard] = []
        self._outdated_timer = QTimer(self, singleShot=True, interval=0)
        self._outdated_timer.timeout.connect(self.outdated)
        self.legend = Legend()
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.setContentsMargins(0, 0, 0, 0)
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        column.addWidget(self.legend)
        column.addLayout(self._grid, 1)

    def build(
        self,
        gpus: tuple[GpuSample, ...],
        selected: list[int],
        *,
        side_by_side: bool,
        extra_metrics: tuple[Metric, ...] = (),
    ) -> None:
        """Create the cards for the `selected` indexes of all `gpus`: one for each metric and, with `side_by_side`,
        each GPU.
        """
        for card in self.cards:
            card.hide()
            self._grid.removeWidget(card)
            card.deleteLater()
        position_by_index = {gpu.index: position for position, gpu in enumerate(gpus)}
        shown = tuple(index for index in position_by_index if index in selected)
        groups = [(index,) for index in shown] if side_by_side else [shown]
        self.cards = []
        if gpus and shown:
            for metric in (*GPU_METRICS, *extra_metrics):
                for group in groups:
                    positions = tuple(position_by_index[index] for index in group) if len(gpus) > 1 else None
                    card = PlotCard(
                        metric, group, self._time_axis, has_gpus=True, positions=positions, limit=self._limit
                    )
                    self.cards.append(card)
        self.cards += [PlotCard(metric, (-1,), self._time_axis, has_gpus=bool(gpus)) for metric in MACHINE_METRICS]
        for card in self.cards:
            card.plot.outdated.connect(self._outdated_timer.start)

    def arrange(self, columns: int, *, low_window: bool, first_metric: str = "") -> None:
        """Lay the cards out in this many columns (1 or 2), those of the metric with the key `first_metric` before the
        others; in a low window plots are lower, so that one is whole.
        """
        for card in self.cards:
            card.set_compact(low_window)
        for row in range(self._grid.rowCount()):
            self._grid.setRowStretch(row, 0)
        ordered = sorted(self.cards, key=lambda card: card.plotted_metric.key != first_metric)
        for index, card in enumerate(ordered):
            self._grid.addWidget(card, index // columns, index % columns)
            self._grid.setRowStretch(index // columns, 1)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1 if columns == 2 else 0)

    def show_latest(self, history: SampleHistory) -> None:
        """Show the newest values."""
        for card in self.cards:
            card.show_latest(history)

    def show_events(self, events: tuple[Event, ...]) -> None:
        """Show these events in the plots, and those in the shown range in the legend."""
        start, end = self._time_axis.view()
        self.legend.show_events(event for event in events if event.within(start, end))
        for card in self.cards:
            card.show_events(events)

    def _update_since(self, history: SampleHistory) -> None:
        """Say when the plots were paused, and explain an empty left part by the time at which the history starts."""
        oldest = history.store.oldest_t if history.store is not None else None
        start, end = self._time_axis.view()
        parts = []
        if self._time_axis.paused:
            parts.append(self.tr("Paused at {time}").format(time=format_moment(end, 0)))
        if oldest is not None and oldest - start > EMPTY_SHARE * (end - start):
            parts.append(self.tr("History since {time}").format(time=format_since(oldest, end)))
        self.legend.set_since(" · ".join(parts))

    def draw(self, history: SampleHistory, *, include_hidden: bool = False) -> None:
        """Draw the visible cards as far as they have changed; `include_hidden`: the others, too."""
        self._update_since(history)
        for card in self.cards:
            if include_hidden or card.is_in_view():
                card.draw(history)


def figure_or_dash(metric: Metric, value: float) -> str:
    """A value as text, a dash for NaN."""
    return metric.format_value(None if math.isnan(value) else value)
