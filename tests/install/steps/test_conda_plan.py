"""The plan of an environment of conda's: what it says, and that no other program can be put in conda's place."""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.machine import Tools
from gpu_assistant.core.plan import Plan, Step
from gpu_assistant.install.host import ValidationContext
from gpu_assistant.install.plan.validation import validate_plan
from gpu_assistant.texts.localized import Texts

from ...fakes.fault_server import fault_server
from ..conda_world import CondaWorld
from ..plan.test_validation import EVIL, places
from ..world import RELEASE, machine


@pytest.fixture
def world(tmp_path: Path) -> Iterator[CondaWorld]:
    with fault_server() as server:
        yield CondaWorld(tmp_path, server)


def ground(world: CondaWorld) -> ValidationContext:
    return ValidationContext(world.system, world.data, world.catalog)


def conda_step(plan: Plan) -> Step:
    return next(step for step in plan.steps if step.kind == "conda-environment")


def changed(plan: Plan, **fields: Any) -> Plan:
    """The plan with another step of conda's."""
    step = msgspec.structs.replace(conda_step(plan), **fields)
    return msgspec.structs.replace(plan, steps=tuple(step if one.id == step.id else one for one in plan.steps))


def test_plan_of_conda_environment(world: CondaWorld) -> None:
    plan = world.plan()
    assert [step.kind for step in plan.steps] == [
        "check-space",
        "conda-environment",
        "resolve",
        "download",
        "python-packages",
        "verify",
    ]
    step = conda_step(plan)
    assert (step.bytes, step.disk_bytes, plan.bytes, plan.disk_bytes) == (None, None, None, None)
    assert step.commands[0][:4] == (str(world.conda.program), "create", "--prefix", str(world.environment))
    assert [words[:3] for words in plan.steps[4].commands] == [("uv", "pip", "sync")]
    for language in ("en", "zh_CN"):
        spoken = Texts(language).localize_plan(plan)
        said = str(conda_step(spoken).what)
        assert str(world.environment) in said
        assert "conda-forge" in said
    validate_plan(plan, ground(world))


def test_simulated_plan_has_no_conda_path(world: CondaWorld) -> None:
    there = msgspec.structs.replace(machine(), tools=Tools(conda="24.9.2"))
    plan = world.plan(machine=there, conda=None, simulated=True)
    assert conda_step(plan).commands[0][:2] == ("conda", "create")
    assert conda_step(plan).spec == {}
    validate_plan(plan, ground(world))
    with pytest.raises(AppError) as caught:
        world.plan(machine=machine(), conda=None, simulated=True)
    assert caught.value.code == "conda-missing"
    # It is never carried out, and is not where that is taken from it.
    with pytest.raises(UsageError):
        validate_plan(msgspec.structs.replace(plan, simulated=False), ground(world))


@pytest.mark.parametrize(
    "given",
    [sys.executable, "/bin/sh", "conda", "../conda", "/nowhere/bin/conda", "", None, 7, ["/bin/sh"]],
)
def test_only_local_conda_is_accepted(world: CondaWorld, given: object) -> None:
    bad = changed(world.plan(), spec={"conda": given})
    with pytest.raises(AppError) as caught:
        validate_plan(bad, ground(world))
    assert caught.value.code in ("plan-refused", "conda-gone")
    with pytest.raises(AppError):
        world.install(bad)
    assert world.conda.calls == []
    assert not world.environment.exists()


def test_lookalike_conda_is_refused(world: CondaWorld) -> None:
    other = world.root / "elsewhere" / "bin" / "conda"
    other.parent.mkdir(parents=True)
    other.write_bytes(world.conda.program.read_bytes())
    with pytest.raises(AppError) as caught:
        validate_plan(changed(world.plan(), spec={"conda": str(other)}), ground(world))
    assert caught.value.code == "conda-gone"


def test_plan_with_two_pythons_is_refused(world: CondaWorld) -> None:
    plan = world.plan()
    plain = next(step for step in world.plain_plan().steps if step.kind == "python-runtime")
    both = (*plan.steps[:2], msgspec.structs.replace(plain, id="other"), *plan.steps[2:])
    with pytest.raises(UsageError) as caught:
        validate_plan(msgspec.structs.replace(plan, steps=both), ground(world))
    assert caught.value.data["detail"] == "steps: two python-runtime"


def test_conda_with_bundle_is_refused(world: CondaWorld) -> None:
    with pytest.raises(UsageError):
        validate_plan(msgspec.structs.replace(world.plan(), bundle=str(world.root)), ground(world))


def test_tampered_conda_steps_are_refused(world: CondaWorld) -> None:
    plan, dice, refused = world.plan(), random.Random(11), 0
    for _ in range(1500):
        raw = json.decode(json.encode(plan), dict[str, Any])
        where, key = dice.choice(places(raw["steps"][1]))
        where[key] = copy.deepcopy(dice.choice(EVIL))
        try:
            found = json.decode(json.encode(raw), Plan)
            validate_plan(found, ground(world))
        except (msgspec.DecodeError, AppError, OverflowError):
            refused += 1
            continue
        step = conda_step(found)
        assert step.spec == {"conda": str(world.conda.program)}
        assert step.files == ()
        assert found.recommendation.pytorch is not None
        assert found.recommendation.pytorch.version == RELEASE
    assert refused > 300
