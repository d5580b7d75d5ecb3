"""What we write into every environment that we made: it alone makes a folder ours."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from ..core import json
from ..core.recommendation import Recommendation
from .listing import UNFINISHED

MANIFEST = "gpu-assistant.json"
LOCK = "pylock.toml"
CONSTRAINTS = "gpu-assistant-constraints.txt"


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """`path` is the folder it was made for, `created` seconds since the epoch, `lock` the lock's identity.

    `bytes` is what its files take on disk, `packages` name and exact version; by `recommendation` the checks
    know what was meant to be here.
    """

    schema: Literal["gpu-assistant/environment/1"]
    path: str
    created: float
    python: str
    torch: str | None
    variant: str | None
    lock: str
    packages: dict[str, str]
    recommendation: Recommendation
    bytes: int | None = None


def read(environment: Path) -> Manifest | None:
    """The manifest of an environment; None if it has none, or not a whole one, or is unfinished, or lost its lock."""
    return None if os.path.lexists(environment / UNFINISHED) else written(environment)


def written(environment: Path) -> Manifest | None:
    """The same of one that may be unfinished."""
    try:
        manifest = json.decode((environment / MANIFEST).read_bytes(), Manifest)
        return manifest if (environment / LOCK).is_file() else None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def lacking(environment: Path) -> tuple[str, ...]:
    """Which of our own notes in an environment are gone or cannot be read."""
    try:
        json.decode((environment / MANIFEST).read_bytes(), Manifest)
        readable = True
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        readable = False
    return (*(() if readable else (MANIFEST,)), *(() if (environment / LOCK).is_file() else (LOCK,)))


def write(folder: Path, manifest: Manifest) -> None:
    """Write it whole; raises AppError."""
    json.write_file(folder / MANIFEST, json.encode_pretty(manifest) + "\n")
