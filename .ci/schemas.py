"""Writes what resources/schemas takes from the structs: all of catalog-*.schema.json, and the definitions of
sample.schema.json and checks.schema.json. Run it as .venv/bin/python .ci/schemas.py; the other schemas are by hand.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gpu_assistant.catalog.validation import FILE_TYPES, json_schema  # noqa: E402 - the root stands on the path first
from gpu_assistant.core.results import Checks, Sample  # noqa: E402
from tests.schemas import struct_schema  # noqa: E402

FOLDER = ROOT / "resources" / "schemas"


def write(name: str, schema: dict[str, Any]) -> None:
    """Write a schema as the tests read it."""
    text = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
    (FOLDER / f"{name}.schema.json").write_text(text, encoding="utf-8", newline="\n")


for file_type in FILE_TYPES:
    write(f"catalog-{file_type}", json_schema(file_type))
for name, struct in (("sample", Sample), ("checks", Checks)):
    definitions = struct_schema(struct)["$defs"]
    if struct is Checks:
        for definition in definitions.values():
            if "properties" in definition:
                definition["required"] = list(definition["properties"])  # every field is always written
    stored = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    write(name, {**stored, "$defs": definitions})
