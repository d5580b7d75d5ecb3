"""The machine files that everybody uses are right, and the schema knows wrong ones."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core import json as core_json
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.paths import resources_dir

FILES = sorted((Path(__file__).parents[1] / "machines").glob("*.json"))
SCHEMA = json.loads((resources_dir() / "schemas/machine.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
CATALOG = load_catalog(resources_dir() / "catalog")
EXAMPLE = json.loads(next(path for path in FILES if path.stem == "windows11-rtx4060-566").read_text(encoding="utf-8"))


def test_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_machine_file_round_trips(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    VALIDATOR.validate(data)
    machine = core_json.decode(path.read_bytes(), Machine)
    again = json.loads(core_json.encode(machine))
    VALIDATOR.validate(again)
    assert core_json.decode(core_json.encode(machine), Machine) == machine
    for gpu in machine.gpus_of("nvidia"):
        row = CATALOG.gpu(gpu.pci_id or "")
        assert row is not None
        assert gpu.compute_capability in (None, str(row.compute_capability))


def test_schema_covers_every_field() -> None:
    """Each struct's fields are the schema's properties, at every level."""
    schema = msgspec.json.schema(Machine)

    def properties(node: dict[str, Any]) -> dict[str, Any]:
        """Property names, with those of the object inside (through references, unions and lists)."""
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]]
        for inner in (*node.get("anyOf", ()), *([node["items"]] if "items" in node else ())):
            if result := properties(inner):
                return result
        return {name: properties(value) for name, value in node.get("properties", {}).items()}

    assert properties(SCHEMA) == properties(schema)


WRONG: dict[str, Any] = {
    "schema": "gpu-assistant/machine/2",
    "os": {"system": "beos"},
    "gpus": None,
    "memory_bytes": -1,
    "pending_reboot": "no",
    "disks": [{"free_bytes": 1}],
    "driver": {"version": ""},
    "pythons": [{"path": "x", "version": "three"}],
    "user": {"home": ""},
    "network": {"region": "China"},
}


@pytest.mark.parametrize("field", WRONG)
def test_a_wrong_field_is_refused(field: str) -> None:
    data = copy.deepcopy(EXAMPLE)
    VALIDATOR.validate(data)
    data[field] = WRONG[field]
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(data)


@pytest.mark.parametrize("field", ["schema", "os", "gpus"])
def test_required_fields(field: str) -> None:
    data = copy.deepcopy(EXAMPLE)
    del data[field]
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(data)


def test_unknown_fields_are_accepted() -> None:
    VALIDATOR.validate({**EXAMPLE, "new": 1, "cpu": {"name": "x", "cache": 1}})
