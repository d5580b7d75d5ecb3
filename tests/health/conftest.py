"""The library in NVML's place, and an environment whose PyTorch says what a script tells it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..fakes.environments import environment_with
from ..nvml.conftest import cuda_driver, library, scenario

__all__ = ["cuda_driver", "library", "scenario"]  # the same fixtures

SCRIPTED = Path(__file__).parents[1] / "fakes" / "scripted_torch.py"
Play = Callable[..., Path]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """An environment whose test program says these lines."""

    def made(*lines: dict[str, Any]) -> Path:
        script = tmp_path / "script"
        script.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        monkeypatch.setenv("TORCH_SCRIPT", str(script))
        return environment_with(tmp_path / "env", SCRIPTED.read_text(encoding="utf-8"))

    return made
