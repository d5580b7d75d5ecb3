"""Looks at the cards while they are made to work: their curves, and a stop before they get too hot."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from msgspec import Struct

from ..core.health import Alarm
from ..core.results import GpuSample, Sample
from .watch import LEAST_SAMPLES

if TYPE_CHECKING:
    from ..catalog.health import Tests
    from .watch import Watch

PERIOD_S = 1.0
TICK_S = 0.05  # how soon a Cancel is passed on
MOST_POINTS = 7200  # of a curve; a longer test keeps every second look, then every fourth


class Looks(Protocol):
    """The monitor's sampler."""

    def sample(self) -> Sample:
        """The machine just now; never raises."""
        ...


class TooHot(Struct, frozen=True, kw_only=True):
    """A card that reached the temperature at which a test stops, in °C."""

    gpu: GpuSample
    temp: float
    limit: float


def stop_limit(gpu: GpuSample, tests: Tests, allowed: Callable[[GpuSample], float | None]) -> float:
    """°C at which a test stops."""
    if gpu.temp_slow is not None:
        return gpu.temp_slow - tests.stop_before_slow
    most = gpu.temp_max if gpu.temp_max is not None else allowed(gpu)
    limit = tests.stop_unknown_c if most is None else most + tests.stop_beyond_max
    return limit if gpu.temp_shutdown is None else min(limit, gpu.temp_shutdown - tests.stop_before_shutdown)


class Minder:
    """A thread for the time of one test. `stop` is set by the user's `cancel`, by heat, and by a card that is lost.

    `seen` holds (seconds from the beginning, the card) for each card that answered; `last` the newest sample; `alarms`
    what `watch` said of the cards at any time, each with its last figures.
    """

    def __init__(
        self,
        looks: Looks,
        cancel: threading.Event,
        limit: Callable[[GpuSample], float],
        watch: Watch,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.stop = threading.Event()
        self.too_hot: TooHot | None = None
        self.lost: GpuSample | None = None
        self.seen: dict[int, list[tuple[float, GpuSample]]] = {}
        self.last: Sample | None = None
        self.alarms: dict[tuple[str, int | None], Alarm] = {}
        self._watch = watch
        self._watching = False
        self._news = threading.Condition()
        self._looks = looks
        self._cancel = cancel
        self._limit = limit
        self._clock = clock
        self._began = clock()
        self._every = 1
        self._count = 0
        self._hot_looks = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="health minder")

    def __enter__(self) -> Self:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def settle(self, seconds: float) -> None:
        """Look on while conditions of an alarm hold that have yet to last, at most so long, or until the `stop`. Of a
        card that is too hot, what held in two looks counts: nobody waits there for it to last.
        """
        with self._news:
            self._news.wait_for(lambda: not self._watching or self.stop.is_set(), seconds)
            if self.too_hot is not None:
                self._news.wait_for(lambda: self._hot_looks >= LEAST_SAMPLES or self._cancel.is_set(), seconds)

    def wait_until(self, met: Callable[[Sample], bool], seconds: float) -> None:
        """Look on until a sample is so, at most so long, or until the `stop`."""
        with self._news:
            self._news.wait_for(lambda: (self.last is not None and met(self.last)) or self.stop.is_set(), seconds)

    def _run(self) -> None:
        due = self._clock() + PERIOD_S
        while not self._over.wait(TICK_S):
            if self._cancel.is_set():
                with self._news:
                    self.stop.set()
                    self._news.notify_all()
                return
            if self._clock() >= due:
                self._look()
                due = self._clock() + PERIOD_S  # a look that took long is not caught up with

    def _look(self) -> None:
        sample = self.last = self._looks.sample()
        health = self._watch.look(sample)
        self.alarms |= {(alarm.id, alarm.gpu): alarm for alarm in health.alarms}
        moment = self._clock() - self._began
        # A card that is gone leaves its number to the next one, whose points would be taken for its own.
        moved = any(gpu.state == "gone" for gpu in sample.gpus)
        for gpu in sample.gpus:
            if gpu.state in ("lost", "gone") and gpu.index in self.seen:
                self.lost = gpu
                self.stop.set()
            if gpu.state != "ready" or moved:
                continue
            points = self.seen.setdefault(gpu.index, [])
            if not points or self._count % self._every == 0:
                points.append((moment, gpu))
            limit = self._limit(gpu)
            if gpu.temp is not None and gpu.temp >= limit:
                self.too_hot = self.too_hot or TooHot(gpu=gpu, temp=gpu.temp, limit=limit)
                self.stop.set()
        if self.too_hot is not None:
            self._hot_looks += 1
            pending = self._watch.pending(self.too_hot.gpu.index)
            self.alarms = {(alarm.id, alarm.gpu): alarm for alarm in pending} | self.alarms
        self._count += 1
        if any(len(points) > MOST_POINTS for points in self.seen.values()):
            self._every *= 2
            for points in self.seen.values():
                del points[1::2]
        with self._news:
            self._watching = bool(health.watching)
            self._news.notify_all()
