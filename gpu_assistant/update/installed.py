"""How this copy of the program came onto the computer: its installer leaves a note beside the launcher."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from ..core import json
from .statement import Kind

# …/gpu_assistant/update/installed.py inside the folder app/ of what was installed.
NOTE = Path(__file__).resolve().parents[3] / "installed.json"


class Installed(Struct, frozen=True, kw_only=True):
    """`kind` names the file that updates it."""

    kind: Kind


def installed_as(note: Path = NOTE) -> Kind:
    """The way this copy was installed; without a readable note it is a wheel in somebody's Python."""
    try:
        return json.decode(note.read_bytes(), Installed).kind
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return "wheel"
