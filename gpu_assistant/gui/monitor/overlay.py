"""What stands over a plot's picture: events' words, the limit, the cross-hair, its reading box."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from .. import theme
from . import axis, strokes
from .canvas import Frame
from .events import Event
from .series import Line

LANES = 4  # of events' words, one below the other


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
    painter.drawText(QPointF(area.left() + 4, y - 4 if above else y + 2 + metrics.ascent()), limit.text)


def paint_words(painter: QPainter, frame: Frame, events: tuple[Event, ...]) -> None:
    """The words of events, each in the first lane with room, never beside the same words: where it began, or at the
    edge that cuts it.
    """
    painter.setFont(theme.font("axis"))
    metrics, area = QFontMetricsF(painter.font()), frame.area
    free = [(-math.inf, "")] * LANES
    for event in sorted(events, key=lambda event: event.start):
        if not event.text or not event.within(frame.start, frame.end):
            continue
        wide = metrics.horizontalAdvance(event.text) + 4
        left = max(min(frame.x(event.start) + 5, area.width() - wide), 5)
        lane = next((lane for lane, (begins, _) in enumerate(free) if left >= begins), None)
        if lane is None or any(left < begins and text == event.text for begins, text in free):
            continue
        free[lane] = (left + wide + 8, event.text)
        place = QPointF(round(area.left() + left), area.top() + lane * metrics.height())
        painter.fillRect(QRectF(place, QSizeF(wide, metrics.height())), theme.color("card", 0.85))
        painter.setPen(theme.color("soft" if event.tone == "accent" else event.tone))
        painter.drawText(QPointF(place.x() + 2, place.y() + metrics.ascent()), event.text)


def paint_cursor(
    painter: QPainter,
    frame: Frame,
    at: float,
    readings: list[tuple[Line, float]],
    *,
    figure: Callable[[float], str],
    events: list[str],
) -> None:
    """A line at the moment `at`, a dot on each series, what they say there, and what was the matter."""
    area = frame.area
    x = area.left() + round(frame.x(at)) + 0.5
    painter.setPen(QPen(theme.color("text"), 1))
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom() + 1))
    for line, value in readings:
        painter.setPen(QPen(theme.color("card"), 1.5))
        painter.setBrush(theme.color(line.colour))
        painter.drawEllipse(QPointF(x, area.top() + frame.y(value)), 4, 4)
    parts = [(axis.said(at, frame.end - frame.start), False)]
    for line, value in readings:
        parts += [(line.name, False)] if line.name else []
        parts.append((figure(value), True))
    parts += [(event, False) for event in events]
    _paint_box(painter, QRectF(area), x, parts)


def _paint_box(painter: QPainter, area: QRectF, x: float, parts: list[tuple[str, bool]]) -> None:
    """The reading box, on the side of the cross-hair that has room."""
    strong = theme.font("caption-strong")
    fonts = [strong if bold else theme.font("caption") for _, bold in parts]
    widths = [QFontMetricsF(font).horizontalAdvance(text) for font, (text, _) in zip(fonts, parts, strict=True)]
    gap, metrics = 6.0, QFontMetricsF(strong)
    size = sum(widths) + gap * (len(parts) - 1) + 16
    left = x + 7 if x + 7 + size <= area.right() else max(x - 7 - size, area.left())
    box = QRectF(left, area.top() + 0.62 * area.height(), size, metrics.height() + 8)
    painter.setPen(QPen(theme.color("control"), 1))
    painter.setBrush(theme.color("hover"))
    painter.drawRoundedRect(box, 3, 3)
    painter.setPen(theme.color("text"))
    place = box.left() + 8
    for (text, _), font, width in zip(parts, fonts, widths, strict=True):
        painter.setFont(font)
        painter.drawText(QPointF(place, box.top() + 4 + metrics.ascent()), text)
        place += width + gap
