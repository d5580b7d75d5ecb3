"""Bundles of the small sandbox, and the plan of a computer that has nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.plan import Event, Plan
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.install.bundle.minisign import SecretKey
from gpu_assistant.install.host import PreviewContext
from gpu_assistant.install.jobs.create_bundle import CreateBundleJob
from gpu_assistant.install.packages.requirements import Platform
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.system import current_system

from .sandbox import QUICK, Sandbox, machine, recommendation

HERE = Platform(system="windows" if current_system().name == "windows" else "linux", arch="x86_64", glibc="2.28")


def create(
    sandbox: Sandbox,
    folder: Path,
    target: Platform = HERE,
    choice: Choice | None = None,
    *,
    signing_key: SecretKey | None = None,
    **more: Any,
) -> list[Event]:
    events: list[Event] = []
    ground = PreviewContext(sandbox.system, sandbox.data, sandbox.catalog)
    job = CreateBundleJob(
        sandbox.plan(**more),
        target,
        folder,
        ground,
        channel="studio",
        choice=choice,
        signing_key=signing_key,
        limits=QUICK,
    )
    job.run(JobContext(report=events.append))
    return events


def offline(sandbox: Sandbox, folder: Path, version: str | None = None) -> Plan:
    """The plan of another computer, which has nothing but the folder."""
    sandbox.data = DataDir(sandbox.root / "other")
    sandbox.environment = sandbox.root / "there" / "env"
    wanted = recommendation(version or sandbox.torch.name.split("-")[1].partition("+")[0], sandbox.torch_index)
    return make_plan(
        machine(),
        wanted,
        sandbox.catalog,
        data=sandbox.data,
        environment=sandbox.environment,
        wheelhouse=None,
        simulated=False,
        bundle=folder,
    )
