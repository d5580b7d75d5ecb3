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
    from .base import Finished, System

T = TypeVar("T")


class Patience(threading.Event):
    """Set when nobody listens any more: somebody cancelled, or the time is up that was last given (None: there is no
    end to it).
    """

    def __init__(self, cancel: threading.Event, limit_s: float | None) -> None:
        super().__init__()
        self._cancel = cancel
        self.give(math.inf if limit_s is None else limit_s)

    def give(self, limit_s: float) -> None:
        """So many seconds from now on."""
        self.limit_s = limit_s
        self._end = time.monotonic() + limit_s

    def is_set(self) -> bool:
        """To be asked often."""
        return self._cancel.is_set() or time.monotonic() >= self._end

    @property
    def cancelled(self) -> bool:
        """Whether it was somebody's wish."""
        return self._cancel.is_set()


def run_child(
    system: System,
    argv: Sequence[str | Path],
    kind: type[T],
    on_line: Callable[[T], None],
    *,
    timeout: float,
    cancel: threading.Event,
    log: Callable[[str], None],
) -> Finished:
    """Run `[python, script, arguments…]` to its end; `on_line` gets every line that decodes as `kind`.

    The Python runs isolated (`-I`): neither the user's site folder nor PYTHONPATH reaches it. Lines that are
    no JSON of that kind, and everything on stderr, go to the log. Raises what `System.run` raises.
    """
    python, *rest = argv

    def line(text: str) -> None:
        try:
            value = json.decode(text, kind)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            if text.strip():
                log(text.rstrip())
        else:
            on_line(value)

    finished = system.run([python, "-I", "-X", "utf8", *rest], timeout=timeout, cancel=cancel, on_line=line)
    for text in finished.err.splitlines():
        log(text)
    return finished
