"""Folders for computers without internet, made and read by jobs that end when a test lets them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from gpu_assistant.core import json
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.plan import Plan, PlanEvent, Step, StepEvent, StepSummary
from gpu_assistant.core.plan_cost import plan_cost
from gpu_assistant.core.recommendation import Choice, Recommendation
from gpu_assistant.fetch.rate import RateLimiter
from gpu_assistant.install.bundle.format import LIST_FILE, LOCK_FILE, BundleContents, BundleFile
from gpu_assistant.install.packages.requirements import PackageRequest, Platform

if TYPE_CHECKING:
    from .app import FakeApp, FakeJob

WHEEL = "wheels/torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl"
WHOLE = 2_600_000_000
STEPS = (
    Step(
        id="resolve",
        kind="resolve",
        code="resolve",
        data={"release": "PyTorch 2.13.0+cpu", "python": "3.11", "packages": "torch"},
    ),
    Step(
        id="download",
        kind="bundle",
        code="bundle-gather",
        data={"release": "PyTorch 2.13.0+cpu", "path": "/media/mei/stick"},
    ),
    Step(id="bundle", kind="bundle", code="bundle-write", data={"path": "/media/mei/stick"}),
)


LINUX = Platform(system="linux", arch="x86_64", glibc="2.36")
WINDOWS = Platform(system="windows", arch="x86_64")


def contents(*, excluded_codes: tuple[str, ...] = (), platform: Platform = LINUX) -> BundleContents:
    """The list of a folder with one wheel."""
    request = PackageRequest(
        python="3.11",
        torch="2.13.0",
        variant="cpu",
        torchvision=None,
        torchaudio=None,
        tensorflow=None,
        constraints=(),
        index_url=None,
        wheelhouse=None,
        serves_variant=True,
        default_index=None,
    )
    return BundleContents(
        schema="gpu-assistant/bundle/1",
        program="0.1.0",
        catalog="2026-11-01",
        goal="pytorch",
        channel="studio",
        request=request,
        platform=platform,
        files=(
            BundleFile(path=LOCK_FILE, sha256="0" * 64, bytes=1_000),
            BundleFile(path=WHEEL, sha256="1" * 64, bytes=WHOLE),
        ),
        excluded_codes=excluded_codes,
    )


def gathering(*, done: int | None = None) -> tuple[Any, ...]:
    """The events of a folder that is being made, up to `done` bytes of the download."""
    briefs = tuple(StepSummary(id=step.id, code=step.code, data=step.data) for step in STEPS)
    events: list[Any] = [PlanEvent(steps=briefs)]
    for step in STEPS[:1]:
        events += [StepEvent(id=step.id, state="running"), StepEvent(id=step.id, state="done")]
    events.append(StepEvent(id="download", state="running"))
    if done is not None:
        half = StepEvent(id="download", state="running", done=done, total=WHOLE, unit="bytes", speed=18.4e6)
        events.append(json.decode(json.encode(half), StepEvent))
    return tuple(events)


def write(folder: Path, made: BundleContents) -> BundleContents:
    """The list, as the last thing in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LIST_FILE).write_bytes(json.encode(made))
    return made


def mark(folder: Path) -> str:
    """The sha256 of the list."""
    return hashlib.sha256((folder / LIST_FILE).read_bytes()).hexdigest()


class FakeBundles:
    """The bundles of a `FakeApp`: `orders` notes what was requested, the app's `results` and `news` say how it goes."""

    def __init__(self, app: FakeApp) -> None:
        self._app = app

    def create(
        self,
        machine: Machine,
        recommendation: Recommendation,
        folder: Path,
        *,
        channel: str = "studio",
        choice: Choice | None = None,
        rate_limiter: RateLimiter | None = None,
    ) -> FakeJob:
        self._app.orders.append((machine, recommendation, folder, channel, choice, rate_limiter))
        if self._app.results.get("bundle") is None:
            self._app.results["bundle"] = lambda: write(folder, contents())
        job = self._app.job("bundle")
        job.plan = self._app.plan(machine, recommendation, self._app.folder / "environment")
        return job

    def needed_bytes(self, machine: Machine, recommendation: Recommendation) -> int:
        return plan_cost(self._app.plan(machine, recommendation, self._app.folder / "environment")).bytes

    def available_setup(self, machine: Machine, **options: Any) -> FakeJob:
        choice = options["choice"]
        build = f"{choice.pytorch}+{choice.variant}" if choice is not None else "what suits"
        self._app.calls.append(f"ask for a folder: {build}")
        return self._app.available_setup(machine, self._app.folder, **options)

    def check(self, folder: Path, *, match_computer: bool = False) -> FakeJob:
        self._app.orders.append((folder, match_computer))
        return self._app.job("check")

    def recommend(self, folder: Path, machine: Machine) -> Recommendation:
        self._app.calls.append("recommend from a folder")
        return self._app.recommendation(None)

    def plan(self, folder: Path, machine: Machine, recommendation: Recommendation, environment: Path) -> Plan:
        return replace(self._app.plan(machine, recommendation, environment), bundle=str(folder), bytes=0)
