"""The CUDA Toolkit as NVIDIA's Python packages: in the environment's lock, completed by links, gone with it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Plan, StepEvent
from gpu_assistant.core.recommendation import PartAdvice
from gpu_assistant.core.results import Check, Checks
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.install.steps.context import Verifier
from gpu_assistant.install.steps.toolkit_proof import make_toolkit_proof
from gpu_assistant.system import current_system
from gpu_assistant.system.base import EnvironmentVariable, System, UserEnvironmentVariables
from gpu_assistant.verify.cuda_program import ToolkitProof

from ...fakes.environment_variables import FileVariables
from ...fakes.fault_server import FaultServer, fault_server
from ...fakes.system import FakeSystem
from .. import tiny_wheels
from ..sandbox import INTERPRETER, RELEASE, SERIES, Sandbox, end, machine, recommendation, states

pytestmark = pytest.mark.skipif(current_system().name != "linux", reason="links and a script in the compiler's place")

TOOLKIT, CUDNN = "13.2.2", "9.26.0.51"
WHEELS = PartAdvice(action="install", version=TOOLKIT, way="wheels")
KEPT = PartAdvice(action="keep", version=TOOLKIT)
TREE = f"lib/python{SERIES}/site-packages/nvidia/cu13"
NVCC = b"#!/bin/sh\necho Cuda compilation tools, release 13.2, V13.2.86\n"


def packages(*, nvcc: bytes = NVCC) -> list[tiny_wheels.Wheel]:
    """The toolkit's package, whose extras all bring the one part, and cuDNN's."""
    extras = ["nvcc", "crt", "nvvm", "cccl", "profiler", "cudart", "nvrtc", "nvtx"]
    extras += ["cublas", "cufft", "curand", "cusolver", "cusparse", "nvjitlink"]
    requires = [f"nvidia-cuda-nvcc==13.2.86; extra == '{extra}'" for extra in extras]
    tree = {
        "nvidia/cu13/bin/nvcc": nvcc,
        "nvidia/cu13/include/cuda.h": b"",
        "nvidia/cu13/lib/libcudart.so.13": b"runtime",
        "nvidia/cu13/lib/libcudart_static.a": b"static",
        "nvidia/cu13/lib/libnvrtc-builtins.so.13.2": b"builtins",
    }
    cudnn = {"nvidia/cudnn/include/cudnn.h": b"", "nvidia/cudnn/lib/libcudnn.so.9": b"cudnn"}
    return [
        tiny_wheels.wheel("cuda-toolkit", TOOLKIT, requires=requires, extras=extras, content={}),
        tiny_wheels.wheel("nvidia-cuda-nvcc", "13.2.86", content=tree),
        tiny_wheels.wheel("nvidia-cudnn-cu13", CUDNN, content=cudnn),
        *tiny_wheels.build_tools(),
    ]


class NoVariables(FileVariables):
    """A system without a place for variables, such as a container."""

    def get(self, name: str) -> EnvironmentVariable | None:
        raise AppError("no-user-variables")


class WheelsSandbox(Sandbox):
    """With the toolkit's packages on the general index."""

    def __init__(self, root: Path, server: FaultServer, variables: type[FileVariables] = FileVariables) -> None:
        super().__init__(root, server)
        tiny_wheels.index(server, "simple", [*self.others, *packages()])
        self.variables: UserEnvironmentVariables = variables(root / "variables.json")
        self.system = FakeSystem(name="linux", python_candidates=(INTERPRETER,), variables=self.variables)
        self.tree = self.environment / TREE

    def toolkit_plan(self, toolkit: PartAdvice = WHEELS) -> Plan:
        wanted = msgspec.structs.replace(
            recommendation(RELEASE, self.torch_index),
            goal="cuda-dev",
            cuda_toolkit=toolkit,
            cudnn=msgspec.structs.replace(toolkit, version=CUDNN),
        )
        return make_plan(
            machine(),
            wanted,
            self.catalog,
            data=self.data,
            environment=self.environment,
            wheelhouse=None,
            simulated=False,
        )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with fault_server() as served:
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{served.url}/simple")
        yield served


@pytest.fixture
def sandbox(tmp_path: Path, server: FaultServer) -> WheelsSandbox:
    return WheelsSandbox(tmp_path, server)


def test_plan_puts_toolkit_into_lock_and_variables_after_proof(sandbox: WheelsSandbox) -> None:
    plan = sandbox.toolkit_plan()
    kinds = [step.kind for step in plan.steps]
    assert kinds[-4:] == ["python-packages", "cuda-wheels", "verify", "variables"]
    resolve = next(step for step in plan.steps if step.kind == "resolve")
    requested = str(resolve.data["requirements"]).split()
    assert f"nvidia-cudnn-cu13=={CUDNN}" in requested
    (toolkit,) = (line for line in requested if line.startswith("cuda-toolkit["))
    # This PyTorch is the CPU's: nothing of the toolkit comes with it.
    assert toolkit.endswith(f"]=={TOOLKIT}")
    assert {"nvcc", "cudart", "cublas"} <= set(toolkit.partition("[")[2].partition("]")[0].split(","))


def test_installed_toolkit_has_names_that_linkers_look_for(sandbox: WheelsSandbox) -> None:
    events = sandbox.install(sandbox.toolkit_plan())
    assert end(events).state == "done"
    tree = sandbox.tree
    assert (tree / "lib64").resolve() == tree / "lib"
    assert (tree / "lib/libcudart.so").read_bytes() == b"runtime"
    assert (tree / "lib/libnvrtc-builtins.so").read_bytes() == b"builtins"
    assert (tree / "lib/libcudnn.so").read_bytes() == b"cudnn"
    assert (tree / "include/cudnn.h").is_file()
    links = [path for path in tree.rglob("*") if path.is_symlink()]
    assert links
    # The environment was built under another name: no link may name a place.
    assert not [link for link in links if link.readlink().is_absolute()]
    completed = subprocess.run([tree / "bin/nvcc", "--version"], capture_output=True, text=True, check=True)
    assert "V13.2.86" in completed.stdout
    for name in ("CUDA_PATH", "CUDA_HOME", "CUDNN_PATH"):
        value = sandbox.variables.get(name)
        assert value is not None
        assert value.value == str(tree)
    assert sandbox.variables.is_on_path(tree / "bin")


def test_second_install_does_nothing_and_uninstall_leaves_nothing(sandbox: WheelsSandbox) -> None:
    sandbox.variables.set("CUDA_HOME", "/opt/cuda")
    sandbox.install(sandbox.toolkit_plan())
    again = states(sandbox.install(sandbox.toolkit_plan()))
    assert {name for name, state in again.items() if state != "skipped"} == {"space", "verify"}
    UninstallJob(sandbox.environment, sandbox.data, sandbox.system).run(JobContext())
    assert not sandbox.environment.exists()
    restored = sandbox.variables.get("CUDA_HOME")
    assert restored is not None
    assert restored.value == "/opt/cuda"
    assert sandbox.variables.get("CUDA_PATH") is None
    assert not sandbox.variables.is_on_path(sandbox.tree / "bin")


def test_missing_link_of_complete_environment_is_made_again(sandbox: WheelsSandbox) -> None:
    sandbox.install(sandbox.toolkit_plan())
    (sandbox.tree / "lib/libcudart.so").unlink()
    assert states(sandbox.install(sandbox.toolkit_plan()))["cuda-wheels"] == "done"
    assert (sandbox.tree / "lib/libcudart.so").exists()


def test_compiler_that_does_not_start_is_told(tmp_path: Path, server: FaultServer) -> None:
    sandbox = WheelsSandbox(tmp_path, server)
    tiny_wheels.index(server, "simple", packages(nvcc=b"#!/bin/sh\necho no >&2; exit 3\n"))
    (broken,) = (each for each in packages(nvcc=b"#!/bin/sh\necho no >&2; exit 3\n") if "nvcc" in each.name)
    server.add(tiny_wheels.file_path("simple", broken), broken.data)
    with pytest.raises(AppError) as caught:
        sandbox.install(sandbox.toolkit_plan())
    assert caught.value.code == "toolkit-broken"
    assert not sandbox.environment.exists()
    assert sandbox.variables.get("CUDA_HOME") is None


def test_packages_without_toolkit_are_told(tmp_path: Path, server: FaultServer) -> None:
    sandbox = WheelsSandbox(tmp_path, server)
    empty = [tiny_wheels.wheel(w.project, w.name.split("-")[1], content={}) for w in packages() if "nvcc" in w.name]
    for wheel in empty:
        server.add(tiny_wheels.file_path("simple", wheel), wheel.data)
    tiny_wheels.index(server, "simple", empty)
    with pytest.raises(AppError) as caught:
        sandbox.install(sandbox.toolkit_plan())
    assert caught.value.code == "toolkit-incomplete"


def test_system_without_variables_tells_what_to_set(tmp_path: Path, server: FaultServer) -> None:
    sandbox = WheelsSandbox(tmp_path, server, NoVariables)
    events = sandbox.install(sandbox.toolkit_plan())
    assert states(events)["variables"] == "skipped"
    (message,) = (
        str(event.data["lines"])
        for event in events
        if isinstance(event, StepEvent) and event.id == "variables" and "lines" in event.data
    )
    assert f"export CUDA_HOME={sandbox.tree}" in message
    assert message.endswith(f'export PATH="$PATH":{sandbox.tree}/bin')


def verifier_failing(check_id: str) -> Verifier:
    """Makes a verification in which one check fails."""

    class FailsOne:
        def run(self, context: JobContext[Any]) -> Checks:
            check = Check(id=check_id, state="fail", value=None, data={"reason": "broken"})
            context.report(check)
            return Checks(schema="gpu-assistant/checks/1", verdict="fail", checks=(check,))

    return lambda _environment, _system, _toolkit: FailsOne()


@pytest.mark.parametrize(
    ("toolkit", "check_id"), [(WHEELS, "torch-extension"), (KEPT, "torch-extension"), (KEPT, "cuda-compile")]
)
def test_environment_is_installed_though_optional_check_fails(
    sandbox: WheelsSandbox, toolkit: PartAdvice, check_id: str
) -> None:
    events = sandbox.install(sandbox.toolkit_plan(toolkit), verifier=verifier_failing(check_id))
    assert end(events).state == "done"
    assert sandbox.environment.is_dir()


@pytest.mark.parametrize(("toolkit", "check_id"), [(WHEELS, "cuda-compile"), (KEPT, "torch-import")])
def test_environment_without_what_was_asked_for_is_not_installed(
    sandbox: WheelsSandbox, toolkit: PartAdvice, check_id: str
) -> None:
    with pytest.raises(AppError) as caught:
        sandbox.install(sandbox.toolkit_plan(toolkit), verifier=verifier_failing(check_id))
    assert (caught.value.code, caught.value.data["check"]) == ("check-failed", check_id)
    assert not sandbox.environment.exists()


@pytest.mark.parametrize("version", ["newest", "../13", None])
def test_toolkit_of_manifest_without_known_version_is_not_proven(sandbox: WheelsSandbox, version: str | None) -> None:
    advice = msgspec.structs.replace(
        recommendation(RELEASE, sandbox.torch_index), cuda_toolkit=PartAdvice(action="keep", version=version)
    )
    proof = make_toolkit_proof(advice, sandbox.environment, sandbox.catalog, sandbox.data, current_system())
    assert proof is None


def test_toolkit_that_was_deleted_after_its_install_is_sought_in_vain(sandbox: WheelsSandbox) -> None:
    sandbox.install(sandbox.toolkit_plan())
    wanted = sandbox.toolkit_plan().recommendation

    def folder() -> Path | None:
        proof = make_toolkit_proof(wanted, sandbox.environment, sandbox.catalog, sandbox.data, current_system())
        assert proof is not None
        assert (proof.version, proof.was_here) == (TOOLKIT, False)
        return proof.folder

    assert folder() == sandbox.tree
    shutil.rmtree(sandbox.tree)
    assert folder() is None


def test_toolkit_that_no_step_could_install_is_not_proven_by_the_install(sandbox: WheelsSandbox) -> None:
    """Its step was left out, which the end of the run says; here the one that was kept has gone."""
    proofs: list[ToolkitProof | None] = []

    class Passes:
        def run(self, context: JobContext[Any]) -> Checks:
            return Checks(schema="gpu-assistant/checks/1", verdict="pass", checks=())

    def verifier(_environment: Path, _system: System, toolkit: ToolkitProof | None) -> Passes:
        proofs.append(toolkit)
        return Passes()

    events = sandbox.install(sandbox.toolkit_plan(KEPT), verifier=verifier)
    assert end(events).state == "done"
    assert proofs == [None]
