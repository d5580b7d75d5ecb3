"""Small Python environments whose `torch` is a file of the test: real processes, real faults."""

from __future__ import annotations

import venv
from pathlib import Path

from gpu_assistant.system import current_system

# A torch that does not load, and says of a variable that falsifies figures what it sees of it.
FALSIFIED_TORCH = """
import os
raise RuntimeError("CUDA_LAUNCH_BLOCKING is " + str(os.environ.get("CUDA_LAUNCH_BLOCKING")))
"""


def environment_with(folder: Path, torch: str | None) -> Path:
    """A real environment without pip; `torch` is the source of its torch package, None leaves it out."""
    venv.EnvBuilder(with_pip=False, symlinks=current_system().name != "windows").create(folder)
    if torch is not None:
        package = site_packages(folder) / "torch"
        package.mkdir()
        (package / "__init__.py").write_text(torch, encoding="utf-8")
    return folder


def site_packages(environment: Path) -> Path:
    """Where its packages lie."""
    return next(path for path in environment.rglob("site-packages") if path.is_dir())


def torch_with_card() -> str:
    """The source of a stand-in for PyTorch that finds one CUDA card."""
    return Path(__file__).with_name("torch_with_card.py").read_text(encoding="utf-8")
