"""Bundles of the small world, and the plan of a computer that has nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.plan import Event, Plan
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.install.host import PreviewContext
from gpu_assistant.install.jobs.create_bundle import CreateBundleJob
from gpu_assistant.install.packages.requirements import Platform
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.system import current_system

from .world import QUICK, World, machine, recommendation

HERE = Platform(system="windows" if current_system().name == "windows" else "linux", arch="x86_64", glibc="2.28")


def create(
    world: World, folder: Path, target: Platform = HERE, choice: Choice | None = None, **more: Any
) -> list[Event]:
    events: list[Event] = []
    ground = PreviewContext(world.system, world.data, world.catalog)
    job = CreateBundleJob(world.plan(**more), target, folder, ground, channel="studio", choice=choice, limits=QUICK)
    job.run(JobContext(report=events.append))
    return events


def offline(world: World, folder: Path, version: str | None = None) -> Plan:
    """The plan of another computer, which has nothing but the folder."""
    world.data = DataDir(world.root / "other")
    world.environment = world.root / "there" / "env"
    wanted = recommendation(version or world.torch.name.split("-")[1].partition("+")[0], world.torch_index)
    return make_plan(
        machine(),
        wanted,
        world.catalog,
        data=world.data,
        environment=world.environment,
        wheelhouse=None,
        simulated=False,
        bundle=folder,
    )
