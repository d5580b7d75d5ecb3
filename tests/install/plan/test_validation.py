"""A plan file that somebody tampered with: refused before anything happens, whatever was changed."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.plan import Plan, Step
from gpu_assistant.install.host import ValidationContext
from gpu_assistant.install.plan.validation import validate_plan
from gpu_assistant.install.steps.registry import STEP_KINDS

from ..world import World

EVIL: tuple[Any, ...] = (
    "/etc/cron.d",
    "../../outside",
    "C:\\Windows\\System32",
    "\\\\server\\share",
    "file:///etc/passwd",
    "https://evil.example/x.whl",
    "; rm -rf ~",
    "a\0b",
    "",
    "~",
    -1,
    None,
    [],
    {},
    ["/etc"],
    {"path": "/etc"},
    2**70,
)


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON value."""
    found: list[tuple[Any, Any]] = []
    if isinstance(node, dict | list):
        for key in node if isinstance(node, dict) else range(len(node)):
            found.append((node, key))
            found += places(node[key])
    return found


def paths_of(plan: Plan, world: World) -> list[Path]:
    """Everything below which a plan that passed would write or from which it would run something."""
    spec = [step.spec for step in plan.steps]
    texts = [value for one in spec for value in (*one.get("set", {}).values(), *one.get("path", ()))]
    return [Path(text) for text in texts]


def test_tampered_plans_are_refused(world: World) -> None:
    toolkit = str(world.data.toolkits / "cuda")
    spec = {"set": {"CUDA_PATH": toolkit}, "path": [toolkit]}
    more = Step(id="variables", kind="variables", code="variables", spec=spec)
    plan = world.plan(pythons=())
    plan = msgspec.structs.replace(plan, steps=(*plan.steps[:-1], more, plan.steps[-1]))
    ground = ValidationContext(world.system, world.data, world.catalog)
    validate_plan(plan, ground)
    known = {build.url for build in world.catalog.pythons.builds}
    dice = random.Random(7)
    refused = 0
    for _ in range(4000):
        raw = json.decode(json.encode(plan), dict)  # type: ignore[type-arg]
        for _ in range(dice.choice((1, 1, 2, 5))):
            where, key = dice.choice(places(raw))
            if isinstance(where, dict | list) and (key in where if isinstance(where, dict) else key < len(where)):
                match dice.randrange(4):
                    case 0:
                        del where[key]
                    case 1 if isinstance(where, list):
                        where.append(where[key])
                    case 2 if isinstance(where, dict):
                        where[dice.choice(("path", "set", "run", "spec", "files"))] = copy.deepcopy(dice.choice(EVIL))
                    case _:
                        where[key] = copy.deepcopy(dice.choice(EVIL))
        try:
            found = json.decode(json.encode(raw), Plan)
            validate_plan(found, ground)
        except (msgspec.DecodeError, AppError, OverflowError):
            refused += 1
            continue
        env = Path(found.env)
        assert env.is_absolute()
        assert ".." not in env.parts
        for path in paths_of(found, world):
            assert world.data.root in path.parents
            assert ".." not in path.parts
        for one in found.steps:
            assert one.kind in STEP_KINDS
            assert one.code in STEP_KINDS[one.kind].codes
            assert {file.url for file in one.files} <= known
            assert set(one.spec) <= {"path", "set"}
    assert refused > 2000


@pytest.mark.parametrize("change", ["unknown", "twice", "backwards", "no-need", "no-proof"])
def test_step_order_is_validated(world: World, change: str) -> None:
    plan = world.plan()
    steps = plan.steps
    bad = {
        "unknown": (*steps, Step(id="x", kind="shell", code="verify")),
        "twice": (*steps, msgspec.structs.replace(steps[0], id="again")),
        "backwards": tuple(reversed(steps)),
        "no-need": tuple(msgspec.structs.replace(step, needs=()) for step in steps),
        "no-proof": steps[:-1],
    }[change]
    with pytest.raises(AppError) as caught:
        validate_plan(
            msgspec.structs.replace(plan, steps=bad), ValidationContext(world.system, world.data, world.catalog)
        )
    assert caught.value.code == "plan-refused"
