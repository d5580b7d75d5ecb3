"""Writes resources/schemas/catalog-*.schema.json anew from the structs: .venv/bin/python .ci/schemas.py"""

from __future__ import annotations

import json
from pathlib import Path

from gpu_assistant.catalog.validation import FILE_TYPES, json_schema

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "schemas"

for name in FILE_TYPES:
    text = json.dumps(json_schema(name), indent=1, ensure_ascii=False) + "\n"
    (FOLDER / f"catalog-{name}.schema.json").write_text(text, encoding="utf-8", newline="\n")
