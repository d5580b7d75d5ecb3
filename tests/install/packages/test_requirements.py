"""What an older PyTorch is given beside it: the NumPy that it was built for."""

from __future__ import annotations

import tomllib

import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.machine import SystemName
from gpu_assistant.core.paths import resources_dir

from .. import tiny_wheels
from ..sandbox import RELEASE, Sandbox

OLD = "2.2.2"


@pytest.mark.parametrize(
    ("release", "system", "held"),
    [
        ("2.2.2", "darwin", True),
        ("2.2.2", "windows", True),
        ("2.3.0", "linux", False),
        ("2.4.0", "windows", True),
        ("2.4.1", "windows", False),
    ],
)
def test_numpy_is_constrained_for_older_release(release: str, system: SystemName, held: bool) -> None:
    assert load_catalog(resources_dir() / "catalog").numpy_constraints(release, system) == (
        ("numpy<2",) if held else ()
    )


@pytest.mark.parametrize(("version", "numpy"), [(OLD, "1.26.4"), (RELEASE, "2.4.0")])
def test_older_pytorch_gets_compatible_numpy(sandbox: Sandbox, version: str, numpy: str) -> None:
    if version == OLD:
        tiny_wheels.index(sandbox.server, "torch", [tiny_wheels.torch(f"{OLD}+cpu")])
    tiny_wheels.index(
        sandbox.server, "simple", [*sandbox.others, *(tiny_wheels.wheel("numpy", each) for each in ("1.26.4", "2.4.0"))]
    )
    plan = sandbox.plan(version=version)
    named = str(next(step for step in plan.steps if step.id == "resolve").data["packages"]).split(", ")
    assert ("numpy<2" in named, "numpy" in named) == (version == OLD, version != OLD)
    sandbox.install(plan)
    rows = tomllib.loads((sandbox.environment / "pylock.toml").read_text(encoding="utf-8"))["packages"]
    assert {row["name"]: row["version"] for row in rows}["numpy"] == numpy
