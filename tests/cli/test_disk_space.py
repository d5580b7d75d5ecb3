"""The room that a plan asks for, and what it says is downloaded, agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.cli.main import run

BOX: dict[str, Any] = {
    "schema": "gpu-assistant/machine/1",
    "os": {"system": "windows", "name": "Windows 11 Pro", "version": "10.0.26100", "build": 26100, "arch": "x86_64"},
    "gpus": [{"vendor": "nvidia", "name": "NVIDIA GeForce RTX 4090", "pci_id": "10de:2684"}],
    "driver": {"version": "617.42", "cuda_max": "13.4"},
    "disks": [{"path": "C:\\", "free_bytes": 6 * 10**9}, {"path": "D:\\", "free_bytes": 10**12}],
    "user": {"home": "C:\\Users\\lin", "ascii": True},
}


@pytest.mark.parametrize("goal", ["pytorch", "cuda-dev"])
def test_disk_space_covers_downloads_and_files(capsys: pytest.CaptureFixture[str], tmp_path: Path, goal: str) -> None:
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(BOX), encoding="utf-8")
    arguments = ["plan", "--goal", goal, "--machine", str(path), "--data-dir", str(tmp_path / "data"), "--json"]
    assert run(arguments) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    space, download = steps[0], next(step for step in steps if step["kind"] == "download")
    assert space["code"] == "check-space-about-short-data"
    assert space["data"]["disk"] == "C:\\"
    assert "gpu-assistant --data-dir D:\\gpu-assistant" in space["what"]
    fetched = download["data"]["bytes"] + sum(step["bytes"] or 0 for step in steps)
    assert space["data"]["disk_bytes"] > fetched
