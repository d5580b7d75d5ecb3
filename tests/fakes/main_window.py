"""The main area's services: samples come when the test says so."""

from __future__ import annotations

import time
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication, QEvent

from gpu_assistant.bench.history import StoredBenchmarks
from gpu_assistant.catalog.records.health import HealthRules
from gpu_assistant.core.results import Benchmark, GpuSample, Sample
from gpu_assistant.gui.main.window import MainWindow
from gpu_assistant.gui.monitor.sampling import SamplingService
from gpu_assistant.health.last_tests import CardTest
from gpu_assistant.health.monitor import HealthMonitor
from gpu_assistant.install.environment.location import Environment
from gpu_assistant.monitor.history import History

from .app import FakeApp, FakeJob
from .examples import GIB

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
    """Gives what the test fed last, with the time of now; takes a moment, as a driver does."""

    def __init__(self) -> None:
        self.current = sample()

    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
        time.sleep(0.02)
        return replace(self.current, t=time.time())

    def close(self) -> None:
        pass


class FakeMain(FakeApp):
    """The fake services, with a sampler and benchmarks of before."""

    def __init__(self, *given, **named) -> None:
        super().__init__(*given, **named)
        self.samplers = FakeSampler()
        self.stored: list[Benchmark] = []
        self.unreadable = 0
        self.health_tests: dict[str, CardTest] = {}
        self.lacks: dict[str, tuple[str, ...] | None] = {}
        self.settings = replace(self.settings, setup_done=True)
        self.known = (ENVIRONMENT,)

    def sampler(self) -> FakeSampler:
        return self.samplers

    def history(self) -> History:
        return History()

    @property
    def health_rules(self) -> HealthRules:
        return self.catalog.read("health.json", HealthRules)

    def health_test(
        self,
        environment: Path | None,
        sampler: FakeSampler,
        *,
        level: int = 1,
        device: str | None = None,
        load_seconds: float | None = None,
    ) -> FakeJob:
        wishes = "".join(f" {each}" for each in (device, load_seconds) if each is not None)
        self.calls.append(f"health {level} {environment}{wishes}")
        return FakeJob(self.results["health"], self.events.get("health", ()), self.gate)

    def health_monitor(self) -> HealthMonitor:
        return HealthMonitor(self.health_rules, form_factor=lambda _: "desktop")

    def max_temperature(self, gpu: GpuSample) -> float | None:
        return None

    def load_baselines(self, monitor: HealthMonitor, history: History, sample: Sample) -> None:
        pass

    def missing_example_packages(self, environment: Path) -> dict[str, tuple[str, ...] | None]:
        return self.lacks

    def last_health_tests(self) -> dict[str, CardTest]:
        return self.health_tests

    def stored_benchmarks(self) -> StoredBenchmarks:
        return StoredBenchmarks(tuple(self.stored), unreadable=self.unreadable)


def stop_sampling(sampling: SamplingService) -> None:
    """From now on the test delivers the samples; those that are still queued are dropped."""
    assert sampling.stop()
    QCoreApplication.sendPostedEvents(sampling, QEvent.Type.MetaCall)


def feed(window: MainWindow, *samples: Sample, state: str | None = None) -> None:
    """Delivers samples to the window in place of its sampling thread, which is ended."""
    sampling, sampler = window.main_area.sampling, window.app.samplers
    stop_sampling(sampling)
    stored = History()  # empty
    for each in samples:
        sampler.current = replace(each, nvml=state or ("ready" if each.gpus else "absent"))
        sampling.writer.add_sample(sampler.current)
        sampling.deliver(sampler.current, sampling.evaluator.evaluate(sampler.current, stored))
