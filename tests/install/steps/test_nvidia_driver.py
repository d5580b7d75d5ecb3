"""The driver's and the runtime's steps, planned and carried out: through the door, with installers that really run."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core.errors import AppError, ElevationDenied, RebootRequired
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Gpu, Machine, OperatingSystem, Tools
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.plan import Event, Plan, Step, StepEvent
from gpu_assistant.core.recommendation import DriverAdvice, PartAdvice, PyTorchChoice, Recommendation, TensorFlowChoice
from gpu_assistant.core.versions import Version
from gpu_assistant.install.elevation.client import ElevationClient
from gpu_assistant.install.jobs.install import InstallJob
from gpu_assistant.install.steps.context import InstallContext
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.install.steps.nvidia_driver import NvidiaDriverInstall
from gpu_assistant.install.steps.plan_builder import PlanBuilder
from gpu_assistant.install.steps.vc_redist import VcRedistInstall
from gpu_assistant.texts.localized import Texts
from tests.fakes.environment_variables import FileAtLogin
from tests.fakes.fault_server import FaultServer, fault_server
from tests.fakes.system import FakeSystem, FakeWindows
from tests.install.elevation.helper import tried_rights
from tests.install.sandbox import QUICK

HELPER = Path(__file__).parents[1] / "elevation" / "helper.py"
SIGNED = HELPER.with_name("signed")
CATALOG = load_catalog(resources_dir() / "catalog")
windows_only = pytest.mark.skipif(sys.platform != "win32", reason="Windows judges signatures and runs installers")
linux_only = pytest.mark.skipif(sys.platform == "win32", reason="apt-get and pkexec")


def machine(system: Any, **more: Any) -> Machine:
    os = OperatingSystem(system=system, arch="x86_64", **more)
    gpu = Gpu(vendor="nvidia", compute_capability="8.9")
    return Machine(schema="gpu-assistant/machine/1", os=os, gpus=(gpu,), tools=Tools())


def with_pytorch(version: str = "2.15.0") -> Recommendation:
    torch = PyTorchChoice(version=version, variant="cpu")
    return msgspec.structs.replace(recommendation("none"), pytorch=torch)


def recommendation(action: Any, **more: Any) -> Recommendation:
    return Recommendation(
        schema="gpu-assistant/recommendation/1",
        goal="pytorch",
        accelerator="cuda",
        python=None,
        pytorch=None,
        driver=DriverAdvice(action=action, **more),
        cuda_toolkit=PartAdvice(action="none"),
        cudnn=PartAdvice(action="none"),
    )


class Sandbox:
    def __init__(self, root: Path, *, here: str | None = "560.1", pkexec: int = 0, apt: int = 0) -> None:
        self.root, self.here, self.catalog = root, here, CATALOG
        self.data = DataDir(root / "data")
        self.base = root / "run"
        self.base.mkdir()
        self.apt, self.pkexec = root / "apt-get", root / "pkexec"
        self._program(self.apt, f'echo "$@" >>"{root}/apt"; case "$*" in *" -y "*) exit {apt} ;; esac')
        self._program(self.pkexec, f'shift; [ {pkexec} = 0 ] || exit {pkexec}; exec "$@"')
        name = "windows" if sys.platform == "win32" else "linux"
        system = OperatingSystem(system=name, distro="ubuntu" if name == "linux" else None)
        self.system = FakeSystem(name=name, operating_system=system, login_command=FileAtLogin(root / "login.json"))

    @staticmethod
    def _program(path: Path, text: str) -> None:
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)

    def door(self, work: InstallContext) -> ElevationClient:
        if sys.platform == "win32":
            from gpu_assistant.system.windows.system import WindowsSystem

            run_as_admin: Any = WindowsSystem().run_as_admin
        else:
            from gpu_assistant.system.linux.elevation import run_as_admin as ask

            run_as_admin = partial(ask, pkexec=self.pkexec)
        return ElevationClient(
            work.data.state,
            work.system,
            rights=tried_rights(self.base),
            run_as_admin=run_as_admin,
            command=(sys.executable, str(HELPER), str(self.base), str(self.apt)),
        )

    def builder(self, seen: Machine, advice: Recommendation) -> PlanBuilder:
        return PlanBuilder(seen, advice, self.catalog, data=self.data, environment=self.root / "env", wheelhouse=None)

    def plan(self, *steps: Step) -> Plan:
        advice = with_pytorch()
        return Plan(
            schema="gpu-assistant/plan/1",
            goal="pytorch",
            env=str(self.root / "env"),
            recommendation=advice,
            steps=steps,
        )

    def install(self, *steps: Step) -> list[Event]:
        events: list[Event] = []
        try:
            InstallJob(self.plan(*steps), self.system, self.data, self.catalog, limits=QUICK).run(
                JobContext(report=events.append)
            )
        except AppError as error:
            error.events = events  # type: ignore[attr-defined]
            raise
        return events


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    sandbox = Sandbox(tmp_path)
    use(sandbox, monkeypatch)
    return sandbox


def use(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STEP_KINDS, "nvidia-driver", NvidiaDriverInstall(sandbox.door, lambda _: sandbox.here))
    monkeypatch.setitem(STEP_KINDS, "vc-redist", VcRedistInstall(sandbox.door))


def driver_step(sandbox: Sandbox, seen: Machine, advice: Recommendation) -> Step:
    (step,) = NvidiaDriverInstall().plan(sandbox.builder(seen, advice))
    return step


def linux_step(sandbox: Sandbox, **more: Any) -> Step:
    advice = recommendation(
        "update",
        installed="560.1",
        minimum="580.65.06",
        recommended="580.95.05",
        way="packages",
        packages=("nvidia-driver-580-open", "linux-modules-nvidia-580-open-generic"),
    )
    return driver_step(sandbox, machine("linux", distro="ubuntu", **more), advice)


PACKAGE = next(p for p in CATALOG.drivers.packages if p.system == "windows" and p.sha256 is not None)
WINDOWS_ADVICE = recommendation(
    "update", installed="560.1", minimum="570", recommended=PACKAGE.version, url=PACKAGE.url
)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_driver_step_has_texts(sandbox: Sandbox, language: Any) -> None:
    unknown = recommendation("install", recommended="999.1")
    debian = recommendation("install", recommended="550", way="packages", packages=("nvidia-driver",))
    steps = [
        linux_step(sandbox),
        linux_step(sandbox, secure_boot=True),
        driver_step(sandbox, machine("linux", distro="arch"), recommendation("install", recommended="580.95.05")),
        driver_step(sandbox, machine("linux", distro="debian", secure_boot=True), debian),
        driver_step(sandbox, machine("windows"), WINDOWS_ADVICE),
        driver_step(sandbox, machine("windows"), unknown),
        *VcRedistInstall().plan(sandbox.builder(machine("windows"), with_pytorch())),
    ]
    assert [step.code for step in steps] == [
        *("nvidia-driver-linux", "nvidia-driver-linux", "nvidia-driver-by-hand", "nvidia-driver-secure-boot-after"),
        *("nvidia-driver", "nvidia-driver-by-hand-windows", "vc-redist"),
    ]
    # What has to be switched on before stands in the step itself: the plan is read without the reasons.
    text = Texts(language).translate(f"step.{steps[3].code}.what", steps[3].data)
    assert all(word in text for word in ("contrib", "non-free-firmware", "linux-headers"))
    for step in steps:
        texts = Texts(language)
        for part in ("title", "what", "undo"):
            assert "{" not in texts.translate(f"step.{step.code}.{part}", step.data)
        # An address is no command: it stands in the words.
        assert not any(command[0].startswith("https:") for command in step.commands)
        assert step.commands or "https://" in texts.translate(f"step.{step.code}.what", step.data)
        assert step.needs_reboot == (
            step.code not in ("nvidia-driver-by-hand", "nvidia-driver-by-hand-windows", "vc-redist")
        )


@pytest.mark.parametrize(
    ("cloud", "code"), [("gcp", "nvidia-driver-linux-after"), (None, "nvidia-driver-secure-boot-after")]
)
def test_rented_computer_is_not_sent_to_the_blue_screen(sandbox: Sandbox, cloud: Any, code: str) -> None:
    debian = recommendation("install", recommended="550", way="packages", packages=("nvidia-driver",))
    computer = msgspec.structs.replace(machine("linux", distro="debian", secure_boot=True), cloud=cloud)
    step = driver_step(sandbox, computer, debian)
    text = Texts("en").translate(f"step.{step.code}.what", step.data)
    assert (step.code, "blue screen" in text, "provider's settings" in text) == (code, cloud is None, cloud is not None)


@pytest.mark.parametrize("action", ["keep", "none"])
def test_unchanged_driver_is_no_step(sandbox: Sandbox, action: str) -> None:
    advice = recommendation(action, recommended="580.95.05")
    assert NvidiaDriverInstall().plan(sandbox.builder(machine("linux", distro="ubuntu"), advice)) == ()


def test_laptop_driver_without_checksum_is_a_step_with_rights(sandbox: Sandbox) -> None:
    url = "https://us.download.nvidia.com/Windows/617.42/617.42-notebook-win10-win11-64bit-international-dch-whql.exe"
    advice = recommendation("update", installed="560.1", minimum="580", recommended="617.42", url=url)
    step = driver_step(sandbox, machine("windows"), advice)
    assert (step.code, step.needs_admin, step.spec) == ("nvidia-driver", True, {"version": "617.42"})
    assert [(file.url, file.sha256) for file in step.files] == [(url, None)]


def test_driver_from_elsewhere_is_left_to_user(sandbox: Sandbox) -> None:
    url = "https://example.invalid/617.42-notebook.exe"
    advice = recommendation("update", installed="560.1", minimum="580", recommended="617.42", url=url)
    step = driver_step(sandbox, machine("windows"), advice)
    assert (step.code, step.needs_admin, step.files) == ("nvidia-driver-by-hand-windows", False, ())


@pytest.mark.parametrize(
    ("seen", "advice", "code"),
    [
        (machine("linux", distro="ubuntu", wsl=True), {"recommended": "617.42", "minimum": "580"}, "outside-named"),
        (machine("linux", distro="ubuntu", wsl=True), {"minimum": "580"}, "outside"),
        (machine("windows"), {"minimum": "580"}, "page"),
        (machine("linux", distro="ubuntu"), {"minimum": "580"}, "page"),
    ],
)
def test_manual_driver_is_still_a_step(sandbox: Sandbox, seen: Machine, advice: dict[str, Any], code: str) -> None:
    step = driver_step(sandbox, seen, recommendation("install", **advice))
    assert (step.code, step.commands, step.needs_admin) == (f"nvidia-driver-{code}", (), False)
    for language in ("en", "zh_CN"):
        texts = Texts(language)
        assert str(advice.get("recommended", "580")) in texts.translate(f"step.{step.code}.title", step.data)
        assert "https://" in texts.translate(f"step.{step.code}.what", step.data)
        assert ("Windows" in texts.translate(f"step.{step.code}.title", step.data)) == code.startswith("outside")


@linux_only
class TestLinux:
    def test_module_that_was_not_built_is_no_success(self, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
        # apt-get succeeds where the kernel's headers are missing: DKMS skips the kernel.
        monkeypatch.setattr(sandbox.system, "kernel_without_driver", lambda: "6.12.118+deb13-amd64")
        with pytest.raises(AppError) as caught:
            sandbox.install(linux_step(sandbox))
        assert caught.value.code == "driver-no-module"
        text = Texts("en").translate("error.driver-no-module", caught.value.data)
        assert "linux-headers-6.12.118+deb13-amd64" in text

    def test_packages_then_restart_then_installed(self, sandbox: Sandbox) -> None:
        step = linux_step(sandbox)
        with pytest.raises(RebootRequired):
            sandbox.install(step)
        assert (
            (sandbox.root / "apt")
            .read_text()
            .splitlines()[-1]
            .endswith("install -- nvidia-driver-580-open linux-modules-nvidia-580-open-generic")
        )
        sandbox.here = "580.95.05"
        last = [event for event in sandbox.install(step) if isinstance(event, StepEvent)][-1]
        assert (last.state, last.code) == ("skipped", "progress.driver-here")

    def test_mok_question_is_explained_before_restart(self, sandbox: Sandbox) -> None:
        step = msgspec.structs.replace(linux_step(sandbox), code="nvidia-driver-secure-boot")
        with pytest.raises(RebootRequired) as caught:
            sandbox.install(step)
        codes = [event.code for event in caught.value.events if isinstance(event, StepEvent)]  # type: ignore[attr-defined]
        assert codes[-1] == "progress.driver-restart-key"

    def test_refused_rights_keep_other_steps(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        sandbox = Sandbox(tmp_path, pkexec=126)
        use(sandbox, monkeypatch)
        with pytest.raises(ElevationDenied) as caught:
            sandbox.install(linux_step(sandbox))
        assert caught.value.exit_code == 5
        assert not (tmp_path / "apt").exists()

    def test_missing_pkexec_shows_commands(self, sandbox: Sandbox) -> None:
        sandbox.pkexec.unlink()
        with pytest.raises(ElevationDenied) as caught:
            sandbox.install(linux_step(sandbox))
        cause = caught.value.__cause__
        assert isinstance(cause, ElevationDenied)
        assert cause.code == "driver-by-hand"
        assert "sudo apt-get install nvidia-driver-580-open" in str(cause.data["commands"])

    def test_apt_error_is_reported(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        sandbox = Sandbox(tmp_path, apt=100)
        use(sandbox, monkeypatch)
        with pytest.raises(AppError) as caught:
            sandbox.install(linux_step(sandbox))
        assert caught.value.code == "driver-packages-failed"

    def test_other_distributions_run_nothing(self, sandbox: Sandbox) -> None:
        step = driver_step(sandbox, machine("linux", distro="arch"), recommendation("install", recommended="580.95.05"))
        last = [event for event in sandbox.install(step) if isinstance(event, StepEvent)][-1]
        assert (last.state, last.code) == ("skipped", "progress.driver-by-hand")
        assert not (sandbox.root / "apt").exists()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with fault_server() as server:
        yield server


def served(server: FaultServer, name: str) -> Catalog:
    """The real catalog, whose newest driver and runtime are the tests' programs on loopback."""
    catalog = load_catalog(resources_dir() / "catalog")
    data = (SIGNED / f"{name}.exe").read_bytes()
    url = server.add("/617.99-desktop.exe", data)
    package = msgspec.structs.replace(
        PACKAGE, version=Version("617.99"), url=url, sha256=hashlib.sha256(data).hexdigest()
    )
    vars(catalog)["drivers"] = msgspec.structs.replace(catalog.drivers, packages=(package,))
    runtime = msgspec.structs.replace(catalog.vc_redist.package, url=server.add("/vc_redist.x64.exe", data))
    vars(catalog)["vc_redist"] = msgspec.structs.replace(catalog.vc_redist, package=runtime)
    return catalog


class TestRuntime:
    NEED = CATALOG.vc_requirement("2.15.0")

    def test_vc_redist_step_precedes_driver_on_windows(self, sandbox: Sandbox) -> None:
        order = list(STEP_KINDS)
        assert order.index("vc-redist") < order.index("nvidia-driver") < order.index("verify")
        builder = sandbox.builder(machine("windows"), with_pytorch())
        assert [step.id for step in STEP_KINDS["vc-redist"].plan(builder)] == ["vc-redist"]

    def test_no_vc_redist_step_if_present_or_unneeded(self, sandbox: Sandbox) -> None:
        here = msgspec.structs.replace(machine("windows"), tools=Tools(vc_redist="14.42"))
        assert VcRedistInstall().plan(sandbox.builder(here, with_pytorch())) == ()
        unknown = msgspec.structs.replace(machine("windows"), tools=None)
        assert VcRedistInstall().plan(sandbox.builder(unknown, with_pytorch())) == ()
        assert VcRedistInstall().plan(sandbox.builder(machine("linux"), with_pytorch())) == ()
        assert VcRedistInstall().plan(sandbox.builder(machine("windows"), recommendation("none"))) == ()

    def test_too_old_vc_redist_is_replaced(self, sandbox: Sandbox) -> None:
        sandbox.catalog = load_catalog(resources_dir() / "catalog")
        newest, *others = sandbox.catalog.vc_redist.needs
        needs = (msgspec.structs.replace(newest, lowest=Version("14.44")), *others)
        vars(sandbox.catalog)["vc_redist"] = msgspec.structs.replace(sandbox.catalog.vc_redist, needs=needs)
        for version, steps in (("14.42", 1), ("14.44", 0), ("14.50", 0)):
            seen = msgspec.structs.replace(machine("windows"), tools=Tools(vc_redist=version))
            assert len(VcRedistInstall().plan(sandbox.builder(seen, with_pytorch()))) == steps

    def test_incomplete_vc_redist_is_replaced(self, sandbox: Sandbox) -> None:
        assert self.NEED is not None
        for files, steps in ((self.NEED.needs_files[:-1], 1), (self.NEED.needs_files, 0)):
            seen = msgspec.structs.replace(machine("windows"), tools=Tools(vc_redist="14.38", vc_libraries=files))
            assert len(VcRedistInstall().plan(sandbox.builder(seen, with_pytorch()))) == steps

    def test_tensorflow_requires_its_own_vc_library(self, sandbox: Sandbox) -> None:
        flow = TensorFlowChoice(version="2.21.0", requirement="tensorflow==2.21.*", gpu=False)
        assert self.NEED is not None
        alone = msgspec.structs.replace(recommendation("none"), tensorflow=flow)
        both = msgspec.structs.replace(with_pytorch(), tensorflow=flow)
        complete = (*self.NEED.needs_files, "msvcp140_1.dll")
        for wanted in (alone, both):
            assert len(VcRedistInstall().plan(sandbox.builder(machine("windows"), wanted))) == 1
            assert VcRedistInstall().plan(sandbox.builder(machine("linux"), wanted)) == ()
            for files, steps in ((self.NEED.needs_files, 1), (complete, 0)):
                seen = msgspec.structs.replace(machine("windows"), tools=Tools(vc_redist="14.40", vc_libraries=files))
                assert len(VcRedistInstall().plan(sandbox.builder(seen, wanted))) == steps

    def test_present_vc_libraries_need_no_download(self, sandbox: Sandbox) -> None:
        assert self.NEED is not None
        libraries = sandbox.root / "Windows" / "System32"
        libraries.mkdir(parents=True)
        for name in self.NEED.needs_files:
            (libraries / name).touch()
        sandbox.system = FakeSystem(name=sandbox.system.name, windows=FakeWindows(libraries, visual_cpp="14.38"))
        (step,) = VcRedistInstall().plan(sandbox.builder(machine("windows"), with_pytorch()))
        last = [event for event in sandbox.install(step) if isinstance(event, StepEvent)][-1]
        assert (last.state, last.code) == ("skipped", "progress.vc-redist-here")

    def test_one_missing_vc_library_is_enough(self, sandbox: Sandbox, server: FaultServer) -> None:
        assert self.NEED is not None
        libraries = sandbox.root / "System32"
        libraries.mkdir()
        for name in self.NEED.needs_files[:-1]:
            (libraries / name).touch()
        sandbox.system = FakeSystem(name=sandbox.system.name, windows=FakeWindows(libraries))
        sandbox.catalog = load_catalog(resources_dir() / "catalog")
        package = msgspec.structs.replace(sandbox.catalog.vc_redist.package, url=f"{server.url}/vc_redist.x64.exe")
        vars(sandbox.catalog)["vc_redist"] = msgspec.structs.replace(sandbox.catalog.vc_redist, package=package)
        (step,) = VcRedistInstall().plan(sandbox.builder(machine("windows"), with_pytorch()))
        with pytest.raises(AppError) as caught:
            sandbox.install(step)
        assert caught.value.code == "source-refused"  # it was asked for, and is not served here


@windows_only
class TestWindows:
    def step(self, sandbox: Sandbox, server: FaultServer, name: str) -> Step:
        sandbox.catalog = served(server, name)
        (package,) = sandbox.catalog.drivers.packages
        advice = recommendation("update", installed="560.1", recommended=package.version.text, url=package.url)
        return driver_step(sandbox, machine("windows"), advice)

    def test_driver_then_restart_then_installed(self, sandbox: Sandbox, server: FaultServer) -> None:
        step = self.step(sandbox, server, "nvidia")
        with pytest.raises(RebootRequired) as caught:
            sandbox.install(step)
        done = [event for event in caught.value.events if isinstance(event, StepEvent)][-1]  # type: ignore[attr-defined]
        assert (done.state, str(done.code).removesuffix("-unnoted")) == ("done", "progress.driver-installed")
        sandbox.here = "617.99"
        last = [event for event in sandbox.install(step) if isinstance(event, StepEvent)][-1]
        assert (last.state, last.code) == ("skipped", "progress.driver-here")

    @pytest.mark.parametrize(
        ("status", "code"),
        [("3858759936", "driver-no-card"), ("3827302400", "driver-wrong-kind"), ("7", "driver-failed")],
    )
    def test_installer_error_is_reported(
        self, sandbox: Sandbox, server: FaultServer, monkeypatch: pytest.MonkeyPatch, status: str, code: str
    ) -> None:
        monkeypatch.setenv("FAKE_INSTALLER_EXIT", status)
        with pytest.raises(AppError) as caught:
            sandbox.install(self.step(sandbox, server, "nvidia"))
        assert caught.value.code == code

    def test_driver_of_other_publisher_is_refused(self, sandbox: Sandbox, server: FaultServer) -> None:
        with pytest.raises(AppError) as caught:
            sandbox.install(self.step(sandbox, server, "other"))
        assert caught.value.code == "signature-other"

    def test_vc_redist_is_installed(
        self, sandbox: Sandbox, server: FaultServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FAKE_INSTALLER_EXIT", "1638")
        sandbox.catalog = served(server, "microsoft")
        (step,) = VcRedistInstall().plan(sandbox.builder(machine("windows"), with_pytorch()))
        last = [event for event in sandbox.install(step) if isinstance(event, StepEvent)][-1]
        assert (last.state, last.code) == ("done", "progress.vc-redist")
