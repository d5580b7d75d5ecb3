"""A plan file that somebody tampered with: refused before anything happens, whatever was changed."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

from gpu_assistant.app import App
from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext

MACHINES = Path(__file__).resolve().parents[2] / "machines"
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
    result: list[tuple[Any, Any]] = []
    if isinstance(node, dict | list):
        for key in node if isinstance(node, dict) else range(len(node)):
            result.append((node, key))
            result += places(node[key])
    return result


def test_tampered_plans_are_refused(tmp_path: Path) -> None:
    app = App(data_dir=str(tmp_path / "data"), machine_file=str(MACHINES / "windows11-rtx4060-nodriver.json"))
    machine = app.setup.detect().run(JobContext())
    plan = app.setup.plan(machine, app.setup.recommend(machine, goal="all"), app.data.environments / "env")
    right = {step.kind: (step.spec, step.files) for step in plan.steps}
    dice, refused = random.Random(7), 0
    path = tmp_path / "plan.json"
    for _ in range(600):
        raw = json.decode(json.encode(plan), dict)  # type: ignore[type-arg]
        for _ in range(dice.choice((1, 1, 2, 5))):
            where, key = dice.choice([location for location in places(raw) if location[1] != "machine"])
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
        path.write_bytes(json.encode(raw))
        try:
            again = app.setup.replan(app.setup.read_plan(path), machine)
        except (AppError, OverflowError):
            refused += 1
            continue
        env = Path(again.env)
        assert env.is_absolute()
        assert ".." not in env.parts
        assert {step.kind: (step.spec, step.files) for step in again.steps} == right
    assert refused > 200
