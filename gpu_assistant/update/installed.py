"""How this copy of the program came onto the computer: its installer leaves a note beside the launcher."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from ..core import json
from .statement import UpdateFileKind

# A checkout has no file that updates it.
InstallationKind = UpdateFileKind | Literal["source"]

PACKAGE_FOLDER = Path(__file__).resolve().parents[1]
# …/gpu_assistant/ inside the folder app/ of what was installed.
MARKER_PATH = PACKAGE_FOLDER.parents[1] / "installed.json"


class InstallationMarker(Struct, frozen=True, kw_only=True):
    """`kind` names the file that updates it."""

    kind: UpdateFileKind


def installation_kind(marker: Path = MARKER_PATH, package: Path = PACKAGE_FOLDER) -> InstallationKind:
    """The way this copy was installed; without a readable note it is a wheel in somebody's Python, or a checkout."""
    try:
        return json.decode(marker.read_bytes(), InstallationMarker).kind
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        # Wheels carry the data inside the package; beside it they lie where the source does.
        return "wheel" if (package / "resources").is_dir() else "source"
