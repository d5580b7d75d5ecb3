"""WSL2 set up where the user asked for it: by a program that behaves like Windows' own wsl.exe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.app import App
from gpu_assistant.core.errors import AppError, ElevationDenied, RebootRequired, UsageError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Machine, OperatingSystem
from gpu_assistant.core.plan import Event, Plan, StepEvent
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.install.elevation.client import ElevationClient
from gpu_assistant.install.jobs.install import InstallJob
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.steps.context import InstallContext
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.install.steps.wsl2 import Wsl2Install
from gpu_assistant.system.base import WslStatus
from gpu_assistant.texts.localized import Texts

from ...fakes.environment_variables import FileAtLogin
from ...fakes.system import FakeSystem, FakeWindows
from ..elevation.in_process import as_on_windows, inside
from ..sandbox import QUICK

MACHINES = Path(__file__).resolve().parents[2] / "machines"
WINDOWS = MACHINES / "windows11-rtx4060-566.json"
# Its parts are at work only after a restart, of which it says nothing in its exit code.
WSL = """
import os, sys
from pathlib import Path
state, arguments = Path({state!r}), sys.argv[1:]
with (state / "log").open("a") as file:
    file.write(" ".join(arguments) + "\\n")
assert os.environ["WSL_UTF8"] == "1"
if arguments == ["--install", "--no-distribution"] and {parts} == 0:
    (state / "switched-on").touch()
elif arguments == ["--install", "-d", "Ubuntu", "--no-launch"] and {linux} == 0:
    assert (state / "ready").exists()
    (state / "Ubuntu").touch()
else:
    print("Virtualization is switched off.")
print("EXIT", {parts} if "--no-distribution" in arguments else {linux})
"""


class Sandbox:
    """`state` holds what the computer's Windows has just now, as empty files."""

    def __init__(self, root: Path, *, parts: int = 0, linux: int = 0, pending: bool = True) -> None:
        self.root, self.state = root, root / "state"
        self.system32 = root / "Windows" / "System32"
        self.system32.mkdir(parents=True)
        self.state.mkdir()
        (self.state / "log").touch()
        text = WSL.format(state=str(self.state), parts=parts, linux=linux)
        (self.system32 / "wsl.exe").write_text(text, encoding="utf-8")
        self.app = App(data_dir=str(root / "data"), machine_file=str(WINDOWS))
        self.system = FakeSystem(
            name="windows",
            run=as_on_windows,
            is_admin=True,
            operating_system=OperatingSystem(system="windows"),
            windows=FakeWindows(self.system32, wsl=self.wsl),
            pending_reboot=pending,
            login_command=FileAtLogin(root / "login.json"),
        )

    def wsl(self) -> WslStatus:
        linuxes = ("Ubuntu",) if (self.state / "Ubuntu").exists() else ()
        return WslStatus(ready=(self.state / "ready").exists(), distributions=linuxes)

    def restart(self) -> None:
        if (self.state / "switched-on").exists():
            (self.state / "ready").touch()

    def called(self) -> list[str]:
        return (self.state / "log").read_text(encoding="utf-8").splitlines()

    def door(self, work: InstallContext) -> ElevationClient:
        return inside(self.system, lambda: self.app.catalog, self.root / "run")(work)

    def plan(self, wsl: str | None = "install") -> Plan:
        machine = self.app.simulated_machine
        assert isinstance(machine, Machine)
        advice = self.app.setup.recommend(machine, goal="tensorflow", choice=Choice(wsl=wsl))
        complete = self.app.setup.plan(machine, advice, self.root / "env")
        return replace(complete, steps=tuple(s for s in complete.steps if s.kind == "wsl2"), simulated=False)

    def install(self, plan: Plan | None = None) -> StepEvent:
        events: list[Event] = []
        job = InstallJob(plan or self.plan(), self.system, self.app.data, self.app.catalog, limits=QUICK)
        job.run(JobContext(report=events.append))
        return [event for event in events if isinstance(event, StepEvent)][-1]


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    return used(Sandbox(tmp_path), monkeypatch)


def used(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    monkeypatch.setitem(STEP_KINDS, "wsl2", Wsl2Install(sandbox.door))
    return sandbox


def code_of(sandbox: Sandbox) -> str:
    with pytest.raises(AppError) as caught:
        sandbox.install()
    return caught.value.code


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_wsl2_is_not_installed_unrequested(sandbox: Sandbox, language: str) -> None:
    (shown,), (requested,) = sandbox.plan(None).steps, sandbox.plan().steps
    assert (shown.code, shown.needs_admin, shown.needs_reboot) == ("wsl2", False, False)
    assert (requested.code, requested.needs_admin, requested.needs_reboot) == ("wsl2-install", True, True)
    texts = Texts(language)
    assert "RTX 4060" in texts.translate(f"step.{requested.code}.what", requested.data)
    assert sandbox.install(sandbox.plan(None)).state == "skipped"
    assert not sandbox.called()


def test_alternative_leads_to_wsl2_install(sandbox: Sandbox) -> None:
    machine = sandbox.app.simulated_machine
    assert isinstance(machine, Machine)
    advice = sandbox.app.setup.recommend(machine, goal="tensorflow")
    (offer,) = (each for each in advice.alternatives if each.code == "tensorflow-wsl2")
    taken = sandbox.app.setup.recommend(machine, goal="tensorflow", choice=Choice(**offer.change))  # type: ignore[arg-type]
    assert advice.tensorflow is not None
    assert taken.tensorflow is not None
    assert (advice.tensorflow.wsl, taken.tensorflow.wsl) == (False, True)
    again = next(each for each in taken.alternatives if each.code == "tensorflow-wsl2")
    assert again.change == {}


def test_useless_wsl2_choice_is_refused(sandbox: Sandbox) -> None:
    app = App(data_dir=str(sandbox.root / "other"), machine_file=str(MACHINES / "ubuntu-h100.json"))
    machine = app.simulated_machine
    assert isinstance(machine, Machine)
    with pytest.raises(UsageError) as caught:
        app.setup.recommend(machine, goal="tensorflow", choice=Choice(wsl="install"))
    assert caught.value.code == "choice-impossible"
    with pytest.raises(UsageError) as caught:
        sandbox.plan("--unregister")
    assert caught.value.code == "choice-unreadable"


def test_platform_then_restart_then_linux_is_installed(sandbox: Sandbox) -> None:
    with pytest.raises(RebootRequired):
        sandbox.install()
    assert sandbox.called() == ["--install --no-distribution"]
    sandbox.restart()
    assert sandbox.install().code == "progress.wsl-done"
    assert sandbox.called() == ["--install --no-distribution", "--install -d Ubuntu --no-launch"]
    last = sandbox.install()
    assert (last.state, last.code, last.data) == ("skipped", "progress.wsl-here", {"name": "Ubuntu"})
    assert len(sandbox.called()) == 2


def test_existing_platform_needs_no_administrator(sandbox: Sandbox) -> None:
    (sandbox.state / "ready").touch()
    assert sandbox.install().code == "progress.wsl-done"
    assert sandbox.called() == ["--install -d Ubuntu --no-launch"]
    assert not (sandbox.root / "run").exists()


def test_refused_rights_leave_other_steps(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def no(work: InstallContext) -> ElevationClient:
        def refused(*_words: Any, **_more: Any) -> int:
            raise ElevationDenied("rights-refused")

        return ElevationClient(work.data.state, sandbox.system, run_as_admin=refused, command=("helper",))

    monkeypatch.setitem(STEP_KINDS, "wsl2", Wsl2Install(no))
    with pytest.raises(ElevationDenied) as caught:
        sandbox.install()
    assert (caught.value.code, caught.value.data["steps"]) == ("rights-left-out", "wsl2")
    assert not sandbox.called()


@pytest.mark.parametrize(
    ("how", "ready", "code"),
    [
        ({"parts": 1}, False, "wsl-failed"),
        ({"pending": False}, False, "wsl-not-ready"),
        ({"linux": 4294967295}, True, "wsl-linux-failed"),
    ],
)
def test_wsl_failure_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any], ready: bool, code: str
) -> None:
    sandbox = used(Sandbox(tmp_path, **how), monkeypatch)
    if ready:
        (sandbox.state / "ready").touch()
    assert code_of(sandbox) == code


def test_missing_wsl_program_is_reported(sandbox: Sandbox) -> None:
    (sandbox.system32 / "wsl.exe").unlink()
    assert code_of(sandbox) == "wsl-missing"


def test_uninstall_keeps_the_linux(sandbox: Sandbox) -> None:
    (sandbox.state / "ready").touch()
    sandbox.install()
    events: list[Event] = []
    UninstallJob(sandbox.root / "env", sandbox.app.data, sandbox.system).run(JobContext(report=events.append))
    last = [event for event in events if isinstance(event, StepEvent)][-1]
    assert (last.state, last.code) == ("skipped", "step.leave-wsl-linux.what")
    assert len(sandbox.called()) == 1


# What the wsl.exe of Windows 10 prints, in UTF-16 whatever it is asked for, for options that it does not know.
OLD_WSL = """
import sys
text = (
    "Copyright (c) Microsoft Corporation. Alle Rechte vorbehalten.\\n\\nSyntax: wsl.exe [Argument] [Optionen...]\\n"
    "    --export <Distribution> <Dateiname>\\n    --set-default, -s <Distribution>\\n"
    "    --unregister <Distribution>\\n"
)
sys.stdout.buffer.write(text.encode("utf-16-le"))
sys.exit(1)
"""


@pytest.mark.parametrize("is_ready", [False, True])
def test_help_of_an_old_wsl_is_an_error_of_its_own(sandbox: Sandbox, is_ready: bool) -> None:
    (sandbox.system32 / "wsl.exe").write_text(OLD_WSL, encoding="utf-8")
    if is_ready:
        (sandbox.state / "ready").touch()
    assert code_of(sandbox) == "wsl-outdated"
