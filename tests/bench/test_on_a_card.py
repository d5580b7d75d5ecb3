"""The program for a real card, on stand-ins for PyTorch and NVML: order, limits, and what a killed run keeps."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.json import convert
from gpu_assistant.core.results import Benchmark
from gpu_assistant.system import current_system

from ..nvml.conftest import library, scenario
from ..nvml.scenario import Scenario

__all__ = ["library", "scenario"]  # the same fixtures

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "on_a_card.py"
# In the order of what they teach.
ORDER = [
    *("verify", "quick-benchmark", "probes", "halving", "health", "cancel", "fit", "nccl", "driver", "clocks"),
]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the library is put in NVML's place by its path")


def command(environment: Path, output: Path) -> list[str]:
    python = current_system().environment_python(environment)
    return [sys.executable, str(PROGRAM), "--python", str(python), str(output)]


def entries(output: Path) -> dict[str, Any]:
    return {each["id"]: each for each in json.loads(output.read_text(encoding="utf-8"))["checks"]}


@pytest.fixture
def with_driver(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> Scenario:
    """A card that NVML tells of, in the program's own process, too."""
    scenario.card()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(scenario.library.parent))
    return scenario


def test_ten_checks_in_ten_minutes(with_card: Path, with_driver: Scenario, tmp_path: Path) -> None:
    output = tmp_path / "card.json"
    done = subprocess.run(command(with_card, output), capture_output=True, encoding="utf-8", timeout=250, check=False)
    checks = entries(output)
    assert list(checks) == ORDER
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == ORDER
    assert sum(check["limit_s"] for check in checks.values()) <= 600
    assert all(check["expected"] and check["state"] in ("as-expected", "differs") for check in checks.values())
    assert done.returncode == 1  # the stand-in has no model to train
    assert checks["verify"]["state"] == "as-expected"
    benchmark = convert(checks["quick-benchmark"]["found"]["benchmark"], Benchmark)
    assert {result.device for result in benchmark.results} == {"cpu", "cuda:0"}
    probes = checks["probes"]["found"]
    assert list(probes) == ["ramp", "caches", "float8", "copies", "decode", "batches"]
    assert probes["ramp"]["as_expected"]
    assert "268435456" in probes["copies"]["gb_s"]["copy-to-device-pinned"]
    assert probes["decode"]["failed"] == "ModuleNotFoundError: No module named 'torch.nn'"
    assert checks["health"]["found"]["device-compute"] == ["pass"]
    assert checks["driver"]["found"]["cards"][0]["name"] == "NVIDIA GeForce RTX 4060"
    assert checks["clocks"]["found"]["log"]["name"] == "NVIDIA GeForce RTX 4060"
    uuid = with_driver.cards[0]["uuid"].removeprefix("GPU-")
    assert uuid not in output.read_text(encoding="utf-8")
    assert str(tmp_path) not in output.read_text(encoding="utf-8")


def test_killed_run_keeps_what_it_has(with_card: Path, with_driver: Scenario, tmp_path: Path) -> None:
    output = tmp_path / "card.json"
    # The second check never comes to an end: its first question to the driver hangs.
    with_driver.set(hang="nvmlDeviceGetCount_v2")
    with subprocess.Popen(
        command(with_card, output), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "verify: as-expected\n"
        running.kill()
    checks = entries(output)
    assert list(checks) == ORDER
    assert [check["state"] for check in checks.values()] == ["as-expected", *["not-run"] * 9]


def test_without_a_card_each_check_says_so(with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CARD", "no-driver")
    output = tmp_path / "card.json"
    done = subprocess.run(command(with_card, output), capture_output=True, encoding="utf-8", timeout=250, check=False)
    checks = entries(output)
    assert {check["state"] for check in checks.values()} == {"needs-card"}
    assert list(checks) == ORDER
    assert "no-driver" in checks["verify"]["found"]["why"]
    measured = convert(checks["quick-benchmark"]["found"]["benchmark"], Benchmark)
    assert {result.device for result in measured.results} == {"cpu"}
    assert done.returncode == 1


def test_a_python_of_no_environment_is_refused(tmp_path: Path) -> None:
    output = tmp_path / "card.json"
    call = [sys.executable, str(PROGRAM), "--python", str(tmp_path / "bin" / "python"), str(output)]
    done = subprocess.run(call, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 2
    assert "is not the Python of an environment" in done.stderr
    assert not output.exists()
