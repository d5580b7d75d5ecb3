"""What was sampled: the last minutes for the lines of Home, and the history of a month for Monitor."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...core.results import GpuSample, Sample
from ...monitor import series
from ...monitor.recorder import Recorder
from .metrics import Metric

if TYPE_CHECKING:
    from ...monitor.history import History as Store
    from ...monitor.history import Window

LATEST = 90  # samples: a little more than the minute that Home shows
# Two samples further apart than this many seconds have a gap between them.
GAP_S = 3.5


class History:
    """The latest samples, and a look into what the recorder keeps. A GPU is named by its index; -1 is the machine."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._samples: deque[Sample] = deque(maxlen=LATEST)
        self._answered: dict[str, GpuSample] = {}

    @property
    def store(self) -> Store | None:
        """All that is kept; None while it is being read."""
        return self._recorder.history

    @property
    def latest(self) -> Sample | None:
        """The newest sample."""
        return self._samples[-1] if self._samples else None

    @property
    def seen_s(self) -> float:
        """Seconds from the oldest of the latest samples to the newest."""
        return self._samples[-1].t - self._samples[0].t if self._samples else 0.0

    def add(self, sample: Sample) -> None:
        """A sample came in; the recorder has it already. A clock that was set back starts anew."""
        if self._samples and sample.t < self._samples[-1].t - GAP_S:
            self._samples.clear()
        self._samples.append(sample)
        self._answered |= {series.card(gpu): gpu for gpu in sample.gpus if gpu.state == "ready"}

    def since(self, metric: Metric, gpu: int, t: float, reach: float | None = None) -> Window | None:
        """The raw values (divide by `metric.scale`) from the moment `t` on; None while the history is being read.

        They come in the resolution that reaches back to `reach`, else to `t`.
        """
        return self.series(self.name(metric, gpu), t, reach)

    def series(self, name: str, t: float, reach: float | None = None) -> Window | None:
        """Any series of the history by its name, as `since` gives them."""
        history = self._recorder.history
        return history.since(name, t, reach=reach) if history is not None else None

    def name(self, metric: Metric, gpu: int) -> str:
        """The name of a series in the history."""
        if gpu < 0:
            return metric.figure_name
        card = next((each for each in self.gpus() if each.index == gpu), GpuSample(index=gpu))
        return series.name(card, metric.figure_name)

    def last(self, metric: Metric, gpu: int, seconds: float) -> list[tuple[float, float | None]]:
        """(time, value) of the last `seconds`; None where nothing was known, also in pauses of sampling."""
        latest = self.latest
        if latest is None:
            return []
        shown = [sample for sample in self._samples if sample.t >= latest.t - seconds]
        # By what a card is known by: its number may have been another card's.
        who = next((series.card(each) for each in latest.gpus if each.index == gpu), None)
        points = [(sample.t, metric.read(_source(sample, gpu, who))[0]) for sample in shown]
        holes: list[tuple[float, float | None]] = [
            (before.t + 1, None) for before, after in pairwise(shown) if after.t - before.t > GAP_S
        ]
        return sorted([*points, *holes], key=lambda point: point[0]) if holes else points

    def as_answered(self, gpu: GpuSample) -> GpuSample:
        """The card as it was when it answered last: one that is silent tells its limits no more."""
        return replace(self._answered.get(series.card(gpu), gpu), index=gpu.index)

    def gpus(self) -> tuple[GpuSample, ...]:
        """The GPUs of the latest sample."""
        return self.latest.gpus if self.latest is not None else ()


def _source(sample: Sample, gpu: int, who: str | None) -> Sample | GpuSample | None:
    return sample if gpu < 0 else next((each for each in sample.gpus if series.card(each) == who), None)
