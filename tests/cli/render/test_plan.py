"""What `plan` says to who reads one for the first time."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gpu_assistant.cli.main import run
from tests.cli.conftest import ROOT


def plan_text(capsys: pytest.CaptureFixture[str], tmp_path: Path, machine: str, goal: str, language: str) -> str:
    path = ROOT / f"tests/machines/{machine}.json"
    arguments = [
        "plan",
        "--machine",
        str(path),
        "--goal",
        goal,
        "--lang",
        language,
        "--data-dir",
        str(tmp_path / "data"),
    ]
    assert run(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("language", "release", "cpu", "beside"),
    [
        (
            "en",
            "PyTorch 2.15.0 with CUDA 13.2 and TensorFlow 2.21.0",
            "TensorFlow runs on the CPU there",
            "driver.",
        ),
        ("zh_CN", "PyTorch 2.15.0 的 CUDA 13.2 版和 TensorFlow 2.21.0", "其中 TensorFlow 用 CPU 计算", "计入：驱动。"),
    ],
)
def test_windows_plan_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, language: str, release: str, cpu: str, beside: str
) -> None:
    text = plan_text(capsys, tmp_path, "windows11-rtx4060-566", "all", language)
    lines = text.splitlines()
    assert release in text
    # pip's tags stand in what uv reads alone, and NVIDIA's list of components on a line of its own.
    requirements = lines.index("   requirements.in:")
    tagged = [line for line in lines if "+cu" in line]
    assert (
        tagged
        == lines[requirements + 1 : requirements + 3]
        == ["     torch==2.15.0+cu132", "     torchvision==0.29.2+cu132"]
    )
    assert [line.split()[0] for line in lines if "nvvm_13.2" in line] == ["$"]
    # PATH is added to, and never set.
    (variables,) = (line for line in lines if "CUDA_HOME" in line)
    assert variables.index("PATH:" if language == "en" else "PATH 末尾") > variables.index("CUDA_HOME")
    assert "CUDA_HOME, PATH" not in variables
    assert "CUDA_HOME、PATH" not in variables
    # What is installed by no installer of others is not named among them.
    assert [line.endswith(beside) for line in lines if "their publishers do not state" in line or "未计入" in line] == [
        True
    ]
    assert cpu in text
    assert "528.33" in text


def test_linux_tensorflow_uses_gpu(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "WSL2" not in plan_text(capsys, tmp_path, "ubuntu-h100", "tensorflow", "en")


@pytest.mark.parametrize(("language", "gap"), [("en", "  ("), ("zh_CN", "（")])
def test_step_title_shows_costs(capsys: pytest.CaptureFixture[str], tmp_path: Path, language: str, gap: str) -> None:
    text = plan_text(capsys, tmp_path, "linux-cpu-only", "pytorch", language)
    assert [gap in line for line in text.splitlines() if line.startswith("4. ")] == [True]


def test_disk_size_is_at_least_the_download(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    radeon = {"index": 0, "vendor": "amd", "name": "Radeon RX 7900 XTX", "pci_id": "1002:744c", "gfx": "gfx1100"}
    system = {"system": "linux", "arch": "x86_64", "distro": "ubuntu", "distro_version": "24.04", "glibc": "2.39"}
    machine = tmp_path / "radeon.json"
    machine.write_text(json.dumps({"schema": "gpu-assistant/machine/1", "os": system, "gpus": [radeon]}))
    assert run(["plan", "--machine", str(machine), "--data-dir", str(tmp_path), "--lang", "en"]) == 0
    (price,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("To download"))
    fetched, on_disk = (re.findall(r"(about|at least) ([\d.]+ GB)", price)[at] for at in (0, -1))
    assert (fetched[0], on_disk[0]) == ("about", "at least")
    assert float(on_disk[1].split()[0]) >= 2 * float(fetched[1].split()[0]) - 0.1  # downloaded, and unpacked beside it


def test_cuda_installer_room_and_time_are_not_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    machine, data = ROOT / "tests/machines/windows11-rtx4060-566.json", str(tmp_path / "data")
    assert run(["plan", "--machine", str(machine), "--goal", "all", "--toolkit", "installer", "--data-dir", data]) == 0
    assert re.search(r"not counted.*CUDA Toolkit", capsys.readouterr().out.replace("\n", " "))
