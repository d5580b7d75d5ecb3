"""The JSON lines that a program in an environment's own Python sends to its parent."""

from __future__ import annotations

import json
import os
from typing import Any


class CheckWriter:
    """Writes JSON lines to the original stdout; other output to stdout goes to stderr."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)

    def send(self, **message: Any) -> None:  # noqa: ANN401 - JSON
        """Send one JSON line."""
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()

    def report(self, check_id: str, state: str, *, value: Any = None, expected: Any = None, **data: Any) -> None:  # noqa: ANN401
        """Send the result of one check; `data` fills its texts."""
        data.setdefault("value", value)
        data.setdefault("expected", expected)
        self.send(check={"id": check_id, "state": state, "value": value, "expected": expected, "data": data})

    def report_skipped(self, *ids: str, reason: str) -> None:
        """Report checks as skipped, with the reason."""
        for check_id in ids:
            self.report(check_id, "skip", reason=reason)


def exception_summary(error: BaseException) -> str:
    """An exception's type and the first line of its message, or the key of a text where Windows blocked a file."""
    # winerror.h: ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION. An ImportError has Windows' words without the number.
    if getattr(error, "winerror", None) == 4551 or "Application Control policy has blocked" in str(error):
        return "@verify.reason.blocked"
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
