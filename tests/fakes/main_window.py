"""The main area's services: samples come when the test says so."""

from __future__ import annotations

import queue
import time

from msgspec.structs import replace

from gpu_assistant.core.results import Benchmark, GpuSample, Sample
from gpu_assistant.gui.main.window import MainWindow
from gpu_assistant.install.environments import Environment

from .app import GIB, FakeApp

ENVIRONMENT = Environment(
    path="/environments/pytorch",
    name="pytorch",
    torch="2.13.0",
    variant="cpu",
    python="3.11.14",
    bytes=912_000_000,
    created=1_790_000_000.0,
)


def gpu(index: int = 0, **changes) -> GpuSample:
    made = GpuSample(
        index=index,
        name="NVIDIA GeForce RTX 4060",
        util=97,
        mem_used=int(5.6 * GIB),
        mem_total=8 * GIB,
        temp=66,
        power_w=112.0,
        power_limit_w=115.0,
        clock_sm=2730,
        fan=41,
        throttle=(),
    )
    return replace(made, **changes)


def sample(*gpus: GpuSample, t: float | None = None, cpu: float | None = 37.0) -> Sample:
    return Sample(t=time.time() if t is None else t, gpus=gpus, cpu=cpu, ram_used=6 * GIB, ram_total=24 * GIB)


class FakeSampler:
    """Gives what the test puts; waits as a driver would."""

    def __init__(self) -> None:
        self.waiting: queue.Queue[Sample] = queue.Queue()
        self.nvml_state = "absent"

    def sample(self) -> Sample:
        try:
            return self.waiting.get(timeout=0.05)
        except queue.Empty:
            return sample()

    def close(self) -> None:
        pass


class FakeMain(FakeApp):
    """The fake services, with a sampler and benchmarks of before."""

    def __init__(self, *given, **named) -> None:
        super().__init__(*given, **named)
        self.samplers = FakeSampler()
        self.kept: list[Benchmark] = []
        self.settings = replace(self.settings, setup_done=True)
        self.known = (ENVIRONMENT,)

    def sampler(self) -> FakeSampler:
        return self.samplers

    def benchmarks(self) -> tuple[Benchmark, ...]:
        return tuple(self.kept)


def feed(window: MainWindow, *samples: Sample) -> None:
    """Hands samples to the window as its sampling thread would."""
    sampling = window.area.sampling
    for each in samples:
        sampling._deliver(each, "ready" if each.gpus else "absent")
