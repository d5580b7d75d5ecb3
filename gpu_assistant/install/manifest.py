"""What we write into every environment that we made: it alone makes a folder ours."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from ..core import json
from ..core.recommendation import Recommendation
from .listing import UNFINISHED_MARK

MANIFEST_FILE = "gpu-assistant.json"
LOCK_FILE = "pylock.toml"
CONSTRAINTS_FILE = "gpu-assistant-constraints.txt"


class EnvironmentManifest(msgspec.Struct, frozen=True, kw_only=True):
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


def read_manifest(environment: Path) -> EnvironmentManifest | None:
    """The manifest of an environment; None if it has none, or not a whole one, or is unfinished, or lost its lock."""
    return None if os.path.lexists(environment / UNFINISHED_MARK) else read_unfinished_manifest(environment)


def read_unfinished_manifest(environment: Path) -> EnvironmentManifest | None:
    """The same of one that may be unfinished."""
    try:
        manifest = json.decode((environment / MANIFEST_FILE).read_bytes(), EnvironmentManifest)
        return manifest if (environment / LOCK_FILE).is_file() else None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def missing_metadata(environment: Path) -> tuple[str, ...]:
    """Which of our own notes in an environment are gone or cannot be read."""
    try:
        json.decode((environment / MANIFEST_FILE).read_bytes(), EnvironmentManifest)
        is_readable = True
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        is_readable = False
    return (*(() if is_readable else (MANIFEST_FILE,)), *(() if (environment / LOCK_FILE).is_file() else (LOCK_FILE,)))


def write_manifest(folder: Path, manifest: EnvironmentManifest) -> None:
    """Write it whole; raises AppError."""
    json.write_file(folder / MANIFEST_FILE, json.encode_pretty(manifest) + "\n")
