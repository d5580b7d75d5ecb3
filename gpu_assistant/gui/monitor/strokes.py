"""Lines and areas painted straight from arrays, in pixels and without a Python loop.

pyqtgraph turns arrays into Qt's shapes; it is imported here alone.
"""

from __future__ import annotations

import math

import numpy as np
from pyqtgraph.Qt import internals
from PySide6.QtCore import QLineF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from .history_model import Array, finite_slices

# Several GPUs differ by colour and by dash, so that nobody needs colour alone (look.md §6). In pixels: line, gap, ...
DASHES: tuple[tuple[float, ...] | None, ...] = (None, (5, 3), (1.5, 2.5), (6, 2.5, 1.5, 2.5))
# The same along the time axis, in whole pixels of a period: a line that moves on keeps its dashes.
_SHOWN: tuple[tuple[bool, ...], ...] = tuple(
    tuple(bool(pixel) for pixel in pattern)
    for pattern in ((1,), (1,) * 7 + (0,) * 4, (1,) * 2 + (0,) * 3, (1,) * 8 + (0,) * 3 + (1,) * 2 + (0,) * 3)
)

# One for all plots: they paint one after the other, on the window's thread.
_lines = internals.PrimitiveArray(QLineF, 4)


def line(painter: QPainter, x: Array, y: Array, *, dash: int = 0, origin: float = 0.0) -> None:
    """Join neighbours that are both known, with the painter's pen. `origin` is where a dash's period begins."""
    if dash:
        x, y = _by_pixels(x, y)
        pattern = np.array(_SHOWN[dash % len(_SHOWN)])
        shown = pattern[np.floor(x[:-1] - origin).astype(np.int64) % len(pattern)] if len(x) else np.empty(0, bool)
    else:
        shown = np.ones(max(len(x) - 1, 0), bool)
    known = np.isfinite(y)
    starts = np.flatnonzero(known[:-1] & known[1:] & shown)
    if not len(starts):
        return
    # A wide line drawn piece by piece is many times as fast as one path, whose corners must all be joined.
    _lines.resize(len(starts))
    made = _lines.ndarray()
    made[:, 0], made[:, 1] = x[starts], y[starts]
    made[:, 2], made[:, 3] = x[starts + 1], y[starts + 1]
    painter.drawLines(*_lines.drawargs())


def area(painter: QPainter, x: Array, low: Array, high: Array, *, height: int, colour: QColor) -> None:
    """Fill between two lines in columns of a pixel, `height` pixels high at most.

    As a picture of one colour: that is twenty times as fast as half-transparent shapes of as many corners.
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
    painter.drawImage(first, above, image)


def _premultiplied(colour: QColor) -> int:
    """As Qt's pictures with transparency want it: 0xAARRGGBB, each part times alpha."""
    alpha = colour.alpha()
    red, green, blue = (round(part * alpha / 255) for part in (colour.red(), colour.green(), colour.blue()))
    return alpha << 24 | red << 16 | green << 8 | blue


def pen(colour: QColor, width: float, dash: int = 0) -> QPen:
    """A pen; `dash` as in DASHES."""
    made = QPen(colour, width)
    made.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    pattern = DASHES[dash % len(DASHES)]
    if pattern is not None:
        made.setDashPattern(list(pattern))
        made.setCapStyle(Qt.PenCapStyle.FlatCap)
    return made


def _by_pixels(x: Array, y: Array) -> tuple[Array, Array]:
    """The same line with a corner at each whole pixel, runs of known values apart from each other by NaN."""
    xs, ys = [], []
    for run in finite_slices(y):
        part = x[run]
        at = np.arange(np.floor(part[0]), np.ceil(part[-1]) + 1)
        xs.append(np.append(at, at[-1] + 0.5))
        ys.append(np.append(np.interp(at, part, y[run]), np.nan))
    return (np.concatenate(xs), np.concatenate(ys)) if xs else (np.empty(0), np.empty(0))
