"""An `App` whose jobs end at once, or when a test lets them: the window's pages are tested on it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from gpu_assistant.advise.options import Options, list_options
from gpu_assistant.bench.model_memory import estimate_for_machine
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.downloads_folder import read_record
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.plan import (
    EndEvent,
    InterruptedInstall,
    LogEvent,
    Plan,
    PlanEvent,
    Step,
    StepEvent,
    StepSummary,
)
from gpu_assistant.core.recommendation import Choice, LocalWheel, Recommendation
from gpu_assistant.core.results import ModelFits
from gpu_assistant.core.settings import Settings
from gpu_assistant.core.types import EnvironmentKind, Value
from gpu_assistant.examples.job import ExampleSettings
from gpu_assistant.examples.programs import ExampleName
from gpu_assistant.fetch.connection_check import ConnectionAnswer
from gpu_assistant.fetch.rate import RateLimiter
from gpu_assistant.install.jobs.move_downloads import FinishMoveJob, MoveDownloadsJob
from gpu_assistant.update.service import UpdateService

from .benchmarks import memory_fits
from .bundles import FakeBundles
from .examples import cpu_benchmark, cpu_recommendation, good_checks, make_plan, plain_linux
from .integrations import FakeIntegrations
from .system import FakeDesktop
from .system import FakeSystem as InstallSystem


class FakeJob:
    """Reports its events, then gives its result or raises; with `gate` it waits for the test, or for a cancel."""

    def __init__(self, result: Any = None, events: tuple[Any, ...] = (), gate: threading.Event | None = None) -> None:
        self.result, self.events, self.gate = result, events, gate

    def run(self, context: JobContext[Any]) -> Any:
        for each in self.events:
            context.report(each)
        while self.gate is not None and not self.gate.wait(0.01):
            context.check_cancelled()
        context.check_cancelled()
        if isinstance(self.result, AppError):
            raise self.result
        return self.result() if callable(self.result) else self.result


class FakeRemoval(FakeJob):
    """Shows what it would take back; when it has run, the environment is no longer known."""

    def __init__(self, environment: Path, app: FakeApp, *, driver: bool = False) -> None:
        self._driver = driver and app.removable_driver
        super().__init__(app.results.get("uninstall") or environment, app.events.get("uninstall", ()), app.gate)
        self._environment, self._app = environment, app

    def steps(self) -> tuple[Step, ...]:
        path = {"env": str(self._environment), "path": str(self._environment)}
        whole: dict[str, Value] = {**path, "name": self._environment.name, "bytes": 912_000_000}
        driver: dict[str, Value] = {
            "thing": "nvidia-driver",
            "version": "580.95.05",
            "packages": "nvidia-driver-580-open",
        }
        driver_code = "remove-driver" if self._driver else "leave-driver-packages"
        driver_step = Step(
            id="back-3", kind="nvidia-driver", code=driver_code, data={**driver, "before": "@driver.none"}
        )
        return (
            *((driver_step,) if self._app.removable_driver else ()),
            Step(id="environment", kind="python-packages", code="remove-environment", data=whole),
            Step(id="back-2", kind="variables", code="restore-variable", data={"name": "CUDA_PATH", "before": None}),
        )

    def run(self, context: JobContext[Any]) -> Any:
        result = super().run(context)
        self._app.calls.append("removed-with-driver" if self._driver else "removed")
        self._app.known = ()
        return result


class FakePurge(FakeJob):
    """Shows what would be removed of the program's own data."""

    def __init__(self, app: FakeApp) -> None:
        steps = self.steps()
        plan = PlanEvent(steps=tuple(StepSummary(id=each.id, code=each.code, data=each.data) for each in steps))
        events = (plan, *(StepEvent(id=each.id, state="done") for each in steps))
        super().__init__(app.results["purge"], events, app.gate)

    def steps(self) -> tuple[Step, ...]:
        data: dict[str, Value] = {"thing": "@own.downloads", "path": "/data/cache", "bytes": 4_200_000_000}
        return (Step(id="own-downloads", kind="purge", code="remove-own", data=data),)


class FakeSystem:
    """What pages ask the system for; notes what was opened."""

    name = "linux"

    def __init__(self) -> None:
        self.opened: list[tuple[str, Path]] = []

    def language(self) -> str:
        return "en"

    def allow_foreground(self, process_id: int) -> None:
        self.opened.append(("foreground", Path(str(process_id))))

    def powershell_activation(self, environment: Path) -> str | None:
        return self.powershell.format(environment=environment) if self.name == "windows" else None

    powershell = "& '{environment}'"
    activation = "source {environment}/bin/activate"
    python = "{environment}/bin/python"

    def activation_command(self, environment: Path) -> str:
        return self.activation.format(environment=environment)

    def environment_python(self, environment: Path) -> Path:
        return Path(self.python.format(environment=environment))

    def taskbar(self, window: int) -> None:
        return None

    def open_folder(self, folder: Path) -> None:
        self.opened.append(("folder", folder))

    def open_file(self, file: Path) -> None:
        self.opened.append(("file", file))

    def open_power_settings(self) -> None:
        self.opened.append(("settings", Path("power")))

    def open_terminal(self, environment: Path) -> None:
        self.opened.append(("terminal", environment))


class FakeApp(FakeIntegrations):
    """The services with results set by the test. `asked` notes each call that would do something.

    It is its own `setup`, `integrations` and `monitoring`, so that a test replaces a method on one object.
    """

    def __init__(self, folder: Path, machine: Machine | None = None, *, simulated: bool = False) -> None:
        self.setup = self.integrations = self.monitoring = self
        self.bundles = FakeBundles(self)
        self.data = DataDir(folder / "data")
        self.machine = machine or plain_linux()
        self.simulated_machine = self.machine if simulated else None
        self.simulated = simulated
        self.machine_file = str(folder / "machine.json") if simulated else None
        self.settings = Settings()
        self.system = FakeSystem()
        self.desktop = FakeDesktop(folder / "desk")
        self.catalog = load_catalog(resources_dir() / "catalog")
        self.updates = UpdateService(self.catalog.updates, self.data, self.system)
        self.wheelhouse: Path | None = None
        self.wheels: tuple[LocalWheel, ...] = ()
        self.folder = folder
        self.shown_folder = ""
        self.refusals: dict[str, AppError] = {}  # by the folder
        self.calls: list[str] = []
        self.orders: list[Any] = []
        self.begun: InterruptedInstall | None = None
        self.resuming = self.starts_minimized = False
        self.proxy_credentials = ("", "")
        self.starts_with_system = False
        self.known: tuple[Any, ...] = ()
        self.gate: threading.Event | None = None
        self.may_ask_sources = False
        self.source_gate: threading.Event | None = None
        self.unavailable: AppError | None = None
        self.results: dict[str, Any] = {
            "detect": self.machine,
            "verify": good_checks(),
            "bench": cpu_benchmark(),
            "fit": memory_fits,
            "check": None,
            "sources": None,
            "install": None,
            "example": None,
            "connection": ConnectionAnswer(outcome="answers", host="index.invalid", proxy=None, seconds=0.42),
            "purge": None,
        }
        self.events: dict[str, tuple[Any, ...]] = {}
        self.recommendation: Callable[[Choice | None], Recommendation] = cpu_recommendation

    def save_settings(self, new_settings: Settings) -> None:
        self.settings = new_settings

    def language(self) -> str:
        return "en"

    def detect(self) -> FakeJob:
        return self.job("detect")

    def local_wheels(self) -> tuple[LocalWheel, ...]:
        return self.wheels

    def recommend(
        self, machine: Machine, *, goal: str = "pytorch", channel: str = "studio", choice: Any = None, sources: Any = ()
    ) -> Recommendation:
        self.calls.append("recommend")
        return replace(self.recommendation(choice), sources=sources or UNSET)

    def availability_error(self, plan: Plan) -> AppError | None:
        return self.unavailable

    def available_setup(self, machine: Machine, environment: Path, **options: Any) -> FakeJob:
        self.calls.append("check sources")
        events = self.events.get("sources", ()) if options.get("retries") else ()
        return FakeJob(self.results["sources"], events, gate=self.source_gate)

    def options(
        self, machine: Machine, *, goal: str = "pytorch", channel: str = "studio", choice: Any = None
    ) -> Options:
        self.calls.append("options")
        return list_options(machine, self.catalog, goal=goal, channel=channel, choice=choice)

    def environment_path(self, requested: str | None, goal: str = "pytorch") -> Path:
        return Path(requested) if requested else Path(self.shown_folder or self.folder / "environments" / goal)

    def check_folder(self, environment: Path) -> None:
        if (error := self.refusals.get(str(environment))) is not None:
            raise error

    def plan(
        self, machine: Machine, recommendation: Recommendation, environment: Path, *, made_by: EnvironmentKind = "venv"
    ) -> Plan:
        if made_by == "conda":
            self.calls.append("plan by conda")
        return make_plan(recommendation, str(environment), simulated=self.simulated)

    def probe_sizes(self, machine: Machine, plan: Plan) -> FakeJob:
        return FakeJob()

    def interrupted_install(self) -> InterruptedInstall | None:
        return self.begun

    def resume_command(self, *, window: bool) -> tuple[str, ...]:
        return ("gpu-assistant", "--resume") if window else ()

    def rate_limiter(self) -> RateLimiter:
        return RateLimiter(self.settings.speed_limit)

    def install(
        self,
        plan: Plan,
        *,
        dry_run: bool = False,
        resume: tuple[str, ...] = (),
        rate_limiter: RateLimiter | None = None,
        prompt: object = None,
    ) -> FakeJob:
        self.resume = resume
        self.calls.append("dry install" if dry_run or plan.simulated else "install")
        job = self.job("install", count=False)
        if not job.events:
            job.events = install_events(plan, dry=dry_run or plan.simulated)
        if job.result is None:
            job.events = (*job.events, EndEvent(state="done", env=plan.env, elapsed_s=41.0))
            job.result = Path(plan.env)
        return job

    removable_driver = False  # whether one was installed from packages

    def uninstall(self, environment: Path, *, driver: bool = False) -> FakeRemoval:
        self.calls.append("uninstall")
        return FakeRemoval(environment, self, driver=driver)

    @property
    def environments_folder(self) -> Path:
        chosen = self.settings.environments_folder
        return Path(chosen) if chosen is not None else self.folder / "environments"

    def check_environments_folder(self, folder: Path) -> None:
        self.check_folder(folder)

    missing_downloads: Path | None = None

    def move_downloads(self, folder: Path | None) -> MoveDownloadsJob:
        return MoveDownloadsJob(self.data, InstallSystem(), folder)

    def finish_move(self) -> FinishMoveJob | None:
        return FinishMoveJob(self.data) if read_record(self.data).leftover is not None else None

    def start_with_system(self, enabled: bool) -> None:
        if (error := self.refusals.get("startup")) is not None:
            raise error
        self.starts_with_system = enabled

    def check_connection(self) -> FakeJob:
        return self.job("connection")

    def purge(self, *, keep_environments: bool) -> FakePurge:
        self.calls.append("purge keeping" if keep_environments else "purge")
        return FakePurge(self)

    def environments(self) -> tuple[Any, ...]:
        return self.known

    def verify(self, environment: Path, *, files: bool = False) -> FakeJob:
        return self.job("verify")

    bench_full = False  # what was asked for last

    def benchmark(self, environment: Path, *, full: bool = False, device: str | None = None) -> FakeJob:
        self.bench_full = full
        return self.job("bench")

    def estimate_models(self, machine: Machine, *, model: str | None = None) -> ModelFits:
        return estimate_for_machine(self.catalog, machine, model=model)

    def estimate_memory(self, environment: Path, *, model: str, batch: int, device: str) -> FakeJob:
        self.fitted = (model, batch, device)
        return self.job("fit")

    def run_example(
        self, environment: Path, program: ExampleName, *, settings: ExampleSettings | None = None
    ) -> FakeJob:
        self.example = (environment, program, settings)
        return self.job("example")

    def job(self, name: str, *, count: bool = True) -> FakeJob:
        if count:
            self.calls.append(name)
        return FakeJob(self.results[name], self.events.get(name, ()), self.gate)


def install_events(plan: Plan, *, dry: bool = False) -> tuple[Any, ...]:
    """The events of an install that goes well."""
    events: list[Any] = [
        PlanEvent(steps=tuple(StepSummary(id=step.id, code=step.code, data=step.data) for step in plan.steps))
    ]
    for step in plan.steps:
        if dry:
            events.append(StepEvent(id=step.id, state="skipped"))
            continue
        events.append(StepEvent(id=step.id, state="running"))
        if step.bytes is not None:
            half = StepEvent(
                id=step.id, state="running", done=96_000_000, total=192_000_000, unit="bytes", speed=18.4e6
            )
            events.append(replace(half, bottleneck="network"))
            events.append(LogEvent(id=step.id, line="torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"))
        events.append(StepEvent(id=step.id, state="done"))
    return tuple(events)
