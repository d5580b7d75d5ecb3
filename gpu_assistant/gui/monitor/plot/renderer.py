"""The curves of a plot as one pyqtgraph item that paints only new columns.

pyqtgraph's curve items are repainted completely whenever the view moves, which live plots do every second. Here the
curves are painted into a pixmap, which is scrolled to the left by whole device pixels before its new right edge is
painted. `benchmarks/repaint.py` and `benchmarks/monitor_cost.py` measure the difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
import pyqtgraph as pg
from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPixmap

from ... import theme
from .curves import LINE_WIDTH, Array, LineStyle, SeriesCurve, downsample_curve, finite_slices

LEAD = 3  # pixels by which a line's joint extends beyond its point
HEADROOM = 0.13  # of the scale, above the highest tick
STRIP_HEADROOM = 0.25  # the same of a strip, which ends where the next one above it begins
BAND_SPAN_S = 3600.0  # a line alone in a shorter range has its area filled rather than the band of its extremes

# GPUs differ in colour and dash, since colour alone does not reach everyone (WCAG 1.4.1). In pixels: line, gap, ...
DASHES: tuple[tuple[float, ...] | None, ...] = (None, (5, 3), (1.5, 2.5), (6, 2.5, 1.5, 2.5))
DASHES_BY_COVER = (0, 3, 1, 2)  # indexes of DASHES, the one that covers most of a line first
# The same as pixels of a period along the time axis, so that dashes move with a line that scrolls.
_DASH_PIXELS: tuple[tuple[bool, ...], ...] = tuple(
    tuple(bool(pixel) for pixel in pattern)
    for pattern in ((1,), (1,) * 7 + (0,) * 4, (1,) * 2 + (0,) * 3, (1,) * 8 + (0,) * 3 + (1,) * 2 + (0,) * 3)
)


TURN_WIDTH = 9  # pixels for which each of several curves that coincide is seen, then the next one
COINCIDENT_PIXELS = 1.0  # of device, up to which curves apart would cover each other
SIGN_WIDTH = 23  # pixels of a line's sign, with room for its dashes
Value = TypeVar("Value", float, Array)  # a value, or all of a curve
Mask = np.ndarray[Any, np.dtype[np.bool_]]
Columns = np.ndarray[Any, np.dtype[np.int64]]


class ViewRange(Struct, frozen=True, kw_only=True):
    """The time and value range that a plot shows, on a grid of device pixels.

    `width` and `height` are device pixels; `column` is the seconds in one, `first` the number of the leftmost one
    counted from the epoch, so that the range moves by whole pixels. `ticks` are values of the grid lines, ascending.
    `ratio` is device pixels per logical pixel. `strips` are of equal height, one above another, each with the scale of
    the ticks; number 0 is the uppermost. In the view box their scales follow one another, the lowest one first.
    """

    width: int
    height: int
    first: int
    column: float
    ticks: tuple[float, ...] = (0, 1)
    ratio: float = 1.0
    strips: int = 1

    @property
    def start(self) -> float:
        """The time at the left edge, in seconds since the epoch."""
        return self.first * self.column

    @property
    def end(self) -> float:
        """The time at the right edge, in seconds since the epoch."""
        return (self.first + self.width) * self.column

    @property
    def bottom(self) -> float:
        """The value at the lower edge."""
        return self.ticks[0]

    @property
    def top(self) -> float:
        """The value at the upper edge."""
        headroom = HEADROOM if self.strips == 1 else STRIP_HEADROOM
        return self.ticks[-1] + headroom * (self.ticks[-1] - self.ticks[0])

    @property
    def strip_height(self) -> float:
        """The height of a strip in device pixels."""
        return self.height / self.strips

    def x(self, moment: float) -> float:
        """The distance of a time from the left edge, in device pixels."""
        return moment / self.column - self.first

    def y(self, value: Value, strip: int = 0) -> Value:
        """The distance of a value in a strip from the upper edge, in device pixels."""
        return (self.top - value) / (self.top - self.bottom) * self.strip_height + strip * self.strip_height

    def box_y(self, value: float, strip: int = 0) -> float:
        """A value in a strip as a coordinate of the view box."""
        return value + (self.strips - 1 - strip) * (self.top - self.bottom)


class CurvesItem(pg.UIGraphicsItem):  # type: ignore[misc]
    """All curves of a plot, as a pixmap of the view's size; in a view with strips each is in the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.picture = QPixmap()
        # Not in the scene; it draws lines from arrays without a Python loop.
        self._line = pg.PlotCurveItem()
        # Separate segments are much faster than a wide path, all of whose corners must be joined.
        self._line.setSegmentedLineMode("on")

    def repaint(self, view: ViewRange, curves: Iterable[tuple[LineStyle, SeriesCurve]]) -> None:
        """Paint all columns."""
        size = (view.width, view.height)
        if (self.picture.width(), self.picture.height()) != size:
            self.picture = QPixmap(*size)
        self.picture.setDevicePixelRatio(view.ratio)
        self.picture.fill(Qt.GlobalColor.transparent)
        self._paint_from(0, view, curves)

    def advance(
        self, columns: int, since: float, view: ViewRange, curves: Iterable[tuple[LineStyle, SeriesCurve]]
    ) -> None:
        """Scroll to the left by this many columns, and paint again from the time `since` on."""
        self.picture.scroll(-columns, 0, self.picture.rect())
        lead = math.ceil(LEAD * view.ratio)
        self._paint_from(max(min(int(view.x(since)) - lead, view.width - columns), 0), view, curves)

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw the pixmap in the pixels of the view box instead of its seconds and values."""
        to_pixels, _ = self.itemTransform(self.getViewBox())
        to_data, invertible = to_pixels.inverted()
        if invertible:
            painter.setTransform(to_data, combine=True)
            painter.drawPixmap(0, 0, self.picture)

    def _paint_from(self, edge: int, view: ViewRange, curves: Iterable[tuple[LineStyle, SeriesCurve]]) -> None:
        """Paint the columns from `edge` on."""
        painter = QPainter(self.picture)
        painter.scale(1 / view.ratio, 1 / view.ratio)
        free = QRect(edge, 0, view.width - edge, view.height)
        painter.setClipRect(free)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        painter.fillRect(free, Qt.GlobalColor.transparent)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        since = view.start + (edge - 2 * math.ceil(LEAD * view.ratio)) * view.column
        if view.strips > 1:
            for strip, (line, curve) in enumerate(curves):
                # Its strip has a label, and no other line.
                alone = replace(line, dash=0, fill=True, width=LINE_WIDTH)
                self._paint_curve(painter, view, alone, curve, since, strip=strip)
        else:
            self._paint_together(painter, view, curves, since)
        painter.end()

    def _paint_together(
        self, painter: QPainter, view: ViewRange, curves: Iterable[tuple[LineStyle, SeriesCurve]], since: float
    ) -> None:
        """Paint curves over one another from the time `since` on, the strongest on top.

        Those that cross do not hide each other: the more of a line its gaps leave open, the later it is painted. Those
        that coincide take turns along the time axis.
        """
        ordered = sorted(curves, key=lambda each: (each[0].width, DASHES_BY_COVER.index(each[0].dash % len(DASHES))))
        parts = [(line, part) for line, curve in ordered if len((part := _visible_part(curve, view, since)).t)]
        if len(parts) < 2:
            for line, part in parts:
                self._paint_curve(painter, view, line, part, since)
            return
        begin = min(math.floor(part.t[0] / view.column) for _, part in parts) - view.first
        columns = np.arange(begin, view.width + 1)
        heights = np.array([_heights_at(columns, part, view) for _, part in parts])
        coincident, own_turn = take_turns(heights, columns + view.first, round(TURN_WIDTH * view.ratio))
        for (line, part), y, shared, own in zip(parts, heights, coincident, own_turn, strict=True):
            self._paint_band(painter, view, line, part)
            pen = QPen(theme.color(line.colour_token), line.width * view.ratio)
            self._stroke(painter, columns, y, pen, np.where(shared, own, _dash_mask(columns + view.first, line.dash)))

    def _paint_curve(
        self, painter: QPainter, view: ViewRange, line: LineStyle, curve: SeriesCurve, since: float, *, strip: int = 0
    ) -> None:
        """Paint a curve from the time `since` on."""
        shown = _visible_part(curve, view, since)
        if not len(shown.t):
            return
        x = shown.t / view.column - view.first
        self._paint_band(painter, view, line, shown, strip=strip)
        pen = QPen(theme.color(line.colour_token), line.width * view.ratio)
        self.paint_line(painter, x, view.y(shown.mean, strip), pen, dash=line.dash, origin=-float(view.first))

    @staticmethod
    def _paint_band(painter: QPainter, view: ViewRange, line: LineStyle, curve: SeriesCurve, *, strip: int = 0) -> None:
        """Paint the band of a curve's extremes, or the area below it, where it has one."""
        x = curve.t / view.column - view.first
        fills_area = line.fill and view.end - view.start < BAND_SPAN_S
        if curve.has_band(view.column) and not fills_area:
            low, high = view.y(curve.low, strip), view.y(curve.high, strip)
            fill_between(painter, x, low, high, height=view.height, colour=theme.color(line.colour_token, 0.16))
        elif line.fill:
            y = view.y(curve.mean, strip)
            floor = np.full(len(y), view.y(view.bottom, strip))
            fill_between(painter, x, floor, y, height=view.height, colour=theme.color(line.colour_token, 0.10))

    def paint_line(
        self, painter: QPainter, x: Array, y: Array, pen: QPen, *, dash: int = 0, origin: float = 0.0
    ) -> None:
        """Draw a line through known neighbours. `dash` is as in DASHES; its period starts at the pixel `origin`."""
        if dash:
            x, y = _by_pixels(x, y)
        self._stroke(painter, x, y, pen, _dash_mask(np.floor(x - origin).astype(np.int64), dash) if dash else True)

    def _stroke(self, painter: QPainter, x: Array | Columns, y: Array, pen: QPen, mask: Mask | bool) -> None:
        """Draw the pieces between known neighbours that begin where the mask has a one."""
        known = np.isfinite(y)
        joined = np.zeros(len(x), dtype=bool)
        joined[:-1] = known[:-1] & known[1:]
        joined &= mask
        if joined.any():
            self._line.setData(x, y, connect=joined, pen=pen, antialias=True, skipFiniteCheck=True)
            self._line.paint(painter, None, None)


def fill_between(painter: QPainter, x: Array, low: Array, high: Array, *, height: int, colour: QColor) -> None:
    """Fill between two lines, pixel column by pixel column, clipped to `height` pixels.

    It is drawn as an image of one colour: a `FillBetweenItem` of as many points takes fifty times as long.
    """
    runs = [(run, math.floor(x[run.start]), math.ceil(x[run.stop - 1])) for run in finite_slices(high)]
    if not runs:
        return
    first, width = runs[0][1], runs[-1][2] - runs[0][1]
    top, bottom = np.full(width, np.inf), np.full(width, -np.inf)
    for run, begin, end in runs:
        middle = np.arange(begin, end) + 0.5
        top[begin - first : end - first] = np.interp(middle, x[run], high[run])
        bottom[begin - first : end - first] = np.interp(middle, x[run], low[run])
    above = int(np.clip(np.floor(np.fmin.reduce(top, initial=np.inf)), 0, height))
    below = int(np.clip(np.ceil(np.fmax.reduce(bottom, initial=-np.inf)), 0, height))
    if above >= below:
        return
    rows = np.arange(above, below, dtype=np.float32)[:, None] + np.float32(0.5)
    top, bottom = top.astype(np.float32), bottom.astype(np.float32)
    inside = rows >= top
    inside &= rows < bottom
    pixels = np.multiply(inside, np.uint32(_premultiplied(colour)), dtype=np.uint32)
    image = QImage(pixels.data, width, below - above, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
    painter.drawImage(QRectF(first, above, width, below - above), image)


def take_turns(heights: Array, places: Columns, period: int) -> tuple[Mask, Mask]:
    """For each curve (a row) in each column: whether another one coincides with it there, and whether it is its turn to
    be seen. A turn is `period` columns long; `places` count these from where they stay while the view moves.
    """
    near = np.abs(heights[:, None] - heights) <= COINCIDENT_PIXELS
    count = near.sum(axis=1)
    place_in_row = np.array([near[index, :index].sum(axis=0) for index in range(len(heights))])
    return count > 1, (places // period) % np.maximum(count, 1) == place_in_row


def dashed_pen(colour: QColor, width: float, dash: int = 0) -> QPen:
    """A cosmetic pen of `width` pixels; `dash` is an index of DASHES."""
    pattern = DASHES[dash % len(DASHES)]
    pen: QPen = pg.mkPen(colour, width=width, dash=pattern)
    if pattern is not None:
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


def draw_line_sign(painter: QPainter, line: LineStyle, left: int, middle: int) -> None:
    """Draw a piece of a GPU's line, SIGN_WIDTH pixels from `left` on, as the sign of the GPU."""
    painter.setPen(dashed_pen(theme.color(line.colour_token), 1 if line.is_thin else 2, line.dash))
    painter.drawLine(left, middle, left + SIGN_WIDTH, middle)


def _premultiplied(colour: QColor) -> int:
    """A colour as a pixel of QImage.Format_ARGB32_Premultiplied: 0xAARRGGBB, red, green and blue times alpha."""
    alpha = colour.alpha()
    red, green, blue = (round(part * alpha / 255) for part in (colour.red(), colour.green(), colour.blue()))
    return alpha << 24 | red << 16 | green << 8 | blue


def _visible_part(curve: SeriesCurve, view: ViewRange, since: float) -> SeriesCurve:
    """What is drawn of a curve from a time on, with a sample to the left of it, so that the line enters it."""
    return downsample_curve(curve.since(since - 2 * max(curve.step, view.column)), view.column)


def _heights_at(columns: Columns, curve: SeriesCurve, view: ViewRange) -> Array:
    """The distances of a curve from the upper edge in these whole columns, NaN where it is unknown."""
    x, y = curve.t / view.column - view.first, view.y(curve.mean)
    heights = np.full(len(columns), np.nan)
    for run in finite_slices(y):
        start, end = np.searchsorted(columns, (math.floor(x[run.start]), math.ceil(x[run.stop - 1]) + 1))
        heights[start:end] = np.interp(columns[start:end], x[run], y[run])
    return heights


def _dash_mask(places: Columns, dash: int) -> Mask:
    """In which of these columns, counted from where they stay while the view moves, a dash of this kind is drawn."""
    pattern = np.array(_DASH_PIXELS[dash % len(_DASH_PIXELS)])
    return pattern[places % len(pattern)]


def _by_pixels(x: Array, y: Array) -> tuple[Array, Array]:
    """The same line resampled at whole pixels, with NaN between runs of known values."""
    xs, ys = [], []
    for run in finite_slices(y):
        part = x[run]
        at = np.arange(np.floor(part[0]), np.ceil(part[-1]) + 1)
        xs.append(np.append(at, at[-1] + 0.5))
        ys.append(np.append(np.interp(at, part, y[run]), np.nan))
    return (np.concatenate(xs), np.concatenate(ys)) if xs else (np.empty(0), np.empty(0))
