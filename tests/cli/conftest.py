"""Runs the program as a person does: a process of its own, with its exit code and both streams."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    def run(
        *arguments: str, environ: dict[str, str] | None = None, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gpu_assistant", *arguments],
            cwd=ROOT,
            env={
                **os.environ,
                "GPU_ASSISTANT_DATA_DIR": str(tmp_path / "data"),
                "PYTHONIOENCODING": "utf-8",
                "LC_ALL": "C.UTF-8",
                **(environ or {}),
            },
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run


def one_sentence(text: str) -> bool:
    """Whether stderr holds one plain line and no traceback."""
    return len(text.strip().splitlines()) == 1 and "Traceback" not in text
