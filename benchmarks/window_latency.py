"""How long the window's thread is ever busy at a stretch, while pages open, words and colours change, and work runs.

A heartbeat of 5 ms runs in the window's thread; the longest gap between two beats is the longest time in which the
window did not answer. With an environment (GPU_ASSISTANT_DATA_DIR, or --data-dir) the real benchmark runs as well.
Prints the worst gap of every act in milliseconds (target 50).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from msgspec.structs import replace
from PySide6.QtCore import QTimer

from gpu_assistant.app import App
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import StepEvent
from gpu_assistant.gui import theme
from gpu_assistant.gui.main.area import BENCHMARK, HOME, MONITOR, SETTINGS, MainArea
from gpu_assistant.gui.run import Program
from gpu_assistant.gui.worker import JobRunner

BEAT_MS = 5


class Chatty:
    """A job that reports as fast as it can for a while."""

    def run(self, context: JobContext[StepEvent]) -> None:
        """Two seconds of news."""
        end, done = time.monotonic() + 2, 0
        while time.monotonic() < end:
            done += 1
            context.report(StepEvent(id="download", state="running", done=done, total=10**9))
            context.log(f"line {done}")


class Heart:
    """Beats in the window's thread and remembers the longest pause."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._last = time.perf_counter()
        self._worst = 0.0
        self.found: dict[str, float] = {}
        self._timer = QTimer()
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now = time.perf_counter()
        self._worst = max(self._worst, now - self._last)
        self._last = now

    def during(self, name: str, act: Callable[[], object], seconds: float = 0.6) -> None:
        """Do something and let the window live for a while; notes the worst gap in ms."""
        self._live(0.2)
        self._worst = 0.0
        self._last = time.perf_counter()
        act()
        self._live(seconds)
        self.found[name] = max(self._worst - BEAT_MS / 1e3, 0.0) * 1e3

    def _live(self, seconds: float) -> None:
        QTimer.singleShot(round(seconds * 1e3), self._program.qt.quit)
        self._program.qt.exec()


def acts(heart: Heart, program: Program, area: MainArea) -> None:
    """What a person does in the main window."""
    for _ in range(2):
        for name, page in (("home", HOME), ("monitor", MONITOR), ("benchmark", BENCHMARK), ("settings", SETTINGS)):
            kind = "again" if page in area.pages else "first time"
            heart.during(f"open {name}, {kind}", lambda page=page: area.open(page), 2.5)  # type: ignore[misc]
    for page, name in ((HOME, "home"), (MONITOR, "monitor")):
        area.open(page)
        for code in ("zh_CN", "en"):
            heart.during(f"language {code} on {name}", lambda code=code: program.dress().set(code))  # type: ignore[misc]
        for choice in ("dark", "light"):
            heart.during(f"theme {choice} on {name}", lambda c=choice: theme.set_theme(program.qt, c))  # type: ignore[misc]
    area.open(MONITOR)
    heart.during("monitor live", lambda: None, 3.0)
    runner = JobRunner(area)
    heart.during("a job that never stops talking", lambda: runner.start(Chatty()), 2.6)


def real_work(heart: Heart, area: MainArea) -> None:
    """The real benchmark, where there is an environment."""
    area.open(BENCHMARK)
    page = area.pages[BENCHMARK]
    heart.during("read what was measured", page.look, 1.0)  # type: ignore[attr-defined]
    if page._installed is not None:  # type: ignore[attr-defined]
        heart.during("the real benchmark", page.measure, 20.0)  # type: ignore[attr-defined]
        heart.during("its cancel", page.stop, 2.0)  # type: ignore[attr-defined]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        app = App(data_dir=arguments.data_dir or os.environ.get("GPU_ASSISTANT_DATA_DIR") or folder)
        app.settings = replace(app.settings, setup_done=True)
        program = Program(app, language="en")
        window = program.open()
        heart = Heart(program)
        while window.area is None:
            program.qt.processEvents()
        acts(heart, program, window.area)
        real_work(heart, window.area)
        heart.during("close", window.close, 1.0)
    if arguments.json:
        print(json.dumps(heart.found))
        return
    for name, gap in sorted(heart.found.items(), key=lambda item: -item[1]):
        print(f"{gap:7.1f} ms  {name}")


if __name__ == "__main__":
    main()
