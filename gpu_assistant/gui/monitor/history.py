"""What was sampled: the last minutes for the lines of Home, and the history of a month for Monitor."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...core.results import GpuSample, Sample
from ...monitor import series
from ...monitor.recorder import HistoryWriter
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
