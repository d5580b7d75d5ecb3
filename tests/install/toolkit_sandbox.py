"""A small sandbox with NVIDIA's archives on loopback, the user's variables in a file, and a plan for cuda-dev."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.ownership import MARKER_NAME
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.plan import Event, Plan
from gpu_assistant.core.recommendation import PartAdvice, Recommendation
from gpu_assistant.install.files import inventory
from gpu_assistant.install.jobs.install import InstallJob
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.install.steps.plan_builder import PlanBuilder
from gpu_assistant.system import current_system

from ..fakes.environment_variables import FileAtLogin, FileVariables
from ..fakes.fault_server import FaultServer
from ..fakes.redist import CUDNN_VERSION, TOOLKIT, Redist
from ..fakes.system import FakeSystem
from .sandbox import INTERPRETER, QUICK, RELEASE, machine, recommendation

OURS = ("cuda-toolkit", "cudnn", "variables")


def wants(**more: Any) -> Recommendation:
    """A recommendation for the goal cuda-dev."""
    parts = {
        "cuda_toolkit": PartAdvice(action="install", version=TOOLKIT),
        "cudnn": PartAdvice(action="install", version=CUDNN_VERSION),
    }
    return msgspec.structs.replace(recommendation(RELEASE, None), goal="cuda-dev", **{**parts, **more})


class ToolkitSandbox:
    """`base` is the server's address; `more` is passed to the catalog with its archives."""

    def __init__(self, root: Path, base: str, **more: bool) -> None:
        self.root = root
        system = current_system().name
        self.redist = Redist(base, system)
        self.catalog = self.redist.catalog(load_catalog(resources_dir() / "catalog"), **more)
        self.data = DataDir(root / "data")
        self.outside = root / "outside"
        self.outside.mkdir(parents=True, exist_ok=True)
        self.variables = FileVariables(self.outside / "variables.json")
        self.system = FakeSystem(
            name=system,
            variables=self.variables,
            login_command=FileAtLogin(self.outside / "login.json"),
            python_candidates=(INTERPRETER,),
        )
        self.environment = self.outside / "env"
        self.tree = self.data.toolkits / f"cuda-{TOOLKIT}"

    def serve(self, server: FaultServer) -> None:
        self.redist.serve(server)

    def plan(self, **more: Any) -> Plan:
        """The steps of toolkit, cuDNN and variables alone: no environment is made."""
        wanted = wants(**more)
        builder = PlanBuilder(
            machine(), wanted, self.catalog, data=self.data, environment=self.environment, wheelhouse=None
        )
        for kind in OURS:
            builder.add(STEP_KINDS[kind].plan(builder), provides=kind)
        return Plan(
            schema="gpu-assistant/plan/1",
            goal="cuda-dev",
            env=str(self.environment),
            recommendation=wanted,
            steps=tuple(builder.steps),
        )

    def install(self, plan: Plan | None = None, **more: Any) -> list[Event]:
        events: list[Event] = []
        job = InstallJob(plan or self.plan(), self.system, self.data, self.catalog, limits=QUICK)
        try:
            job.run(JobContext(report=events.append, **more))
        except BaseException as error:
            error.events = events  # type: ignore[attr-defined]
            raise
        return events

    def uninstall(self) -> list[Event]:
        events: list[Event] = []
        UninstallJob(self.environment, self.data, self.system).run(JobContext(report=events.append))
        return events

    def seen(self) -> dict[str, bytes | str | None]:
        """Every file outside of the data folder and the toolkits in it: bytes, a link's target, None for a folder; of a
        list of ours the names.
        """
        paths = [*self.outside.rglob("*"), *self.data.toolkits.rglob("*")]
        return {
            path.relative_to(self.root).as_posix(): str(path.readlink())
            if path.is_symlink()
            else None
            if path.is_dir()
            else " ".join(sorted(inventory.read_file_manifest(path.parent)))
            if path.name == inventory.FILE_MANIFEST
            else path.read_bytes()
            for path in paths
            if path.name != MARKER_NAME  # its inode is another one each time
        }
