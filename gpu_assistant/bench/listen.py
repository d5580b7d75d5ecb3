"""Starts the child and listens to it for as long as it keeps to its times; says what ended one that did not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import AppError, Cancelled
from ..system.base import KILLED
from ..system.json_lines import Patience, run_child
from .lines import Line

if TYPE_CHECKING:
    from ..system.base import System

GRACE_S = 3.0  # what a child may be late that ends by itself
MOST_STRANGE = 10_000  # lines that are none of ours, until nobody waits for another
CRASHED = 0xC0000000  # from here on Windows' own exit codes: the program did something forbidden
MEMORY = ("MemoryError", "Cannot allocate memory", "failed to map segment")
NO_TORCH = "ModuleNotFoundError: No module named 'torch'"


class Ending(NamedTuple):
    """How a child ended: its exit status (None: it was stopped), the lines that were none of ours, its last words."""

    status: int | None
    strange: int
    words: str

    @property
    def how(self) -> str:
        """A note's code: "killed", "crashed", "stopped"."""
        if self.status == KILLED:
            return "killed"
        return "crashed" if self.status is not None and (self.status < 0 or self.status >= CRASHED) else "stopped"


class _Strange(Exception):
    """It says nothing but what nobody understands."""


def listen(
    system: System,
    argv: Sequence[str | Path],
    on_line: Callable[[Line], None],
    *,
    patience: Patience,
    log: Callable[[str], None],
) -> Ending:
    """Run the child to its end, or to that of `patience`. Raises Cancelled and AppError("program-missing")."""
    strange = 0

    def said(text: str) -> None:
        nonlocal strange
        strange += 1
        log(text)
        if strange > MOST_STRANGE:
            raise _Strange

    try:
        done = run_child(system, argv, Line, on_line, timeout=threading.TIMEOUT_MAX, cancel=patience, log=said)
    except _Strange:
        return Ending(None, strange, "")
    except Cancelled:
        if patience.cancelled:
            raise
        return Ending(None, strange, "")
    except AppError as error:
        if error.code != "program-endless":
            raise
        log(error.code)
        return Ending(None, strange + 1, "")
    words = [line.strip() for line in done.err.splitlines() if line.strip()]
    return Ending(done.code, strange - len(done.err.splitlines()), words[-1] if words else "")


def broken(environment: Path, reason: str) -> AppError:
    """Why torch does not load, in words of ours where there are some."""
    if reason == NO_TORCH:
        return AppError("bench-torch-missing", path=str(environment))
    if any(word in reason for word in MEMORY):
        return AppError("bench-memory", reason=reason)
    return AppError("bench-no-torch", path=str(environment), reason=reason)


def ended(environment: Path, ending: Ending, patience: Patience) -> AppError:
    """What to say of a child that ended, or was ended, before it said anything of use."""
    path, status = str(environment), ending.status
    if ending.how == "killed":
        return AppError("bench-killed")
    if ending.how == "crashed":
        return AppError("bench-crashed", path=path, status=status)
    if ending.strange:
        return AppError("bench-garbled", path=path)
    if status is None:
        return AppError("bench-silent", path=path, limit_seconds=patience.limit_s)
    return AppError("bench-ended", path=path, status=status, reason=ending.words or "@bench.wordless")
