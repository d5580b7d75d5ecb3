"""How this copy of the program came onto the computer: its installer leaves a note beside the launcher."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from ..core import json
from .statement import Kind

# A checkout has no file that updates it.
Way = Kind | Literal["source"]

PACKAGE = Path(__file__).resolve().parents[1]
# …/gpu_assistant/ inside the folder app/ of what was installed.
NOTE = PACKAGE.parents[1] / "installed.json"


class Installed(Struct, frozen=True, kw_only=True):
    """`kind` names the file that updates it."""

    kind: Kind


def installed_as(note: Path = NOTE, package: Path = PACKAGE) -> Way:
    """The way this copy was installed; without a readable note it is a wheel in somebody's Python, or a checkout."""
    try:
        return json.decode(note.read_bytes(), Installed).kind
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        # Wheels carry the data inside the package; beside it they lie where the source does.
        return "wheel" if (package / "resources").is_dir() else "source"
