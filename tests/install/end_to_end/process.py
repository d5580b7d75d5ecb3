"""The program as a process, whose events are read while it runs, and which can be killed in its midst."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("program.py")
ROOT = Path(__file__).resolve().parents[3]
LONGEST_S = 500.0
LOOK_S = 0.02

EventData = dict[str, Any]


class Running:
    """`events` are its lines so far."""

    def __init__(self, config: Path, *arguments: str | Path, **environ: str) -> None:
        settings = {**os.environ, **environ}
        for name in ("GPU_ASSISTANT_WHEELHOUSE", "GPU_ASSISTANT_DATA_DIR"):
            settings.pop(name, None)
        self._errors: list[str] = []
        self.events: list[EventData] = []
        self._queue: queue.SimpleQueue[EventData | None] = queue.SimpleQueue()
        self._child = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(config), *map(str, arguments)],
            cwd=ROOT,
            env=settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            # Its complaints are in the console's code page, its events never.
            errors="replace",
        )
        self._threads = [threading.Thread(target=read) for read in (self._read, self._hear)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            assert "\ufffd" not in line
            self._queue.put(json.loads(line))
        self._queue.put(None)

    def _hear(self) -> None:
        assert self._child.stderr is not None
        self._errors += self._child.stderr.readlines()

    def until(self, seen: Callable[[EventData], bool]) -> EventData:
        """The first event of which this holds."""
        while True:
            event = self._queue.get(timeout=LONGEST_S)
            assert event is not None, (self.end(), self.stderr, self.events[-3:])
            self.events.append(event)
            if seen(event):
                return event

    def until_there(self, pattern: str, folder: Path) -> None:
        """Until files of this pattern lie in a folder; nobody tells of them."""
        end = time.monotonic() + LONGEST_S
        while not any(folder.glob(pattern)):
            assert self._child.poll() is None, (self.end(), self.stderr)
            assert time.monotonic() < end
            time.sleep(LOOK_S)

    def kill(self) -> None:
        """As a power cut would: nothing is cleaned up."""
        if self._threads:
            self._child.kill()
            self.end()

    def end(self) -> int:
        """Wait for it; gives the exit code."""
        code = self._child.wait(LONGEST_S)
        for thread in self._threads:
            thread.join(LONGEST_S)
        self._threads.clear()
        while not self._queue.empty():
            if (event := self._queue.get()) is not None:
                self.events.append(event)
        for stream in (self._child.stdout, self._child.stderr):
            assert stream is not None
            stream.close()
        return code

    @property
    def stderr(self) -> str:
        """What it wrote there."""
        return "".join(self._errors)

    @property
    def states(self) -> dict[str, str]:
        """The last state of every step."""
        return {each["id"]: each["state"] for each in self.events if each.get("event") == "step"}
