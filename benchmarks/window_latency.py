"""How long the window's thread is ever busy at a stretch, while pages open, words and colours change, and work runs.

A heartbeat of 5 ms runs in the window's thread; the longest gap between two beats is the longest time in which the
window did not answer. With an environment (GPU_ASSISTANT_DATA_DIR, or --data-dir) the real benchmark runs as well.
Prints the worst gap of every act in milliseconds (target 50): the median of its repetitions and the smallest, which
is what a computer without other work shows. Theme, text size and language are changed with every page of the wizard
and of the main area made.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from msgspec.structs import replace
from PySide6.QtCore import QEventLoop, QTimer

from gpu_assistant.app import App
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import StepEvent
from gpu_assistant.gui import theme
from gpu_assistant.gui.main.area import BENCHMARK, HOME, MONITOR, SETTINGS, MainArea
from gpu_assistant.gui.main.window import MainWindow
from gpu_assistant.gui.run import Program
from gpu_assistant.gui.wizard.flow import PAGES
from gpu_assistant.gui.worker import JobRunner

BEAT_MS = 5
MAIN_PAGES = (("home", HOME), ("monitor", MONITOR), ("benchmark", BENCHMARK), ("settings", SETTINGS))


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

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self._worst = 0.0
        self.found: dict[str, list[float]] = {}
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
        self.found.setdefault(name, []).append(max(self._worst - BEAT_MS / 1e3, 0.0) * 1e3)

    def until(self, holds: Callable[[], bool]) -> None:
        """Let the window live until something is so."""
        while not holds():
            self._live(0.1)

    def _live(self, seconds: float) -> None:
        # A loop of its own: to quit the application would close its window first.
        loop = QEventLoop()
        QTimer.singleShot(round(seconds * 1e3), loop.quit)
        loop.exec()


def first_acts(heart: Heart, window: MainWindow) -> None:
    """The wizard, up to its recommendation and with all its pages made; then the main window's pages."""
    wizard = window.wizard
    if wizard is None:
        raise RuntimeError("no wizard")
    heart.during("this computer", wizard.road.next, 4.0)
    heart.until(lambda: not wizard.road.busy)
    heart.during("recommendation", wizard.road.next, 2.0)
    heart.until(lambda: not wizard.road.busy)
    for each in PAGES:
        wizard.page(each)
    heart.during("main area", window.show_main, 1.0)
    area = window.area
    if area is None:
        raise RuntimeError("no main area")
    for _ in range(2):
        for name, page in MAIN_PAGES:
            kind = "again" if page in area.pages else "first time"
            heart.during(f"open {name}, {kind}", lambda page=page: area.open(page), 2.5)  # type: ignore[misc]


def changes(heart: Heart, program: Program, window: MainWindow, repeat: int) -> None:
    """Theme, text size and language, on some pages, while all others are there."""
    area = window.area
    if area is None:
        raise RuntimeError("no main area")

    def main_page(page: int) -> None:
        window.show_main()
        area.open(page)

    places: list[tuple[str, Callable[[], None]]] = [("recommendation", window.show_wizard)]
    places += [(name, partial(main_page, page)) for name, page in MAIN_PAGES]
    for name, go in places:
        for _ in range(repeat):
            heart.during(f"go to {name}", go)
            for choice in ("dark", "contrast", "light"):
                heart.during(f"theme {choice} on {name}", lambda c=choice: theme.set_theme(program.qt, c))  # type: ignore[misc]
            for scale in (1.5, 2.0, 1.0):
                heart.during(
                    f"text {scale:.0%} on {name}",
                    lambda scale=scale: theme.set_text_scale(program.qt, scale),  # type: ignore[misc]
                )
            for code in ("zh_CN", "en"):
                heart.during(f"language {code} on {name}", lambda code=code: program.dress().set(code))  # type: ignore[misc]


def last_acts(heart: Heart, area: MainArea) -> None:
    """What goes on by itself."""
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
    parser.add_argument("--repeat", type=int, default=5, help="how often theme, text size and language are changed")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        app = App(data_dir=arguments.data_dir or os.environ.get("GPU_ASSISTANT_DATA_DIR") or folder)
        app.settings = replace(app.settings, setup_done=False, theme="light", text_scale=1.0)
        program = Program(app, language="en")
        window = program.open()
        heart = Heart()
        heart.until(lambda: window.wizard is not None)
        first_acts(heart, window)
        changes(heart, program, window, arguments.repeat)
        if window.area is not None:
            last_acts(heart, window.area)
            real_work(heart, window.area)
        heart.during("close", window.close, 1.0)
    if arguments.json:
        print(json.dumps(heart.found))
        return
    print(" median smallest")
    for name, gaps in sorted(heart.found.items(), key=lambda item: -median(item[1])):
        print(f"{median(gaps):7.1f} {min(gaps):7.1f} ms  {name}")


if __name__ == "__main__":
    main()
