"""`--environment conda` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Call

MACHINES = Path(__file__).resolve().parent.parent / "machines"
WITH = str(MACHINES / "ubuntu22-h100" / "expected.json")
WITHOUT = str(MACHINES / "nothing-at-all" / "expected.json")


@pytest.mark.parametrize(("language", "expected"), [("en", "plus: conda's Python"), ("zh_CN", "另加：conda 的 Python")])
def test_a_plan_says_what_conda_does(call: Call, language: str, expected: str) -> None:
    done = call("--lang", language, "plan", "--machine", WITH, "--environment", "conda")
    assert done.returncode == 0, done.stderr
    assert "$ conda create --prefix" in done.stdout
    assert "--override-channels --channel conda-forge" in done.stdout
    assert expected in done.stdout


def test_json_plan_has_conda_step(call: Call) -> None:
    done = call("plan", "--machine", WITH, "--environment", "conda", "--json")
    plan = json.loads(done.stdout)
    (step,) = (step for step in plan["steps"] if step["kind"] == "conda-environment")
    assert (step["bytes"], step["disk_bytes"], plan["bytes"], plan["disk_bytes"]) == (None, None, None, None)
    assert "python-runtime" not in [step["kind"] for step in plan["steps"]]


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_conda_missing(call: Call, language: str) -> None:
    done = call("--lang", language, "plan", "--machine", WITHOUT, "--environment", "conda")
    assert done.returncode == 1
    assert "Miniforge" in done.stderr


def test_bundle_refuses_conda(call: Call, tmp_path: Path) -> None:
    done = call("install", "--bundle", str(tmp_path), "--environment", "conda", "--yes")
    assert done.returncode == 2
    assert str(tmp_path) in done.stderr


def test_unknown_environment_kind_is_refused(call: Call) -> None:
    assert call("plan", "--environment", "docker").returncode == 2
