"""What a computer does and can: live figures, their past, health, benchmarks.

Whether the cards are well, asked of every sample on the thread that takes it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core.errors import AppError
from .context import AppContext

if TYPE_CHECKING:
    from ..bench.job import BenchmarkJob
    from ..bench.memory_fit import FitModel, MemoryFitJob
    from ..bench.results import StoredBenchmarks
    from ..catalog.records.health import HealthRules
    from ..core.results import GpuSample, Health, Sample
    from ..health.baselines import FormFactor
    from ..health.job import HealthJob
    from ..health.monitor import HealthMonitor
    from ..health.safety import SamplerProtocol
    from ..monitor.history import History
    from ..monitor.sampler import Sampler


class MonitoringService(AppContext):
    """What a computer does and can: live figures, their past, health, benchmarks."""

    def benchmark(self, environment: Path, *, full: bool = False, device: str | None = None) -> BenchmarkJob:
        """Measure an environment's devices."""
        from ..bench.job import BenchmarkJob

        return BenchmarkJob(
            environment,
            self.system,
            self.data,
            full=full,
            device=device,
            catalog=self.catalog,
            start_limit=self._torch_load_timeout,
            simulated=self.simulated,
        )

    def estimate_memory(self, environment: Path, *, model: FitModel, batch: int, device: str) -> MemoryFitJob:
        """What a training step of a model needs of a device's memory; "cuda" is the card with the most."""
        from ..bench.memory_fit import MemoryFitJob

        return MemoryFitJob(
            environment,
            self.system,
            self.data,
            self.catalog,
            model=model,
            batch=batch,
            device=device,
            start_limit=self._torch_load_timeout,
            simulated=self.simulated,
        )

    def missing_example_packages(self, environment: Path) -> dict[str, tuple[str, ...] | None]:
        """The packages of our example programs that an environment does not have, each with the command that brings it;
        None: nobody knows which release of it belongs to the PyTorch there.
        """
        from ..bench.memory_fit import install_command
        from ..bench.training_snippet import EXAMPLE_MODELS
        from ..detect import pythons
        from ..install.files.inventory import SITE_PACKAGES_GLOBS

        folders = [folder for pattern in SITE_PACKAGES_GLOBS for folder in environment.glob(pattern)]
        build = pythons.find_torch(folders)
        python, operating_system = self.system.environment_python(environment), self.system.operating_system()
        return {
            package: install_command(
                package, python, build.version if build is not None else None, self.catalog, operating_system
            )
            for package in sorted({example.package for example in EXAMPLE_MODELS.values()})
            if not any((folder / package).is_dir() for folder in folders)
        }

    def stored_benchmarks(self) -> StoredBenchmarks:
        """The benchmarks kept so far; one that cannot be read, or is another version's, is left out and counted."""
        from ..bench.results import read_benchmarks

        return read_benchmarks(self.data.benchmarks)

    def health_test(
        self,
        environment: Path | None,
        sampler: SamplerProtocol,
        *,
        level: int = 1,
        device: str | None = None,
        load_seconds: float | None = None,
    ) -> HealthJob:
        """Test whether the cards are sound; `looks` is a sampler that nobody else uses meanwhile.

        Without an `environment` the first level asks the driver alone.
        """
        from ..health.job import HealthJob

        return HealthJob(
            environment,
            self.system,
            self.health_rules,
            sampler,
            level=level,
            device=device,
            load_seconds=load_seconds,
            start_limit=self._torch_load_timeout,
            max_temperature=self.max_temperature,
            form_factor=self.form_factor,
            lanes=self.pcie_lanes,
        )

    @property
    def _torch_load_timeout(self) -> float:
        """Seconds after which a PyTorch that does not load is taken for one that hangs."""
        from ..catalog.estimates import load_durations

        return load_durations(self.catalog).torch_load_limit_seconds

    @cached_property
    def health_rules(self) -> HealthRules:
        """When a card is not well."""
        from ..catalog.records.health import HealthRules

        return self.catalog.read("health.json", HealthRules)

    def health_monitor(self) -> HealthMonitor:
        """Whether the cards are well: give it every sample, and it says so."""
        from ..health.monitor import HealthMonitor

        return HealthMonitor(
            self.health_rules, max_temperature=self.max_temperature, form_factor=self.form_factor, lanes=self.pcie_lanes
        )

    def load_baselines(self, monitor: HealthMonitor, history: History, sample: Sample) -> None:
        """Tell a watch how hot the cards of a sample usually are, and what the driver reported of them since the
        computer was started; it takes some milliseconds, once an hour will do.
        """
        import psutil

        from ..health.baselines import baseline_from_history, last_reported_xid
        from ..monitor.series import gpu_key

        for gpu in sample.gpus:
            monitor.set_baseline(
                gpu.index, baseline_from_history(history, gpu_key(gpu), sample.t, self.health_rules.settling)
            )
            # A restart of the computer is what helps: what was before it is over.
            latest_xid = last_reported_xid(history, gpu_key(gpu), sample.t, self.health_rules, since=psutil.boot_time())
            if latest_xid is not None:
                monitor.record_xid(gpu, *latest_xid)

    def max_temperature(self, gpu: GpuSample) -> float | None:
        """°C that a card's maker allows; None where nobody knows."""
        reference = self.catalog.reference_card(gpu.name, gpu.mem_total) if gpu.name is not None else None
        return reference.max_temp_c if reference is not None else None

    def pcie_lanes(self, gpu: GpuSample) -> int | None:
        """The PCI Express lanes that a card has by its maker; None where nobody knows."""
        reference = self.catalog.reference_card(gpu.name, gpu.mem_total) if gpu.name is not None else None
        return reference.pcie_lanes if reference is not None else None

    def form_factor(self, gpu: GpuSample) -> FormFactor:
        """What a card is built into, by the name it is sold under."""
        from ..catalog.records.hardware import is_laptop_name

        if gpu.name is None:
            return "any"
        if is_laptop_name(gpu.name):
            return "laptop"
        catalog_gpu = self.catalog.gpu_by_name(gpu.name)
        if catalog_gpu is None:
            return "any"
        return "laptop" if catalog_gpu.is_laptop else "server" if catalog_gpu.segment == "datacenter" else "desktop"

    def sampler(self) -> Sampler:
        """Samples of this machine's GPU, CPU and memory."""
        from ..monitor.sampler import Sampler
        from ..system.nvml.monitor import NvmlMonitor

        try:
            idle_release_s = self.health_rules.forget_seconds
        except AppError:  # whoever judges says so; figures are shown without rules
            idle_release_s = None
        return Sampler(NvmlMonitor(self.system, forget_s=idle_release_s))

    def history(self) -> History:
        """What this computer's window saw in the last month, not yet read from the disk. The window of a simulated
        machine keeps nothing: the real one may be open beside it.
        """
        from ..monitor.history import History

        return History(None if self.simulated else self.data.history)


BASELINE_REFRESH_S = 3600.0  # how hot a card usually is changes over days
PROVISIONAL_STATES = ("well", "watching", "untold")  # what the past may turn into an alarm


class HealthEvaluator:
    """Makes the watch with the first sample, and tells it what the history knows of the cards: of each one as soon as
    it is there, and of all once an hour. Until then nobody is called well.

    `cuda` is the outcome of the last check of CUDA ("pass", "fail"); any thread may set it. After a rule that cannot
    be read nothing is judged any more.
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
        self._gpus_with_baseline: frozenset[str | int] = frozenset()  # the cards of which the past was told
        self._rules_failed = False
        self.cuda_state: str | None = None

    def evaluate(self, sample: Sample, history: History | None) -> Health | None:
        """How things stand now, `history` being None until it is read; None where nobody can say. Raises AppError once,
        where the rules cannot be read.
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
        if due or not gpu_keys <= self._gpus_with_baseline:  # a driver that takes its time names its cards later
            self._next_refresh = sample.t + BASELINE_REFRESH_S
            self._gpus_with_baseline = gpu_keys if due else self._gpus_with_baseline | gpu_keys
            self._load_baselines(self._monitor, history, sample)
        return self._monitor.update(sample)
