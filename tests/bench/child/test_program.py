"""How the benchmark's child begins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_assistant.bench.child.__main__ import clear_falsifying_variables
from gpu_assistant.bench.child_protocol import CHILD_PROGRAM
from gpu_assistant.system import current_system


def test_gpus_have_driver_indexes(tmp_path: Path) -> None:
    """Without it "cuda:0" is the fastest card, and what was watched along the run would be another's."""
    (tmp_path / "torch.py").write_text("import os\nraise ImportError(os.environ.get('CUDA_DEVICE_ORDER'))\n")
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "CUDA_DEVICE_ORDER": "FASTEST_FIRST"}
    done = subprocess.run(
        [sys.executable, str(CHILD_PROGRAM)], capture_output=True, env=environ, timeout=60, check=False
    )
    assert json.loads(done.stdout.splitlines()[0]) == {"broken": "ImportError: PCI_BUS_ID"}


def test_falsifying_variables_are_cleared_and_named(with_card: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "0")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")  # which cards to use is the user's choice
    interpreter = current_system().environment_python(with_card)
    command = [str(interpreter), str(CHILD_PROGRAM), "--only", "copy-within"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    start = json.loads(done.stdout.splitlines()[0])["start"]
    assert start["cleared"] == ["CUDA_LAUNCH_BLOCKING", "NVIDIA_TF32_OVERRIDE"]


def test_clearing_leaves_other_variables() -> None:
    environment = {"PATH": "/bin", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    assert clear_falsifying_variables(environment) == ["CUBLAS_WORKSPACE_CONFIG"]
    assert environment == {"PATH": "/bin"}
