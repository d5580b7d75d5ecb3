"""What a plot draws around and over its curves: events with their labels, the limit line, the cross-hair.

The labels of events are in lanes above the curves; each dashed line of an event has its label. Between lanes and curves
a band shows how long a state lasts, with a gap wherever it ended for a moment; several GPUs have a band each, beside
the sign of their line. Among the curves the time of a state is only tinted, of GPUs that have strips each in its own.
The line of the limit is behind the curves; its words are in the plot's legend, where no curve can meet them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import pyqtgraph as pg
from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter

from ... import language, theme
from ...widgets.base import draw_rounded_rect
from .annotations import TONES_BY_WEIGHT, Event, Hatch, Tone, subtract_spans
from .curves import LineStyle
from .renderer import SIGN_WIDTH, ViewRange, dashed_pen, draw_line_sign

MAX_LANES = 2  # rows of event labels
LABEL_GAP = 8  # pixels between two labels of a lane
# Pixels at 100 % text that a label has at least: which labels there are does not depend on the language's words.
LABEL_WIDTH = 130
# Pixels between two events of a kind up to which they have one label, and up to which the band has no gap.
JOINED_WIDTH, CLOSED_WIDTH = 14, 2
# Z values; the curves have 0.
EVENTS, LIMIT, CURSOR = -10, -5, 20
BAND_HEIGHT, BAND_GAP = 6, 2  # pixels of a band that shows how long a state lasts, and above it
# GPUs that have a band each, also where labels have no room; those of more GPUs share one.
MAX_BANDS, MAX_LOW_BANDS = 3, 2
SIGN_GAP = 5  # pixels between the sign of a GPU's line and its band
TINT_OPACITY = 0.05  # of the ground of that time among the curves
PLAIN_OPACITY, HATCHED_OPACITY, HATCH_OPACITY = 0.4, 0.2, 0.9  # of the band's ground; of the lines of its hatch
HATCH_PERIOD = 8  # pixels after which Qt's hatches repeat
HATCH_STYLES: dict[Hatch, Qt.BrushStyle] = {
    "rising": Qt.BrushStyle.BDiagPattern,
    "falling": Qt.BrushStyle.FDiagPattern,
    "crossed": Qt.BrushStyle.DiagCrossPattern,
    "upright": Qt.BrushStyle.VerPattern,
    "level": Qt.BrushStyle.HorPattern,
    "dotted": Qt.BrushStyle.Dense7Pattern,
}
TAG_PADDING = 4  # pixels beside the time on the axis
TAG_GROUND = "pressed"  # the token of the ground of that time, and of the values at the cross-hair


class Limit(Struct, frozen=True, kw_only=True):
    """A dashed horizontal line at `value` in the plot's unit, and what it is: slowdown temperature, power limit."""

    value: float
    text: str
    tone: Tone = "error"


class Reading(Struct, frozen=True, kw_only=True):
    """A line's value at the cross-hair; `key` is the line's in the plot, `extremes` are (lowest, highest), None where
    the line has no band.
    """

    key: str
    line: LineStyle
    value: float
    extremes: tuple[float, float] | None = None


class EventsItem(pg.UIGraphicsItem):  # type: ignore[misc]
    """The events behind the curves: a tinted region for each span of a state, a dashed line down from each label."""

    def __init__(self) -> None:
        super().__init__()
        self._view: ViewRange | None = None
        self._strips: list[list[EventSpan]] = []
        self.starts: list[tuple[Tone, float]] = []  # (tone, time) of the dashed lines
        self.setZValue(EVENTS)

    def show_events(self, labels: EventLabels, view: ViewRange) -> None:
        """Replace what is shown: the regions of the events that are above the curves, and the lines of their labels."""
        self._view, self._strips = view, labels.spans_by_strip
        # An instant has nothing but its line; with no room for its label, the key above the plots names it.
        instants = (event for event in labels.events if event.is_instant and event.text)
        named = [*(label.event for label in labels.labels), *instants]
        starts = {(event.tone, event.start) for event in named}
        starts |= {(label.event.tone, start) for label in labels.labels for start in label.later_starts}
        self.starts = [(tone, start) for tone, start in starts if start >= view.start]
        self.update()

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw in the pixels of the view box instead of its seconds and values."""
        view = self._view
        to_data, invertible = self.itemTransform(self.getViewBox())[0].inverted()
        if view is None or not invertible:
            return
        painter.setTransform(to_data, combine=True)
        height = view.height / view.ratio
        strip_height = height / view.strips
        for strip, spans in enumerate(self._strips):
            for span in spans:
                rect = span.rect(view, strip * strip_height, strip_height)
                painter.fillRect(rect, theme.color(span.tone, TINT_OPACITY))
        for tone, start in self.starts:
            x = round(view.x(start) / view.ratio)
            painter.setPen(dashed_pen(theme.color(tone), 1, 2))
            painter.drawLine(QPointF(x, 0), QPointF(x, height))


def draw_shading(painter: QPainter, rect: QRectF, tone: Tone, hatch: Hatch) -> None:
    """Shade a rectangle as the band of an event, in the plots and in their key."""
    painter.fillRect(rect, theme.color(tone, PLAIN_OPACITY if hatch == "plain" else HATCHED_OPACITY))
    if hatch != "plain":
        painter.fillRect(rect, QBrush(theme.color(tone, HATCH_OPACITY), HATCH_STYLES[hatch]))


def join_events(events: Iterable[Event], view: ViewRange, width: int = JOINED_WIDTH) -> list[Event]:
    """The events as a plot shows them, in the order of their starts.

    Those of a kind with up to `width` pixels between them are one: a card at its power limit leaves it for a moment
    with each batch. What is only for information of a GPU is shown where it has a text: in the plot of its own metric.
    """
    joined: list[Event] = []
    latest: dict[tuple[object, ...], int] = {}
    gap = width * view.ratio * view.column
    for event in sorted(events, key=lambda event: event.start):
        if event.tone == "soft" and event.gpu is not None and not event.text:
            continue
        kind = (event.tone, event.hatch, event.gpu, event.text)
        index = latest.get(kind)
        if index is not None and not event.is_instant and event.start - joined[index].end <= gap:
            joined[index] = replace(joined[index], end=max(event.end, joined[index].end))
            continue
        if not event.is_instant:
            latest[kind] = len(joined)
        joined.append(event)
    return joined


class EventSpan(Struct, frozen=True, kw_only=True):
    """A region to shade, from `start` to `end` in seconds since the epoch."""

    tone: Tone
    hatch: Hatch = "plain"
    start: float
    end: float

    def rect(self, view: ViewRange, top: float, height: float) -> QRectF:
        """The region in logical pixels from the left edge of the curves."""
        left, right = (view.x(moment) / view.ratio for moment in (self.start, self.end))
        return QRectF(left, top, right - left, height)


def merged_spans(events: Iterable[Event], view: ViewRange) -> list[EventSpan]:
    """Each region to shade, at least a pixel wide; overlapping events of a state are merged, and of several states the
    gravest is shown.
    """
    spans: list[EventSpan] = []
    for event in sorted(events, key=lambda event: (event.tone, event.hatch, event.start)):
        if event.is_instant:
            continue
        start, end = max(event.start, view.start - view.column), min(event.end, view.end + view.column)
        span = EventSpan(tone=event.tone, hatch=event.hatch, start=start, end=max(end, start + view.column))
        last = spans[-1] if spans else None
        if last is not None and (last.tone, last.hatch) == (span.tone, span.hatch) and start <= last.end:
            spans[-1] = replace(last, end=max(span.end, last.end))
        else:
            spans.append(span)
    shown: list[EventSpan] = []
    for span in sorted(spans, key=event_gravity):
        graver = [(each.start, each.end) for each in shown if event_gravity(each) < event_gravity(span)]
        pieces = subtract_spans([(span.start, span.end)], graver)
        shown.extend(replace(span, start=start, end=end) for start, end in pieces)
    return sorted(shown, key=lambda span: (event_gravity(span), span.start))


class EventBand(Struct, frozen=True, kw_only=True):
    """The states of GPU number `gpu` over time, with those of the computer; None: those of all GPUs."""

    gpu: int | None
    spans: list[EventSpan]


def event_bands(events: Sequence[Event], view: ViewRange, lines: Iterable[str], most: int) -> list[EventBand]:
    """A band for each GPU with a state, in the order of `lines`, where these are several but not more than `most`; else
    one for all.
    """
    affected = {str(event.gpu): event.gpu for event in events if event.gpu is not None and not event.is_instant}
    gpus = [affected[key] for key in lines if key in affected]
    if 1 < len(gpus) <= most:
        own_events = ([event for event in events if event.gpu in (gpu, None)] for gpu in gpus)
        return [EventBand(gpu=gpu, spans=merged_spans(own, view)) for gpu, own in zip(gpus, own_events, strict=True)]
    spans = merged_spans(events, view)
    return [EventBand(gpu=None, spans=spans)] if spans else []


def event_gravity(state: Event | EventSpan) -> tuple[int, bool, str]:
    """The order of states, the gravest first; of a tone those with a hatch, which say more than "hot"."""
    return TONES_BY_WEIGHT.index(state.tone), state.hatch == "plain", state.hatch


class EventLabel(Struct, frozen=True, kw_only=True):
    """An event's label in a lane above the curves (0: the lowest); `left`, `width` and `end`, from where the next label
    of its lane may begin, in logical pixels. `has_line`: the dashed line down to the event's start is left of the text;
    it is outside or below where that is moved to fit.

    `later_starts` are those of the same event on other GPUs that the label names after the first.
    """

    event: Event
    text: str
    lane: int = 0
    left: float
    width: float
    end: float
    has_line: bool
    later_starts: tuple[float, ...] = ()

    def overlaps(self, other: EventLabel) -> bool:
        """Whether both, with the gap between two labels, take the same part of a lane."""
        return self.left < other.end and other.left < self.end


class EventLabels(pg.GraphicsWidget):  # type: ignore[misc]
    """The events above the curves: labels, each with a dashed line down to the start of its event, over the bands.
    Where a label names GPUs on which the event started later, a line through the bands marks each of these starts.

    `events` are those in the shown range, joined where they are close. `spans_by_strip` are the times of states for
    each strip of the plot, of `bands` by their GPUs; these are joined only where no gap could be seen, so that above a
    dip of the curve no state seems to go on. `max_lanes` rows of labels are used at most.
    """

    def __init__(self) -> None:
        super().__init__()
        self.max_lanes = MAX_LANES
        self._view: ViewRange | None = None
        self.events: list[Event] = []
        self.spans_by_strip: list[list[EventSpan]] = []
        self.bands: list[EventBand] = []
        self._lines: Mapping[str, LineStyle] = {}
        self.labels: tuple[EventLabel, ...] = ()

    @property
    def required_height(self) -> int:
        """The height of all lanes in use and of the bands, in logical pixels."""
        lanes = max((label.lane + 1 for label in self.labels), default=0)
        return math.ceil(lanes * QFontMetricsF(theme.font("axis")).height()) + self._bands_height

    @property
    def _bands_height(self) -> int:
        return len(self.bands) * (BAND_HEIGHT + BAND_GAP)

    def boundingRect(self) -> QRectF:
        """The rectangle with the signs of lines at the left of the bands."""
        rect: QRectF = super().boundingRect()
        return rect.adjusted(-SIGN_WIDTH - SIGN_GAP, 0, 0, 0)

    def show_events(self, events: Sequence[Event], view: ViewRange, lines: Mapping[str, LineStyle]) -> None:
        """Place the labels and the bands of these events; `lines` are those of the GPUs, by number."""
        self._view, self._lines = view, lines
        joined = join_events(events, view)
        self.events = [event for event in joined if event.within(view.start, view.end)]
        self.labels = place_labels(view, joined, self.max_lanes)
        closed = join_events(events, view, CLOSED_WIDTH)
        shown = [event for event in closed if event.within(view.start, view.end)]
        by_strip = [shown]
        if view.strips > 1:
            by_strip = [[event for event in shown if event.gpu is None or str(event.gpu) == key] for key in lines]
        self.spans_by_strip = [merged_spans(own, view) for own in by_strip]
        self.bands = event_bands(shown, view, lines, MAX_BANDS if self.max_lanes else MAX_LOW_BANDS)
        self.update()

    def paint(self, painter: QPainter, *_: object) -> None:
        """Paint the bands, all lines, then all labels."""
        view, height = self._view, self.size().height()
        if view is None:
            return
        bottom = height - self._bands_height
        tops_of_bands = [bottom + BAND_GAP + (BAND_HEIGHT + BAND_GAP) * place for place in range(len(self.bands))]
        for band, top in zip(self.bands, tops_of_bands, strict=True):
            if band.gpu is not None:
                draw_line_sign(
                    painter, self._lines[str(band.gpu)], -SIGN_WIDTH - SIGN_GAP, round(top + BAND_HEIGHT / 2)
                )
        painter.save()
        painter.setClipRect(QRectF(0, 0, view.width / view.ratio, height))
        # The hatch moves along with the time axis.
        painter.setBrushOrigin(QPointF(-(view.first % HATCH_PERIOD) / view.ratio, 0))
        for band, top in zip(self.bands, tops_of_bands, strict=True):
            for span in band.spans:
                draw_shading(painter, span.rect(view, top, BAND_HEIGHT), span.tone, span.hatch)
        painter.restore()
        font = theme.font("axis")
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        tops = {label: bottom - (label.lane + 1) * metrics.height() for label in self.labels}
        for label, top in tops.items():
            if label.has_line:
                x = round(view.x(label.event.start) / view.ratio)
                painter.setPen(dashed_pen(theme.color(label.event.tone), 1, 2))
                painter.drawLine(QPointF(x, top + 2), QPointF(x, height))
            for start in label.later_starts:
                x = round(view.x(start) / view.ratio)
                painter.setPen(dashed_pen(theme.color(label.event.tone), 1, 2))
                painter.drawLine(QPointF(x, bottom), QPointF(x, height))
        for label, top in tops.items():
            painter.setPen(theme.color("soft" if label.event.tone == "accent" else label.event.tone))
            painter.drawText(QPointF(label.left + 2, top + metrics.ascent()), label.text)


def place_labels(view: ViewRange, events: Iterable[Event], max_lanes: int = MAX_LANES) -> tuple[EventLabel, ...]:
    """Place the labels at the starts of their events, within the plot, in lanes such that no dashed line runs through a
    label. Where they have no room for all, the gravest are shown, of these the first.

    A label without room adds its GPUs to the latest one of its kind; next to one with the same text it is left out.
    """
    if not max_lanes:
        return ()
    groups: dict[EventLabel, EventGroup] = {}
    for group in sorted(group_events(view, events), key=lambda group: event_gravity(group.event)):
        named, label, placed = group, _create_label(view, group), [*groups]
        if any(label.text == other.text and label.overlaps(other) for other in placed):
            continue
        of_kind = [other for other in placed if groups[other].is_of_kind(group.event)]
        if of_kind and not _has_room(label, placed, max_lanes):
            latest = max(of_kind, key=lambda other: other.event.start)
            named = groups[latest].with_starts(group.starts)
            label = _create_label(view, named)
            placed.remove(latest)
        if _has_room(label, placed, max_lanes):
            groups = {**{other: groups[other] for other in placed}, label: named}
    labels = (replace(label, lane=lane) for label, lane in _arrange_in_lanes(groups).items())
    return tuple(sorted(labels, key=lambda label: label.event.start))


def _create_label(view: ViewRange, group: EventGroup) -> EventLabel:
    text = group.text(view)
    width = QFontMetricsF(theme.font("axis")).horizontalAdvance(text) + 4
    x = view.x(group.event.start) / view.ratio
    left = max(math.floor(min(x + 5, view.width / view.ratio - width)), 5)
    later_starts = tuple(sorted(set(group.later_starts(view).values())))
    has_line = 0 <= round(x) < left
    end = left + max(width + LABEL_GAP, theme.px(LABEL_WIDTH))
    return EventLabel(
        event=group.event, text=text, left=left, width=width, end=end, has_line=has_line, later_starts=later_starts
    )


def _has_room(label: EventLabel, placed: Sequence[EventLabel], max_lanes: int) -> bool:
    """Whether a label finds a lane beside those that are placed. Most of many events are answered without arranging
    all: where nothing is overlapped, and where as many labels as lanes are above one another already.
    """
    overlapped = [other for other in placed if label.overlaps(other)]
    if not overlapped:
        return True
    starts = (max(label.left, other.left) for other in overlapped)
    depth = max(sum(other.left <= start < other.end for other in overlapped) for start in starts)
    return depth < max_lanes and max(_arrange_in_lanes([*placed, label]).values()) < max_lanes


def _arrange_in_lanes(labels: Iterable[EventLabel]) -> dict[EventLabel, int]:
    """The lane of each label (0: the lowest): above all that it overlaps whose lines begin farther right, so that these
    lines begin below it.
    """
    lanes: dict[EventLabel, int] = {}
    for label in sorted(labels, key=lambda label: (label.has_line, label.left), reverse=True):
        lanes[label] = max((lane + 1 for other, lane in lanes.items() if label.overlaps(other)), default=0)
    return lanes


class EventGroup(Struct, frozen=True, kw_only=True):
    """The first of some events that share a label, and when each GPU of all of them had it first."""

    event: Event
    starts: dict[int, float]

    def with_starts(self, starts: Mapping[int, float]) -> EventGroup:
        """The same group with the GPUs of later events."""
        return replace(self, starts={**starts, **self.starts})

    def later_starts(self, view: ViewRange) -> dict[int, float]:
        """The starts on those GPUs on which it can be seen to have started later than on the first."""
        moment = max(self.event.start, view.start) + JOINED_WIDTH * view.ratio * view.column
        return {gpu: start for gpu, start in self.starts.items() if start > moment}

    def text(self, view: ViewRange) -> str:
        """What the label says, which stands at the first start: "GPU 7, later also GPU 6: hot"."""
        if len(self.starts) < 2:
            return self.event.text
        later = self.later_starts(view)
        return language.texts().title_of_gpus(self.starts.keys() - later, self.event.short_text, later=later)

    def is_of_kind(self, event: Event) -> bool:
        """Whether an event is the same on another GPU."""
        return bool(event.gpu_label and self.event.gpu_label) and self.event.short_text == event.short_text


def group_events(view: ViewRange, events: Iterable[Event]) -> list[EventGroup]:
    """The labels in the order of their starts.

    Events with the same text that started on several GPUs within LABEL_WIDTH share one label with all numbers.
    """
    groups: list[EventGroup] = []
    for event in sorted(events, key=lambda event: event.start):
        if not event.text or not event.within(view.start, view.end):
            continue
        near = view.start + (max(view.x(event.start), 0) - theme.px(LABEL_WIDTH) * view.ratio) * view.column
        starts = {} if event.gpu is None else {event.gpu: event.start}
        for index, group in enumerate(groups):
            if group.is_of_kind(event) and max(group.event.start, view.start) >= near:
                groups[index] = group.with_starts(starts)
                break
        else:
            groups.append(EventGroup(event=event, starts=starts))
    return groups


def event_reasons(events: Iterable[Event], *, names_gpus: bool) -> list[str]:
    """What events say, each text once; with the numbers of all GPUs that had it where there are several."""
    gpus_by_text: dict[str, set[int]] = {}
    for event in events:
        gpus = gpus_by_text.setdefault(event.text, set())
        if names_gpus and event.gpu is not None:
            gpus.add(event.gpu)
    return [
        language.texts().title_of_gpus(sorted(gpus), text) if gpus else text
        for text, gpus in gpus_by_text.items()
        if text
    ]


class LimitLine:
    """The dashed line of a limit."""

    def __init__(self, view_box: pg.ViewBox) -> None:
        self._view_box = view_box
        self.line: pg.InfiniteLine | None = None

    def show(self, limit: Limit | None) -> None:
        """Show this limit, None for none."""
        if limit is None:
            if self.line is not None:
                self.line.hide()
            return
        if self.line is None:
            self.line = self._create_line()
        self.line.setPen(dashed_pen(theme.color(limit.tone), 1, 1))
        self.line.setPos(limit.value)
        self.line.show()

    def _create_line(self) -> pg.InfiniteLine:
        line = pg.InfiniteLine(angle=0)
        line.setZValue(LIMIT)
        self._view_box.addItem(line, ignoreBounds=True)
        return line


class Cursor:
    """The cross-hair of a plot: a vertical line and a dot on each curve.

    The items are created when it is first shown.
    """

    def __init__(self, view_box: pg.ViewBox) -> None:
        self._view_box = view_box
        self.items: tuple[pg.InfiniteLine, pg.ScatterPlotItem] | None = None

    def hide(self) -> None:
        """Hide all items."""
        for item in self.items or ():
            item.hide()

    def show(self, at: float, readings: list[Reading], heights: list[float]) -> None:
        """Show it at the time `at` (seconds since the epoch), with the dots of the readings at these heights in the
        view box.
        """
        if self.items is None:
            self.items = self._create_items()
        line, dots = self.items
        line.setPen(pg.mkPen(theme.color("soft"), width=1))
        line.setPos(at)
        dots.setData(
            x=[at] * len(readings),
            y=heights,
            brush=[theme.color(reading.line.colour_token) for reading in readings],
            pen=pg.mkPen(theme.color("card"), width=1.5),
        )
        for item in self.items:
            item.show()

    def _create_items(self) -> tuple[pg.InfiniteLine, pg.ScatterPlotItem]:
        items = pg.InfiniteLine(angle=90), pg.ScatterPlotItem(size=8, pxMode=True)
        for item in items:
            item.setZValue(CURSOR)
            self._view_box.addItem(item, ignoreBounds=True)
        return items


def draw_time_tag(painter: QPainter, x: float, axis: QRectF, text: str, labels: Iterable[QRectF]) -> None:
    """The cross-hair's time on the time axis, within its rectangle; `x` is where the cross-hair is.

    `labels` are the rectangles of the axis' own; those that it would cover in part are hidden.
    """
    font = theme.font("axis")
    painter.setFont(font)
    width = QFontMetricsF(font).horizontalAdvance(text) + 2 * TAG_PADDING
    left = min(max(x - width / 2, axis.left()), axis.right() - width)
    rect = QRectF(left, axis.top() + 2, width, axis.height() - 2)
    for covered in labels:
        if covered.intersects(rect):
            painter.fillRect(covered.adjusted(0, 2, 0, 0), theme.color("card"))  # not the grid line above it
    draw_rounded_rect(painter, rect, 3, theme.color(TAG_GROUND))
    painter.setPen(theme.color("text"))
    painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter), text)
