"""An `App` whose jobs end at once, or when a test lets them: the window's pages are tested on it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gpu_assistant.advise.options import Options, options
from gpu_assistant.catalog.load import load
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import MACHINE_SCHEMA, Cpu, Disk, Driver, Gpu, Machine, OperatingSystem, Python
from gpu_assistant.core.paths import DataDir, resources
from gpu_assistant.core.plan import (
    PLAN_SCHEMA,
    EndEvent,
    Interrupted,
    LogEvent,
    Plan,
    PlanEvent,
    Step,
    StepBrief,
    StepEvent,
)
from gpu_assistant.core.recommendation import (
    RECOMMENDATION_SCHEMA,
    Alternative,
    Choice,
    DriverAdvice,
    LocalWheel,
    PartAdvice,
    PyTorchChoice,
    Reason,
    Recommendation,
)
from gpu_assistant.core.results import (
    BENCHMARK_SCHEMA,
    CHECKS_SCHEMA,
    BenchDevice,
    Benchmark,
    BenchResult,
    Check,
    Checks,
    CheckState,
)
from gpu_assistant.core.settings import Settings
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.update.service import UpdateService
from tests.fakes.after import AfterInstall
from tests.fakes.desktop import FakeDesktop

from .benchmarks import memory_fits

GIB = 2**30


def rtx4060() -> Machine:
    """A Windows box whose driver is too old."""
    return Machine(
        schema=MACHINE_SCHEMA,
        os=OperatingSystem(system="windows", name="Windows 11 Pro", version="10.0.26100", build=26100, arch="x86_64"),
        gpus=(
            Gpu(
                vendor="nvidia",
                name="NVIDIA GeForce RTX 4060",
                pci_id="10de:2882",
                compute_capability="8.9",
                memory_bytes=8 * GIB,
            ),
        ),
        cpu=Cpu(name="AMD Ryzen 5 7500F", cores=6, threads=12),
        memory_bytes=32 * GIB,
        disks=(Disk(path="D:\\", free_bytes=412_000_000_000, total_bytes=1_000_000_000_000),),
        driver=Driver(version="566.03", cuda_max="12.7", model="WDDM"),
        pythons=(Python(path="C:\\Python312\\python.exe", version="3.12.7", kind="system"),),
        cuda_toolkits=(),
        cudnn=(),
    )


def plain_linux() -> Machine:
    """A Linux box without an NVIDIA card."""
    return Machine(
        schema=MACHINE_SCHEMA,
        os=OperatingSystem(
            system="linux", name="Debian GNU/Linux 12", version="6.1.0", arch="x86_64", distro="debian", glibc="2.36"
        ),
        gpus=(),
        cpu=Cpu(name="AMD EPYC 7B13", cores=2, threads=2),
        memory_bytes=24 * GIB,
        disks=(Disk(path="/", free_bytes=52_000_000_000, total_bytes=100_000_000_000),),
        pythons=(Python(path="/usr/bin/python3", version="3.11.2", kind="system"),),
        cuda_toolkits=(),
        cudnn=(),
    )


WHEELHOUSE_OFFER = Alternative(
    code="wheelhouse-torch",
    change={"pytorch": "2.13.0", "variant": "cpu", "python": "3.11"},
    data={"pytorch": "2.13.0", "variant": "cpu", "python": "3.11", "build": "2.13.0+cpu"},
)


def cpu_recommendation(choice: Choice | None = None, *, offers: bool = True) -> Recommendation:
    """What suits `plain_linux`."""
    version = choice.pytorch if choice is not None and choice.pytorch else "2.15.0"
    return Recommendation(
        schema=RECOMMENDATION_SCHEMA,
        goal="pytorch",
        accelerator="cpu",
        python="3.11",
        pytorch=PyTorchChoice(version=version, variant="cpu", index_url="https://example.invalid/whl/cpu"),
        driver=DriverAdvice(action="none"),
        cuda_toolkit=PartAdvice(action="none"),
        cudnn=PartAdvice(action="none"),
        reasons=(
            Reason(code="cpu-no-gpu", about="accelerator", source="https://example.invalid/install"),
            Reason(
                code="version-newest",
                about="pytorch.version",
                data={"version": version},
                source="https://example.invalid/releases",
            ),
            Reason(code="driver-none", about="driver.action", source="https://example.invalid/install"),
            Reason(code="toolkit-no-cuda", about="cuda_toolkit", source="https://example.invalid/install"),
            Reason(code="cudnn-no-cuda", about="cudnn", source="https://example.invalid/install"),
        ),
        alternatives=(WHEELHOUSE_OFFER,) if offers and choice is None else (),
        catalog_date="2026-11-21",
    )


def rtx4060_recommendation(choice: Choice | None = None) -> Recommendation:
    """What suits `rtx4060`: a newer driver first, or a release for the one that is there."""
    kept = choice is not None and choice.pytorch is not None
    gpu, capability = "NVIDIA GeForce RTX 4060", "8.9"
    return Recommendation(
        schema=RECOMMENDATION_SCHEMA,
        goal="pytorch",
        accelerator="cuda",
        python="3.12",
        pytorch=PyTorchChoice(
            version="2.14.1" if kept else "2.15.0",
            variant="cu126" if kept else "cu130",
            index_url="https://example.invalid/whl/cu130",
            cuda="12.6" if kept else "13.0",
            cudnn="9.10.2" if kept else "9.26",
        ),
        driver=DriverAdvice(
            action="keep" if kept else "update",
            installed="566.03",
            minimum="580.88",
            recommended=None if kept else "617.42",
            channel="studio",
        ),
        cuda_toolkit=PartAdvice(action="none"),
        cudnn=PartAdvice(action="none"),
        reasons=(
            Reason(code="cuda", about="accelerator", data={"gpu": gpu, "capability": capability}),
            Reason(code="version-newest", about="pytorch.version", data={"version": "2.15.0"}),
            Reason(
                code="driver-keep" if kept else "driver-update",
                about="driver.action",
                data={
                    "installed": "566.03",
                    "minimum": "580.88",
                    "recommended": "617.42",
                    "cuda": "13.0",
                    "whom": "@driver.for-card",
                },
                source="https://docs.example.invalid/cuda",
            ),
            Reason(code="toolkit-inside", about="cuda_toolkit", data={"cuda": "13.0"}),
            Reason(code="cudnn-inside", about="cudnn", data={"cudnn": "9.26"}),
        ),
        alternatives=()
        if kept
        else (
            Alternative(
                code="keep-driver",
                change={"pytorch": "2.14.1", "variant": "cu126"},
                data={"build": "PyTorch 2.14.1+cu126", "recommended": "PyTorch 2.15.0+cu130", "installed": "566.03"},
            ),
        ),
        catalog_date="2026-11-21",
    )


def make_plan(recommendation: Recommendation, environment: str, *, simulated: bool = False) -> Plan:
    """The steps as the planner lists them; their texts are the product's own."""
    torch = recommendation.pytorch
    release = f"PyTorch {torch.version}+{torch.variant}" if torch is not None else "—"
    fetched, kept = 192_000_000, 910_000_000
    return Plan(
        schema=PLAN_SCHEMA,
        goal="pytorch",
        env=environment,
        recommendation=recommendation,
        steps=(
            Step(id="space", kind="check-space", code="check-space", data={"env": environment, "disk_bytes": kept}),
            Step(
                id="python",
                kind="python-runtime",
                code="python-here",
                data={"python": "3.11.2", "path": "/usr/bin/python3"},
                bytes=0,
            ),
            Step(
                id="resolve",
                kind="resolve",
                code="resolve",
                data={"release": release, "python": "3.11", "packages": "torch numpy"},
                commands=(("uv", "pip", "compile", "requirements.in", "-o", "pylock.toml"),),
            ),
            Step(
                id="download",
                kind="download",
                code="download",
                data={"release": release, "bytes": fetched},
                bytes=fetched,
            ),
            Step(
                id="pytorch",
                kind="python-packages",
                code="python-packages",
                data={"release": release, "env": environment},
                disk_bytes=kept,
                commands=(("uv", "venv", environment), ("uv", "pip", "sync", "--python", environment, "pylock.toml")),
            ),
            Step(
                id="verify",
                kind="verify",
                code="verify",
                data={"env": environment, "release": release},
                commands=(("gpu-assistant", "verify", "--env", environment),),
            ),
        ),
        bytes=fetched,
        disk_bytes=kept,
        simulated=simulated,
    )


def good_checks() -> Checks:
    """Everything passed, on the CPU."""

    def one(name: str, state: CheckState = "pass", **data: Any) -> Check:
        return Check(id=name, state=state, value=data.get("value"), data={"expected": None, **data})

    return Checks(
        schema=CHECKS_SCHEMA,
        verdict="pass",
        checks=(
            one("environment", value="/home/mei/ai/pytorch"),
            one("packages", value=None, count=0),
            one("python", value="3.11.2"),
            one("torch-import", value="2.13.0+cpu", seconds=1.4),
            one("torch-variant", value="2.13.0+cpu"),
            one("cpu-compute", value=2.1e-7),
            one("torch-cuda", "skip", reason="@verify.reason.cpu-build"),
        ),
    )


def cpu_benchmark() -> Benchmark:
    """One matmul on the CPU."""
    return Benchmark(
        schema=BENCHMARK_SCHEMA,
        torch="2.13.0+cpu",
        devices=(BenchDevice(id="cpu", name="AMD EPYC 7B13", threads=2),),
        results=(
            BenchResult(
                id="matmul",
                device="cpu",
                dtype="float32",
                size=(2048, 2048, 2048),
                unit="TFLOP/s",
                median=0.141,
                q1=0.139,
                q3=0.142,
                runs=20,
                seconds=2.4,
            ),
        ),
        seconds=4.2,
    )


class FakeJob:
    """Reports its news, then gives its result or raises; with `gate` it waits for the test, or for a cancel."""

    def __init__(self, result: Any = None, news: tuple[Any, ...] = (), gate: threading.Event | None = None) -> None:
        self.result, self.news, self.gate = result, news, gate

    def run(self, context: JobContext[Any]) -> Any:
        for each in self.news:
            context.report(each)
        while self.gate is not None and not self.gate.wait(0.01):
            context.check_cancelled()
        context.check_cancelled()
        if isinstance(self.result, AppError):
            raise self.result
        return self.result() if callable(self.result) else self.result


class FakeRemoval(FakeJob):
    """Shows what it would take back; when it has run, the environment is no longer known."""

    def __init__(self, environment: Path, app: FakeApp) -> None:
        super().__init__(app.results.get("uninstall") or environment, app.news.get("uninstall", ()), app.gate)
        self._environment, self._app = environment, app

    def steps(self) -> tuple[Step, ...]:
        path = {"env": str(self._environment), "path": str(self._environment)}
        return (
            Step(id="environment", kind="python-packages", code="remove-environment", data=path),
            Step(id="back-2", kind="variables", code="restore-variable", data={"name": "CUDA_PATH", "before": None}),
        )

    def run(self, context: JobContext[Any]) -> Any:
        result = super().run(context)
        self._app.asked.append("removed")
        self._app.known = ()
        return result


class FakeSystem:
    """What pages ask the system for; notes what was opened."""

    name = "linux"

    def __init__(self) -> None:
        self.opened: list[tuple[str, Path]] = []

    def language(self) -> str:
        return "en"

    def activation(self, environment: Path) -> str:
        return f"source {environment}/bin/activate"

    def taskbar(self, window: int) -> None:
        return None

    def open_folder(self, folder: Path) -> None:
        self.opened.append(("folder", folder))

    def open_terminal(self, environment: Path) -> None:
        self.opened.append(("terminal", environment))


class FakeApp(AfterInstall):
    """The services with results set by the test. `asked` notes each call that would do something."""

    def __init__(self, folder: Path, machine: Machine | None = None, *, simulated: bool = False) -> None:
        self.data = DataDir(folder / "data")
        self.machine = machine or plain_linux()
        self.simulated_machine = self.machine if simulated else None
        self.simulated = simulated
        self.machine_file = str(folder / "machine.json") if simulated else None
        self.settings = Settings()
        self.system = FakeSystem()
        self.desktop = FakeDesktop(folder / "desk")
        self.catalog = load(resources() / "catalog")
        self.updates = UpdateService(self.catalog.updates, self.data, self.system)
        self.wheelhouse: Path | None = None
        self.wheels: tuple[LocalWheel, ...] = ()
        self.folder = folder
        self.shown_folder = ""
        self.asked: list[str] = []
        self.begun: Interrupted | None = None
        self.resuming = False
        self.known: tuple[Any, ...] = ()
        self.gate: threading.Event | None = None
        self.results: dict[str, Any] = {
            "detect": self.machine,
            "verify": good_checks(),
            "bench": cpu_benchmark(),
            "fit": memory_fits,
            "install": None,
        }
        self.news: dict[str, tuple[Any, ...]] = {}
        self.recommendation: Callable[[Choice | None], Recommendation] = cpu_recommendation

    def save_settings(self, new: Settings) -> None:
        self.settings = new

    def language(self) -> str:
        return "en"

    def detect(self) -> FakeJob:
        return self._job("detect")

    def local_wheels(self) -> tuple[LocalWheel, ...]:
        return self.wheels

    def recommend(self, machine: Machine, *, goal: str = "pytorch", channel: str = "studio", choice: Any = None):
        self.asked.append("recommend")
        return self.recommendation(choice)

    def options(
        self, machine: Machine, *, goal: str = "pytorch", channel: str = "studio", choice: Any = None
    ) -> Options:
        self.asked.append("options")
        return options(machine, self.catalog, goal=goal, channel=channel, choice=choice)

    def environment_path(self, given: str | None, goal: str = "pytorch") -> Path:
        return Path(given) if given else Path(self.shown_folder or self.folder / "environments" / goal)

    def plan(self, machine: Machine, recommendation: Recommendation, environment: Path) -> Plan:
        return make_plan(recommendation, str(environment), simulated=self.simulated)

    def price(self, machine: Machine, plan: Plan) -> FakeJob:
        return FakeJob()

    def interrupted(self) -> Interrupted | None:
        return self.begun

    def resume_words(self, *, window: bool) -> tuple[str, ...]:
        return ("gpu-assistant", "--resume") if window else ()

    def download_pace(self) -> Pace:
        return Pace(self.settings.speed_limit)

    def install(
        self, plan: Plan, *, dry_run: bool = False, resume: tuple[str, ...] = (), pace: Pace | None = None
    ) -> FakeJob:
        self.resume = resume
        self.asked.append("dry install" if dry_run or plan.simulated else "install")
        job = self._job("install", count=False)
        if not job.news:
            job.news = install_news(plan, dry=dry_run or plan.simulated)
        if job.result is None:
            job.news = (*job.news, EndEvent(state="done", env=plan.env, elapsed_s=41.0))
            job.result = Path(plan.env)
        return job

    def uninstall(self, environment: Path) -> FakeRemoval:
        self.asked.append("uninstall")
        return FakeRemoval(environment, self)

    def environments(self) -> tuple[Any, ...]:
        return self.known

    def verify(self, environment: Path) -> FakeJob:
        return self._job("verify")

    def bench(self, environment: Path, *, full: bool = False, device: str | None = None) -> FakeJob:
        return self._job("bench")

    def fit(self, environment: Path, *, model: str, batch: int, device: str) -> FakeJob:
        self.fitted = (model, batch, device)
        return self._job("fit")

    def _job(self, name: str, *, count: bool = True) -> FakeJob:
        if count:
            self.asked.append(name)
        return FakeJob(self.results[name], self.news.get(name, ()), self.gate)


def install_news(plan: Plan, *, dry: bool = False) -> tuple[Any, ...]:
    """The events of an install that goes well."""
    news: list[Any] = [
        PlanEvent(steps=tuple(StepBrief(id=step.id, code=step.code, data=step.data) for step in plan.steps))
    ]
    for step in plan.steps:
        if dry:
            news.append(StepEvent(id=step.id, state="skipped"))
            continue
        news.append(StepEvent(id=step.id, state="running"))
        if step.bytes is not None:
            half = StepEvent(
                id=step.id, state="running", done=96_000_000, total=192_000_000, unit="bytes", speed=18.4e6
            )
            news.append(replace(half, bottleneck="network"))
            news.append(LogEvent(id=step.id, line="torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"))
        news.append(StepEvent(id=step.id, state="done"))
    return tuple(news)
