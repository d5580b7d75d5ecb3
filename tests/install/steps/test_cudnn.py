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
from gpu_assistant.install.steps.cuda_redist import CUDNN_RECEIPT
from gpu_assistant.system import current_system

from ...fakes.environment_variables import FileVariables
from ...fakes.fault_server import FaultServer, fault_server
from ...fakes.redist import CUDNN_VERSION, SAYS, TOOLKIT, Redist, sha256
from ...fakes.system import FakeSystem
from .. import tiny_wheels
from ..sandbox import INTERPRETER, QUICK, RELEASE, Imports, Sandbox, catalog_with, end, machine, recommendation, states
from ..toolkit_sandbox import ToolkitSandbox, wants

NONE = PartAdvice(action="none")
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with fault_server() as served:
        yield served


def served(root: Path, server: FaultServer, **more: bool) -> ToolkitSandbox:
    sandbox = ToolkitSandbox(root, server.url, **more)
    sandbox.serve(server)
    return sandbox


def library(sandbox: ToolkitSandbox) -> str:
    # The archive for Windows has it in bin\\x64, and the guides put it into bin.
    return "bin/cudnn64_9.dll" if sandbox.redist.windows else "lib/libcudnn.so.9"


def test_cudnn_is_merged_into_toolkit(tmp_path: Path, server: FaultServer) -> None:
    sandbox = served(tmp_path, server)
    sandbox.install(sandbox.plan(cudnn=NONE))
    alone = {name: data for name, data in sandbox.seen().items() if name.startswith("data")}
    sandbox.install()
    there = archives.read_receipt(sandbox.tree / CUDNN_RECEIPT)
    assert there is not None
    assert (there.version, there.index, len(there.parts)) == (CUDNN_VERSION, None, 1)
    assert {"include/cudnn.h", "licenses/cudnn/LICENSE", library(sandbox)} <= set(there.files)
    after = {name: data for name, data in sandbox.seen().items() if name.startswith("data")}
    prefix = sandbox.tree.relative_to(tmp_path).as_posix()
    files = {f"{prefix}/{name}" for name in there.files} | {f"{prefix}/{CUDNN_RECEIPT}"}
    assert {name for name in after if after[name] is not None} - set(alone) == files
    assert {name: after[name] for name in alone} == alone
    assert sandbox.variables.get("CUDNN_PATH") is None


@pytest.mark.parametrize("pinned", [True, False])
def test_archive_is_found_by_index(tmp_path: Path, server: FaultServer, pinned: bool) -> None:
    sandbox = served(tmp_path, server, pinned=pinned, archives=False)
    step = next(step for step in sandbox.plan().steps if step.kind == "cudnn")
    assert (step.bytes, step.files[0].name) == (None, "redistrib_9.27.0.json")
    sandbox.install()
    there = archives.read_receipt(sandbox.tree / CUDNN_RECEIPT)
    assert there is not None
    index = sandbox.redist.files[sandbox.redist.cudnn_index]
    url = server.url + sandbox.redist.cudnn_index
    assert there.index == archives.IndexSource(url=url, sha256=sha256(index), pinned=pinned)


def test_own_folder_beside_foreign_toolkit(tmp_path: Path, server: FaultServer) -> None:
    sandbox = served(tmp_path, server)
    before = sandbox.seen()
    events = sandbox.install(sandbox.plan(cuda_toolkit=PartAdvice(action="keep", version=TOOLKIT)))
    assert states(events) == {"cudnn": "done", "variables": "done"}
    folder = sandbox.data.toolkits / f"cudnn-{CUDNN_VERSION}-cuda13"
    assert (folder / library(sandbox)).is_file()
    value = sandbox.variables.get("CUDNN_PATH")
    assert value is not None
    assert value.value == str(folder)
    # Where the libraries do not lie in a folder of programs, PATH has no use for it.
    assert sandbox.variables.is_on_path(folder / "bin") == sandbox.redist.windows
    sandbox.uninstall()
    assert sandbox.seen() == before


def test_foreign_file_is_not_overwritten(tmp_path: Path, server: FaultServer) -> None:
    sandbox = served(tmp_path, server)
    sandbox.install(sandbox.plan(cudnn=NONE))
    own = sandbox.tree / "include" / "cudnn.h"
    own.write_text("the user's", encoding="utf-8")
    with pytest.raises(AppError) as caught:
        sandbox.install()
    assert (caught.value.code, caught.value.data) == ("toolkit-occupied", {"path": str(own)})
    assert own.read_text(encoding="utf-8") == "the user's"
    assert not (sandbox.tree / library(sandbox)).exists()
    sandbox.uninstall()
    assert [path for path in sandbox.tree.rglob("*") if path.is_file()] == [own]


def test_damaged_cudnn_is_repaired(tmp_path: Path, server: FaultServer) -> None:
    sandbox = served(tmp_path, server)
    sandbox.install()
    before = sandbox.seen()
    (sandbox.tree / library(sandbox)).write_bytes(b"damaged")
    assert states(sandbox.install()) == {"cuda-toolkit": "skipped", "cudnn": "done", "variables": "skipped"}
    assert sandbox.seen() == before
    assert not partial_path(sandbox.tree / CUDNN_RECEIPT).exists()


def test_tampered_plan_is_refused(tmp_path: Path, server: FaultServer) -> None:
    sandbox = served(tmp_path, server)
    torch = wants().pytorch
    assert torch is not None
    plan = sandbox.plan(cuda_toolkit=NONE, pytorch=msgspec.structs.replace(torch, cuda="13.2"))
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
from tests.install.steps.test_cudnn import CudaDevSandbox

root, index, base, stop = sys.argv[1:]
count, unpack = 0, context.unpack

def counted(archive, into, **more):
    global count
    count += 1
    if count == int(stop):
        more["progress"] = lambda done: os._exit(9)
    return unpack(archive, into, **more)

context.unpack = counted
CudaDevSandbox(Path(root), index, base).install()
"""


class CudaDevSandbox:
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
def test_cuda_dev_goal_survives_kill_resume_and_uninstall(sandbox: Sandbox) -> None:
    cuda_dev = CudaDevSandbox(sandbox.root / "cuda-dev", sandbox.torch_index, sandbox.server.url)
    cuda_dev.redist.serve(sandbox.server)
    tiny_wheels.index(sandbox.server, "simple", [*sandbox.others, *tiny_wheels.build_tools()])
    cuda_dev.system.variables.set("CUDA_PATH", "%OLD%", expand=True)
    cuda_dev.system.variables.set("PATH", "first;;second;", expand=True)
    before = cuda_dev.seen()
    plan = cuda_dev.plan()
    kinds = [step.kind for step in plan.steps]
    assert kinds[-4:] == ["cuda-toolkit", "cudnn", "verify", "variables"]
    parts = len(cuda_dev.catalog.cuda.redist.toolkit_parts(13)) if cuda_dev.catalog.cuda.redist is not None else 0
    # In the middle of the fifth part of the toolkit, and in the middle of cuDNN.
    for stop, stopped in ((5, "cuda-toolkit"), (parts - 4 + 1, "cudnn")):
        command = [sys.executable, "-c", CHILD, str(cuda_dev.root), sandbox.torch_index, sandbox.server.url, str(stop)]
        cut = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)
        assert cut.returncode == 9, cut.stderr
        left = log.interrupted_install(cuda_dev.data)
        assert left is not None
        assert left.step == stopped
    sandbox.asks()
    events = cuda_dev.install()
    assert end(events).state == "done"
    assert (states(events)["cuda-toolkit"], states(events)["cudnn"]) == ("skipped", "done")
    assert not [requested for requested in sandbox.asks() if "-archive." in requested]
    tree = cuda_dev.data.toolkits / f"cuda-{TOOLKIT}"
    program = tree / "bin" / ("nvcc.exe" if cuda_dev.redist.windows else "nvcc")
    completed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert SAYS in completed.stdout
    assert set(states(cuda_dev.install()).values()) <= {"skipped", "done"}
    UninstallJob(cuda_dev.environment, cuda_dev.data, cuda_dev.system).run(JobContext())
    assert cuda_dev.seen() == before
    assert not cuda_dev.data.toolkits.exists()
