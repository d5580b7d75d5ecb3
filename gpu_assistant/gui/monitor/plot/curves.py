"""A series over time as arrays of equal length, NaN where a value is unknown: slicing, downsampling, reading.

Numpy alone, no Qt. Times are seconds since the epoch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

Array = np.ndarray[Any, np.dtype[np.float64]]

GAP_STEPS = 3.5  # samples further apart than this many steps are not joined
# With more samples per pixel, the mean is drawn with a band from lowest to highest value.
MAX_SAMPLES_PER_PIXEL = 1.5
# Logical pixels. Of lines of several GPUs those with an alarm are strong, and the others then thin: colours alone would
# not tell them apart for everyone, and paler ones would lack contrast.
LINE_WIDTH, STRONG_WIDTH, THIN_WIDTH = 1.6, 2.4, 1.0


class LineStyle(Struct, frozen=True, kw_only=True):
    """How a series is drawn: colour token, index of its dash pattern, name in the legend, area filled or not, width in
    logical pixels.
    """

    colour_token: str
    name: str = ""
    dash: int = 0
    fill: bool = True
    width: float = LINE_WIDTH

    @property
    def is_thin(self) -> bool:
        """Whether others beside it are strong."""
        return self.width <= THIN_WIDTH


class SeriesCurve(Struct, frozen=True, kw_only=True):
    """Time, mean, lowest and highest value of intervals that are `step` seconds long."""

    t: Array
    mean: Array
    low: Array
    high: Array
    step: float

    def has_band(self, seconds_per_pixel: float) -> bool:
        """Whether it is drawn with the band of its extremes."""
        return self.step > 1 or seconds_per_pixel > MAX_SAMPLES_PER_PIXEL * self.step

    def since(self, t: float) -> SeriesCurve:
        """The part from `t` on."""
        start = int(np.searchsorted(self.t, t))
        return SeriesCurve(
            t=self.t[start:], mean=self.mean[start:], low=self.low[start:], high=self.high[start:], step=self.step
        )

    def merge_newer(self, newer: SeriesCurve) -> SeriesCurve:
        """Replace the intervals from the first newer one on."""
        if not len(newer.t):
            return self
        end = int(np.searchsorted(self.t, newer.t[0] - self.step / 2))
        parts = (
            np.concatenate((old[:end], new))
            for old, new in (
                (self.t, newer.t),
                (self.mean, newer.mean),
                (self.low, newer.low),
                (self.high, newer.high),
            )
        )
        t, mean, low, high = parts
        return SeriesCurve(t=t, mean=mean, low=low, high=high, step=self.step)

    def value_at(self, moment: float, tolerance: float) -> float | None:
        """The mean nearest to a moment; None if it is unknown or further than `tolerance` seconds away."""
        if not len(self.t):
            return None
        after = int(np.searchsorted(self.t, moment))
        nearest = min((i for i in (after - 1, after) if 0 <= i < len(self.t)), key=lambda i: abs(self.t[i] - moment))
        value = float(self.mean[nearest])
        return value if abs(self.t[nearest] - moment) <= tolerance and np.isfinite(value) else None

    def extremes(self, moment: float, tolerance: float) -> tuple[float, float] | None:
        """(lowest, highest) value within `tolerance` seconds of a moment; None if it is unknown."""
        near = (np.abs(self.t - moment) <= tolerance) & np.isfinite(self.low) & np.isfinite(self.high)
        return (float(self.low[near].min()), float(self.high[near].max())) if near.any() else None


EMPTY_CURVE = SeriesCurve(t=np.empty(0), mean=np.empty(0), low=np.empty(0), high=np.empty(0), step=1.0)


def downsample_curve(curve: SeriesCurve, seconds_per_pixel: float) -> SeriesCurve:
    """The curve as it is drawn: gaps are NaN, and each pixel column has at most MAX_SAMPLES_PER_PIXEL samples.

    Columns begin at multiples of `seconds_per_pixel`, so that the line does not change while the window moves.
    """
    if seconds_per_pixel > MAX_SAMPLES_PER_PIXEL * curve.step and len(curve.t):
        curve = _aggregate_columns(curve, seconds_per_pixel)
    gaps = np.flatnonzero(np.diff(curve.t) > GAP_STEPS * curve.step) + 1
    if not len(gaps):
        return curve
    t = np.insert(curve.t, gaps, curve.t[gaps - 1] + curve.step)
    mean, low, high = (np.insert(part, gaps, np.nan) for part in (curve.mean, curve.low, curve.high))
    return SeriesCurve(t=t, mean=mean, low=low, high=high, step=curve.step)


def _aggregate_columns(curve: SeriesCurve, seconds_per_pixel: float) -> SeriesCurve:
    """One interval for each pixel column; one without a known value is a gap."""
    column_index = np.floor(curve.t / seconds_per_pixel)
    starts = np.flatnonzero(np.diff(column_index, prepend=column_index[0] - 1))
    known = np.isfinite(curve.mean)
    count = np.add.reduceat(known.astype(np.float64), starts)
    total = np.add.reduceat(np.where(known, curve.mean, 0.0), starts)
    mean = np.divide(total, count, out=np.full(len(starts), np.nan), where=count > 0)
    # fmin and fmax ignore NaN.
    low, high = np.fmin.reduceat(curve.low, starts), np.fmax.reduceat(curve.high, starts)
    return SeriesCurve(
        t=(column_index[starts] + 0.5) * seconds_per_pixel, mean=mean, low=low, high=high, step=seconds_per_pixel
    )


def finite_slices(y: Array) -> list[slice]:
    """The slices of consecutive known values."""
    known = np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], known, [False])).astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
