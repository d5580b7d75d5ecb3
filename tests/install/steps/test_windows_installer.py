"""NVIDIA's installer for Windows, by a program that behaves like it: components, exit codes, what it leaves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.catalog.records.software import ToolkitInstaller
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError, ElevationDenied, RebootRequired, UsageError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import OperatingSystem
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.plan import Event, Plan, StepEvent
from gpu_assistant.core.recommendation import PartAdvice
from gpu_assistant.install.elevation.client import ElevationClient
from gpu_assistant.install.elevation.protocol import CudaToolkitRequest
from gpu_assistant.install.jobs.install import InstallJob
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.plan.validation import check_same_steps
from gpu_assistant.install.steps.context import InstallContext
from gpu_assistant.install.steps.cuda_installer import WindowsInstaller
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.install.steps.plan_builder import PlanBuilder

from ...fakes.environment_variables import FileAtLogin
from ...fakes.fault_server import FaultServer, fault_server
from ...fakes.system import FakeSystem
from ..elevation.in_process import as_on_windows, inside
from ..sandbox import QUICK, machine
from ..toolkit_sandbox import wants

VERSION = "13.2.2"
# NVIDIA's own table of components of 13.2; a name that is not among them ends the installer at once.
KNOWN = """
cublas cublas_dev crt cuda_profiler_api cudart cuobjdump cupti cuxxfilt cufft cufft_dev curand curand_dev
cusolver cusolver_dev cusparse cusparse_dev documentation npp npp_dev nvcc nvdisasm nvfatbin nvjitlink nvjpeg
nvjpeg_dev nvml_dev nvprune nvptxcompiler nvrtc nvrtc_dev nvtx nvvm occupancy_calculator opencl sanitizer
thrust tileiras visual_studio_integration
"""
STRANGE_NAME = -522190823
INSTALLER = """
import json, sys
from pathlib import Path
arguments, folder, log = sys.argv[1:], Path({folder!r}), Path({log!r})
with log.open("a") as file:
    file.write(" ".join(arguments) + "\\n")
if arguments[0] != "-s" or arguments[-1] != "-n" or not set(arguments[1:-1]) <= set({known!r}):
    print("EXIT {strange}")
    sys.exit(0)
if {makes}:
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    (folder / "bin" / "nvcc.exe").write_text("nvcc")
    (folder / "version.json").write_text(json.dumps({{"cuda": {{"version": {version!r}}}}}))
print("EXIT {code}")
# signed by {signer}
"""


class Sandbox:
    """`folder` is where the installer puts a toolkit; what it was called with stands in `log`."""

    def __init__(self, root: Path, server: FaultServer, **how: Any) -> None:
        self.root, self.server = root, server
        self.data = DataDir(root / "data")
        self.folder, self.log = root / "Program Files" / "CUDA" / "v13.2", root / "log"
        self.log.touch()
        self.catalog = load_catalog(resources_dir() / "catalog")
        self.system = FakeSystem(
            name="windows",
            run=as_on_windows,
            is_admin=True,
            operating_system=OperatingSystem(system="windows"),
            cuda_folders=(self.folder,),
            login_command=FileAtLogin(root / "login.json"),
        )
        self.serves(**how)

    def serves(self, *, code: int = 0, makes: bool = True, signer: str = "NVIDIA Corporation", **more: Any) -> None:
        known = [f"{name}_13.2" for name in KNOWN.split()]
        fields = {"folder": str(self.folder), "log": str(self.log), "known": known, "strange": STRANGE_NAME}
        text = INSTALLER.format(**fields, makes=makes, version=VERSION, code=code, signer=signer)
        data = text.encode()
        url = self.server.add("/cuda_13.2.2_windows.exe", data)
        file = {"md5": hashlib.md5(data).hexdigest(), "sha256": None, "bytes": len(data), **more}
        (known_one,) = (t for t in self.catalog.cuda.toolkits if t.version.text == VERSION)
        arguments: dict[str, Any] = {"url": url, "file": "cuda_13.2.2_windows.exe", "source": "installers", **file}
        installer = ToolkitInstaller(system="windows", arch="x86_64", kind="local", **arguments)
        others = tuple(t for t in self.catalog.cuda.toolkits if t is not known_one)
        toolkits = (replace(known_one, installers=(installer,)), *others)
        vars(self.catalog)["cuda"] = replace(self.catalog.cuda, toolkits=toolkits)

    def door(self, work: InstallContext) -> ElevationClient:
        return inside(self.system, lambda: self.catalog, self.root / "run")(work)

    def plan(self) -> Plan:
        wanted = wants(
            cuda_toolkit=PartAdvice(action="install", version=VERSION, way="installer"),
            cudnn=PartAdvice(action="none"),
        )
        here = replace(machine(), os=OperatingSystem(system="windows", arch="x86_64"))
        builder = PlanBuilder(
            here, wanted, self.catalog, data=self.data, environment=self.root / "env", wheelhouse=None
        )
        for kind in ("cuda-toolkit", "cuda-run", "cudnn", "variables", "cuda-installer"):
            builder.add(STEP_KINDS[kind].plan(builder), provides=kind)
        return Plan(
            schema="gpu-assistant/plan/1",
            goal="cuda-dev",
            env=str(self.root / "env"),
            recommendation=wanted,
            steps=tuple(builder.steps),
        )

    def install(self, plan: Plan | None = None) -> StepEvent:
        """The last news of a step."""
        events: list[Event] = []
        InstallJob(plan or self.plan(), self.system, self.data, self.catalog, limits=QUICK).run(
            JobContext(report=events.append)
        )
        return [event for event in events if isinstance(event, StepEvent)][-1]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with fault_server() as served:
        yield served


@pytest.fixture
def sandbox(tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    created = Sandbox(tmp_path, server)
    monkeypatch.setitem(STEP_KINDS, "cuda-installer", WindowsInstaller(created.door))
    return created


def code_of(sandbox: Sandbox, plan: Plan | None = None) -> str:
    with pytest.raises(AppError) as caught:
        sandbox.install(plan)
    return caught.value.code


def test_installer_is_single_step_without_driver(sandbox: Sandbox) -> None:
    (step,) = sandbox.plan().steps
    assert (step.kind, step.needs_admin, step.files[0].sha256) == ("cuda-installer", True, None)
    assert sandbox.install().code == "progress.toolkit-installed"
    (command,) = sandbox.log.read_text().splitlines()
    assert command.split()[1:-1] == list(step.commands[0][2:-1])
    assert {"nvcc_13.2", "crt_13.2", "nvvm_13.2"} <= set(command.split())
    assert "Driver" not in command
    assert sandbox.install().state == "skipped"
    assert len(sandbox.log.read_text().splitlines()) == 1


def test_restart_is_requested_then_toolkit_is_installed(sandbox: Sandbox) -> None:
    sandbox.serves(code=1)
    with pytest.raises(RebootRequired):
        sandbox.install()
    assert sandbox.install().state == "skipped"


@pytest.mark.parametrize(
    ("code", "makes", "fine"),
    [(-2147023836, True, True), (0, False, False), (7, False, False), (-2147023836, False, False)],
)
def test_installed_files_outrank_exit_code(sandbox: Sandbox, code: int, makes: bool, fine: bool) -> None:
    sandbox.serves(code=code, makes=makes)
    if fine:
        assert sandbox.install().state == "done"
    else:
        assert code_of(sandbox) == "toolkit-installer-failed"


@pytest.mark.parametrize(("signer", "code"), [("NVIDIA Corporation Ltd", "signature-other"), ("", "signature-missing")])
def test_installer_of_other_publisher_is_refused(sandbox: Sandbox, signer: str, code: str) -> None:
    sandbox.serves(signer=signer)
    assert code_of(sandbox) == code
    assert not sandbox.log.read_text()


def test_installer_with_wrong_hash_is_refused(sandbox: Sandbox) -> None:
    sandbox.serves(md5="0" * 32)
    assert code_of(sandbox) == "hash-mismatch"
    assert not sandbox.log.read_text()


def test_helper_checks_the_hash_itself(sandbox: Sandbox, tmp_path: Path) -> None:
    """What the asking side says of a file counts for nothing."""
    other = tmp_path / "other.exe"
    other.write_text("print('EXIT 0')\n# signed by NVIDIA Corporation\n")
    door = ElevationClient(
        tmp_path,
        sandbox.system,
        rights=inside_rights(sandbox),
        run_as_admin=lambda arguments, **_: served(sandbox, arguments),
        command=("helper",),
    )
    for version, code in ((VERSION, "door-changed"), ("13.2.9", "door-request"), ("11.8.0", "door-request")):
        with pytest.raises(AppError) as caught:
            door.install_cuda_toolkit(other, version)
        assert caught.value.code == code
    with pytest.raises(AppError) as caught:
        door.send_request(CudaToolkitRequest(nonce="0" * 32, file=str(other), sha256="0" * 64, version="13.2; calc"))
    assert caught.value.code == "door-no-answer"


def inside_rights(sandbox: Sandbox) -> Any:
    from ..elevation.in_process import InsideRights

    return InsideRights(sandbox.root / "run")


def served(sandbox: Sandbox, arguments: Any) -> int:
    from gpu_assistant.install.elevation.helper import ElevationHelper

    return ElevationHelper(sandbox.system, inside_rights(sandbox), sandbox.catalog).handle_request(arguments[1:])


def test_refused_rights_leave_other_steps(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def no(work: InstallContext) -> ElevationClient:
        def refused(*_words: Any, **_more: Any) -> int:
            raise ElevationDenied("rights-refused")

        return ElevationClient(
            work.data.state, sandbox.system, rights=inside_rights(sandbox), run_as_admin=refused, command=("helper",)
        )

    monkeypatch.setitem(STEP_KINDS, "cuda-installer", WindowsInstaller(no))
    with pytest.raises(ElevationDenied) as caught:
        sandbox.install()
    assert (caught.value.code, caught.value.data["steps"]) == ("rights-left-out", "cuda-installer")
    assert not sandbox.log.read_text()


def test_tampered_plan_is_refused(sandbox: Sandbox) -> None:
    plan = sandbox.plan()
    step = plan.steps[0]
    file = step.files[0]
    for bad in (
        {"files": ()},
        {"files": (replace(file, url="https://example.com/cuda_13.2.2_windows.exe"),)},
        {"files": (replace(file, sha256="0" * 64),)},
        {"files": (replace(file, name="../x.exe"),)},
        {"spec": {"version": "13.2.1"}},
        {"spec": {"version": "11.8.0"}},
        {"spec": {"version": VERSION, "words": "-s Display.Driver"}},
    ):
        with pytest.raises(UsageError) as caught:
            check_same_steps(replace(plan, steps=(replace(step, **bad), *plan.steps[1:])), plan)
        assert (caught.value.code, caught.value.data["parts"]) == ("plan-differs", "@plan.part.cuda-installer")


def test_uninstall_keeps_toolkit_and_reports_it(sandbox: Sandbox) -> None:
    sandbox.install()
    events: list[Event] = []
    UninstallJob(sandbox.root / "env", sandbox.data, sandbox.system).run(JobContext(report=events.append))
    last = [event for event in events if isinstance(event, StepEvent) and event.code][-1]
    assert (last.state, last.code) == ("skipped", "step.leave-cuda.what")
    assert (sandbox.folder / "version.json").is_file()


def test_every_offered_installer_has_a_hash() -> None:
    catalog = load_catalog(resources_dir() / "catalog")
    how = catalog.cuda.installer_settings("windows")
    assert how is not None
    offered = [t for t in catalog.cuda.toolkits if t.find_installer("windows", "x86_64") is not None]
    assert len(offered) > 10
    for toolkit in offered:
        installer, command = toolkit.find_installer("windows", "x86_64"), how.installer_arguments(toolkit.version.text)
        assert installer is not None
        assert installer.url.startswith("https://developer.download.nvidia.com/")
        assert not any(avoided in word for word in command for avoided in (*how.avoid, "Driver"))
        assert any(word.startswith("crt_") for word in command) == (toolkit.version.major >= 13)
    assert "11.8.0" not in [t.version.text for t in offered]
