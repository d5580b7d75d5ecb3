"""Watches the GPUs while a test loads them: records their readings, and stops the test before one is too hot."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from msgspec import Struct

from ..core.results import Alarm, GpuSample, Sample
from .monitor import MIN_SAMPLES

if TYPE_CHECKING:
    from ..catalog.records.health import HealthTestSettings
    from .monitor import HealthMonitor


SAMPLE_INTERVAL_S = 1.0
POLL_S = 0.05  # how soon a cancel is passed on
MAX_POINTS = 7200  # of a curve; a longer test records every second sample, then every fourth


class SamplerProtocol(Protocol):
    """`monitor.sampler.Sampler`."""

    def sample(self, *, detailed: bool = ..., processes: bool = ...) -> Sample:
        """The computer now; never raises. `detailed` adds what disturbs what is being timed."""
        ...


class Overheating(Struct, frozen=True, kw_only=True):
    """A GPU that reached the temperature at which a test stops, in °C."""

    gpu: GpuSample
    temp: float
    limit: float


def stop_temperature(
    gpu: GpuSample, tests: HealthTestSettings, max_temperature: Callable[[GpuSample], float | None]
) -> float:
    """°C at which a test stops."""
    if gpu.temp_slow is not None:
        return gpu.temp_slow - tests.stop_before_slow
    max_temp = gpu.temp_max if gpu.temp_max is not None else max_temperature(gpu)
    limit = tests.stop_unknown_c if max_temp is None else max_temp + tests.stop_beyond_max
    return limit if gpu.temp_shutdown is None else min(limit, gpu.temp_shutdown - tests.stop_before_shutdown)


class SafetyMonitor:
    """A thread that samples each `interval` seconds during one test.

    `stop` is set by the user's `cancel`, by heat, and by a lost GPU.

    `readings` are (seconds since the test began, the GPU) by index, `latest` is the newest sample, `alarms` are all
    alarms of `monitor` during the test, each with its last figures.
    """

    def __init__(
        self,
        sampler: SamplerProtocol,
        cancel: threading.Event,
        limit: Callable[[GpuSample], float],
        monitor: HealthMonitor,
        *,
        interval: float = SAMPLE_INTERVAL_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.stop = threading.Event()
        self.overheating: Overheating | None = None
        self.lost_gpu: GpuSample | None = None
        self.readings: dict[int, list[tuple[float, GpuSample]]] = {}
        self.latest: Sample | None = None
        self.alarms: dict[tuple[str, int | None], Alarm] = {}
        self._monitor = monitor
        self._has_pending = False
        self._condition = threading.Condition()
        self._sampler = sampler
        self._cancel = cancel
        self._limit = limit
        self._interval = interval
        self._clock = clock
        self._started_at = clock()
        self._stride = 1
        self._count = 0
        self._hot_samples = 0
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._run, name="safety monitor")

    def __enter__(self) -> Self:
        self.take_sample()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._finished.set()
        self._thread.join()

    def wait_for_alarms(self, seconds: float) -> None:
        """Go on sampling while conditions of an alarm hold, but not long enough yet; at most so long, or until `stop`.

        Of a GPU that is too hot, conditions that held in two samples are alarms: there is no waiting.
        """
        with self._condition:
            self._condition.wait_for(lambda: not self._has_pending or self.stop.is_set(), seconds)
            if self.overheating is not None:
                self._condition.wait_for(lambda: self._hot_samples >= MIN_SAMPLES or self._cancel.is_set(), seconds)

    def wait_until(self, condition: Callable[[Sample], bool], seconds: float) -> None:
        """Go on sampling until a sample meets the condition, at most so long, or until `stop`."""
        with self._condition:
            self._condition.wait_for(
                lambda: (self.latest is not None and condition(self.latest)) or self.stop.is_set(), seconds
            )

    def _run(self) -> None:
        next_due = self._clock() + self._interval
        while not self._finished.wait(min(POLL_S, self._interval)):
            if self._cancel.is_set():
                with self._condition:
                    self.stop.set()
                    self._condition.notify_all()
                return
            if self._clock() >= next_due:
                self.take_sample()
                next_due = self._clock() + self._interval  # a slow sample is not caught up with

    def take_sample(self) -> None:
        """Take a sample now; the thread does so each `interval`."""
        sample = self.latest = self._sampler.sample(detailed=False, processes=False)
        health = self._monitor.update(sample)
        self.alarms |= {(alarm.id, alarm.gpu): alarm for alarm in health.alarms}
        elapsed = self._clock() - self._started_at
        # Another GPU may get the index of a removed one, and its readings would be added to that one's.
        gpu_removed = any(gpu.state == "gone" for gpu in sample.gpus)
        for gpu in sample.gpus:
            if gpu.state in ("lost", "gone") and gpu.index in self.readings:
                self.lost_gpu = gpu
                self.stop.set()
            if gpu.state != "ready" or gpu_removed:
                continue
            points = self.readings.setdefault(gpu.index, [])
            if not points or self._count % self._stride == 0:
                points.append((elapsed, gpu))
            limit = self._limit(gpu)
            if gpu.temp is not None and gpu.temp >= limit:
                self.overheating = self.overheating or Overheating(gpu=gpu, temp=gpu.temp, limit=limit)
                self.stop.set()
        if self.overheating is not None:
            self._hot_samples += 1
            pending_alarms = self._monitor.pending_alarms(self.overheating.gpu.index)
            self.alarms = {(alarm.id, alarm.gpu): alarm for alarm in pending_alarms} | self.alarms
        self._count += 1
        if any(len(points) > MAX_POINTS for points in self.readings.values()):
            self._stride *= 2
            for points in self.readings.values():
                del points[1::2]
        with self._condition:
            self._has_pending = bool(health.watching)
            self._condition.notify_all()
