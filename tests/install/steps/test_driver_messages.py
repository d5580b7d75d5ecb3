"""What a driver's step, and the proof after it, say beforehand."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.core.plan import Plan, needs_manual_driver
from gpu_assistant.install.steps.nvidia_driver import NvidiaDriverInstall
from gpu_assistant.install.steps.verify import EnvironmentVerification
from gpu_assistant.texts.localized import Texts

from .test_nvidia_driver import Sandbox, driver_step, machine, recommendation, use


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    sandbox = Sandbox(tmp_path)
    use(sandbox, monkeypatch)
    return sandbox


@pytest.mark.parametrize(
    ("secure_boot", "packages", "expected"),
    [
        (False, ("nvidia-driver-580-open",), "Secure Boot is off"),
        (False, ("nvidia-driver-580-open", "linux-modules-nvidia-580-open-generic"), "Secure Boot is off"),
        (True, ("nvidia-driver-580-open", "linux-modules-nvidia-580-open-generic"), "has signed these modules"),
        (None, ("nvidia-driver-580-open",), "We do not know whether Secure Boot is on"),
        (True, ("nvidia-driver-580-open",), "Enroll MOK"),
    ],
)
def test_missing_mok_screen_is_explained(
    sandbox: Sandbox, secure_boot: bool | None, packages: tuple[str, ...], expected: str
) -> None:
    advice = recommendation("install", recommended="580.95.05", way="packages", packages=packages)
    step = driver_step(sandbox, machine("linux", distro="ubuntu", secure_boot=secure_boot), advice)
    assert expected in Texts("en").translate(f"step.{step.code}.what", step.data)
    assert "MOK management" in Texts("zh_CN").translate(f"step.{step.code}.what", step.data)


@pytest.mark.parametrize(
    ("installed", "code"), [(None, "verify-by-hand"), ("560.1", "verify-by-hand"), ("575.1", "verify")]
)
def test_verification_says_it_needs_manual_driver(sandbox: Sandbox, installed: str | None, code: str) -> None:
    action = "install" if installed is None else "update"
    advice = recommendation(action, installed=installed, minimum="570", recommended="580.95.05")
    builder = sandbox.builder(machine("linux", distro="arch"), advice)
    builder.steps += NvidiaDriverInstall().plan(builder)
    (step,) = EnvironmentVerification().plan(builder)
    assert step.code == code
    plan = Plan(
        schema="gpu-assistant/plan/1",
        goal="pytorch",
        env=step.id,
        recommendation=advice,
        steps=(step,),
        bytes=0,
        disk_bytes=0,
        minutes=0,
    )
    assert needs_manual_driver(plan) == (code != "verify")
