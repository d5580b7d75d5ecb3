"""Machines that the rules once got wrong, each beside its nearest look-alikes: what they are told.

`machine_advice.json` has what is wanted by machine (`tests/machines/advice/`) and goal: `build` is PyTorch's, or None;
`driver` the action; `warnings`, `reasons` and `alternatives` are codes that have to be there, in this order, `without`
are codes that must not; any other name is a field of the recommendation by its dotted path; `error` is the code of a
refusal.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core import json as core_json
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.paths import resources_dir

from .build import catalog, check, codes

FOLDER = Path(__file__).resolve().parents[1] / "machines" / "advice"
EXPECTED = json.loads(Path(__file__).with_name("machine_advice.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((resources_dir() / "schemas/machine.schema.json").read_text(encoding="utf-8"))
CODE_LISTS = ("warnings", "reasons", "alternatives")


def test_every_machine_has_expectations() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(EXPECTED)


@pytest.mark.parametrize(("name", "goal"), [(name, goal) for name, goals in EXPECTED.items() for goal in goals])
def test_machine_gets_expected_advice(name: str, goal: Any) -> None:
    data = (FOLDER / f"{name}.json").read_bytes()
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(data))
    machine, wanted = core_json.decode(data, Machine), EXPECTED[name][goal]
    if "error" in wanted:
        with pytest.raises(AppError) as refusal:
            recommend(machine, catalog(), goal=goal)
        assert refusal.value.code == wanted["error"]
        return
    found = recommend(machine, catalog(), goal=goal)
    if found.pytorch is not None:
        check(found)
    assert advice_of(found, wanted) == wanted


def advice_of(found: Any, wanted: dict[str, Any]) -> dict[str, Any]:
    """What was recommended, of all that is wanted."""
    advice: dict[str, Any] = {}
    for name, value in wanted.items():
        if name == "build":
            torch = found.pytorch
            advice[name] = f"{torch.version}+{torch.variant}" if torch is not None else None
        elif name == "driver":
            advice[name] = found.driver.action
        elif name in CODE_LISTS:
            there = codes(getattr(found, name))
            advice[name] = [code for code in there if code in value]
        elif name == "without":
            there = [code for each in CODE_LISTS for code in codes(getattr(found, each))]
            advice[name] = [code for code in value if code not in there]
        else:
            advice[name] = field_at(json.loads(core_json.encode(found)), name.split("."))
    return advice


def field_at(data: Any, path: list[str]) -> Any:
    """A field by its path; None where there is nothing on the way."""
    if not path or data is None:
        return data
    return field_at(data[int(path[0])] if isinstance(data, list) else data[path[0]], path[1:])
