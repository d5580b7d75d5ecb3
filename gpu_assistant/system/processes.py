"""Programs from start to end, the same on every system: lines as they come, a time limit, a way to stop.

How a program is started so that it, and all that it starts, can be ended whole is each system's own
(`linux_processes`, `windows_processes`).
"""

from __future__ import annotations

import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from ..core.errors import AppError, Cancelled
from ..core.refusal import why
from .base import Finished

TICK_S = 0.05  # how soon a cancel is seen
LEFTOVER_S = 1.0  # how long output may stay open after its program ended (something it left behind holds it)

MOST_LINE = 1024**2  # bytes; the longest that a program says to us in one line has some 100 kB
MOST_BYTES = 256 * 1024**2  # of a program's whole stdout, and of its stderr
TOO_MUCH = b""  # in the place of what passes these: no line is empty

News = tuple[int, bytes | None]  # 0 stdout, 1 stderr; None at its end


class Child(Protocol):
    """A started program and everything that it starts."""

    process: subprocess.Popen[bytes]

    def end(self) -> None:
        """End the whole tree; it is gone when this returns."""
        ...

    def release(self) -> None:
        """Let go of what the system keeps for the child, which has ended."""
        ...


Start = Callable[[Sequence[str], Mapping[str, str], Path | None], Child]


def run(
    start: Start,
    argv: Sequence[str | Path],
    *,
    timeout: float,
    environ: Mapping[str, str | None] | None,
    cwd: Path | None,
    cancel: threading.Event | None,
    on_line: Callable[[str], None] | None,
    fallback: str = "utf-8",
) -> Finished:
    """What `System.run` promises. `on_line` is called on the calling thread; what it raises ends the program.

    `fallback` is the encoding of lines that are not UTF-8. Raises ValueError for a relative program path.
    """
    words = checked(argv)
    limits = _Limits(words[0], timeout, cancel)
    limits.check()
    wanted: dict[str, str | None] = {**os.environ, **(environ or {})}
    try:
        child = start(words, {name: value for name, value in wanted.items() if value is not None}, cwd)
    except OSError as error:
        raise missing(words[0], why(error)) from error
    try:
        out, err = _collect(child, limits, on_line, fallback)
        code = _exit_status(child, limits)
    except BaseException:
        child.end()
        raise
    finally:
        child.release()
    return Finished(code=code, out=out, err=err)


def checked(argv: Sequence[str | Path]) -> list[str]:
    """The words of a call whose program is named by its full path and is there."""
    words = [str(word) for word in argv]
    program = Path(words[0])
    if not program.is_absolute():
        raise ValueError(f"a program is started by its full path, not as {words[0]!r}")
    if not program.is_file() or not os.access(program, os.X_OK):
        raise missing(words[0], None)
    return words


def missing(program: str, detail: str | None) -> AppError:
    """The error of a program that cannot be started."""
    return AppError("program-missing", program=program, detail=detail)


def decode(data: bytes, fallback: str = "utf-8") -> str:
    """Text of a program: UTF-8, else the system's own encoding; what neither knows is replaced."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(fallback, errors="replace")


class _Limits:
    """When to stop waiting for a program."""

    def __init__(self, program: str, timeout: float, cancel: threading.Event | None) -> None:
        self.program = program
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        self._cancel = cancel

    def check(self) -> None:
        """Raise Cancelled, or AppError("program-timeout")."""
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled
        if time.monotonic() >= self._deadline:
            raise AppError("program-timeout", program=self.program, limit_seconds=self._timeout)


def _collect(child: Child, limits: _Limits, on_line: Callable[[str], None] | None, fallback: str) -> tuple[str, str]:
    news: queue.SimpleQueue[News] = queue.SimpleQueue()
    process = child.process
    streams = [(number, stream) for number, stream in enumerate((process.stdout, process.stderr)) if stream]
    for number, stream in streams:
        # Daemons: one that waits on a pipe held by a stray process must not keep us from ending.
        threading.Thread(target=_read, args=(stream, number, news), name="program output", daemon=True).start()
    texts: tuple[list[str], list[str]] = ([], [])
    still_open = len(streams)
    ended: float | None = None
    while still_open:
        limits.check()
        try:
            number, line = news.get(timeout=TICK_S)
        except queue.Empty:
            if process.poll() is None:
                continue
            ended = ended or time.monotonic()
            if time.monotonic() - ended > LEFTOVER_S:
                child.end()
                break
            continue
        if line == TOO_MUCH:
            raise AppError("program-endless", program=limits.program)
        if line is None:
            still_open -= 1
            continue
        text = decode(line, fallback).replace("\r\n", "\n")
        texts[number].append(text)
        if on_line is not None and number == 0:
            on_line(text.rstrip("\n"))
    return "".join(texts[0]), "".join(texts[1])


def _read(stream: IO[bytes], number: int, news: queue.SimpleQueue[News]) -> None:
    left = MOST_BYTES
    with stream:
        while line := stream.readline(MOST_LINE + 1):
            left -= len(line)
            if len(line) > MOST_LINE or left < 0:
                news.put((number, TOO_MUCH))
                return
            news.put((number, line))
    news.put((number, None))


def _exit_status(child: Child, limits: _Limits) -> int:
    while True:
        try:
            return child.process.wait(timeout=TICK_S)
        except subprocess.TimeoutExpired:
            limits.check()
