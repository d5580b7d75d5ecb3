"""The picture of a plot: painted whole once, then moved to the left as time goes on, with the new edge painted."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen, QPixmap, QRegion, QStaticText

from .. import theme
from . import axis, strokes
from .events import Event
from .history_model import LineStyle, SeriesCurve, downsample_curve

LEAD = 3  # pixels that a line's corner reaches beyond its point
LANE = 0.13  # the height above the highest tick, for events and the limit's words


class Frame(Struct, frozen=True, kw_only=True):
    """Where things are: the area of the curves in pixels, its first column, a column's seconds, the ticks."""

    area: QRect
    first: int
    column: float
    grid: tuple[float, ...]

    @property
    def start(self) -> float:
        """The moment at the left edge."""
        return self.first * self.column

    @property
    def end(self) -> float:
        """The moment at the right edge."""
        return (self.first + self.area.width()) * self.column

    @property
    def top(self) -> float:
        """The value at the upper edge."""
        return self.grid[-1] + LANE * (self.grid[-1] - self.grid[0])

    def x(self, moment: float) -> float:
        """Pixels from the left edge of the area."""
        return moment / self.column - self.first

    def y(self, value: float) -> float:
        """Pixels from the upper edge of the area."""
        return (self.top - value) / (self.top - self.grid[0]) * self.area.height()


class Canvas:
    """Paints curves into a pixmap of a widget's size."""

    def __init__(self) -> None:
        self.picture = QPixmap()
        self._words: dict[str, QStaticText] = {}

    def forget(self) -> None:
        """Other fonts: words are laid out anew."""
        self._words.clear()

    def paint(
        self,
        size: QSize,
        ratio: float,
        frame: Frame,
        curves: Iterable[tuple[LineStyle, SeriesCurve]],
        events: tuple[Event, ...],
    ) -> None:
        """All of it."""
        if self.picture.size() != size * ratio or self.picture.devicePixelRatio() != ratio:
            self.picture = QPixmap(size * ratio)
            self.picture.setDevicePixelRatio(ratio)
        self.picture.fill(theme.color("card"))
        painter = QPainter(self.picture)
        self._paint_scale(painter, frame)
        self._paint_times(painter, frame)
        self._paint_area(painter, frame, 0, curves, events)
        painter.end()

    def advance(
        self,
        columns: int,
        begin: float,
        frame: Frame,
        curves: Iterable[tuple[LineStyle, SeriesCurve]],
        events: tuple[Event, ...],
    ) -> None:
        """Move what is there by so many columns, and paint again what is later than the moment `begin`."""
        ratio = self.picture.devicePixelRatio()
        area = frame.area
        moved = QRect(area.topLeft() * ratio, area.size() * ratio)
        self.picture.scroll(-round(columns * ratio), 0, moved)
        painter = QPainter(self.picture)
        below = QRect(area.left(), area.bottom() + 1, self.picture.width(), self.picture.height())
        painter.fillRect(below, theme.color("card"))
        self._paint_times(painter, frame)
        edge = min(int(frame.x(begin)) - LEAD, area.width() - columns)
        self._paint_area(painter, frame, max(edge, 0), curves, events)
        painter.end()

    def _paint_area(
        self,
        painter: QPainter,
        frame: Frame,
        edge: int,
        curves: Iterable[tuple[LineStyle, SeriesCurve]],
        events: tuple[Event, ...],
    ) -> None:
        """The columns from `edge` on."""
        area = frame.area
        painter.translate(area.topLeft())
        painter.setClipRect(QRect(edge, 0, area.width() - edge, area.height()))
        painter.fillRect(QRect(edge, 0, area.width() - edge, area.height()), theme.color("card"))
        painter.setPen(QPen(theme.color("grid"), 1))
        for value in frame.grid:
            y = min(round(frame.y(value)), area.height() - 1)
            painter.drawLine(edge, y, area.width(), y)
        grounds: dict[str, QRegion] = {}
        for event in events:
            self._paint_event(painter, frame, event, grounds)
        begin = frame.start + (edge - 2 * LEAD) * frame.column
        for line, curve in curves:
            self._paint_curve(painter, frame, line, curve, begin)

    def _paint_curve(self, painter: QPainter, frame: Frame, line: LineStyle, curve: SeriesCurve, begin: float) -> None:
        band = curve.has_band(frame.column)
        # One more on the left than can be seen, so that the line comes from somewhere.
        drawn = downsample_curve(curve.since(begin - 2 * max(curve.step, frame.column)), frame.column)
        if not len(drawn.t):
            return
        x = drawn.t / frame.column - frame.first
        scale = frame.area.height() / (frame.top - frame.grid[0])
        y = (frame.top - drawn.mean) * scale
        colour = theme.color(line.colour_token)
        if band:
            low, high = (frame.top - drawn.low) * scale, (frame.top - drawn.high) * scale
            strokes.area(painter, x, low, high, height=frame.area.height(), colour=theme.color(line.colour_token, 0.16))
        elif line.fill:
            bottom = drawn.mean * 0 + frame.area.height()
            strokes.area(painter, x, bottom, y, height=frame.area.height(), colour=theme.color(line.colour_token, 0.10))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(strokes.pen(colour, 1.6 if line.fill else 1.8))
        strokes.line(painter, x, y, dash=line.dash, origin=-float(frame.first))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)

    def _paint_event(self, painter: QPainter, frame: Frame, event: Event, grounds: dict[str, QRegion]) -> None:
        """Its time as a ground, and a line where it began. What several cards have at once is no darker: `grounds` are
        those painted so far, by their tone.
        """
        left = round(frame.x(event.start))
        right = min(event.end, frame.end + frame.column)
        if not event.moment:
            width = max(round(frame.x(right)) - left, 1)
            ground, before = QRect(left, 0, width, frame.area.height()), grounds.get(event.tone, QRegion())
            painter.save()
            painter.setClipRegion(QRegion(ground).subtracted(before), Qt.ClipOperation.IntersectClip)
            painter.fillRect(ground, theme.color(event.tone, 0.14))
            painter.restore()
            grounds[event.tone] = before.united(ground)
        painter.setPen(strokes.pen(theme.color(event.tone), 1, 2))
        painter.drawLine(left, 0, left, frame.area.height())

    def _paint_scale(self, painter: QPainter, frame: Frame) -> None:
        painter.setFont(theme.font("axis"))
        painter.setPen(theme.color("soft"))
        for value in frame.grid:
            word = self._word(f"{value:g}")
            y = frame.area.top() + frame.y(value) - word.size().height() / 2
            painter.drawStaticText(QPointF(frame.area.left() - 6 - word.size().width(), y), word)

    def _paint_times(self, painter: QPainter, frame: Frame) -> None:
        area, span = frame.area, frame.end - frame.start
        widest = QFontMetricsF(theme.font("axis")).horizontalAdvance("00:00:00")
        step, moments = axis.moments(frame.start, frame.end, max(int(area.width() / (widest * 1.7)), 2))
        painter.setFont(theme.font("axis"))
        painter.setPen(theme.color("soft"))
        for moment in moments:
            word = self._word(axis.word(moment, step, span))
            left = area.left() + frame.x(moment) - word.size().width() / 2
            # A word at the very edge would be cut.
            if left >= area.left() and left + word.size().width() <= area.right() + 1:
                painter.drawStaticText(QPointF(left, area.bottom() + 5), word)

    def _word(self, text: str) -> QStaticText:
        """Laid out once: most words stay for minutes."""
        made = self._words.get(text)
        if made is None:
            if len(self._words) > 200:
                self._words.clear()
            made = self._words[text] = QStaticText(text)
            made.setTextFormat(Qt.TextFormat.PlainText)
            made.prepare(font=theme.font("axis"))
        return made
