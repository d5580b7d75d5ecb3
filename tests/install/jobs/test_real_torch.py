"""The whole road with the real PyTorch."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gpu_assistant.install.files import installed_packages, inventory
from gpu_assistant.system import current_system

pytestmark = pytest.mark.real_install


def test_environment_imports_torch_and_is_recorded(torch_environment: Path) -> None:
    python = current_system().environment_python(torch_environment)
    command = [str(python), "-I", "-c", "import torch; print(torch.__version__, (torch.ones(3) * 2).sum().item())"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    record = inventory.read_manifest(torch_environment)
    assert record is not None
    assert lines == [f"{record.torch}+{record.variant}", "6.0"]
    assert record.packages["torch"] in (lines[0], record.torch)  # the general index's builds bear no tag
    assert record.bytes is not None
    assert record.bytes > 100_000_000


def test_pip_in_environment_keeps_pytorch(torch_environment: Path) -> None:
    pip_keeps_pytorch(torch_environment)


def pip_keeps_pytorch(environment: Path) -> None:
    """Whether the environment's own pip reads the list that holds PyTorch's version."""
    pip = current_system().environment_python(environment).with_name(current_system().executable("pip"))
    command = [str(pip), "config", "debug"]
    # It names folders, whose letters the code page of a pipe may lack.
    environ = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    output = subprocess.run(command, capture_output=True, encoding="utf-8", env=environ, check=True).stdout
    assert f"install.constraint: {(environment / installed_packages.CONSTRAINTS_FILE).as_uri()}" in output
    record = inventory.read_manifest(environment)
    assert record is not None
    remaining = (environment / installed_packages.CONSTRAINTS_FILE).read_text(encoding="utf-8").split()
    assert f"torch=={record.packages['torch']}" in remaining
