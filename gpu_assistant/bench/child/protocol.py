"""The JSON lines to the parent."""

from __future__ import annotations

import json
import os
import threading
from typing import Any, Sequence


class MessageWriter:
    """Writes JSON lines to the original stdout; other output to stdout goes to stderr."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)
        self._lock = threading.Lock()
        # Measurements that have begun, and those that have a result or a reason to be skipped.
        self._started_count = 0
        self._answered_count = 0

    def send(self, **message: Any) -> None:
        """Send one line."""
        with self._lock:
            self._started_count += "begin" in message
            self._answered_count += "result" in message or "left" in message
            self._write(message)

    def stop_program(self, start_messages: Sequence[Any]) -> None:
        """Report all of these measurements without an answer as skipped for lack of time, and end the process at once.

        Other threads, which may be inside a call of torch, are not waited for.
        """
        self._lock.acquire()  # never released: no other thread writes a line from now on
        for index, start_message in enumerate(start_messages):
            if index >= self._started_count:
                self._write({"begin": start_message})
            if index >= self._answered_count:
                self._write({"left": "time"})
        self._write({"end": True})
        os._exit(0)

    def _write(self, message: Any) -> None:
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()
