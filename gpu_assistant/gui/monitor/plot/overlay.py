"""What a plot draws around and over its curves: events with their labels, the limit line, the cross-hair.

Events are pyqtgraph's `LinearRegionItem` and `InfiniteLine`; their labels are in lanes above the curves.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable

import pyqtgraph as pg
from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFontMetricsF, QPainter

from ... import language, theme
from .annotations import Event, Tone
from .curves import LineStyle
from .renderer import ViewRange, dashed_pen
from .time_axis import format_moment

LANES = 2  # rows of event labels
JOINED_WIDTH = 14  # pixels between two events of a kind below which they are seen as one
# Z values; the curves have 0.
BELOW, ABOVE, CURSOR, BOX = -10, 10, 20, 30
SEPARATOR = "&nbsp; "  # between the parts of the reading box
MAX_SINGLE_ROWS, PAIR_GAP = 2, "&nbsp;&nbsp; &nbsp;"
EDGE_GAP = 4  # pixels between the reading box and the edges of the plot


class Limit(Struct, frozen=True, kw_only=True):
    """A dashed horizontal line with a text, at `value` in the plot's unit: slowdown temperature, power limit."""

    value: float
    text: str


class Reading(Struct, frozen=True, kw_only=True):
    """A line's value at the cross-hair; `extremes` are (lowest, highest), None where the line has no band. An `is_mean`
    stands for several samples that are no longer known one by one.
    """

    line: LineStyle
    value: float
    extremes: tuple[float, float] | None = None
    is_mean: bool = False


class EventItems:
    """Events in a view box: a shaded region for each span of a tone, a dashed line at each start."""

    def __init__(self, view_box: pg.ViewBox) -> None:
        self._view_box = view_box
        self._regions: list[pg.LinearRegionItem] = []
        self._lines: list[pg.InfiniteLine] = []

    def show(self, events: Iterable[Event], view: ViewRange) -> None:
        """Replace what is shown with these events."""
        shown = [event for event in join_events(events, view) if event.within(view.start, view.end)]
        spans = merged_spans(shown, view)
        for region in self._visible_items(self._regions, len(spans), _new_region):
            tone, start, end = spans.pop()
            region.setRegion((start, end))
            region.setBrush(theme.color(tone, 0.14))
        begins = {(round(view.x(event.start)), event.tone): event.start for event in shown if event.start >= view.start}
        for line in self._visible_items(self._lines, len(begins), _new_line):
            (_, tone), start = begins.popitem()
            line.setPos(start)
            line.setPen(dashed_pen(theme.color(tone), 1, 2))

    def _visible_items(
        self, items: list[pg.GraphicsObject], count: int, new: Callable[[], pg.GraphicsObject]
    ) -> list[pg.GraphicsObject]:
        """The first `count` items, shown and created as needed; the others are hidden."""
        while len(items) < count:
            items.append(new())
            self._view_box.addItem(items[-1], ignoreBounds=True)
        for index, item in enumerate(items):
            item.setVisible(index < count)
        return items[:count]


def _new_region() -> pg.LinearRegionItem:
    region = pg.LinearRegionItem(movable=False)
    for line in region.lines:
        line.hide()
    region.setZValue(BELOW)
    return region


def _new_line() -> pg.InfiniteLine:
    line = pg.InfiniteLine(angle=90)
    line.setZValue(BELOW)
    return line


def join_events(events: Iterable[Event], view: ViewRange) -> list[Event]:
    """The events as a plot shows them, in the order of their starts.

    Those of a kind with less than JOINED_WIDTH between them are one: a card at its power limit leaves it for a moment
    with each batch. What is only for information is shown where it has a text: in the plot of its own metric.
    """
    joined: list[Event] = []
    latest: dict[tuple[object, ...], int] = {}
    gap = JOINED_WIDTH * view.ratio * view.column
    for event in sorted(events, key=lambda event: event.start):
        if event.tone == "soft" and not event.has_description:
            continue
        kind = (event.tone, event.gpu, event.text, event.reason)
        index = latest.get(kind)
        if index is not None and not event.is_instant and event.start - joined[index].end <= gap:
            joined[index] = replace(joined[index], end=max(event.end, joined[index].end))
            continue
        if not event.is_instant:
            latest[kind] = len(joined)
        joined.append(event)
    return joined


def merged_spans(events: Iterable[Event], view: ViewRange) -> list[tuple[Tone, float, float]]:
    """(tone, start, end) of each region to shade, at least a pixel wide; overlapping events of a tone are merged."""
    spans: list[tuple[Tone, float, float]] = []
    for event in sorted(events, key=lambda event: (event.tone, event.start)):
        if event.is_instant:
            continue
        start, end = max(event.start, view.start - view.column), min(event.end, view.end + view.column)
        end = max(end, start + view.column)
        if spans and spans[-1][0] == event.tone and start <= spans[-1][2]:
            spans[-1] = (event.tone, spans[-1][1], max(end, spans[-1][2]))
        else:
            spans.append((event.tone, start, end))
    return spans


class EventLabel(Struct, frozen=True, kw_only=True):
    """An event's label in a lane above the curves (0: the lowest); `left` and `width` in logical pixels."""

    event: Event
    text: str
    lane: int
    left: float
    width: float


class EventLabels(pg.GraphicsWidget):  # type: ignore[misc]
    """The labels of events above the curves, each with a dashed line down to the start of its event."""

    def __init__(self) -> None:
        super().__init__()
        self._view: ViewRange | None = None
        self.labels: tuple[EventLabel, ...] = ()

    @property
    def required_height(self) -> int:
        """The height of all lanes in use, in logical pixels."""
        lanes = max((label.lane + 1 for label in self.labels), default=0)
        return math.ceil(lanes * QFontMetricsF(theme.font("axis")).height())

    def show_events(self, events: Iterable[Event], view: ViewRange) -> None:
        """Place the labels of these events."""
        self._view = view
        self.labels = place_labels(view, join_events(events, view))
        self.update()

    def paint(self, painter: QPainter, *_: object) -> None:
        """Paint all lines, then all labels, which cover the lines of others."""
        if self._view is None or not self.labels:
            return
        font = theme.font("axis")
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        tops = {label: self.size().height() - (label.lane + 1) * metrics.height() for label in self.labels}
        for label, top in tops.items():
            x = round(self._view.x(label.event.start) / self._view.ratio)
            if 0 <= x < label.left:
                painter.setPen(dashed_pen(theme.color(label.event.tone), 1, 2))
                painter.drawLine(QPointF(x, top + 2), QPointF(x, self.size().height()))
        for label, top in tops.items():
            painter.fillRect(QRectF(label.left, top, label.width, metrics.height()), theme.color("card"))
            painter.setPen(theme.color("soft" if label.event.tone == "accent" else label.event.tone))
            painter.drawText(QPointF(label.left + 2, top + metrics.ascent()), label.text)


def place_labels(view: ViewRange, events: Iterable[Event]) -> tuple[EventLabel, ...]:
    """Place the labels at the starts of their events, within the plot, each in the lowest lane with room.

    A label without room in any lane, or next to one with the same text, is left out. A label that is only a GPU's
    number is placed in the lowest lane or not at all.
    """
    metrics, width_limit = QFontMetricsF(theme.font("axis")), view.width / view.ratio
    free = [(-math.inf, "")] * LANES  # (left end of the free part, last text) of each lane
    placed: list[EventLabel] = []
    for event, text in group_events(view, events):
        width = metrics.horizontalAdvance(text) + 4
        left = max(math.floor(min(view.x(event.start) / view.ratio + 5, width_limit - width)), 5)
        lane = next((lane for lane, (begins, _) in enumerate(free) if left >= begins), None)
        if lane is None or (lane > 0 and not event.has_description):
            continue
        if any(left < begins and text == other for begins, other in free):
            continue
        free[lane] = (left + width + 8, text)
        placed.append(EventLabel(event=event, text=text, lane=lane, left=left, width=width))
    return tuple(placed)


def group_events(view: ViewRange, events: Iterable[Event]) -> list[tuple[Event, str]]:
    """(event, label) for each label, in the order of their starts.

    Events with the same text that started on several GPUs within a label's width share one label with all numbers.
    """
    metrics = QFontMetricsF(theme.font("axis"))
    groups: list[tuple[Event, set[int]]] = []
    for event in sorted(events, key=lambda event: event.start):
        if not event.text or not event.within(view.start, view.end):
            continue
        if not event.has_description and event.start < view.start:
            continue  # started before the shown range: a bare GPU number at the edge explains nothing
        width = metrics.horizontalAdvance(event.text) * view.ratio
        near = view.start + (max(view.x(event.start), 0) - width) * view.column
        matches = (
            gpus
            for first, gpus in groups
            if event.gpu_label
            and first.gpu_label
            and first.short_text == event.short_text
            and max(first.start, view.start) >= near
        )
        group = next(matches, None)
        if group is not None and event.gpu is not None:
            group.add(event.gpu)
        else:
            groups.append((event, set() if event.gpu is None else {event.gpu}))
    return [
        (event, language.texts().title_of_gpus(gpus, event.short_text) if len(gpus) > 1 else event.text)
        for event, gpus in groups
        # Without a short text, the numbers of several GPUs explain nothing.
        if event.short_text or len(gpus) < 2
    ]


def event_reasons(events: Iterable[Event]) -> list[str]:
    """The reasons of events that a plot shows (see `join_events`), each once, with all GPUs that had it."""
    gpus_by_reason: dict[str, set[int]] = {}
    for event in events:
        if event.tone == "soft" and not event.has_description:
            continue
        gpus = gpus_by_reason.setdefault(event.reason or event.text, set())
        if event.gpu_label and event.gpu is not None:
            gpus.add(event.gpu)
    return [
        language.texts().title_of_gpus(gpus, reason) if gpus else reason
        for reason, gpus in gpus_by_reason.items()
        if reason
    ]


class LimitLine:
    """The dashed line of a limit; its text is at the left, because new values appear at the right."""

    def __init__(self, view_box: pg.ViewBox) -> None:
        self._view_box = view_box
        self.line: pg.InfiniteLine | None = None

    def show(self, limit: Limit | None, view: ViewRange) -> None:
        """Show this limit, None for none; the text is above the line, or below it where the upper edge would cut it."""
        if limit is None:
            if self.line is not None:
                self.line.hide()
            return
        if self.line is None:
            self.line = self._create_line()
        label = self.line.label
        self.line.setPen(dashed_pen(theme.color("error"), 1, 1))
        label.setFont(theme.font("axis"))
        label.setColor(theme.color("error"))
        label.setFormat(limit.text.replace("{", "{{").replace("}", "}}"))
        above = view.y(limit.value) / view.ratio >= label.boundingRect().height()
        label.anchors = [(0, 1 if above else 0)] * 2
        self.line.setPos(limit.value)
        self.line.show()
        label.updatePosition()

    def text_rect(self) -> QRectF:
        """Where the text is, in logical pixels of the area; empty while there is none."""
        if self.line is None or not self.line.isVisible():
            return QRectF()
        text: QRectF = self.line.label.textItem.sceneBoundingRect()
        return text.translated(-self._view_box.sceneBoundingRect().topLeft())

    def _create_line(self) -> pg.InfiniteLine:
        line = pg.InfiniteLine(angle=0, label="", labelOpts={"position": 0, "anchors": [(0, 1), (0, 1)]})
        line.label.textItem.document().setDocumentMargin(2)
        line.setZValue(ABOVE)
        self._view_box.addItem(line, ignoreBounds=True)
        return line


class Cursor:
    """The cross-hair of a plot: a vertical line, a dot on each curve, and a box with time and values.

    The items are created when it is first shown.
    """

    def __init__(self, view_box: pg.ViewBox) -> None:
        self._view_box = view_box
        self.items: tuple[pg.InfiniteLine, pg.ScatterPlotItem, pg.TextItem] | None = None

    def hide(self) -> None:
        """Hide all items."""
        for item in self.items or ():
            item.hide()

    def show(
        self,
        at: float,
        view: ViewRange,
        readings: list[Reading],
        reasons: list[str],
        format_value: Callable[[float], str],
        *,
        crossings: Callable[[QRectF], int] = lambda _: 0,
    ) -> None:
        """Show it at the time `at` (seconds since the epoch); the box lists `readings`, then `reasons` of events.

        `crossings` counts how often curves cross a rectangle of logical pixels.
        """
        if self.items is None:
            self.items = self._create_items()
        line, dots, box = self.items
        line.setPen(pg.mkPen(theme.color("text"), width=1))
        line.setPos(at)
        dots.setData(
            x=[at] * len(readings),
            y=[reading.value for reading in readings],
            brush=[theme.color(reading.line.colour_token) for reading in readings],
            pen=pg.mkPen(theme.color("card"), width=1.5),
        )
        # Of several lines, the extremes of a few samples would only make the box wide.
        single = len(readings) == 1
        values = [_row(reading, format_value, has_extremes=single or reading.is_mean) for reading in readings]
        if len(values) > MAX_SINGLE_ROWS:
            # More lines than the box has rows for: two in each row.
            values = [PAIR_GAP.join(values[start : start + 2]) for start in range(0, len(values), 2)]
        rows = [format_moment(at, view.end - view.start), *values, *(html.escape(reason) for reason in reasons)]
        _show_box(box, view, view.x(at) / view.ratio, rows, crossings)
        for item in self.items:
            item.show()

    def _create_items(self) -> tuple[pg.InfiniteLine, pg.ScatterPlotItem, pg.TextItem]:
        items = pg.InfiniteLine(angle=90), pg.ScatterPlotItem(size=8, pxMode=True), pg.TextItem()
        for item, z in zip(items, (CURSOR, CURSOR, BOX), strict=True):
            item.setZValue(z)
            self._view_box.addItem(item, ignoreBounds=True)
        return items


def _show_box(box: pg.TextItem, view: ViewRange, x: float, rows: list[str], crossings: Callable[[QRectF], int]) -> None:
    """Place the box beside the line, where it covers least of the curves; `rows` are joined in one line where they fit
    in 0.4 of the plot's width.

    `x` is the line's distance from the left edge in logical pixels.
    """
    width, height = view.width / view.ratio, view.height / view.ratio
    box.setFont(theme.font("caption"))
    box.setColor(theme.color("text"))
    box.border, box.fill = pg.mkPen(theme.color("control")), pg.mkBrush(theme.color("hover"))
    box.setHtml(SEPARATOR.join(rows))
    if box.boundingRect().width() > 0.4 * width:
        box.setHtml("<br>".join(rows))
    size = box.boundingRect().size()
    lowest = max(height - size.height() - EDGE_GAP, 0)
    tops = [min(0.62 * height, lowest), lowest, 0.3 * lowest, 0]
    rightmost = width - size.width() - EDGE_GAP
    # Where neither side has room, the box covers the cross-hair, but is whole.
    sides = [left for left in (x + 7, x - 7 - size.width()) if 0 <= left <= rightmost] or [max(min(x, rightmost), 0)]
    places = [QRectF(QPointF(left, top), size) for left in sides for top in tops]
    place = min(places, key=crossings)  # the first of those that are equal
    moment = view.start + place.left() * view.ratio * view.column
    box.setPos(moment, view.top - place.top() / height * (view.top - view.bottom))


def _row(reading: Reading, format_value: Callable[[float], str], *, has_extremes: bool) -> str:
    parts = [html.escape(reading.line.name)] if reading.line.name else []
    parts.append(f'<span style="font-weight:600">{html.escape(format_value(reading.value))}</span>')
    if reading.extremes is not None and has_extremes:
        low, high = (html.escape(format_value(value)) for value in reading.extremes)
        if low != high:
            parts.append(f"{low} – {high}")
    return SEPARATOR.join(parts)
