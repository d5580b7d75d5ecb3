"""What was sampled in the last hour, for the lines of Home and Monitor."""

from __future__ import annotations

import math
from itertools import pairwise

from ...core.results import GpuSample, Sample
from ...monitor.ring import Ring
from ...monitor.series import figures
from .metrics import Metric

CAPACITY = 3600 + 60
# Two samples further apart than this many seconds have a gap between them.
GAP_S = 3.5


class History:
    """A ring of figures and the latest sample. A GPU is named by its index; -1 is the machine itself."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._ring = Ring(capacity)
        self.latest: Sample | None = None

    def add(self, sample: Sample) -> None:
        """Keep a sample."""
        self.latest = sample
        self._ring.append(sample.t, figures(sample))

    def __len__(self) -> int:
        return len(self._ring)

    def window(self, metric: Metric, gpu: int, seconds: float | None = None) -> tuple[memoryview, memoryview | None]:
        """Times and raw values (divide by `metric.scale`), oldest first; valid until the next `add`."""
        times, series = self._ring.window(seconds)
        return times, series.get(metric.series(gpu))

    def last(self, metric: Metric, gpu: int, seconds: float) -> list[tuple[float, float | None]]:
        """(time, value) of the last `seconds`; None where nothing was known, also in pauses of sampling."""
        times, raw = self.window(metric, gpu, seconds)
        if raw is None:
            return []
        points: list[tuple[float, float | None]] = [
            (moment, None if math.isnan(value) else value / metric.scale)
            for moment, value in zip(times, raw, strict=True)
        ]
        holes: list[tuple[float, float | None]] = [
            (before + 1, None) for before, after in pairwise(times) if after - before > GAP_S
        ]
        return sorted([*points, *holes], key=lambda point: point[0]) if holes else points

    def gpus(self) -> tuple[GpuSample, ...]:
        """The GPUs of the latest sample."""
        return self.latest.gpus if self.latest is not None else ()
