"""The command line, called as a person does, and what is said of its answers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.program import FORKS, ROOT, run_program, start_program

__all__ = ("ROOT", "Call", "call", "one_sentence")

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Runs the program; with an `environ` of its own, in a Python that has loaded nothing."""

    def run(
        *arguments: str, environ: dict[str, str] | None = None, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        usual = {**os.environ, "GPU_ASSISTANT_DATA_DIR": str(tmp_path / "data"), "LC_ALL": "C.UTF-8"}
        if FORKS and environ is None:
            return run_program(arguments, usual, stdin=stdin)
        return start_program(arguments, {**usual, **(environ or {})}, stdin)

    return run


def one_sentence(text: str) -> bool:
    """Whether stderr holds one plain line and no traceback."""
    return len(text.strip().splitlines()) == 1 and "Traceback" not in text
