"""Samples of the GPUs and their history, health rules and tests, benchmarks.

Sampler -> Sample -> HealthEvaluator -> Health        (on the sampling thread)
              `-> History -> baselines ---^           (read once an hour)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core.errors import AppError

if TYPE_CHECKING:
    from ..bench.history import StoredBenchmarks
    from ..bench.job import BenchmarkJob
    from ..bench.memory_fit import FitModel, MemoryFitJob
    from ..catalog.records.health import HealthRules
    from ..core.machine import Machine
    from ..core.results import Checks, GpuSample, Health, ModelFits, Sample
    from ..health.job import HealthJob
    from ..health.last_tests import CardTest
    from ..health.monitor import HealthMonitor
    from ..health.rules import FormFactor
    from ..health.safety import SamplerProtocol
    from ..monitor.history import History
    from ..monitor.sampler import Sampler
    from .context import AppContext


class MonitoringService:
    """Samples, history, health and benchmarks of this computer."""

    def __init__(self, context: AppContext) -> None:
        self._context = context

    def benchmark(self, environment: Path, *, full: bool = False, device: str | None = None) -> BenchmarkJob:
        """Measure the devices of an environment."""
        from ..bench.job import BenchmarkJob

        return BenchmarkJob(
            environment,
            self._context.system,
            self._context.data,
            full=full,
            device=device,
            catalog=self._context.catalog,
            start_limit=self._torch_load_timeout,
            simulated=self._context.simulated,
        )

    def estimate_memory(self, environment: Path, *, model: FitModel, batch: int, device: str) -> MemoryFitJob:
        """Measure the device memory that a training step needs; "cuda" means the GPU with the most memory."""
        from ..bench.memory_fit import MemoryFitJob

        return MemoryFitJob(
            environment,
            self._context.system,
            self._context.data,
            self._context.catalog,
            model=model,
            batch=batch,
            device=device,
            start_limit=self._torch_load_timeout,
            simulated=self._context.simulated,
        )

    def estimate_models(self, machine: Machine, *, model: str | None = None) -> ModelFits:
        """Which models fit into the memory of a machine's largest NVIDIA GPU, from published figures.

        Raises UsageError("model-unknown"), AppError("catalog-broken").
        """
        from ..bench.model_memory import estimate_for_machine

        return estimate_for_machine(self._context.catalog, machine, model=model)

    def missing_example_packages(self, environment: Path) -> dict[str, tuple[str, ...] | None]:
        """The packages of the example programs that an environment lacks, each with the command that installs it, or
        None where the catalog names no release for its PyTorch.
        """
        from ..bench.memory_fit import install_command
        from ..bench.training_snippet import EXAMPLE_MODELS
        from ..detect.frameworks import find_torch
        from ..install.files.installed_packages import SITE_PACKAGES_GLOBS

        folders = [folder for pattern in SITE_PACKAGES_GLOBS for folder in environment.glob(pattern)]
        build = find_torch(folders)
        python, operating_system = (
            self._context.system.environment_python(environment),
            self._context.system.operating_system(),
        )
        return {
            package: install_command(
                package, python, build.version if build is not None else None, self._context.catalog, operating_system
            )
            for package in sorted({example.package for example in EXAMPLE_MODELS.values()})
            if not any((folder / package).is_dir() for folder in folders)
        }

    def stored_benchmarks(self) -> StoredBenchmarks:
        """All stored benchmarks; files that cannot be read, or have another version, are counted only.

        Earlier versions judged by ranges that called most GPUs slow: what they stored is judged anew.
        """
        from ..bench.expected_ranges import judge_benchmark
        from ..bench.history import read_benchmarks

        stored = read_benchmarks(self._context.data.benchmarks)
        return stored._replace(
            benchmarks=tuple(
                judge_benchmark(benchmark, self._context.catalog)
                if any(result.device != "cpu" and result.judgement is None for result in benchmark.results)
                else benchmark
                for benchmark in stored.benchmarks
            )
        )

    def health_test(
        self,
        environment: Path | None,
        sampler: SamplerProtocol,
        *,
        level: int = 1,
        device: str | None = None,
        load_seconds: float | None = None,
    ) -> HealthJob:
        """Test the GPUs; nobody else may use `sampler` meanwhile.

        Without an `environment` level 1 queries the driver only.
        """
        from ..health.job import HealthJob

        return HealthJob(
            environment,
            self._context.system,
            self.health_rules,
            sampler,
            level=level,
            device=device,
            load_seconds=load_seconds,
            start_limit=self._torch_load_timeout,
            max_temperature=self.max_temperature,
            form_factor=self.form_factor,
            lanes=self.pcie_lanes,
            record=self._record_health_test,
        )

    def last_health_tests(self) -> dict[str, CardTest]:
        """The last health test of each GPU, by its key (`monitor.series.gpu_key`)."""
        from ..health.last_tests import read_last_tests

        return read_last_tests(self._context.data).cards

    def _record_health_test(self, checks: Checks, gpus: tuple[GpuSample, ...]) -> None:
        """Keep the outcome; a disk that cannot be written loses that, not the test's result."""
        from ..health.last_tests import record_test
        from ..monitor.series import gpu_key

        if not self._context.simulated:
            with suppress(AppError):
                record_test(self._context.data, checks, map(gpu_key, gpus), time.time())

    @property
    def _torch_load_timeout(self) -> float:
        """Seconds after which a PyTorch that has not loaded counts as hanging."""
        from ..catalog.estimates import load_durations

        return load_durations(self._context.catalog).torch_load_limit_seconds

    @cached_property
    def health_rules(self) -> HealthRules:
        """The thresholds of all alarms."""
        from ..catalog.records.health import HealthRules

        return self._context.catalog.read("health.json", HealthRules)

    def health_monitor(self) -> HealthMonitor:
        """A new monitor, to be updated with every sample."""
        from ..health.monitor import HealthMonitor

        return HealthMonitor(
            self.health_rules, max_temperature=self.max_temperature, form_factor=self.form_factor, lanes=self.pcie_lanes
        )

    def load_baselines(self, monitor: HealthMonitor, history: History, sample: Sample) -> None:
        """Set the usual temperatures of a sample's GPUs, and the last Xid error since the computer was started.

        Takes some milliseconds; once an hour is enough.
        """
        import psutil

        from ..health.baselines import baseline_from_history, last_reported_xid
        from ..monitor.series import gpu_key

        for gpu in sample.gpus:
            monitor.set_baseline(
                gpu.index, baseline_from_history(history, gpu_key(gpu), sample.t, self.health_rules.settling)
            )
            # A restart of the computer clears an Xid error.
            latest_xid = last_reported_xid(history, gpu_key(gpu), sample.t, self.health_rules, since=psutil.boot_time())
            if latest_xid is not None:
                monitor.record_xid(gpu, *latest_xid)

    def max_temperature(self, gpu: GpuSample) -> float | None:
        """The highest temperature by the data sheet, in °C; None if the catalog does not know the GPU."""
        reference = self._context.catalog.reference_card(gpu.name, gpu.mem_total) if gpu.name is not None else None
        return reference.max_temp_c if reference is not None else None

    def pcie_lanes(self, gpu: GpuSample) -> int | None:
        """The PCI Express lanes by the data sheet; None if the catalog does not know the GPU."""
        reference = self._context.catalog.reference_card(gpu.name, gpu.mem_total) if gpu.name is not None else None
        return reference.pcie_lanes if reference is not None else None

    def form_factor(self, gpu: GpuSample) -> FormFactor:
        """The kind of computer that a GPU is sold for, by its name; that of this computer where the name is unknown."""
        from ..catalog.gpu_names import is_laptop_name

        if gpu.name is not None and is_laptop_name(gpu.name):
            return "laptop"
        catalog_gpu = self._context.catalog.gpu_by_name(gpu.name) if gpu.name is not None else None
        if catalog_gpu is None:
            return "desktop" if self._context.system.laptop() is False else "any"
        return "laptop" if catalog_gpu.is_laptop else "server" if catalog_gpu.segment == "datacenter" else "desktop"

    def sampler(self) -> Sampler:
        """A new sampler of GPUs, CPU and memory."""
        from ..monitor.sampler import Sampler
        from ..system.nvml.monitor import NvmlMonitor

        try:
            drop_after_s = self.health_rules.forget_seconds
        except AppError:  # HealthEvaluator reports the error; sampling works without rules
            drop_after_s = None
        return Sampler(NvmlMonitor(self._context.system, drop_after_s=drop_after_s))

    def history(self) -> History:
        """The history of the last month, not yet read from the disk.

        For a simulated machine nothing is stored: a window of the real one may be writing the same files.
        """
        from ..monitor.history import History

        data = self._context.data
        if self._context.simulated:
            return History(None)
        with suppress(AppError):  # the history says itself where it cannot be written
            data.claim(data.history)
        return History(data.history)


BASELINE_REFRESH_S = 3600.0  # usual temperatures change over days
PROVISIONAL_STATES = ("well", "watching", "untold")  # states that the history may turn into an alarm


class HealthEvaluator:
    """Evaluates every sample with a `HealthMonitor`, on the thread that takes the samples.

    The monitor is created with the first sample. It gets the baselines from the history for each GPU when it first
    appears and for all once an hour; before that no GPU is reported as healthy. `cuda_state` is the outcome of the
    last check of CUDA ("pass", "fail"); any thread may set it. Once the rules could not be read, nothing is evaluated.
    """

    def __init__(
        self,
        create_monitor: Callable[[], HealthMonitor],
        load_baselines: Callable[[HealthMonitor, History, Sample], None],
    ) -> None:
        self._create_monitor = create_monitor
        self._load_baselines = load_baselines
        self._monitor: HealthMonitor | None = None
        self._next_refresh: float | None = None
        self._gpus_with_baseline: frozenset[str | int] = frozenset()
        self._rules_failed = False
        self.cuda_state: str | None = None

    def evaluate(self, sample: Sample, history: History | None) -> Health | None:
        """The health after a sample; `history` is None until it has been read. None if the rules cannot be read, for
        which AppError is raised once.
        """
        if self._rules_failed:
            return None
        if self._monitor is None:
            try:
                self._monitor = self._create_monitor()
            except AppError:
                self._rules_failed = True
                raise
        self._monitor.cuda_state = self.cuda_state
        if history is None:
            health = self._monitor.update(sample)
            return replace(health, state="unknown") if health.state in PROVISIONAL_STATES else health
        gpu_keys = frozenset(gpu.uuid or gpu.index for gpu in sample.gpus)
        due = self._next_refresh is None or not 0 < self._next_refresh - sample.t <= BASELINE_REFRESH_S
        if due or not gpu_keys <= self._gpus_with_baseline:  # a slow driver reports its GPUs late
            self._next_refresh = sample.t + BASELINE_REFRESH_S
            self._gpus_with_baseline = gpu_keys if due else self._gpus_with_baseline | gpu_keys
            self._load_baselines(self._monitor, history, sample)
        return self._monitor.update(sample)
