"""The environments that install made and that still stand."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from ..core.names import EnvironmentKind
from ..core.paths import DataDir
from . import journal, manifest
from .conda import CONDA_META


class Environment(Struct, frozen=True, kw_only=True):
    """One environment. `torch` "2.13.0" and `variant` "cpu" are None where it has no PyTorch; `bytes` on disk;
    `created` in seconds since the epoch; `made_by` the user's conda, or uv.
    """

    path: str
    name: str
    torch: str | None
    variant: str | None
    python: str
    bytes: int | None
    created: float
    made_by: EnvironmentKind = "venv"


def read_environment(path: Path) -> Environment | None:
    """The environment in a folder; None if it is not one of ours, or not a whole one."""
    environment_manifest = manifest.read_manifest(path)
    if environment_manifest is None:
        return None
    return Environment(
        path=str(path),
        name=path.name,
        torch=environment_manifest.torch,
        variant=environment_manifest.variant,
        python=environment_manifest.python,
        bytes=environment_manifest.bytes,
        created=environment_manifest.created,
        made_by="conda" if (path / CONDA_META).is_dir() else "venv",
    )


def list_environments(data: DataDir) -> tuple[Environment, ...]:
    """Every environment that the journal names and that stands whole, newest first."""
    environments = [environment for path in journal.environment_paths(data) if (environment := read_environment(path)) is not None]
    return tuple(sorted(environments, key=lambda environment: environment.created, reverse=True))
