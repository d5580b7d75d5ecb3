"""What was sampled: the last minutes for the lines of Home, and the history of a month for Monitor.

A line over time as arrays of equal length, NaN where nothing is known: cut, thinned out, read.

Numpy alone, no Qt; times are seconds since the epoch.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ...core.results import GpuSample, Sample
from ...monitor import series
from ...monitor.history_writer import HistoryWriter
from .metrics import Metric

if TYPE_CHECKING:
    from ...monitor.history import History as Store
    from ...monitor.history import SeriesWindow


MAX_RECENT_SAMPLES = 90  # samples: a little more than the minute that Home shows
# Two samples further apart than this many seconds have a gap between them.
GAP_S = 3.5


class SampleHistory:
    """The latest samples, and a look into what the recorder keeps. A GPU is named by its index; -1 is the machine."""

    def __init__(self, recorder: HistoryWriter) -> None:
        self._recorder = recorder
        self._samples: deque[Sample] = deque(maxlen=MAX_RECENT_SAMPLES)
        self._last_responses: dict[str, GpuSample] = {}

    @property
    def store(self) -> Store | None:
        """All that is kept; None while it is being read."""
        return self._recorder.history

    @property
    def latest(self) -> Sample | None:
        """The newest sample."""
        return self._samples[-1] if self._samples else None

    @property
    def duration_s(self) -> float:
        """Seconds from the oldest of the latest samples to the newest."""
        return self._samples[-1].t - self._samples[0].t if self._samples else 0.0

    def add(self, sample: Sample) -> None:
        """A sample came in; the recorder has it already. A clock that was set back starts anew."""
        if self._samples and sample.t < self._samples[-1].t - GAP_S:
            self._samples.clear()
        self._samples.append(sample)
        self._last_responses |= {series.gpu_key(gpu): gpu for gpu in sample.gpus if gpu.state == "ready"}

    def since(self, metric: Metric, gpu: int, t: float, reach: float | None = None) -> SeriesWindow | None:
        """The raw values (divide by `metric.scale`) from the moment `t` on; None while the history is being read.

        They come in the resolution that reaches back to `reach`, else to `t`.
        """
        return self.series(self.series_name(metric, gpu), t, reach)

    def series(self, name: str, t: float, reach: float | None = None) -> SeriesWindow | None:
        """Any series of the history by its name, as `since` gives them."""
        history = self._recorder.history
        return history.since(name, t, resolution_from=reach) if history is not None else None

    def series_name(self, metric: Metric, gpu: int) -> str:
        """The name of a series in the history."""
        if gpu < 0:
            return metric.figure_name
        gpu_sample = next((each for each in self.gpus() if each.index == gpu), GpuSample(index=gpu))
        return series.series_name(gpu_sample, metric.figure_name)

    def recent_values(self, metric: Metric, gpu: int, seconds: float) -> list[tuple[float, float | None]]:
        """(time, value) of the last `seconds`; None where nothing was known, also in pauses of sampling."""
        latest = self.latest
        if latest is None:
            return []
        samples = [sample for sample in self._samples if sample.t >= latest.t - seconds]
        # By what a card is known by: its number may have been another card's.
        gpu_key = next((series.gpu_key(each) for each in latest.gpus if each.index == gpu), None)
        points = [(sample.t, metric.read(_sample_source(sample, gpu, gpu_key))[0]) for sample in samples]
        gaps: list[tuple[float, float | None]] = [
            (earlier.t + 1, None) for earlier, later in pairwise(samples) if later.t - earlier.t > GAP_S
        ]
        return sorted([*points, *gaps], key=lambda point: point[0]) if gaps else points

    def last_response(self, gpu: GpuSample) -> GpuSample:
        """The card as it was when it answered last: one that is silent tells its limits no more."""
        return replace(self._last_responses.get(series.gpu_key(gpu), gpu), index=gpu.index)

    def gpus(self) -> tuple[GpuSample, ...]:
        """The GPUs of the latest sample."""
        return self.latest.gpus if self.latest is not None else ()


def _sample_source(sample: Sample, gpu: int, gpu_key: str | None) -> Sample | GpuSample | None:
    return sample if gpu < 0 else next((each for each in sample.gpus if series.gpu_key(each) == gpu_key), None)


Array = np.ndarray[Any, np.dtype[np.float64]]

# Two samples further apart than this many sampling steps have a gap between them.
GAP_STEPS = 3.5
# Up to so many samples a pixel each is drawn; more become a mean line in the band of their extremes.
MAX_SAMPLES_PER_PIXEL = 1.5


class LineStyle(Struct, frozen=True, kw_only=True):
    """How a series looks: a token's name for its colour, a dash by GPU, its name in the reading box."""

    colour_token: str
    name: str = ""
    dash: int = 0
    fill: bool = True


class SeriesCurve(Struct, frozen=True, kw_only=True):
    """What was measured: times, means, lowest and highest values of stretches `step` seconds long."""

    t: Array
    mean: Array
    low: Array
    high: Array
    step: float

    def has_band(self, seconds_per_pixel: float) -> bool:
        """Whether it is drawn with the band of its extremes, where a pixel is `column` seconds wide."""
        return self.step > 1 or seconds_per_pixel > MAX_SAMPLES_PER_PIXEL * self.step

    def since(self, t: float) -> SeriesCurve:
        """From a moment on."""
        start = int(np.searchsorted(self.t, t))
        return SeriesCurve(
            t=self.t[start:], mean=self.mean[start:], low=self.low[start:], high=self.high[start:], step=self.step
        )

    def merge_newer(self, newer: SeriesCurve) -> SeriesCurve:
        """With newer stretches in place of those from their first one on."""
        if not len(newer.t):
            return self
        end = int(np.searchsorted(self.t, newer.t[0] - self.step / 2))
        parts = (
            np.concatenate((own[:end], new))
            for own, new in (
                (self.t, newer.t),
                (self.mean, newer.mean),
                (self.low, newer.low),
                (self.high, newer.high),
            )
        )
        t, mean, low, high = parts
        return SeriesCurve(t=t, mean=mean, low=low, high=high, step=self.step)

    def value_at(self, moment: float, tolerance: float) -> float | None:
        """The mean nearest to a moment, None if the nearest is further than `reach` seconds or unknown."""
        if not len(self.t):
            return None
        after = int(np.searchsorted(self.t, moment))
        nearest = min((i for i in (after - 1, after) if 0 <= i < len(self.t)), key=lambda i: abs(self.t[i] - moment))
        value = float(self.mean[nearest])
        return value if abs(self.t[nearest] - moment) <= tolerance and np.isfinite(value) else None

    def extremes(self, moment: float, tolerance: float) -> tuple[float, float] | None:
        """The lowest and the highest value of the stretches within `around` seconds of a moment."""
        near = (np.abs(self.t - moment) <= tolerance) & np.isfinite(self.low) & np.isfinite(self.high)
        return (float(self.low[near].min()), float(self.high[near].max())) if near.any() else None


EMPTY_CURVE = SeriesCurve(t=np.empty(0), mean=np.empty(0), low=np.empty(0), high=np.empty(0), step=1.0)


def downsample_curve(curve: SeriesCurve, seconds_per_pixel: float) -> SeriesCurve:
    """The curve as it is drawn where a pixel is `column` seconds wide: gaps are NaN, and no pixel has many samples.

    Stretches are cut at whole multiples of a column, so that a moving window does not make the line dance.
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
    """One stretch a column; one without a known value is a gap."""
    column_index = np.floor(curve.t / seconds_per_pixel)
    starts = np.flatnonzero(np.diff(column_index, prepend=column_index[0] - 1))
    known = np.isfinite(curve.mean)
    count = np.add.reduceat(known.astype(np.float64), starts)
    total = np.add.reduceat(np.where(known, curve.mean, 0.0), starts)
    mean = np.divide(total, count, out=np.full(len(starts), np.nan), where=count > 0)
    # These two leave out what is not known by themselves.
    low, high = np.fmin.reduceat(curve.low, starts), np.fmax.reduceat(curve.high, starts)
    return SeriesCurve(
        t=(column_index[starts] + 0.5) * seconds_per_pixel, mean=mean, low=low, high=high, step=seconds_per_pixel
    )


def finite_slices(y: Array) -> list[slice]:
    """The runs of known values."""
    known = np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], known, [False])).astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
