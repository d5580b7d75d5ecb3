"""The real PyTorch for Windows, from the command line: install, proof, benchmark, and back."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import jsonschema
import pytest

from gpu_assistant.core.paths import resources_dir

from ..fixtures.torch_env import given_wheelhouse
from .conftest import Call

if sys.platform != "win32":
    pytest.skip("Linux has this in tests/install", allow_module_level=True)

pytestmark = [pytest.mark.windows, pytest.mark.real_install]
BOM = b"\xef\xbb\xbf"


def value(name: str, data: bytes) -> dict[str, object]:
    """One JSON document in UTF-8 without a mark in front, as its schema wants it."""
    assert not data.startswith(BOM)
    result: dict[str, object] = json.loads(data.decode("utf-8"))
    schema = json.loads((resources_dir() / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(result)
    return result


def test_install_verify_bench_and_uninstall(call: Call, tmp_path: Path) -> None:
    """On drive D: if there is one, below folders with spaces and Chinese letters."""
    drive = Path("D:\\")
    root = (drive if drive.is_dir() else tmp_path) / "GPU 助手 试验"
    data, env = root / "data", root / "env 一"
    where = ("--data-dir", data, "--env", env)
    try:
        done = call("install", "--yes", "--json", *where, "--wheelhouse", given_wheelhouse(), timeout=600)
        events = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
        assert done.returncode == 0, done.stderr
        assert (events[0]["event"], events[-1]["event"], events[-1]["state"]) == ("plan", "end", "done")
        assert events[-1]["env"] == str(env)

        done = call("verify", "--json", *where)
        checks = value("checks", done.stdout)
        assert (done.returncode, checks["verdict"]) == (0, "pass"), done.stderr
        states = {check["id"]: check["state"] for check in checks["checks"]}  # type: ignore[attr-defined]
        assert (states["visual-cpp"], states["torch-import"], states["cpu-compute"]) == ("pass", "pass", "pass")

        done = call("bench", "--json", *where)
        benchmark = value("benchmark", done.stdout)
        assert done.returncode == 0, done.stderr
        assert all(result["median"] > 0 for result in benchmark["results"])  # type: ignore[attr-defined]

        assert call("uninstall", "--yes", *where).returncode == 0
        assert not env.exists()
    finally:
        shutil.rmtree(root, ignore_errors=True)
