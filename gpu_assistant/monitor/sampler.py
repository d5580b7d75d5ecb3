"""One look at the whole machine: GPUs, processor and memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.results import Sample
from .patient import HUNG_S, WAIT_S, NonBlockingSampler

if TYPE_CHECKING:
    from ..system.nvml import NvmlMonitor


# Below this psutil's load of the processor means nothing (its documentation of cpu_percent).
MIN_CPU_INTERVAL_S = 0.1


def next_due(last_due: float, finished_at: float, interval: float) -> float:
    """When the next sample is due, `due` being when the last one was and `ended` when it was there.

    One that took long, as the first does, which opens the driver, is not caught up with: the next comes half an
    interval later at the earliest, for rates over a shorter time are noise.
    """
    return max(last_due + interval, finished_at + interval / 2)


class Sampler:
    """Takes samples; one thread at a time. Close it when nobody looks: an open one keeps cards awake.

    The processor's load is the mean since the sample before, or since creation; None where that was only just now,
    for the system counts in ticks and would make it 0 or 100. A driver that does not answer within `wait_s` seconds
    is called slow, from `hung_s` on hung.
    """

    def __init__(
        self,
        nvml: NvmlMonitor,
        clock: Callable[[], float] = time.time,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        wait_s: float = WAIT_S,
        hung_s: float = HUNG_S,
    ) -> None:
        import psutil

        self._driver = NonBlockingSampler(nvml, wait_s=wait_s, hung_s=hung_s)
        self._clock = clock
        self._monotonic = monotonic
        self._psutil = psutil
        psutil.cpu_percent(interval=None)
        self._cpu_read_at = monotonic()

    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
        """The machine just now; what nobody tells is None.

        Unless somebody is `looking`, what is dear to ask is left out: PCIe traffic, and processes, which nobody who
        does not want the `programs` pays for.
        """
        answer = self._driver.sample(looking=detailed, programs=processes)
        cpu = ram_used = ram_total = None
        try:
            if self._monotonic() - self._cpu_read_at >= MIN_CPU_INTERVAL_S:
                cpu = self._psutil.cpu_percent(interval=None)
                self._cpu_read_at = self._monotonic()
            memory = self._psutil.virtual_memory()
            # What programs cannot get: the system gives its caches back when asked.
            ram_total, ram_used = memory.total, memory.total - memory.available
        except (self._psutil.Error, OSError, RuntimeError):
            pass
        return Sample(
            t=self._clock(),
            gpus=answer.gpus,
            cpu=cpu,
            ram_used=ram_used,
            ram_total=ram_total,
            nvml=answer.state,
            driver=answer.driver,
        )

    def close(self) -> None:
        """Let go of the driver."""
        self._driver.close()
