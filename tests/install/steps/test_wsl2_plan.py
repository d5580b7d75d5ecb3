"""TensorFlow's way to the card on Windows is shown with its command; unasked nothing of it is run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from gpu_assistant.app import App
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.plan import Plan, Step
from gpu_assistant.core.types import Goal
from gpu_assistant.install.steps.wsl2 import Wsl2Install
from gpu_assistant.texts.localized import Texts
from tests.fakes.system import FakeSystem

MACHINES = Path(__file__).resolve().parents[2] / "machines"
WINDOWS = MACHINES / "windows11-rtx4060-566.json"


def planned(folder: Path, file: Path, goal: Goal, build: int | None = None) -> tuple[App, Plan]:
    app = App(data_dir=str(folder / "data"), machine_file=str(file))
    machine = app.simulated_machine
    assert isinstance(machine, Machine)
    if build is not None:
        machine = replace(machine, os=replace(machine.os, build=build, version=f"10.0.{build}"))
    return app, app.setup.plan(machine, app.setup.recommend(machine, goal=goal), folder / "env")


def steps(plan: Plan) -> list[Step]:
    return [step for step in plan.steps if step.kind == "wsl2"]


@pytest.mark.parametrize(
    ("file", "goal", "build", "shown"),
    [
        (WINDOWS, "tensorflow", None, 1),
        (WINDOWS, "pytorch", None, 0),
        (WINDOWS, "tensorflow", 17763, 0),
        (MACHINES / "ubuntu-h100.json", "tensorflow", None, 0),
        (MACHINES / "windows10-gtx1060.json", "cuda-dev", None, 0),
    ],
)
def test_wsl2_step_is_shown_if_gpu_needs_it(
    tmp_path: Path, file: Path, goal: Goal, build: int | None, shown: int
) -> None:
    _, plan = planned(tmp_path, file, goal, build)
    assert len(steps(plan)) == shown
    assert not any(step.needs for step in plan.steps if "wsl2" in step.needs)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_step_text_names_gpu_and_command(tmp_path: Path, language: str) -> None:
    _, plan = planned(tmp_path, WINDOWS, "tensorflow")
    (step,) = steps(plan)
    texts = Texts(language)
    what = texts.translate(f"step.{step.code}.what", step.data)
    assert "RTX 4060" in what
    assert " ".join(step.commands[0]) in what


def test_step_is_left_to_the_user(tmp_path: Path) -> None:
    _, plan = planned(tmp_path, WINDOWS, "tensorflow")
    (step,) = steps(plan)
    outcome = Wsl2Install().is_satisfied(step, SimpleNamespace(system=FakeSystem()))  # type: ignore[arg-type]
    assert outcome is not None
    assert outcome.data["commands"] == step.data["commands"]
