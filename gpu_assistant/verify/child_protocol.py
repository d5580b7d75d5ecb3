"""How a program in an environment's own Python speaks to whoever started it: JSON lines."""

from __future__ import annotations

import json
import os
from typing import Any


class CheckWriter:
    """The line to the parent, kept apart from whatever libraries print."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)

    def send(self, **message: Any) -> None:  # noqa: ANN401 - JSON
        """One line."""
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()

    def report(self, check_id: str, state: str, *, value: Any = None, expected: Any = None, **data: Any) -> None:  # noqa: ANN401
        """One finding; `data` fills its texts."""
        data.setdefault("value", value)
        data.setdefault("expected", expected)
        self.send(check={"id": check_id, "state": state, "value": value, "expected": expected, "data": data})

    def report_skipped(self, *ids: str, reason: str) -> None:
        """Checks that have nothing to look at, and why."""
        for check_id in ids:
            self.report(check_id, "skip", reason=reason)


def exception_summary(error: BaseException) -> str:
    """The first line of an exception, as Python names it; a text of ours where Windows did not let a file in."""
    # winerror.h: ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION. An ImportError has Windows' words without the number.
    if getattr(error, "winerror", None) == 4551 or "Application Control policy has blocked" in str(error):
        return "@verify.reason.blocked"
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
