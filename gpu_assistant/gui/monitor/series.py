"""A line over time: two arrays of equal length, NaN where nothing is known, and how it is painted.

Imported by `plot.py` only: numpy and pyqtgraph cost more than the whole window.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from msgspec import Struct
from pyqtgraph.Qt import internals
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from .. import theme

Array = np.ndarray[Any, np.dtype[np.float64]]

# Several GPUs differ by colour and by dash, so that nobody needs colour alone (look.md §6).
DASHES: tuple[tuple[float, ...] | None, ...] = (None, (5, 3), (1.5, 2.5), (6, 2.5, 1.5, 2.5))
# Two samples further apart than this many sampling steps have a gap between them.
GAP_STEPS = 3.5


class Line(Struct, frozen=True, kw_only=True):
    """How a series looks: a token's name for its colour, a dash by GPU, its name in the reading box."""

    colour: str
    name: str = ""
    dash: int = 0
    fill: bool = True


def with_gaps(t: Array, y: Array, step: float) -> tuple[Array, Array]:
    """The same series with a NaN wherever two neighbours are further apart than `GAP_STEPS` steps."""
    holes = np.flatnonzero(np.diff(t) > GAP_STEPS * step) + 1
    if not len(holes):
        return t, y
    return np.insert(t, holes, t[holes - 1] + step), np.insert(y, holes, np.nan)


def reduced(t: Array, y: Array, buckets: int) -> tuple[Array, Array, Array, Array]:
    """Mean, lowest and highest of `buckets` equal stretches of time: (times, mean, low, high).

    Stretches are cut at whole multiples of their length, so that a moving window does not make the line dance.
    A stretch without a known value is a gap.
    """
    width = max((t[-1] - t[0]) / buckets, 1e-9)
    place = np.floor(t / width).astype(np.int64)
    starts = np.flatnonzero(np.diff(place, prepend=place[0] - 1))
    known = np.isfinite(y)
    count = np.add.reduceat(known.astype(np.float64), starts)
    empty = count == 0
    total = np.add.reduceat(np.where(known, y, 0.0), starts)
    low = np.minimum.reduceat(np.where(known, y, np.inf), starts)
    high = np.maximum.reduceat(np.where(known, y, -np.inf), starts)
    mean = np.divide(total, count, out=np.full(len(starts), np.nan), where=~empty)
    low[empty] = high[empty] = np.nan
    return (place[starts] + 0.5) * width, mean, low, high


def pieces(y: Array) -> list[slice]:
    """The runs of known values."""
    known = np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], known, [False])).astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def polygon(x: Array, y: Array) -> QPolygonF:
    """A Qt polygon from two arrays, without a Python loop."""
    made: QPolygonF = pg.functions.arrayToQPolygonF(x, y)
    return made


class Series(pg.GraphicsObject):  # type: ignore[misc]
    """One line with its fill or its band, painted straight from arrays that are cut to what can be seen."""

    def __init__(self, line: Line) -> None:
        super().__init__()
        self.line = line
        self.t: Array = np.empty(0)
        self.y: Array = np.empty(0)
        self._base = 0.0
        self._lines: list[QPolygonF] = []
        # A wide line drawn piece by piece is many times as fast as one path, whose corners must all be joined.
        self._segments = internals.PrimitiveArray(QLineF, 4)
        # Columns a pixel wide: six times as fast as a polygon of as many corners.
        self._area = internals.PrimitiveArray(QRectF, 4)
        self._bounds = QRectF()

    def set_data(
        self,
        t: Array,
        y: Array,
        *,
        base: float,
        column: float,
        low: Array | None = None,
        high: Array | None = None,
    ) -> None:
        """What to draw; `low` and `high` make a band in place of the fill down to `base`.

        `column` is a pixel's width in seconds.
        """
        self.t, self.y, self._base = t, y, base
        runs = pieces(y)
        if self.line.dash:
            self._lines = [polygon(t[run], y[run]) for run in runs]
        else:
            self._segment(t, y)
        if low is None or high is None:
            low = high = y
        self._fill(runs, t, low, high, column)
        bounds = QRectF()
        if runs:
            bottom, top = min(float(np.nanmin(low)), base), float(np.nanmax(high))
            bounds = QRectF(float(t[0]), bottom, float(t[-1] - t[0]), top - bottom)
        if bounds != self._bounds:
            self.prepareGeometryChange()
            self._bounds = bounds
        self.update()

    def boundingRect(self) -> QRectF:
        """The data's own extent, a little wider for a flat line."""
        return self._bounds.adjusted(-1, -1, 1, 1)

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Area first, line above."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(self.line.colour, 0.10 if self.line.fill else 0.16))
        painter.drawRects(*self._area.drawargs())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(
            pen(theme.color(self.line.colour), 1.8 if self.line.dash or not self.line.fill else 1.6, self.line.dash)
        )
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if not self.line.dash:
            painter.drawLines(*self._segments.drawargs())
            return
        for line in self._lines:
            painter.drawPolyline(line)

    def _fill(self, runs: list[slice], t: Array, low: Array, high: Array, column: float) -> None:
        """The area from `low` to `high`, or down to the base where they are one line, in columns."""
        found = []
        for run in runs if self.line.fill or low is not high else ():
            part = t[run]
            x = np.arange(part[0], part[-1], column)
            top = np.interp(x + column / 2, part, high[run])
            bottom = np.full(len(x), self._base) if low is high else np.interp(x + column / 2, part, low[run])
            found.append(np.column_stack((x, bottom, np.full(len(x), column), top - bottom)))
        self._area.resize(sum(len(part) for part in found))
        if found and len(self._area):
            self._area.ndarray()[:] = np.concatenate(found)

    def _segment(self, t: Array, y: Array) -> None:
        """The pieces between neighbours that are both known."""
        known = np.isfinite(y)
        starts = np.flatnonzero(known[:-1] & known[1:])
        self._segments.resize(len(starts))
        if len(starts):
            pieces_ = self._segments.ndarray()
            pieces_[:, 0], pieces_[:, 1] = t[starts], y[starts]
            pieces_[:, 2], pieces_[:, 3] = t[starts + 1], y[starts + 1]

    def at(self, moment: float, reach: float) -> float | None:
        """The value nearest to a moment, None if the nearest is further than `reach` seconds or unknown."""
        if not len(self.t):
            return None
        right = int(np.searchsorted(self.t, moment))
        near = min((i for i in (right - 1, right) if 0 <= i < len(self.t)), key=lambda i: abs(self.t[i] - moment))
        value = float(self.y[near])
        return value if abs(self.t[near] - moment) <= reach and np.isfinite(value) else None


def pen(colour: QColor, width: float, dash: int = 0) -> QPen:
    """A pen that keeps its width whatever the scale; `dash` as in DASHES."""
    made = QPen(colour, width)
    made.setCosmetic(True)
    made.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    pattern = DASHES[dash % len(DASHES)]
    if pattern is not None:
        made.setDashPattern(list(pattern))
        made.setCapStyle(Qt.PenCapStyle.FlatCap)
    return made
