"""One look at the whole machine: GPUs, processor and memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.results import Sample

if TYPE_CHECKING:
    from ..system.nvml import Nvml, NvmlState


# Below this psutil's load of the processor means nothing (its documentation of cpu_percent).
SHORTEST_S = 0.1


class Sampler:
    """Takes samples; one thread at a time. Close it when nobody looks: an open one keeps cards awake.

    The processor's load is the mean since the sample before, or since creation; None where that was only just now,
    for the system counts in ticks and would make it 0 or 100.
    """

    def __init__(
        self, nvml: Nvml, clock: Callable[[], float] = time.time, *, steady: Callable[[], float] = time.monotonic
    ) -> None:
        import psutil

        self._nvml = nvml
        self._clock = clock
        self._steady = steady
        self._psutil = psutil
        psutil.cpu_percent(interval=None)
        self._counted = steady()

    @property
    def nvml_state(self) -> NvmlState:
        """Whether the NVIDIA driver answers, and if not, why (text `monitor.nvml.<state>`)."""
        return self._nvml.state

    def sample(self) -> Sample:
        """The machine just now; never raises, what nobody tells is None."""
        gpus = self._nvml.sample()
        cpu = ram_used = ram_total = None
        try:
            if self._steady() - self._counted >= SHORTEST_S:
                cpu = self._psutil.cpu_percent(interval=None)
                self._counted = self._steady()
            memory = self._psutil.virtual_memory()
            # What programs cannot get: the system gives its caches back when asked.
            ram_total, ram_used = memory.total, memory.total - memory.available
        except (self._psutil.Error, OSError, RuntimeError):
            pass
        return Sample(t=self._clock(), gpus=gpus, cpu=cpu, ram_used=ram_used, ram_total=ram_total)

    def close(self) -> None:
        """Let go of the driver."""
        self._nvml.close()
