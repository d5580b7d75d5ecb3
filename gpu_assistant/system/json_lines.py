"""Runs a program of ours in an environment's own Python and hands on what it says, JSON line by JSON line."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from ..core import json

if TYPE_CHECKING:
    from .base import ProcessResult, System

T = TypeVar("T")


class DeadlineEvent(threading.Event):
    """Set when nobody listens any more: somebody cancelled, or the time is up that was last given (None: there is no
    end to it).
    """

    def __init__(self, cancel: threading.Event, timeout_s: float | None) -> None:
        super().__init__()
        self._cancel = cancel
        self.extend(math.inf if timeout_s is None else timeout_s)

    def extend(self, timeout_s: float) -> None:
        """So many seconds from now on."""
        self.timeout_s = timeout_s
        self._deadline = time.monotonic() + timeout_s

    def is_set(self) -> bool:
        """To be asked often."""
        return self._cancel.is_set() or time.monotonic() >= self._deadline

    @property
    def cancelled(self) -> bool:
        """Whether it was somebody's wish."""
        return self._cancel.is_set()


def run_json_lines(
    system: System,
    argv: Sequence[str | Path],
    message_type: type[T],
    on_line: Callable[[T], None],
    *,
    timeout: float,
    cancel: threading.Event,
    log: Callable[[str], None],
) -> ProcessResult:
    """Run `[python, script, arguments…]` to its end; `on_line` gets every line that decodes as `kind`.

    The Python runs isolated (`-I`): neither the user's site folder nor PYTHONPATH reaches it. Lines that are
    no JSON of that kind, and everything on stderr, go to the log. Raises what `System.run` raises.
    """
    python, *arguments = argv

    def handle_line(text: str) -> None:
        try:
            message = json.decode(text, message_type)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            if text.strip():
                log(text.rstrip())
        else:
            on_line(message)

    result = system.run([python, "-I", "-X", "utf8", *arguments], timeout=timeout, cancel=cancel, on_line=handle_line)
    for text in result.stderr.splitlines():
        log(text)
    return result
