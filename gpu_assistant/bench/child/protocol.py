"""The line to the parent."""

from __future__ import annotations

import json
import os
import threading
from typing import Any, Sequence


class MessageWriter:
    """Writes JSON lines to what was stdout, and keeps that apart from whatever libraries print."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)
        self._lock = threading.Lock()
        self._started_count = 0  # how many measurements began, and how many of them have an answer
        self._answered_count = 0

    def send(self, **message: Any) -> None:
        """One line."""
        with self._lock:
            self._started_count += "begin" in message
            self._answered_count += "result" in message or "left" in message
            self._write(message)

    def stop_program(self, start_messages: Sequence[Any]) -> None:
        """Every measurement of these, which are all there are, that has no answer is left out for lack of time.

        Ends this program, whatever its other threads do.
        """
        self._lock.acquire()  # for good: nobody else says anything any more
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
