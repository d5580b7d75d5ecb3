"""Runs a function of a test module in processes of their own, which may die midway.

Where the system can fork, one process imports the module and forks for each run; elsewhere each run is a new process.

    with ChildProcess("tests.install.journal.test_power_cuts", "install_until") as child:
        assert child.run(root, "3").returncode == 9
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CAN_FORK = hasattr(os, "fork")


class Finished(NamedTuple):
    """`output` is what the function returned, as text."""

    returncode: int
    output: str


class ChildProcess:
    """The function gets the arguments of `run` as texts; `environ` is added to the environment."""

    def __init__(self, module: str, function: str, environ: Mapping[str, str] | None = None) -> None:
        self._environ = {**os.environ, **(environ or {})}
        self._command = [sys.executable, "-m", __name__, module, function]
        self._server: subprocess.Popen[str] | None = None

    def __enter__(self) -> ChildProcess:
        if CAN_FORK:
            self._server = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=self._environ
            )
        return self

    def __exit__(self, *error: object) -> None:
        if self._server is not None:
            self._server.communicate(timeout=60)

    def run(self, *arguments: object) -> Finished:
        """Run the function in a process of its own; its traceback goes to stderr."""
        words = [str(argument) for argument in arguments]
        if self._server is None:
            done = subprocess.run(
                [*self._command, *words],
                stdout=subprocess.PIPE,
                text=True,
                check=False,
                cwd=ROOT,
                env=self._environ,
                timeout=120,
            )
            return Finished(done.returncode, done.stdout)
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        print(json.dumps(words), file=self._server.stdin, flush=True)
        return Finished(*json.loads(self._server.stdout.readline()))


def _main(module: str, name: str, *arguments: str) -> None:
    function = getattr(importlib.import_module(module), name)
    if not CAN_FORK:
        sys.stdout.write(str(function(*arguments)))
        return
    for line in sys.stdin:
        reader, writer = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(reader)
            try:
                os.write(writer, str(function(*json.loads(line))).encode())
            except BaseException:  # noqa: BLE001 - whatever it is, the parent is not this process
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as output:
            text = output.read().decode()
        _, status = os.waitpid(process, 0)
        print(json.dumps([os.waitstatus_to_exitcode(status), text]), flush=True)


if __name__ == "__main__":
    _main(*sys.argv[1:])
