"""What brings the packages of the example programs: torchvision only in the release that belongs to the PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from gpu_assistant.app import App
from gpu_assistant.bench.memory_fit import install_command
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.machine import OperatingSystem
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.system import current_system

from ..fakes.environments import environment_with

CATALOG = load_catalog(resources_dir() / "catalog")
PYTHON = Path("python")


def command_for(torch: str | None, arch: Literal["x86_64", "arm64"] = "x86_64") -> tuple[str, ...] | None:
    return install_command("torchvision", PYTHON, torch, CATALOG, OperatingSystem(system="windows", arch=arch))


@pytest.mark.parametrize(
    ("torch", "vision", "tag"), [("2.13.0+cu126", "0.28.0+cu126", "cu126"), ("2.9.1", "0.24.1", "cpu")]
)
def test_torchvision_matches_torch_release(torch: str, vision: str, tag: str) -> None:
    command = command_for(torch)
    assert command is not None
    assert command[:5] == ("python", "-m", "pip", "install", f"torchvision=={vision}")
    assert command[5] == "--index-url"
    assert command[6].endswith(f"/{tag}")


@pytest.mark.parametrize("torch", [None, "2.13.0+cu999", "1.0.0+cpu", "2.16.0.dev20261101+cpu"])
def test_unknown_torch_gives_no_command(torch: str | None) -> None:
    assert command_for(torch) is None


def test_unpublished_build_gives_no_command() -> None:
    assert command_for("2.13.0+cpu", "arm64") is None


def test_only_missing_packages(tmp_path: Path) -> None:
    environment = environment_with(tmp_path / "env", "")
    monitoring = App(data_dir=str(tmp_path / "data"), environ={}).monitoring
    python = str(current_system().environment_python(environment))
    commands = monitoring.missing_example_packages(environment)
    assert commands["transformers"] == (python, "-m", "pip", "install", "transformers")
    (torch,) = environment.rglob("torch")
    (torch / "version.py").write_text("__version__ = '2.13.0+cpu'\n", encoding="utf-8")
    command = monitoring.missing_example_packages(environment)["torchvision"]
    assert command is not None
    assert "torchvision==0.28.0+cpu" in command
    (torch.parent / "torchvision").mkdir()
    assert set(monitoring.missing_example_packages(environment)) == {"transformers"}
