"""The samples for the window: the last minute for Home, and a view into the stored month for Monitor.

Numpy is not imported here: Home needs the last minute only, and the window is shown before numpy is loaded.
Times are seconds since the epoch. A GPU is named by its index; -1 is the machine itself.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...core.results import GpuSample, Sample
from ...monitor import series
from ...monitor.history_writer import HistoryWriter
from .metrics import Metric

if TYPE_CHECKING:
    from ...monitor.history import History as Store
    from ...monitor.history import SeriesWindow


MAX_RECENT_SAMPLES = 90  # a little more than the minute that Home shows
GAP_S = 3.5  # two recent samples further apart have a gap between them


class SampleHistory:
    """The latest samples, and the history of a `HistoryWriter`."""

    def __init__(self, writer: HistoryWriter) -> None:
        self._writer = writer
        self._samples: deque[Sample] = deque(maxlen=MAX_RECENT_SAMPLES)
        self._last_responses: dict[str, GpuSample] = {}

    @property
    def store(self) -> Store | None:
        """The stored history; None until it is read."""
        return self._writer.history

    @property
    def latest(self) -> Sample | None:
        """The newest sample."""
        return self._samples[-1] if self._samples else None

    @property
    def duration_s(self) -> float:
        """Seconds from the oldest of the latest samples to the newest."""
        return self._samples[-1].t - self._samples[0].t if self._samples else 0.0

    def add(self, sample: Sample) -> None:
        """Add a sample, which the writer has already. Where the clock was set back, earlier samples are dropped."""
        if self._samples and sample.t < self._samples[-1].t - GAP_S:
            self._samples.clear()
        self._samples.append(sample)
        self._last_responses |= {series.gpu_key(gpu): gpu for gpu in sample.gpus if gpu.state == "ready"}

    def since(self, metric: Metric, gpu: int, t: float, reach: float | None = None) -> SeriesWindow | None:
        """The raw values from `t` on (divide by `metric.scale`); None until the stored history is read.

        They have the resolution that reaches back to `reach`, else to `t`.
        """
        return self.series(self.series_name(metric, gpu), t, reach)

    def series(self, name: str, t: float, reach: float | None = None) -> SeriesWindow | None:
        """Any series of the stored history by its name; as `since`."""
        history = self._writer.history
        return history.since(name, t, resolution_from=reach) if history is not None else None

    def series_name(self, metric: Metric, gpu: int) -> str:
        """The name of a series in the stored history."""
        if gpu < 0:
            return metric.figure_name
        gpu_sample = next((each for each in self.gpus() if each.index == gpu), GpuSample(index=gpu))
        return series.series_name(gpu_sample, metric.figure_name)

    def recent_values(self, metric: Metric, gpu: int, seconds: float) -> list[tuple[float, float | None]]:
        """(time, value) of the last `seconds`; None for unknown values and for pauses of sampling."""
        latest = self.latest
        if latest is None:
            return []
        samples = [sample for sample in self._samples if sample.t >= latest.t - seconds]
        # By the GPU's key, since its index may have belonged to another GPU.
        gpu_key = next((series.gpu_key(each) for each in latest.gpus if each.index == gpu), None)
        points = [(sample.t, metric.read(_sample_source(sample, gpu, gpu_key))[0]) for sample in samples]
        gaps: list[tuple[float, float | None]] = [
            (earlier.t + 1, None) for earlier, later in pairwise(samples) if later.t - earlier.t > GAP_S
        ]
        return sorted([*points, *gaps], key=lambda point: point[0]) if gaps else points

    def last_response(self, gpu: GpuSample) -> GpuSample:
        """The GPU when it last responded: without a response its limits are unknown."""
        return replace(self._last_responses.get(series.gpu_key(gpu), gpu), index=gpu.index)

    def gpus(self) -> tuple[GpuSample, ...]:
        """The GPUs of the latest sample."""
        return self.latest.gpus if self.latest is not None else ()


def _sample_source(sample: Sample, gpu: int, gpu_key: str | None) -> Sample | GpuSample | None:
    return sample if gpu < 0 else next((each for each in sample.gpus if series.gpu_key(each) == gpu_key), None)
