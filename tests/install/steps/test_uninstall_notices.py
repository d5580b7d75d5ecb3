"""What is part of the system stays when an environment goes: the plan, the preview and the end say the same of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.errors import RebootRequired
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Event, Step, StepEvent
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.journal.log import ProgramInstalled
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.texts.localized import Texts

from ...fakes.system import FakeSystem
from .test_nvidia_driver import Sandbox, linux_only, linux_step, use


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    created = Sandbox(tmp_path)
    use(created, monkeypatch)
    return created


def removal(sandbox: Sandbox) -> UninstallJob:
    return UninstallJob(sandbox.root / "env", sandbox.data, sandbox.system)


def commands(text: str) -> list[str]:
    return re.findall(r"“(sudo [^”]+)”", text)


@linux_only
@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("restarted", [False, True])
def test_kept_driver_has_same_notice_in_plan_and_uninstall(sandbox: Sandbox, language: Any, restarted: bool) -> None:
    step, texts = linux_step(sandbox), Texts(language)
    with pytest.raises(RebootRequired):
        sandbox.install(step)
    if restarted:
        sandbox.here = "580.95.05"
    else:
        sandbox.system = FakeSystem(name="linux", login_command=sandbox.system.login_command, pending_reboot=True)
    left = next(each for each in removal(sandbox).steps() if each.code.startswith("leave-"))
    assert left.code == "leave-driver-packages"
    assert "580.95.05" in texts.translate(f"step.{left.code}.title", left.data)
    events: list[Event] = []
    removal(sandbox).run(JobContext(report=events.append))
    (end,) = (event for event in events if isinstance(event, StepEvent) and event.code is not None)
    assert end.state == "skipped"
    plan, before, after = (
        texts.translate(code, data)
        for code, data in (
            (f"step.{step.code}.undo", step.data),
            (f"step.{left.code}.what", left.data),
            (str(end.code), end.data),
        )
    )
    by_hand = ["sudo apt-get remove --autoremove nvidia-driver-580-open linux-modules-nvidia-580-open-generic"]
    assert commands(plan) == commands(before) == commands(after) == by_hand
    assert before == after
    assert "560.1" in plan
    assert "560.1" in before
    # apt-get was not asked to take anything away.
    assert "remove" not in (sandbox.root / "apt").read_text()


PROGRAMS = {
    "nvidia-driver": ProgramInstalled(name="nvidia-driver", version="580.95.05"),
    "vc-redist": ProgramInstalled(name="vc-redist", version="Microsoft Corporation"),
    "cuda-installer": ProgramInstalled(name="CUDA Toolkit 13.2", version="13.2.2"),
    "wsl2": ProgramInstalled(name="WSL2", version="2"),
}


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("kind", PROGRAMS)
def test_every_kept_program_has_texts(kind: str, language: Any) -> None:
    effects = [PROGRAMS[kind]]
    if kind == "wsl2":
        effects.append(ProgramInstalled(name="WSL2 Linux", version="2"))
    texts = [
        STEP_KINDS[kind].uninstall_notice(effect, step)
        for effect in effects
        for step in (None, Step(id="a", kind=kind, code=""))
    ]
    for code, data in texts:
        for part in ("title", "what", "undo"):
            assert "{" not in Texts(language).translate(f"step.{code}.{part}", data)
    assert len({code for code, _ in texts}) == len(effects)


def test_every_installing_step_has_uninstall_notice() -> None:
    apart = {name for name, kind in STEP_KINDS.items() if kind.external_installer}
    assert apart == PROGRAMS.keys()
