"""The curves of a plot as one pyqtgraph item that paints only what is new.

pyqtgraph's curve items are painted from end to end whenever the view moves. Monitoring moves it each second, so here
the curves are kept as a picture: it is moved to the left by whole device pixels and its new right edge is painted.
`benchmarks/repaint.py` and `benchmarks/monitor_cost.py` measure what that saves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pyqtgraph as pg
from msgspec import Struct
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPixmap

from ... import theme
from .curves import Array, LineStyle, SeriesCurve, downsample_curve, finite_slices

LEAD = 3  # pixels that a line's corner reaches beyond its point
HEADROOM = 0.13  # of the scale, above the highest tick

# Several GPUs differ by colour and by dash, so that nobody needs colour alone (look.md §6). In pixels: line, gap, ...
DASHES: tuple[tuple[float, ...] | None, ...] = (None, (5, 3), (1.5, 2.5), (6, 2.5, 1.5, 2.5))
# The same along the time axis, in whole pixels of a period: a line that moves on keeps its dashes.
_DASH_PIXELS: tuple[tuple[bool, ...], ...] = tuple(
    tuple(bool(pixel) for pixel in pattern)
    for pattern in ((1,), (1,) * 7 + (0,) * 4, (1,) * 2 + (0,) * 3, (1,) * 8 + (0,) * 3 + (1,) * 2 + (0,) * 3)
)


class ViewRange(Struct, frozen=True, kw_only=True):
    """What a plot shows. Lengths are device pixels; `column` is the seconds of one, `first` the number of the leftmost
    column since the epoch, so that a range that moves on moves by whole pixels. `ratio`: device pixels of a pixel.
    """

    width: int
    height: int
    first: int
    column: float
    ticks: tuple[float, ...] = (0, 1)
    ratio: float = 1.0

    @property
    def start(self) -> float:
        """The moment at the left edge, in seconds since the epoch."""
        return self.first * self.column

    @property
    def end(self) -> float:
        """The moment at the right edge."""
        return (self.first + self.width) * self.column

    @property
    def bottom(self) -> float:
        """The value at the lower edge."""
        return self.ticks[0]

    @property
    def top(self) -> float:
        """The value at the upper edge."""
        return self.ticks[-1] + HEADROOM * (self.ticks[-1] - self.ticks[0])

    def x(self, moment: float) -> float:
        """Device pixels from the left edge."""
        return moment / self.column - self.first

    def y(self, value: float) -> float:
        """Device pixels from the upper edge."""
        return (self.top - value) / (self.top - self.bottom) * self.height


class CurvesItem(pg.UIGraphicsItem):  # type: ignore[misc]
    """The curves that a plot shows, as wide and high as its view."""

    def __init__(self) -> None:
        super().__init__()
        self.picture = QPixmap()
        # Not part of the scene: it draws lines from arrays, without a Python loop.
        self._line = pg.PlotCurveItem()
        # A wide line in pieces is many times as fast as one path, whose corners must all be joined.
        self._line.setSegmentedLineMode("on")

    def repaint(self, view: ViewRange, curves: Iterable[tuple[LineStyle, SeriesCurve]]) -> None:
        """Paint all of it."""
        size = (view.width, view.height)
        if (self.picture.width(), self.picture.height()) != size:
            self.picture = QPixmap(*size)
        self.picture.setDevicePixelRatio(view.ratio)
        self.picture.fill(Qt.GlobalColor.transparent)
        self._paint_from(0, view, curves)

    def advance(
        self, columns: int, since: float, view: ViewRange, curves: Iterable[tuple[LineStyle, SeriesCurve]]
    ) -> None:
        """Move what is there by so many columns, and paint again what is later than the moment `since`."""
        self.picture.scroll(-columns, 0, self.picture.rect())
        lead = math.ceil(LEAD * view.ratio)
        self._paint_from(max(min(int(view.x(since)) - lead, view.width - columns), 0), view, curves)

    def paint(self, painter: QPainter, *_: object) -> None:
        """The picture, in the pixels of the view box instead of seconds and values."""
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
        for line, curve in curves:
            self._paint_curve(painter, view, line, curve, since)
        painter.end()

    def _paint_curve(
        self, painter: QPainter, view: ViewRange, line: LineStyle, curve: SeriesCurve, since: float
    ) -> None:
        # One more on the left than can be seen, so that the line comes from somewhere.
        shown = downsample_curve(curve.since(since - 2 * max(curve.step, view.column)), view.column)
        if not len(shown.t):
            return
        x = shown.t / view.column - view.first
        scale = view.height / (view.top - view.bottom)
        y = (view.top - shown.mean) * scale
        if curve.has_band(view.column):
            low, high = (view.top - shown.low) * scale, (view.top - shown.high) * scale
            fill_between(painter, x, low, high, height=view.height, colour=theme.color(line.colour_token, 0.16))
        elif line.fill:
            floor = np.full(len(y), float(view.height))
            fill_between(painter, x, floor, y, height=view.height, colour=theme.color(line.colour_token, 0.10))
        pen = QPen(theme.color(line.colour_token), (1.6 if line.fill else 1.8) * view.ratio)
        self.paint_line(painter, x, y, pen, dash=line.dash, origin=-float(view.first))

    def paint_line(
        self, painter: QPainter, x: Array, y: Array, pen: QPen, *, dash: int = 0, origin: float = 0.0
    ) -> None:
        """Join neighbours that are both known. `origin` is where a dash's period begins."""
        if dash:
            x, y = _by_pixels(x, y)
        known = np.isfinite(y)
        joined = np.zeros(len(x), dtype=bool)
        joined[:-1] = known[:-1] & known[1:]
        if dash:
            pattern = np.array(_DASH_PIXELS[dash % len(_DASH_PIXELS)])
            joined &= pattern[np.floor(x - origin).astype(np.int64) % len(pattern)]
        if joined.any():
            self._line.setData(x, y, connect=joined, pen=pen, antialias=True, skipFiniteCheck=True)
            self._line.paint(painter, None, None)


def fill_between(painter: QPainter, x: Array, low: Array, high: Array, *, height: int, colour: QColor) -> None:
    """Fill between two lines in columns of a pixel, `height` pixels high at most.

    As a picture of one colour: a `FillBetweenItem` of as many corners takes fifty times as long.
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


def dashed_pen(colour: QColor, width: float, dash: int = 0) -> QPen:
    """A pen of `width` pixels, whatever the item's scale; `dash` as in DASHES."""
    pattern = DASHES[dash % len(DASHES)]
    pen: QPen = pg.mkPen(colour, width=width, dash=pattern)
    if pattern is not None:
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


def _premultiplied(colour: QColor) -> int:
    """As Qt's pictures with transparency want it: 0xAARRGGBB, each part times alpha."""
    alpha = colour.alpha()
    red, green, blue = (round(part * alpha / 255) for part in (colour.red(), colour.green(), colour.blue()))
    return alpha << 24 | red << 16 | green << 8 | blue


def _by_pixels(x: Array, y: Array) -> tuple[Array, Array]:
    """The same line with a corner at each whole pixel, runs of known values apart from each other by NaN."""
    xs, ys = [], []
    for run in finite_slices(y):
        part = x[run]
        at = np.arange(np.floor(part[0]), np.ceil(part[-1]) + 1)
        xs.append(np.append(at, at[-1] + 0.5))
        ys.append(np.append(np.interp(at, part, y[run]), np.nan))
    return (np.concatenate(xs), np.concatenate(ys)) if xs else (np.empty(0), np.empty(0))
