"""What Home shows: this computer, the environment in use, the last benchmark; read in a thread."""

from __future__ import annotations

from collections import Counter
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from ..core.errors import AppError
from ..core.jobs import JobContext
from ..core.machine import Machine
from ..core.recommendation import Recommendation
from ..core.results import Benchmark, Sample
from ..core.versions import Version

if TYPE_CHECKING:
    from ..app import App
    from ..health.last_tests import CardTest
    from ..install.environment.location import Environment


class InstalledEnvironment(Struct, frozen=True, kw_only=True):
    """An environment; `cuda` is the CUDA inside its PyTorch, None in a CPU build; `bytes` on disk; `given_name` the
    user's name for it.
    """

    path: str
    given_name: str | None = None
    python: str
    torch: str | None = None
    variant: str | None = None
    cuda: str | None = None
    bytes: int | None = None

    @property
    def folder(self) -> Path:
        return Path(self.path)

    @property
    def name(self) -> str:
        """What it is called in the window: the user's name for it, else its folder's."""
        return self.given_name or self.folder.name


class MachineFacts(Struct, frozen=True, kw_only=True):
    """`loaded`: environments and benchmarks were read; the machine and its recommendation follow. `installed` is the
    environment in use, one of `environments`.
    """

    loaded: bool = False
    machine: Machine | None = None
    installed: InstalledEnvironment | None = None
    environments: tuple[InstalledEnvironment, ...] = ()
    # Where another environment would be made; None until that is known.
    free_folder: str | None = None
    # What this computer should have; None until it was detected.
    recommendation: Recommendation | None = None
    benchmark: Benchmark | None = None
    # The last health test of each GPU, by its key (`monitor.series.gpu_key`).
    health_tests: dict[str, CardTest] = {}

    def computer_text(self) -> str:
        """The NVIDIA GPUs (else the first adapter), system and processor, as far as they are known."""
        machine = self.machine
        if machine is None:
            return ""
        nvidia = machine.gpus_of("nvidia")
        names = Counter(gpu.name for gpu in (nvidia or machine.gpus[:1]) if gpu.name)
        gpus = " + ".join(f"{count} × {name}" if count > 1 else name for name, count in names.items())
        parts = (gpus, machine.os.name, machine.cpu.name if machine.cpu is not None else None)
        return " · ".join(part for part in parts if part)

    def has_nvidia(self, sample: Sample | None) -> bool:
        """Whether there is an NVIDIA GPU: one was detected, or one answers."""
        detected = self.machine is not None and bool(self.machine.gpus_of("nvidia"))
        return detected or (sample is not None and bool(sample.gpus))

    @property
    def torch_update(self) -> str | None:
        """The PyTorch that is recommended in place of an older one; None where there is none, or that is not known."""
        installed = self.installed.torch if self.installed is not None else None
        advice = self.recommendation.pytorch if self.recommendation is not None else None
        if installed is None or advice is None:
            return None
        present, wanted = Version.parse(installed.partition("+")[0]), Version.parse(advice.version)
        return advice.version if present is not None and wanted is not None and present < wanted else None

    @property
    def update_count(self) -> int:
        """How many of driver and PyTorch have an update."""
        has_driver_update = self.recommendation is not None and self.recommendation.driver.action == "update"
        return has_driver_update + (self.torch_update is not None)

    def is_gpu_unused(self) -> bool:
        """Whether there is an NVIDIA GPU and a PyTorch that cannot use it."""
        installed = self.installed
        return self.has_nvidia(None) and installed is not None and installed.variant == "cpu"


class MachineFactsJob:
    """Reads environments and benchmarks, reports them as MachineFacts, then detects the machine."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> MachineFacts:
        """Raises what detection raises."""
        from ..bench.measurements import is_complete

        benchmarks = self._app.monitoring.stored_benchmarks().benchmarks
        newest = benchmarks[-1] if benchmarks else None
        facts = MachineFacts(
            loaded=True,
            machine=self._app.simulated_machine,
            installed=current_environment(self._app),
            environments=all_environments(self._app),
            free_folder=_free_folder(self._app),
            # An incomplete benchmark is shown only where there is no other.
            benchmark=next((each for each in reversed(benchmarks) if is_complete(each)), newest),
            health_tests=self._app.monitoring.last_health_tests(),
        )
        context.report(facts)
        context.check_cancelled()
        machine = self._app.setup.detect().run(JobContext(cancel=context.cancel))
        try:
            recommendation = self._app.setup.recommend(machine)
        except AppError:  # no advice for this computer: Home shows what there is
            recommendation = None
        return replace(facts, machine=machine, recommendation=recommendation)


def current_environment(app: App) -> InstalledEnvironment | None:
    """The environment named in the settings, else the newest; None for a simulated computer."""
    if app.simulated:
        return None
    environments = app.setup.environments()
    chosen = next(
        (each for each in environments if each.path == app.settings.environment),
        environments[0] if environments else None,
    )
    return None if chosen is None else _to_installed_environment(chosen, app)


def all_environments(app: App) -> tuple[InstalledEnvironment, ...]:
    """All environments of this program; none for a simulated computer."""
    return () if app.simulated else tuple(_to_installed_environment(each, app) for each in app.setup.environments())


def _free_folder(app: App) -> str:
    """The first of "pytorch", "pytorch-2", … in the usual place that does not exist."""
    usual = app.setup.environment_path(None)
    candidates = chain((usual,), (usual.with_name(f"{usual.name}-{number}") for number in count(2)))
    return str(next(folder for folder in candidates if not folder.exists()))


def _to_installed_environment(environment: Environment, app: App) -> InstalledEnvironment:
    return InstalledEnvironment(
        path=environment.path,
        given_name=app.settings.environment_names.get(environment.path),
        python=environment.python,
        torch=environment.torch,
        variant=environment.variant,
        cuda=cuda_of_variant(environment.variant),
        bytes=environment.bytes,
    )


def cuda_of_variant(variant: str | None) -> str | None:
    """The CUDA release in a wheel's variant: "cu126" is 12.6; None where it names none."""
    digits = (variant or "").removeprefix("cu")
    if variant is None or not variant.startswith("cu") or not digits.isdigit() or len(digits) < 2:
        return None
    return f"{digits[:-1]}.{digits[-1]}"
