"""Starts the child and listens to it for as long as it keeps to its times; says what ended one that did not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import AppError, Cancelled
from ..system.base import KILLED_RETURNCODE
from ..system.json_lines import DeadlineEvent, run_json_lines
from .lines import ChildMessage

if TYPE_CHECKING:
    from ..system.base import System

EXIT_GRACE_S = 3.0  # what a child may be late that ends by itself
MAX_FOREIGN_LINES = 10_000  # lines that are none of ours, until nobody waits for another
FIRST_CRASH_STATUS = 0xC0000000  # from here on Windows' own exit codes: the program did something forbidden
OUT_OF_MEMORY_MESSAGES = ("MemoryError", "Cannot allocate memory", "failed to map segment")
TORCH_MISSING_MESSAGE = "ModuleNotFoundError: No module named 'torch'"


class ChildExit(NamedTuple):
    """How a child ended: its exit status (None: it was stopped), the lines that were none of ours, its last words."""

    status: int | None
    foreign_lines: int
    last_line: str

    @property
    def reason(self) -> str:
        """A note's code: "killed", "crashed", "stopped"."""
        if self.status == KILLED_RETURNCODE:
            return "killed"
        return "crashed" if self.status is not None and (self.status < 0 or self.status >= FIRST_CRASH_STATUS) else "stopped"


class _TooManyForeignLines(Exception):
    """It says nothing but what nobody understands."""


def run_benchmark_child(
    system: System,
    argv: Sequence[str | Path],
    on_message: Callable[[ChildMessage], None],
    *,
    deadline: DeadlineEvent,
    log: Callable[[str], None],
) -> ChildExit:
    """Run the child to its end, or to that of `patience`. Raises Cancelled and AppError("program-missing")."""
    foreign_lines = 0

    def count_foreign_line(text: str) -> None:
        nonlocal foreign_lines
        foreign_lines += 1
        log(text)
        if foreign_lines > MAX_FOREIGN_LINES:
            raise _TooManyForeignLines

    try:
        result = run_json_lines(system, argv, ChildMessage, on_message, timeout=threading.TIMEOUT_MAX, cancel=deadline, log=count_foreign_line)
    except _TooManyForeignLines:
        return ChildExit(None, foreign_lines, "")
    except Cancelled:
        if deadline.cancelled:
            raise
        return ChildExit(None, foreign_lines, "")
    except AppError as error:
        if error.code != "program-endless":
            raise
        log(error.code)
        return ChildExit(None, foreign_lines + 1, "")
    error_lines = [line.strip() for line in result.stderr.splitlines() if line.strip()]
    return ChildExit(result.returncode, foreign_lines - len(result.stderr.splitlines()), error_lines[-1] if error_lines else "")


def torch_load_error(environment: Path, reason: str) -> AppError:
    """Why torch does not load, in words of ours where there are some."""
    if reason == TORCH_MISSING_MESSAGE:
        return AppError("bench-torch-missing", path=str(environment))
    if any(fragment in reason for fragment in OUT_OF_MEMORY_MESSAGES):
        return AppError("bench-memory", reason=reason)
    return AppError("bench-no-torch", path=str(environment), reason=reason)


def child_exit_error(environment: Path, child_exit: ChildExit, deadline: DeadlineEvent) -> AppError:
    """What to say of a child that ended, or was ended, before it said anything of use."""
    path, status = str(environment), child_exit.status
    if child_exit.reason == "killed":
        return AppError("bench-killed")
    if child_exit.reason == "crashed":
        return AppError("bench-crashed", path=path, status=status)
    if child_exit.foreign_lines:
        return AppError("bench-garbled", path=path)
    if status is None:
        return AppError("bench-silent", path=path, limit_seconds=deadline.timeout_s)
    return AppError("bench-ended", path=path, status=status, reason=child_exit.last_line or "@bench.wordless")
