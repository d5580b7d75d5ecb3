"""Every goal on every recorded machine: a plan that says all it does, or the reason and what to do by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import SetupNotSupported
from gpu_assistant.core.machine import Machine, OperatingSystem
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.plan import Plan
from gpu_assistant.core.recommendation import PartAdvice, Recommendation
from gpu_assistant.core.types import Goal
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.texts.localized import Texts

MACHINES = Path(__file__).parents[2] / "machines"
FILES = sorted([*MACHINES.glob("*.json"), *MACHINES.glob("*/expected.json")])
CATALOG = load_catalog(resources_dir() / "catalog")
GOALS: tuple[Goal, ...] = get_args(Goal)


def machine(file: Path) -> Machine:
    return msgspec.json.decode(file.read_bytes(), type=Machine)


def planned(seen: Machine, advice: Recommendation, tmp_path: Path) -> Plan:
    return make_plan(
        seen,
        advice,
        CATALOG,
        data=DataDir(tmp_path / "data"),
        environment=tmp_path / "env",
        wheelhouse=None,
        simulated=True,
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(MACHINES).parts[0])
@pytest.mark.parametrize("goal", GOALS)
def test_plan_matches_recommendation(file: Path, goal: Goal, tmp_path: Path) -> None:
    seen = machine(file)
    advice = recommend(seen, CATALOG, goal=goal)
    if advice.python is None:
        assert cannot(seen, advice, tmp_path) == "setup-no-python"
        return
    plan = planned(seen, advice, tmp_path)
    kinds = {step.kind for step in plan.steps}
    ways = {"wheels": "cuda-wheels", None: "cuda-toolkit"}
    expected = {ways[advice.cuda_toolkit.way]} if advice.cuda_toolkit.action == "install" else set()
    assert kinds & {"cuda-wheels", "cuda-toolkit"} == expected
    # cuDNN as a package needs no step of its own.
    assert ("cudnn" in kinds) == (advice.cudnn.action == "install" and advice.cudnn.way is None)
    packages = next(str(step.data["packages"]) for step in plan.steps if step.kind == "resolve")
    assert ("torch" in packages.split(", ")) == (advice.pytorch is not None)
    assert ("tensorflow" in packages) == (advice.tensorflow is not None)


@pytest.mark.parametrize("name", ["apple-m1-without-python", "apple-m3-without-python", "intel-mac-without-python"])
def test_mac_without_python_gets_plan_with_one(name: str, tmp_path: Path) -> None:
    seen = machine(MACHINES / f"advice/{name}.json")
    plan = planned(seen, recommend(seen, CATALOG), tmp_path)
    runtime = next(step for step in plan.steps if step.kind == "python-runtime")
    assert [file.url.count("apple-darwin") for file in runtime.files] == [1]
    assert {step.kind for step in plan.steps} >= {"resolve", "download", "verify"}


def cannot(seen: Machine, advice: Recommendation, tmp_path: Path) -> str:
    with pytest.raises(SetupNotSupported) as caught:
        planned(seen, advice, tmp_path)
    for language in ("en", "zh_CN"):
        assert "—" not in Texts(language).error_text(caught.value)
    return caught.value.code


def test_every_refusal_has_a_reason(tmp_path: Path) -> None:
    seen = machine(MACHINES / "windows11-rtx4060-566.json")
    advice = recommend(seen, CATALOG, goal="cuda-dev")
    mac: Any = OperatingSystem(system="darwin", arch="arm64")
    without = msgspec.structs.replace(advice, python=None)
    assert cannot(seen, without, tmp_path) == "setup-no-python"
    assert cannot(msgspec.structs.replace(seen, os=mac), without, tmp_path) == "setup-on-mac"
    nothing = msgspec.structs.replace(advice, pytorch=None, tensorflow=None)
    assert cannot(seen, nothing, tmp_path) == "setup-nothing"
    toolkit = msgspec.structs.replace(advice, cuda_toolkit=PartAdvice(action="install", version="1.2.3"))
    assert cannot(seen, toolkit, tmp_path) == "setup-no-toolkit"
    cudnn = msgspec.structs.replace(advice, cudnn=PartAdvice(action="install", version="1.2.3"))
    assert cannot(seen, cudnn, tmp_path) == "setup-no-cudnn"
