"""The program itself on the library: what a person sees of a card that falls off the bus and comes back."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from gpu_assistant.app import App
from gpu_assistant.monitor.history import History

from ..cli.conftest import ROOT
from .machines import eight_h100
from .scenario import Scenario

pytestmark = [
    pytest.mark.linux,
    pytest.mark.skipif(sys.platform != "linux", reason="Windows finds nvml.dll in its system folder alone"),
]


@pytest.fixture
def monitor(scenario: Scenario, tmp_path: Path):
    """Starts `monitor`; its process is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "gpu_assistant", "monitor", "--data-dir", str(tmp_path / "data"), *arguments],
            cwd=ROOT,
            env={**os.environ, "LD_LIBRARY_PATH": str(scenario.library.parent), "PYTHONIOENCODING": "utf-8"},
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_lost_gpu_comes_back(scenario: Scenario, monitor) -> None:
    scenario.card(0)
    scenario.card(1)
    process = monitor("--json", "--interval", "0.05")
    lines = iter(process.stdout.readline, "")

    def until(nvml: str) -> dict[str, object]:
        return next(sample for line in lines if (sample := json.loads(line))["nvml"] == nvml)

    assert [gpu["util"] for gpu in until("ready")["gpus"]] == [37, 37]
    scenario.card(0, util="!15", xid="79 1")
    lost = until("lost")
    assert [(gpu["index"], gpu["state"], gpu["util"]) for gpu in lost["gpus"]] == [(0, "lost", None), (1, "ready", 37)]
    scenario.card(0, util="5")
    assert [gpu["util"] for gpu in until("ready")["gpus"]] == [5, 37]


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "The NVIDIA driver was updated and will work again after a restart"),
        ("zh_CN", "NVIDIA 驱动已更新，重启后"),
    ],
)
def test_updated_driver_is_reported(scenario: Scenario, monitor, language: str, expected: str) -> None:
    scenario.card()
    scenario.set(init="!18")
    process = monitor("--lang", language, "--interval", "0.05", "--count", "1")
    assert expected in process.communicate(timeout=60)[0]
    assert process.returncode == 0


def test_text_shows_gpu_and_processes(scenario: Scenario, monitor) -> None:
    scenario.card(remapped="1 2 1 1", compute=f"{os.getpid()}:3221225472 77")
    process = monitor("--lang", "en", "--interval", "0.05", "--count", "5", "--processes")
    output = process.communicate(timeout=60)[0]
    assert output.count("Your GPU has no spare memory left for repairs") == 1
    assert "✗" in output
    assert "https://docs.nvidia.com" in output
    assert "Have the card replaced" in output
    assert "needs a restart" not in output  # it cannot be mended, so nothing waits
    assert re.search(rf"GPU 0: .+ \({os.getpid()}\) uses 3 GB", output)


def test_healthy_gpu_is_reported_once(scenario: Scenario, monitor) -> None:
    scenario.card()
    output = monitor("--lang", "en", "--interval", "0.05", "--count", "5").communicate(timeout=60)[0]
    assert output.count("✓ Your GPU is running normally") == 1
    assert "uses" not in output


def test_pending_alarm_is_not_reported_healthy(scenario: Scenario, monitor) -> None:
    """A fan counts as stopped after ten seconds: until then nobody knows."""
    scenario.card(temp="80", fan="0", fan_rpm="0")
    output = monitor("--lang", "en", "--interval", "0.05", "--count", "6").communicate(timeout=60)[0]
    assert output.count("… Still watching") == 1
    assert "well" not in output


def test_alarm_end_reported_while_another_is_active(scenario: Scenario, monitor) -> None:
    scenario.card(remapped="1 2 1 1")
    scenario.card(1, util="!15")
    process = monitor("--lang", "en", "--interval", "0.05")
    lines = iter(process.stdout.readline, "")
    next(line for line in lines if "The GPU no longer responds" in line)
    scenario.card(1, util="5")
    assert next(line for line in lines if "Resolved" in line) == (
        "✓ Resolved for GPU 1 (NVIDIA GeForce RTX 4060): The GPU no longer responds\n"
    )


def test_slow_sample_does_not_shorten_next_interval(scenario: Scenario, monitor) -> None:
    """The first opens the driver; what changed within milliseconds of it is noise."""
    scenario.card()
    scenario.set(delay="10")
    output = monitor("--json", "--interval", "0.4", "--count", "4").communicate(timeout=60)[0]
    times = [json.loads(line)["t"] for line in output.splitlines()]
    assert min(later - before for before, later in pairwise(times)) >= 0.2


def test_each_gpu_has_its_numbered_row(scenario: Scenario, monitor) -> None:
    for index, card in enumerate(eight_h100()):
        scenario.card(index, **card)
    lines = monitor("--lang", "en", "--interval", "0.05", "--count", "3").communicate(timeout=60)[0].splitlines()
    assert lines[0].startswith("CPU ")
    assert "H100" not in lines[0]
    rows = [line.split(":")[0].strip() for line in lines[1:9]]
    assert rows == [f"GPU {index}" for index in range(8)]
    assert "95%" in lines[4]
    assert sum("Your GPUs are running normally" in line for line in lines) == 1


def test_advice_once_and_addresses_on_own_lines(scenario: Scenario, monitor) -> None:
    scenario.card()
    scenario.set(init="!9")
    output = monitor("--lang", "en", "--interval", "0.05", "--count", "4").communicate(timeout=60)[0]
    assert output.count("Restart the computer") == 1
    (line,) = [line for line in output.splitlines() if "http" in line]
    assert line.strip().startswith("Details: https://")


def test_xid_seen_by_window_is_reported_first(scenario: Scenario, monitor, tmp_path: Path) -> None:
    scenario.card()
    scenario.card(1)
    now = time.time()
    history = History(App(data_dir=str(tmp_path / "data")).data.history)
    for second, number in ((20, 0), (10, 48)):
        history.add(now - second, {f"{scenario.cards[0]['uuid']}.xid": number})
    history.close()
    output = monitor("--lang", "en", "--interval", "0.05", "--count", "3").communicate(timeout=60)[0]
    (first,) = [line for line in output.splitlines() if line.startswith(("✗", "✓", "…"))]
    assert first.startswith("✗")
    assert "48" in first


def test_no_permission_gives_one_message(scenario: Scenario, monitor) -> None:
    scenario.card()
    scenario.set(init="!4")
    output = monitor("--lang", "en", "--interval", "0.05", "--count", "3").communicate(timeout=60)[0]
    assert output.count("Use an account that is allowed to") == 1
    assert "install" not in output
    assert "Restart" not in output


def test_updated_driver_asks_for_restart(scenario: Scenario, tmp_path: Path) -> None:
    scenario.card()
    scenario.set(init="!18")
    arguments = ["detect", "--json", "--data-dir", str(tmp_path / "data")]
    environ = {**os.environ, "LD_LIBRARY_PATH": str(scenario.library.parent), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", "gpu_assistant", *arguments],
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["pending_reboot"] is True


def test_missing_gpu_reason_is_reported_once(scenario: Scenario, monitor) -> None:
    scenario.card(compute=None)
    scenario.card(1, compute=None)
    process = monitor("--lang", "en", "--interval", "0.05", "--count", "3", "--processes")
    output = process.communicate(timeout=60)[0]
    assert output.count("the driver does not report which programs use it") == 6
    assert output.count("WSL2") == 1


def test_awaited_driver_is_reported_once_with_advice(scenario: Scenario, monitor) -> None:
    scenario.card()
    scenario.set(hang="nvmlDeviceGetUtilizationRates")
    process = monitor("--lang", "en", "--interval", "0.05", "--count", "20")
    lines = process.communicate(timeout=60)[0].splitlines()
    assert len(lines) == 3
    assert lines[0].endswith("NVIDIA GeForce RTX 4060 no response | The NVIDIA driver is slow to respond.")
    assert lines[1] == "! The graphics driver is not responding right now"
    assert "restart the computer" in lines[2]


def test_recovered_driver_is_shown_at_once(scenario: Scenario, monitor) -> None:
    scenario.card()
    scenario.set(hang="nvmlDeviceGetUtilizationRates")
    lines = iter(monitor("--lang", "en", "--interval", "0.05").stdout.readline, "")
    next(line for line in lines if line.startswith("!"))
    scenario.set(hang=None)
    assert "37%" in next(line for line in lines if line.startswith("CPU"))
    assert next(line for line in lines if line.startswith("✓")) == "✓ Your GPU is running normally\n"


def test_json_has_samples_with_processes_only(scenario: Scenario, monitor) -> None:
    scenario.card(remapped="1 2 1 1", compute="4242:1048576")
    output = monitor("--json", "--interval", "0.05", "--count", "4").communicate(timeout=60)[0]
    samples = [json.loads(line) for line in output.splitlines()]
    assert len(samples) == 4
    assert samples[-1]["gpus"][0]["processes"][0]["mem_used"] == 1048576


def test_lost_gpu_gives_one_line_only(scenario: Scenario, monitor) -> None:
    scenario.card(0)
    scenario.card(1, name="NVIDIA GeForce GTX 1060 6GB", util="!15")
    lines = monitor("--lang", "en", "--interval", "0.05", "--count", "12").communicate(timeout=60)[0].splitlines()
    assert sum(line.startswith("    GPU 0: ") for line in lines) == 12
    assert sum(line.startswith("    GPU 1: ") for line in lines) == 1
    assert "    GPU 1: NVIDIA GeForce GTX 1060 6GB no longer responds" in lines
