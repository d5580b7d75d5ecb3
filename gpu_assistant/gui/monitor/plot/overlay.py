"""What a plot draws around and over its curves: events with their labels, the limit line, the cross-hair.

The labels of events are in lanes above the curves; each dashed line of an event has its label.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import pyqtgraph as pg
from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsItem

from ... import language, theme
from ...widgets.base import draw_rounded_rect
from .annotations import TONES_BY_WEIGHT, Event, Hatch, Tone, subtract_spans
from .curves import LineStyle
from .renderer import ViewRange, dashed_pen

LANES = 2  # rows of event labels
LABEL_GAP = 8  # pixels between two labels of a lane
# Pixels at 100 % text that a label has at least: which labels there are does not depend on the language's words.
LABEL_WIDTH = 130
JOINED_WIDTH = 14  # pixels between two events of a kind below which they are seen as one
# Z values; the curves have 0.
BELOW, ABOVE, CURSOR = -10, 10, 20
PLAIN_OPACITY, HATCHED_OPACITY, HATCH_OPACITY = 0.16, 0.07, 0.45  # of a span's ground; of the lines of its hatch
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


class Limit(Struct, frozen=True, kw_only=True):
    """A dashed horizontal line with a text, at `value` in the plot's unit: slowdown temperature, power limit."""

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
    """The events behind the curves: a shaded region for each span of a state, a dashed line down from each label."""

    def __init__(self) -> None:
        super().__init__()
        self._view: ViewRange | None = None
        self.spans: list[EventSpan] = []
        self.starts: list[tuple[Tone, float]] = []  # (tone, time) of the dashed lines
        self.setZValue(BELOW)

    def show_events(self, events: Iterable[Event], labels: Iterable[EventLabel], view: ViewRange) -> None:
        """Replace what is shown: the regions of these events, and the lines of what the labels above name."""
        self._view = view
        shown = [event for event in join_events(events, view) if event.within(view.start, view.end)]
        self.spans = merged_spans(shown, view)
        # An instant has nothing but its line; with no room for its label, the key above the plots names it.
        named = [*(label.event for label in labels), *(event for event in shown if event.is_instant and event.text)]
        self.starts = list({(event.tone, event.start) for event in named if event.start >= view.start})
        self.update()

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw in the pixels of the view box instead of its seconds and values."""
        view = self._view
        to_data, invertible = self.itemTransform(self.getViewBox())[0].inverted()
        if view is None or not invertible:
            return
        painter.setTransform(to_data, combine=True)
        height = view.height / view.ratio
        # The hatch moves along with the time axis.
        painter.setBrushOrigin(QPointF(-(view.first % HATCH_PERIOD) / view.ratio, 0))
        for span in self.spans:
            left, right = (view.x(moment) / view.ratio for moment in (span.start, span.end))
            draw_shading(painter, QRectF(left, 0, right - left, height), span.tone, span.hatch)
        for tone, start in self.starts:
            x = round(view.x(start) / view.ratio)
            painter.setPen(dashed_pen(theme.color(tone), 1, 2))
            painter.drawLine(QPointF(x, 0), QPointF(x, height))


def draw_shading(painter: QPainter, rect: QRectF, tone: Tone, hatch: Hatch) -> None:
    """Shade a rectangle as the span of an event, in the plots and in their key."""
    painter.fillRect(rect, theme.color(tone, PLAIN_OPACITY if hatch == "plain" else HATCHED_OPACITY))
    if hatch != "plain":
        painter.fillRect(rect, QBrush(theme.color(tone, HATCH_OPACITY), HATCH_STYLES[hatch]))


def join_events(events: Iterable[Event], view: ViewRange) -> list[Event]:
    """The events as a plot shows them, in the order of their starts.

    Those of a kind with less than JOINED_WIDTH between them are one: a card at its power limit leaves it for a moment
    with each batch. What is only for information of a GPU is shown where it has a text: in the plot of its own metric.
    """
    joined: list[Event] = []
    latest: dict[tuple[object, ...], int] = {}
    gap = JOINED_WIDTH * view.ratio * view.column
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
    for span in sorted(spans, key=_gravity):
        graver = [(each.start, each.end) for each in shown if _gravity(each) < _gravity(span)]
        pieces = subtract_spans([(span.start, span.end)], graver)
        shown.extend(replace(span, start=start, end=end) for start, end in pieces)
    return sorted(shown, key=lambda span: (_gravity(span), span.start))


def _gravity(span: EventSpan) -> tuple[int, bool, str]:
    """The order of states, the gravest first; of a tone those with a hatch, which say more than "hot"."""
    return TONES_BY_WEIGHT.index(span.tone), span.hatch == "plain", span.hatch


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

    A label without room in any lane adds its GPUs to the last one of its kind; next to one with the same text it is
    left out.
    """
    lanes: list[list[EventLabel]] = [[] for _ in range(LANES)]
    groups: dict[EventLabel, EventGroup] = {}
    for group in group_events(view, events):
        for lane, placed in enumerate(lanes):
            label = _fitting_label(view, group, lane, placed)
            if label is not None and not any(_repeats(label, other[-1]) for other in lanes if other):
                placed.append(label)
                groups[label] = group
            if label is not None:
                break
        else:
            _add_to_last_of_kind(view, group, lanes, groups)
    return tuple(sorted((label for placed in lanes for label in placed), key=lambda label: label.event.start))


def _fitting_label(view: ViewRange, group: EventGroup, lane: int, before: Sequence[EventLabel]) -> EventLabel | None:
    """The group's label in a lane behind these; None without room."""
    text = group.text
    width = QFontMetricsF(theme.font("axis")).horizontalAdvance(text) + 4
    left = max(math.floor(min(view.x(group.event.start) / view.ratio + 5, view.width / view.ratio - width)), 5)
    if before and left < before[-1].left + max(before[-1].width + LABEL_GAP, theme.px(LABEL_WIDTH)):
        return None
    return EventLabel(event=group.event, text=text, lane=lane, left=left, width=width)


def _repeats(label: EventLabel, other: EventLabel) -> bool:
    """Whether a label would stand beside one that says the same."""
    return label.text == other.text and label.left < other.left + max(other.width + LABEL_GAP, theme.px(LABEL_WIDTH))


def _add_to_last_of_kind(
    view: ViewRange, group: EventGroup, lanes: list[list[EventLabel]], groups: dict[EventLabel, EventGroup]
) -> None:
    """Name a group's GPUs in a label that is the last of its lane and says the same of other GPUs, if it has room."""
    for lane, placed in enumerate(lanes):
        if placed and groups[placed[-1]].is_of_kind(group.event):
            joint = replace(groups[placed[-1]], gpus=groups[placed[-1]].gpus | group.gpus)
            label = _fitting_label(view, joint, lane, placed[:-1])
            if label is not None:
                placed[-1] = label
                groups[label] = joint
                return


class EventGroup(Struct, frozen=True, kw_only=True):
    """The first of some events that share a label, and the GPUs of all of them."""

    event: Event
    gpus: frozenset[int]

    @property
    def text(self) -> str:
        """What the label says."""
        if len(self.gpus) < 2:
            return self.event.text
        return language.texts().title_of_gpus(sorted(self.gpus), self.event.short_text)

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
        gpus = frozenset(() if event.gpu is None else (event.gpu,))
        for index, group in enumerate(groups):
            if group.is_of_kind(event) and max(group.event.start, view.start) >= near:
                groups[index] = replace(group, gpus=group.gpus | gpus)
                break
        else:
            groups.append(EventGroup(event=event, gpus=gpus))
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
        self.line.setPen(dashed_pen(theme.color(limit.tone), 1, 1))
        label.setFont(theme.font("axis"))
        label.setColor(theme.color(limit.tone))
        label.fill = pg.mkBrush(theme.color("card", 0.8))  # curves behind it leave it readable
        label.setFormat(limit.text.replace("{", "{{").replace("}", "}}"))
        # With room to spare: a label of an event may yet lower the plot.
        above = view.y(limit.value) / view.ratio >= 2 * label.boundingRect().height()
        label.anchors = [(0, 1 if above else 0)] * 2
        self.line.setPos(limit.value)
        self.line.show()
        label.updatePosition()

    def _create_line(self) -> pg.InfiniteLine:
        line = pg.InfiniteLine(angle=0, label="", labelOpts={"position": 0, "anchors": [(0, 1), (0, 1)]})
        line.label.textItem.document().setDocumentMargin(2)
        line.label.setFlag(QGraphicsItem.GraphicsItemFlag.ItemStacksBehindParent)  # its ground, too
        line.setZValue(ABOVE)
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

    def show(self, at: float, readings: list[Reading]) -> None:
        """Show it at the time `at` (seconds since the epoch)."""
        if self.items is None:
            self.items = self._create_items()
        line, dots = self.items
        line.setPen(pg.mkPen(theme.color("text"), width=1))
        line.setPos(at)
        dots.setData(
            x=[at] * len(readings),
            y=[reading.value for reading in readings],
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
    draw_rounded_rect(painter, rect, 3, theme.color("text"))
    painter.setPen(theme.color("card"))
    painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter), text)
