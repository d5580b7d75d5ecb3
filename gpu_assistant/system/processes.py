"""Starts programs: by absolute path, from a list, without a shell, in a group of their own that ends as a whole."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from ..core.errors import AppError, Cancelled
from .base import Finished

POLL = 0.05
GRACE = 2.0


def run(
    argv: Sequence[str | Path],
    *,
    start: Callable[..., subprocess.Popen[bytes]],
    end: Callable[[subprocess.Popen[bytes]], None],
    timeout: float,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    cancel: threading.Event | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Finished:
    """`System.run` over an operating system's own way to `start` a group and to `end` it whole."""
    words = [str(word) for word in argv]
    if not Path(words[0]).is_absolute():
        raise ValueError(f"not an absolute path: {words[0]}")
    if not Path(words[0]).is_file():
        raise AppError("program-missing", path=words[0])
    try:
        process = start(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **(environ or {})},
        )
    except OSError as error:
        raise AppError("program-refused", path=words[0], detail=error.strerror or str(error)) from error
    out: list[str] = []
    err: list[str] = []
    readers = [
        threading.Thread(target=_read, args=(process.stdout, out, on_line), daemon=True),
        threading.Thread(target=_read, args=(process.stderr, err, None), daemon=True),
    ]
    for reader in readers:
        reader.start()
    deadline = time.monotonic() + timeout
    try:
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL)
                break
            if cancel is not None and cancel.is_set():
                raise Cancelled
            if time.monotonic() > deadline:
                raise AppError("program-timeout", path=words[0], timeout_seconds=timeout)
    finally:
        # Also after a normal end: a grandchild left behind would hold the pipes open.
        end(process)
        for reader in readers:
            reader.join(GRACE)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    return Finished(code=process.returncode, out="".join(out), err="".join(err))


def _read(pipe: IO[bytes] | None, into: list[str], on_line: Callable[[str], None] | None) -> None:
    if pipe is None:
        return
    with suppress(ValueError, OSError):  # the pipe is closed under us when a survivor held it open
        for raw in iter(pipe.readline, b""):
            line = raw.decode("utf-8", errors="replace")
            into.append(line)
            if on_line is not None:
                on_line(line.rstrip("\r\n"))
