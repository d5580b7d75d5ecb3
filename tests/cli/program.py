"""Runs the program as a person does: a process of its own, with its exit code and both streams.

Where the system can, that process is the fork of one that has loaded the program's modules already: loading them takes
a fifth of a second of CPU, ten times as long as what most commands do.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

# What the commands load once they run.
import gpu_assistant.app.setup
import gpu_assistant.cli.commands
import gpu_assistant.cli.parser
import gpu_assistant.install.jobs.install
import gpu_assistant.install.jobs.uninstall
import gpu_assistant.install.plan.planner  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
FORKS = "forkserver" in multiprocessing.get_all_start_methods()
if FORKS:
    multiprocessing.set_forkserver_preload([__name__])
STREAMS = ("stdin", "stdout", "stderr")


def run_program(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    *,
    stdin: str = "",
    timeout: float = 120,
    address_space: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the program with `address_space` bytes at most. Raises subprocess.TimeoutExpired after `timeout` seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "stdin").write_text(stdin, encoding="utf-8")
        process = multiprocessing.get_context("forkserver").Process(
            target=_run, args=(list(arguments), dict(environ), folder, address_space)
        )
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(list(arguments), timeout)
        code = process.exitcode
        process.close()
        output, errors = ((folder / stream).read_text(encoding="utf-8") for stream in STREAMS[1:])
        return subprocess.CompletedProcess(list(arguments), code, output, errors)


def start_program(arguments: Sequence[str], environ: Mapping[str, str], stdin: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a Python that has loaded nothing."""
    return subprocess.run(
        [sys.executable, "-m", "gpu_assistant", *arguments],
        cwd=ROOT,
        env={**environ, "PYTHONIOENCODING": "utf-8"},
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def _run(arguments: list[str], environ: dict[str, str], folder: Path, address_space: int | None) -> None:
    """What the fork does; raises SystemExit with the exit code."""
    if sys.platform != "win32" and address_space is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(ROOT)
    for number, stream in enumerate(STREAMS):
        with (folder / stream).open("rb" if stream == "stdin" else "wb") as file:
            os.dup2(file.fileno(), number)
        setattr(sys, stream, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
    sys.argv = ["gpu-assistant", *arguments]
    runpy.run_module("gpu_assistant", run_name="__main__")
