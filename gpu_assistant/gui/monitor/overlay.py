"""What stands over a plot's picture: events' words, the limit, the cross-hair, its reading box."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from .. import theme
from . import axis, strokes
from .canvas import Frame
from .events import Event
from .history_model import LineStyle

LANES = 2  # of events' words, one above the other
GAP = 6.0  # between the words of the reading box


class Limit(Struct, frozen=True, kw_only=True):
    """A dashed line with words: where the card slows down, what it may draw."""

    value: float
    text: str


def paint_limit(painter: QPainter, frame: Frame, limit: Limit) -> None:
    """The dashed line and, above it at the left, its words: what happens now begins at the right. At the upper edge,
    where they would be cut, they stand below it.
    """
    area, colour = frame.area, theme.color("error")
    y = area.top() + round(frame.y(limit.value))
    painter.setPen(strokes.pen(colour, 1, 1))
    painter.drawLine(area.left(), y, area.right(), y)
    painter.setPen(colour)
    painter.setFont(theme.font("axis"))
    metrics = QFontMetricsF(painter.font())
    above = y - 4 - metrics.ascent() >= area.top()
    base = y - 4 if above else y + 2 + metrics.ascent()
    painter.drawText(QPointF(area.left() + 4, base), limit.text)


Placed = tuple[Event, str, QRectF]


def words_of(frame: Frame, events: tuple[Event, ...]) -> list[Placed]:
    """The words of events in lanes above the area, where they cover no curve: each in the lowest with room, never
    beside the same words, where it began, or at the edge that cuts it. What began on several cards at about the same
    place is said once, with all their numbers. A bare number, whose reason another plot tells, stands only where
    nothing else does.
    """
    metrics, area = QFontMetricsF(theme.font("axis")), frame.area
    free = [(-math.inf, "")] * LANES
    placed: list[Placed] = []
    for event, text in together(frame, events):
        wide = metrics.horizontalAdvance(text) + 4
        left = max(min(frame.x(event.start) + 5, area.width() - wide), 5)
        lane = next((lane for lane, (begins, _) in enumerate(free) if left >= begins), None)
        if lane is None or (lane and not event.says) or any(left < begins and said == text for begins, said in free):
            continue
        free[lane] = (left + wide + 8, text)
        place = QPointF(round(area.left() + left), area.top() - (lane + 1) * metrics.height())
        placed.append((event, text, QRectF(place, QSizeF(wide, metrics.height()))))
    return placed


def lanes_of(words: Sequence[Placed], area: QRect) -> int:
    """How many lanes they take."""
    high = QFontMetricsF(theme.font("axis")).height()
    return max((round((area.top() - place.top()) / high) for _, _, place in words), default=0)


def paint_words(painter: QPainter, frame: Frame, words: Sequence[Placed]) -> None:
    """Each with the line of its beginning led up to it."""
    painter.setFont(theme.font("axis"))
    ascent = QFontMetricsF(painter.font()).ascent()
    for event, _, place in words:
        left = frame.area.left() + round(frame.x(event.start))
        if frame.area.left() <= left < place.left():
            painter.setPen(strokes.pen(theme.color(event.tone), 1, 2))
            painter.drawLine(left, round(place.top()) + 2, left, frame.area.top())
    for event, text, place in words:
        painter.fillRect(place, theme.color("card"))
        painter.setPen(theme.color("soft" if event.tone == "accent" else event.tone))
        painter.drawText(QPointF(place.x() + 2, place.y() + ascent), text)


def together(frame: Frame, events: tuple[Event, ...]) -> list[tuple[Event, str]]:
    """The events to be named, by their beginning, each with the words for it and for those of other cards beside it."""
    metrics = QFontMetricsF(theme.font("axis"))
    groups: list[tuple[Event, set[int]]] = []
    for event in sorted(events, key=lambda event: event.start):
        if not event.text or not event.within(frame.start, frame.end):
            continue
        if not event.says and event.start < frame.start:
            continue  # at the edge stands why, not only whose
        near = frame.start + (max(frame.x(event.start), 0) - metrics.horizontalAdvance(event.text)) * frame.column
        group = next(
            (
                gpus
                for first, gpus in groups
                if event.whose and first.whose and first.word == event.word and max(first.start, frame.start) >= near
            ),
            None,
        )
        if group is not None and event.gpu is not None:
            group.add(event.gpu)
        else:
            groups.append((event, set() if event.gpu is None else {event.gpu}))
    return [
        (event, f"GPU {', '.join(map(str, sorted(gpus)))} {event.word}".strip() if len(gpus) > 1 else event.text)
        for event, gpus in groups
        # Whose it is tells little of many, where another plot says what it was.
        if event.word or len(gpus) < 2
    ]


def told_of(events: Iterable[Event]) -> list[str]:
    """What was the matter, each once with the numbers of all cards that had it."""
    whose: dict[str, set[int]] = {}
    for event in events:
        cards = whose.setdefault(event.told or event.text, set())
        if event.whose and event.gpu is not None:
            cards.add(event.gpu)
    return [
        f"GPU {', '.join(map(str, sorted(cards)))} {told}" if cards else told for told, cards in whose.items() if told
    ]


def paint_cursor(
    painter: QPainter,
    frame: Frame,
    at: float,
    readings: list[tuple[LineStyle, float, tuple[float, float] | None]],
    *,
    figure: Callable[[float], str],
    events: list[str],
) -> None:
    """A line at the moment `at`, a dot on each series, what they say there, and what was the matter."""
    area = frame.area
    x = area.left() + round(frame.x(at)) + 0.5
    painter.setPen(QPen(theme.color("text"), 1))
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom() + 1))
    for line, value, _ in readings:
        painter.setPen(QPen(theme.color("card"), 1.5))
        painter.setBrush(theme.color(line.colour_token))
        painter.drawEllipse(QPointF(x, area.top() + frame.y(value)), 4, 4)
    rows = [[(axis.said(at, frame.end - frame.start), False)]]
    for line, value, extremes in readings:
        parts = [(line.name, False)] if line.name else []
        parts.append((figure(value), True))
        if extremes is not None and figure(extremes[0]) != figure(extremes[1]):
            parts.append((f"{figure(extremes[0])} – {figure(extremes[1])}", False))
        rows.append(parts)
    rows += [[(event, False)] for event in events]
    _paint_box(painter, QRectF(area), x, rows)


Words = list[tuple[str, bool]]


def _paint_box(painter: QPainter, area: QRectF, x: float, rows: list[Words]) -> None:
    """The reading box, on the side of the cross-hair that has room: in one row, or in several where that is too long.

    `rows` have words, and whether they are strong.
    """
    strong = theme.font("caption-strong")
    one = [part for row in rows for part in row]
    lines = rows if _width(one) > 0.6 * area.width() else [one]
    high = QFontMetricsF(strong).height()
    size = QSizeF(max(_width(line) for line in lines), len(lines) * high + 8)
    left = x + 7 if x + 7 + size.width() <= area.right() else max(x - 7 - size.width(), area.left())
    top = max(min(area.top() + 0.62 * area.height(), area.bottom() - size.height()), area.top())
    box = QRectF(QPointF(left, top), size)
    painter.setPen(QPen(theme.color("control"), 1))
    painter.setBrush(theme.color("hover"))
    painter.drawRoundedRect(box, 3, 3)
    painter.setPen(theme.color("text"))
    for number, line in enumerate(lines):
        place = box.left() + 8
        for text, bold in line:
            painter.setFont(_font(bold))
            painter.drawText(QPointF(place, top + 4 + number * high + QFontMetricsF(strong).ascent()), text)
            place += QFontMetricsF(_font(bold)).horizontalAdvance(text) + GAP


def _font(bold: bool) -> QFont:
    return theme.font("caption-strong" if bold else "caption")


def _width(words: Words) -> float:
    return sum(QFontMetricsF(_font(bold)).horizontalAdvance(text) + GAP for text, bold in words) - GAP + 16
