"""The JSON Schema of a struct, the same on every Python: only some take the indent out of docstrings."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

import msgspec


def struct_schema(struct: type[msgspec.Struct]) -> dict[str, Any]:
    schema: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(struct)))
    for definition in schema["$defs"].values():
        if "description" in definition:
            definition["description"] = cleandoc(definition["description"])
    return schema
