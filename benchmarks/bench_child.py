"""Runs a measurement in an environment's own Python, with the benchmark's child as a package there."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LAUNCHER = Path(__file__).resolve().parent.parent / "gpu_assistant" / "bench" / "child" / "__main__.py"


def again_inside(environment: Path, script: str, arguments: list[str]) -> Iterator[str]:
    """Start `script` once more, in the environment and with `--inside`; what it prints, line by line."""
    interpreters = [environment / "bin" / "python", environment / "Scripts" / "python.exe"]
    interpreter = next((path for path in interpreters if path.is_file()), None)
    if interpreter is None:
        sys.exit(f"no Python environment at {environment}")
    start: list[str | Path] = [interpreter, "-I", "-X", "utf8", script, environment, "--inside", *arguments]
    with subprocess.Popen(start, stdout=subprocess.PIPE, encoding="utf-8") as running:
        assert running.stdout is not None
        yield from running.stdout
    if running.returncode:
        sys.exit(running.returncode)


def child(module: str) -> Any:  # noqa: ANN401 - made for another Python
    """A module of the child; for use inside."""
    spec = importlib.util.spec_from_file_location("launcher", LAUNCHER)
    if spec is None or spec.loader is None:
        sys.exit(f"cannot load {LAUNCHER}")
    launcher = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(launcher)
    if launcher.NAME not in sys.modules:
        launcher.load()
    return importlib.import_module(f"{launcher.NAME}.{module}")
