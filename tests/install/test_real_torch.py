"""The whole road with the real PyTorch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpu_assistant.install import manifest
from gpu_assistant.system import current

pytestmark = [pytest.mark.real_install, pytest.mark.timeout(900)]


def test_the_environment_imports_torch_and_is_on_record(torch_environment: Path) -> None:
    python = current().environment_python(torch_environment)
    words = [str(python), "-I", "-c", "import torch; print(torch.__version__, (torch.ones(3) * 2).sum().item())"]
    said = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout.split()
    record = manifest.read(torch_environment)
    assert record is not None
    assert said == [f"{record.torch}+{record.variant}", "6.0"]
    assert record.packages["torch"] in (said[0], record.torch)  # the general index's builds bear no tag
    assert record.bytes is not None
    assert record.bytes > 100_000_000


def test_pip_inside_keeps_this_pytorch(torch_environment: Path) -> None:
    pip = current().environment_python(torch_environment).with_name(current().executable("pip"))
    words = [str(pip), "config", "debug"]
    said = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout
    assert f"install.constraint: {(torch_environment / manifest.CONSTRAINTS).as_uri()}" in said
    record = manifest.read(torch_environment)
    assert record is not None
    kept = (torch_environment / manifest.CONSTRAINTS).read_text(encoding="utf-8").split()
    assert f"torch=={record.packages['torch']}" in kept
