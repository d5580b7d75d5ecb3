"""cuDNN: put among the toolkit's files, taken out of them again; and the whole goal from nothing to nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.plan import Event, Plan
from gpu_assistant.core.recommendation import PartAdvice
from gpu_assistant.install.files import archives
from gpu_assistant.install.files.staging import partial_path
from gpu_assistant.install.jobs.install import InstallJob
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.journal import log
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.install.plan.validation import check_same_steps
from gpu_assistant.install.steps.cuda_redist import CUDNN_RECEIPT, toolkit_parts
from gpu_assistant.system import current_system

from ...fakes.environment_variables import FileVariables
from ...fakes.fault_server import FaultServer, fault_server
from ...fakes.redist import CUDNN_VERSION, SAYS, TOOLKIT, Redist, sha256
from ...fakes.system import FakeSystem
from ..toolkit_world import ToolkitWorld, wants
from ..world import INTERPRETER, QUICK, RELEASE, Imports, World, catalog_with, end, machine, recommendation, states

NONE = PartAdvice(action="none")
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with fault_server() as served:
        yield served


def served(root: Path, server: FaultServer, **more: bool) -> ToolkitWorld:
    world = ToolkitWorld(root, server.url, **more)
    world.serve(server)
    return world


def library(world: ToolkitWorld) -> str:
    # The archive for Windows has it in bin\\x64, and the guides put it into bin.
    return "bin/cudnn64_9.dll" if world.redist.windows else "lib/libcudnn.so.9"


def test_cudnn_is_merged_into_toolkit(tmp_path: Path, server: FaultServer) -> None:
    world = served(tmp_path, server)
    world.install(world.plan(cudnn=NONE))
    alone = {name: data for name, data in world.seen().items() if name.startswith("data")}
    world.install()
    there = archives.read_receipt(world.tree / CUDNN_RECEIPT)
    assert there is not None
    assert (there.version, there.index, len(there.parts)) == (CUDNN_VERSION, None, 1)
    assert {"include/cudnn.h", "licenses/cudnn/LICENSE", library(world)} <= set(there.files)
    after = {name: data for name, data in world.seen().items() if name.startswith("data")}
    prefix = world.tree.relative_to(tmp_path).as_posix()
    files = {f"{prefix}/{name}" for name in there.files} | {f"{prefix}/{CUDNN_RECEIPT}"}
    assert {name for name in after if after[name] is not None} - set(alone) == files
    assert {name: after[name] for name in alone} == alone
    assert world.variables.get("CUDNN_PATH") is None


@pytest.mark.parametrize("pinned", [True, False])
def test_archive_is_found_by_index(tmp_path: Path, server: FaultServer, pinned: bool) -> None:
    world = served(tmp_path, server, pinned=pinned, archives=False)
    step = next(step for step in world.plan().steps if step.kind == "cudnn")
    assert (step.bytes, step.files[0].name) == (None, "redistrib_9.27.0.json")
    world.install()
    there = archives.read_receipt(world.tree / CUDNN_RECEIPT)
    assert there is not None
    index = world.redist.files[world.redist.cudnn_index]
    url = server.url + world.redist.cudnn_index
    assert there.index == archives.IndexSource(url=url, sha256=sha256(index), pinned=pinned)


def test_own_folder_beside_foreign_toolkit(tmp_path: Path, server: FaultServer) -> None:
    world = served(tmp_path, server)
    before = world.seen()
    events = world.install(world.plan(cuda_toolkit=PartAdvice(action="keep", version=TOOLKIT)))
    assert states(events) == {"cudnn": "done", "variables": "done"}
    folder = world.data.toolkits / f"cudnn-{CUDNN_VERSION}-cuda13"
    assert (folder / library(world)).is_file()
    value = world.variables.get("CUDNN_PATH")
    assert value is not None
    assert value.value == str(folder)
    # Where the libraries do not lie in a folder of programs, PATH has no use for it.
    assert world.variables.is_on_path(folder / "bin") == world.redist.windows
    world.uninstall()
    assert world.seen() == before


def test_foreign_file_is_not_overwritten(tmp_path: Path, server: FaultServer) -> None:
    world = served(tmp_path, server)
    world.install(world.plan(cudnn=NONE))
    own = world.tree / "include" / "cudnn.h"
    own.write_text("the user's", encoding="utf-8")
    with pytest.raises(AppError) as caught:
        world.install()
    assert (caught.value.code, caught.value.data) == ("toolkit-occupied", {"path": str(own)})
    assert own.read_text(encoding="utf-8") == "the user's"
    assert not (world.tree / library(world)).exists()
    world.uninstall()
    assert [path for path in world.tree.rglob("*") if path.is_file()] == [own]


def test_damaged_cudnn_is_repaired(tmp_path: Path, server: FaultServer) -> None:
    world = served(tmp_path, server)
    world.install()
    before = world.seen()
    (world.tree / library(world)).write_bytes(b"damaged")
    assert states(world.install()) == {"cuda-toolkit": "skipped", "cudnn": "done", "variables": "skipped"}
    assert world.seen() == before
    assert not partial_path(world.tree / CUDNN_RECEIPT).exists()


def test_tampered_plan_is_refused(tmp_path: Path, server: FaultServer) -> None:
    world = served(tmp_path, server)
    torch = wants().pytorch
    assert torch is not None
    plan = world.plan(cuda_toolkit=NONE, pytorch=msgspec.structs.replace(torch, cuda="13.2"))
    step = plan.steps[0]
    bad: list[dict[str, Any]] = [
        {"files": ()},
        {"files": (msgspec.structs.replace(step.files[0], sha256="0" * 64),)},
        {"files": (msgspec.structs.replace(step.files[0], url="https://example.com/x.zip"),)},
        {"spec": {**step.spec, "version": "../../x"}},
        {"spec": {**step.spec, "version": "9.25.0.15"}},
        {"spec": {**step.spec, "cuda": 12}},
        {"spec": {**step.spec, "toolkit": "../../.."}},
    ]
    for more in bad:
        with pytest.raises(UsageError) as caught:
            check_same_steps(
                msgspec.structs.replace(plan, steps=(msgspec.structs.replace(step, **more), *plan.steps[1:])), plan
            )
        assert caught.value.code == "plan-differs"


# Carries the whole goal out and dies in the middle of unpacking.
CHILD = """
import os, sys
from pathlib import Path
from gpu_assistant.install.steps import context
from tests.install.steps.test_cudnn import Whole

root, index, base, stop = sys.argv[1:]
count, unpack = 0, context.unpack

def counted(archive, into, **more):
    global count
    count += 1
    if count == int(stop):
        more["progress"] = lambda done: os._exit(9)
    return unpack(archive, into, **more)

context.unpack = counted
Whole(Path(root), index, base).install()
"""


class Whole:
    """The goal cuda-dev with its environment, below `root`; `base` is where NVIDIA's archives are."""

    def __init__(self, root: Path, torch_index: str, base: str) -> None:
        self.root, self.data = root, DataDir(root / "data")
        self.redist = Redist(base, current_system().name)
        self.catalog = self.redist.catalog(catalog_with(RELEASE, torch_index))
        self.outside = root / "outside"
        self.outside.mkdir(parents=True, exist_ok=True)
        self.environment = self.outside / "env"
        self.system = FakeSystem(
            name=current_system().name,
            python_candidates=(INTERPRETER,),
            variables=FileVariables(self.outside / "variables.json"),
        )
        self.recommendation = wants(pytorch=recommendation(RELEASE, torch_index).pytorch)

    def plan(self) -> Plan:
        return make_plan(
            machine(),
            self.recommendation,
            self.catalog,
            data=self.data,
            environment=self.environment,
            wheelhouse=None,
            simulated=False,
        )

    def install(self) -> list[Event]:
        """The plan goes through a file, as one from another computer."""
        plan = json.decode(json.encode(self.plan()), Plan)
        events: list[Event] = []
        job = InstallJob(plan, self.system, self.data, self.catalog, verifier=Imports, limits=QUICK)
        job.run(JobContext(report=events.append))
        return events

    def seen(self) -> dict[str, bytes | None]:
        """Every file outside of the data folder, and the toolkits in it."""
        paths = [*self.outside.rglob("*"), *self.data.toolkits.rglob("*")]
        return {path.as_posix(): None if path.is_dir() else path.read_bytes() for path in paths}


@pytest.mark.timeout(300)
def test_cuda_dev_goal_survives_kill_resume_and_uninstall(world: World) -> None:
    complete = Whole(world.root / "whole", world.torch_index, world.server.url)
    complete.redist.serve(world.server)
    complete.system.variables.set("CUDA_PATH", "%OLD%", expand=True)
    complete.system.variables.set("PATH", "first;;second;", expand=True)
    before = complete.seen()
    plan = complete.plan()
    kinds = [step.kind for step in plan.steps]
    assert kinds[-4:] == ["cuda-toolkit", "cudnn", "variables", "verify"]
    parts = len(toolkit_parts(complete.catalog.cuda.redist, 13)) if complete.catalog.cuda.redist is not None else 0
    # In the middle of the fifth part of the toolkit, and in the middle of cuDNN.
    for stop, stopped in ((5, "cuda-toolkit"), (parts - 4 + 1, "cudnn")):
        command = [sys.executable, "-c", CHILD, str(complete.root), world.torch_index, world.server.url, str(stop)]
        cut = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)
        assert cut.returncode == 9, cut.stderr
        left = log.interrupted_install(complete.data)
        assert left is not None
        assert left.step == stopped
    world.asks()
    events = complete.install()
    assert end(events).state == "done"
    assert (states(events)["cuda-toolkit"], states(events)["cudnn"]) == ("skipped", "done")
    assert not [requested for requested in world.asks() if "-archive." in requested]
    tree = complete.data.toolkits / f"cuda-{TOOLKIT}"
    program = tree / "bin" / ("nvcc.exe" if complete.redist.windows else "nvcc")
    completed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert SAYS in completed.stdout
    assert set(states(complete.install()).values()) <= {"skipped", "done"}
    UninstallJob(complete.environment, complete.data, complete.system).run(JobContext())
    assert complete.seen() == before
    assert not complete.data.toolkits.exists()
