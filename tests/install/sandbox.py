"""A small sandbox to install in: two indexes on loopback, the real catalog with one release more, the real uv."""

from __future__ import annotations

import platform
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from gpu_assistant.catalog.records.pytorch import TorchVariant
from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core import paths
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Machine, OperatingSystem, Python
from gpu_assistant.core.plan import EndEvent, Event, Plan, StepEvent
from gpu_assistant.core.recommendation import DriverAdvice, PartAdvice, PyTorchChoice, Recommendation
from gpu_assistant.core.results import Check, Checks
from gpu_assistant.core.versions import Version
from gpu_assistant.fetch.request import Limits
from gpu_assistant.install.jobs.install import InstallJob
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.system import current_system
from gpu_assistant.system.base import System

from ..fakes.fault_server import FaultServer
from ..fakes.system import FakeSystem
from . import tiny_wheels

RELEASE = "9.1.0"
SERIES = ".".join(platform.python_version_tuple()[:2])
INTERPRETER = Path(vars(sys)["_base_executable"]).resolve()  # not that of a virtual environment
# Few tries without a pause; only a server that is silent costs time, and a busy machine's may be that for seconds.
QUICK = Limits(connect_seconds=10, stall_seconds=30, tries=2, backoff_seconds=0.01, reserve_bytes=0)


class Imports:
    """Proves an environment of tiny wheels: its own Python imports them all."""

    def __init__(self, environment: Path, system: System, _toolkit: object = None) -> None:
        self._environment = environment
        self._system = system

    def run(self, context: JobContext[Any]) -> Checks:
        python = self._system.environment_python(self._environment)
        code = "import torch, tinydep, numpy, pip"
        finished = self._system.run([python, "-I", "-c", code], timeout=60, cancel=context.cancel)
        state: Literal["pass", "fail"] = "pass" if finished.returncode == 0 else "fail"
        check = Check(id="torch-import", state=state, value=None, data={"reason": finished.stderr[-200:]})
        context.report(check)
        return Checks(schema="gpu-assistant/checks/1", verdict=state, checks=(check,))


class Sandbox:
    """`torch_index` and `general` are served; `data` is an empty data folder."""

    def __init__(self, root: Path, server: FaultServer) -> None:
        self.root = root
        self.server = server
        self.torch = tiny_wheels.torch(f"{RELEASE}+cpu", ballast=bytes(range(256)) * 2000)
        self.others = tiny_wheels.others()
        self.torch_index = tiny_wheels.index(server, "torch", [self.torch])
        self.general = tiny_wheels.index(server, "simple", self.others)
        self.data = paths.DataDir(root / "data")
        self.system = FakeSystem(name=current_system().name, python_candidates=(INTERPRETER,))
        self.catalog = catalog_with(RELEASE, self.torch_index)
        self.environment = root / "place" / "env"

    def plan(
        self,
        *,
        version: str = RELEASE,
        environment: Path | None = None,
        wheelhouse: Path | None = None,
        simulated: bool = False,
        pythons: tuple[Python, ...] | None = None,
    ) -> Plan:
        return make_plan(
            machine(pythons),
            recommendation(version, self.torch_index),
            self.catalog,
            data=self.data,
            environment=environment or self.environment,
            wheelhouse=wheelhouse,
            simulated=simulated,
        )

    def job(self, plan: Plan, **more: Any) -> InstallJob:
        return InstallJob(plan, self.system, self.data, self.catalog, **{"verifier": Imports, "limits": QUICK, **more})

    def install(
        self,
        plan: Plan | None = None,
        *,
        cancel: threading.Event | None = None,
        watch: Callable[[Event], None] | None = None,
        **more: Any,
    ) -> list[Event]:
        """Carry out and give the events; what the job raises carries them as `events`."""
        events: list[Event] = []

        def report(event: Event) -> None:
            events.append(event)
            if watch is not None:
                watch(event)

        job = self.job(plan or self.plan(), **more)
        try:
            job.run(JobContext(report=report, cancel=cancel))
        except BaseException as error:
            error.events = events  # type: ignore[attr-defined]
            raise
        return events

    def asks(self) -> list[str]:
        """The paths that were asked for since the last call."""
        paths_seen = [seen.path for seen in self.server.seen]
        self.server.seen.clear()
        return paths_seen


def catalog_with(version: str, index_url: str) -> Catalog:
    """The real catalog and one release more, whose CPU build is at `index_url` for every system.

    A catalog's own files name no address on loopback.
    """
    catalog = load_catalog(paths.resources_dir() / "catalog")
    variants = tuple(
        TorchVariant(system=system, arch="x86_64", variant="cpu", index_url=index_url)
        for system in ("linux", "windows", "darwin")
    )
    newest = msgspec.structs.replace(
        catalog.pytorch.releases[0],
        version=Version(version),
        date="2026-01-01",
        python=(SERIES,),
        torchvision=None,
        torchaudio=None,
        default_variant={},
        variants=variants,
    )
    releases = (newest, *catalog.pytorch.releases)
    vars(catalog)["pytorch"] = msgspec.structs.replace(catalog.pytorch, releases=releases)
    return catalog


def machine(pythons: tuple[Python, ...] | None = None) -> Machine:
    here = Python(path=str(INTERPRETER), version=platform.python_version(), kind="system", arch="x86_64")
    return Machine(
        schema="gpu-assistant/machine/1",
        os=OperatingSystem(system=current_system().name, arch="x86_64"),
        gpus=(),
        pythons=(here,) if pythons is None else pythons,
    )


def recommendation(version: str, index_url: str | None) -> Recommendation:
    return Recommendation(
        schema="gpu-assistant/recommendation/1",
        goal="pytorch",
        accelerator="cpu",
        python=SERIES,
        pytorch=PyTorchChoice(version=version, variant="cpu", index_url=index_url),
        driver=DriverAdvice(action="none"),
        cuda_toolkit=PartAdvice(action="none"),
        cudnn=PartAdvice(action="none"),
    )


def states(events: list[Event]) -> dict[str, str]:
    """The last state of every step."""
    return {event.id: event.state for event in events if isinstance(event, StepEvent)}


def end(events: list[Event]) -> EndEvent:
    """The last event, which must be the only end."""
    assert [event for event in events if isinstance(event, EndEvent)] == events[-1:]
    last = events[-1]
    assert isinstance(last, EndEvent)
    return last
