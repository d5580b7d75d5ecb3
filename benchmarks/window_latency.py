"""How much of a processor the window's thread takes at a stretch, while pages open and everything on them changes.

A stretch is one turn of the event loop: until it ends, the window answers nobody. What is counted is the thread's own
processor time, so that other work on the computer does not blur it (Windows counts it in steps of 15.6 ms). The
machine is simulated, its samples and its install are made up: an install that speaks as fast as it can. Prints for
every act in milliseconds the worst turn (target 50), the median of the worst of its repetitions, and the 95th
percentile of the turns that took more than 1 ms. `--profile ACT` says where the time of an act goes.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import logging
import os
import pstats
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from msgspec.structs import replace
from PySide6.QtCore import QAbstractEventDispatcher, QEventLoop, QTimer

from gpu_assistant.app import App
from gpu_assistant.app.monitoring import MonitoringService
from gpu_assistant.app.setup import SetupService
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import EndEvent, Plan, StepEvent
from gpu_assistant.core.results import Check, Checks, GpuSample, Sample
from gpu_assistant.examples.child_protocol import ExampleProgress, ShownPicture
from gpu_assistant.gui import theme
from gpu_assistant.gui.app import DesktopApplication
from gpu_assistant.gui.main import main_area
from gpu_assistant.gui.main.window import MainWindow
from gpu_assistant.gui.wizard.wizard import Wizard

MACHINE = Path(__file__).resolve().parent.parent / "tests" / "machines" / "windows11-rtx4060-566.json"
SIZE = (1366, 768)
INSTALL_SECONDS, GIB = 4.0, 2**30
PROOF = Checks(
    schema="gpu-assistant/checks/1",
    verdict="pass",
    checks=tuple(
        Check(id=name, state="pass", value=value, data={"value": value, "expected": None})
        for name, value in (("python", "3.11.2"), ("torch-variant", "2.13.0+cpu"), ("cpu-compute", 2.1e-7))
    ),
)
MAIN_PAGES = {
    "home": main_area.HOME,
    "monitor": main_area.MONITOR,
    "health": main_area.HEALTH,
    "benchmark": main_area.BENCHMARK,
    "settings": main_area.SETTINGS,
}
QUIET_SECONDS, QUIET_MS = 0.15, 3.0
PICTURES = 30  # that the first program shows at once


class Talkative:
    """An install that says something as fast as it can, and then ends well."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def run(self, context: JobContext[Any]) -> Path:
        """All steps, each for as long as the others."""
        for step in self._plan.steps:
            end, done = time.monotonic() + INSTALL_SECONDS / len(self._plan.steps), 0
            while time.monotonic() < end:
                done += 1
                context.report(
                    StepEvent(id=step.id, state="running", done=done, total=10**7, unit="bytes", speed=1e6 + done)
                )
                context.log(f"{step.id}: line {done} of what a tool says while it works")
            context.report(StepEvent(id=step.id, state="done", done=10**7, total=10**7, unit="bytes"))
        context.report(EndEvent(state="done", env=self._plan.env))
        return Path(self._plan.env)


class Busy:
    """A sampler of a card at work."""

    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
        """A moment like all others, but for one figure."""
        del detailed, processes
        time.sleep(0.02)
        card = GpuSample(
            index=0,
            name="NVIDIA GeForce RTX 4060",
            util=round(time.monotonic() * 10) % 100,
            mem_used=5 * GIB,
            mem_total=8 * GIB,
            temp=66,
            power_w=112.0,
            power_limit_w=115.0,
            clock_sm=2730,
            fan=41,
            throttle=(),
        )
        return Sample(t=time.time(), gpus=(card,), cpu=37.0, ram_used=6 * GIB, ram_total=24 * GIB, nvml="ready")

    def close(self) -> None:
        """Nothing to let go of."""


class SimulatedSetup(SetupService):
    """The real service, but an install that touches nothing."""

    def install(self, plan: Plan, **_how: object) -> Talkative:  # type: ignore[override]
        """An install that only reports progress."""
        return Talkative(plan)


class SimulatedMonitoring(MonitoringService):
    """The real service, but samples of a busy GPU."""

    def sampler(self) -> Busy:  # type: ignore[override]
        """A sampler of one busy GPU."""
        return Busy()


class Simulated(App):
    """The real services for a machine from a file; its samples and its install are made up."""

    @cached_property
    def setup(self) -> SimulatedSetup:
        """The setup whose install is made up."""
        return SimulatedSetup(self)

    @cached_property
    def monitoring(self) -> SimulatedMonitoring:
        """The monitoring whose samples are made up."""
        return SimulatedMonitoring(self)


class Strict(DesktopApplication):
    """What nobody foresaw ends the measurement: a dialog would wait for somebody."""

    def _show_unexpected_error(self) -> None:
        os._exit(1)


class Turns:
    """Counts what each turn of the event loop takes of the thread's own time."""

    def __init__(self, repeat: int, profiled: str | None) -> None:
        self.measured: dict[str, list[list[float]]] = {}
        self.repeat = repeat
        self.profile = cProfile.Profile(time.thread_time)
        self._profiled = profiled
        self._turns: list[float] = []
        self._last = time.thread_time()
        dispatcher = QAbstractEventDispatcher.instance()
        if dispatcher is None:
            raise RuntimeError("no event loop")
        dispatcher.awake.connect(self._turned)

    def _turned(self) -> None:
        now = time.thread_time()
        self._turns.append((now - self._last) * 1e3)
        self._last = now

    def during(self, name: str, act: Callable[[], object], seconds: float = 0.2) -> None:
        """Do something in a turn of its own, and let the window live until all that follows is done."""
        self.settle()
        self._turns = []
        if name == self._profiled:
            self.profile.enable()
        QTimer.singleShot(0, act)
        self._live(seconds)
        self.settle(keep=True)
        self.profile.disable()
        self.measured.setdefault(name, []).append(self._turns)

    def until(self, holds: Callable[[], bool]) -> None:
        """Let the window live until something is so."""
        end = time.monotonic() + 60
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError
            self._live(0.05)

    def settle(self, *, keep: bool = False) -> None:
        """Let the window live until it has nothing left to do."""
        before = self._turns if keep else []
        for _ in range(20):
            self._turns = []
            self._live(QUIET_SECONDS)
            before += self._turns
            if max(self._turns, default=0.0) < QUIET_MS:
                break
        self._turns = before

    def _live(self, seconds: float) -> None:
        # A loop of its own: to quit the application would close its window first.
        loop = QEventLoop()
        QTimer.singleShot(round(seconds * 1e3), loop.quit)
        loop.exec()

    def summary(self) -> dict[str, dict[str, float]]:
        """Of each act the worst turn, the median of the worst, the 95th percentile, in milliseconds."""
        made = {}
        for name, runs in self.measured.items():
            busy = [turn for run in runs for turn in run if turn > 1.0]
            tops = [max(run, default=0.0) for run in runs]
            p95 = quantiles(busy, n=20)[-1] if len(busy) > 1 else max(busy, default=0.0)
            made[name] = {"worst": max(tops), "median": median(tops), "p95": min(p95, max(tops))}
        return made


def changes(turns: Turns, program: DesktopApplication, place: str) -> None:
    """Theme, text size and language, on the page that is open."""
    for _ in range(turns.repeat):
        for choice in ("dark", "light"):
            turns.during(f"{place}: theme", partial(theme.set_theme, program.qt_app, choice))
        for scale in (1.5, 1.0):
            turns.during(f"{place}: text {scale:.0%}", partial(theme.set_text_scale, program.qt_app, scale))
        for code in ("zh_CN", "en"):
            turns.during(f"{place}: language", partial(program.initialize().set, code))


def wizard_acts(turns: Turns, program: DesktopApplication, wizard: Wizard) -> None:
    """The wizard from its first page to its last."""
    controller = wizard.controller

    def calm() -> bool:
        return not controller.busy

    changes(turns, program, "welcome")
    turns.during("computer: first look", controller.go_next, 1.0)
    turns.until(calm)
    changes(turns, program, "computer")
    turns.during("recommendation: first look", controller.go_next, 1.0)
    turns.until(calm)
    changes(turns, program, "recommendation")
    page = wizard.recommendation
    for _ in range(turns.repeat):
        for what in ("open", "close"):
            turns.during(f"recommendation: why, {what}", page.more_options.reasons_button.click)
        for what in ("open", "close"):
            turns.during(f"recommendation: steps, {what}", page.more_options.steps_button.click)
        for goal in ("all", "pytorch"):
            turns.during("recommendation: goal", partial(controller.change_options, goal=goal), 1.0)
            turns.until(calm)
        for channel in ("game-ready", "studio"):
            turns.during("recommendation: channel", partial(controller.change_options, channel=channel), 1.0)
            turns.until(calm)
    controller.change_options(goal="all")
    turns.until(calm)
    turns.during("recommendation: choose by hand", controller.start_customizing, 1.0)
    turns.until(calm)
    for _ in range(turns.repeat):
        for card in page.part_cards.values():
            for name, picker in card.version_pickers.pickers.items() if card.version_pickers is not None else ():
                rows = len(picker.entries)
                turns.during(f"drop-down: {name} ({rows} rows)", picker.open_popup)
                if picker.popup is not None:
                    picker.popup.close()
    changes(turns, program, "recommendation by hand")
    turns.during("recommendation: recommended again", controller.reset_choices, 1.0)
    turns.until(calm)
    # What is carried out is made up: the pages shall show it as a real one.
    controller.flow.simulated = False
    turns.during("install: first look, all events", controller.install, INSTALL_SECONDS + 1)
    turns.until(calm)
    turns.during("done: first look", lambda: controller.go_to("done"))
    turns.during("done: proven", partial(controller.runners.verify.done.emit, PROOF))
    changes(turns, program, "done")
    turns.during("install: again", lambda: controller.go_to("install"))
    changes(turns, program, "install")


def main_acts(turns: Turns, program: DesktopApplication, window: MainWindow) -> None:
    """The pages of the main area."""
    turns.during("main area: first look", window.show_main, 1.0)
    area = window.main_area
    if area is None:
        raise RuntimeError("no main area")
    turns.until(area.is_monitor_loaded)
    for name, number in MAIN_PAGES.items():
        turns.during(f"{name}: first look", partial(area.open_page, number), 2.5)
    for name, number in MAIN_PAGES.items():
        turns.during(f"{name}: again", partial(area.open_page, number), 2.5)
        changes(turns, program, name)
    area.open_page(main_area.MONITOR)
    turns.during("monitor: live", lambda: None, 5.0)


def example_acts(turns: Turns, program: DesktopApplication, window: MainWindow) -> None:
    """The window of the example programs, whose program ends at once: the machine is simulated."""

    def open_examples() -> None:
        from gpu_assistant.gui.examples.dialog import ExampleDialog

        dialog = ExampleDialog.show_dialog(program.app, program.initialize(), Path(program.app.data.root), window)
        dialogs.append(dialog)

    def report(step: int) -> None:
        picture = ShownPicture(width=28, height=28, channels=1, pixels=bytes(28 * 28), caption="7", correct=True)
        progress = ExampleProgress(step=step, steps=600, loss=2.0 / step, score=0.9, pictures=(picture,) * PICTURES)
        dialogs[0].runner.reported.emit(progress)

    dialogs: list[Any] = []
    turns.during("examples: first look", open_examples, 1.0)
    turns.during("examples: first pictures", lambda: report(1))
    for step in range(2, 12):
        turns.during("examples: live", partial(report, step))
    changes(turns, program, "examples")
    dialogs.pop().reject()
    turns.during("examples: again", open_examples, 1.0)
    dialogs.pop().reject()
    turns.settle()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", default=str(MACHINE), help="a machine's file")
    parser.add_argument("--repeat", type=int, default=3, help="how often what can be repeated is done")
    parser.add_argument("--only", choices=("wizard", "main", "examples"), help="leave out the other parts")
    parser.add_argument("--profile", metavar="ACT", help="where the time of an act goes")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # the offscreen platform says often what it cannot do
    with tempfile.TemporaryDirectory() as folder:
        app = Simulated(data_dir=folder, machine_file=arguments.machine)
        app.settings = replace(app.settings, setup_done=False, theme="light", text_scale=1.0)
        program = Strict(app, language="en")
        turns = Turns(arguments.repeat, arguments.profile)
        turns.during("start", program.open, 1.5)
        window = program.window
        if window is None or window.wizard is None:
            raise RuntimeError("no wizard")
        window.resize(*SIZE)
        if arguments.only in (None, "wizard"):
            wizard_acts(turns, program, window.wizard)
        if arguments.only in (None, "examples"):
            example_acts(turns, program, window)
        if arguments.only in (None, "main"):
            main_acts(turns, program, window)
        turns.during("close", window.close, 1.0)
    summary = turns.summary()
    if arguments.json:
        print(json.dumps(summary))
        return
    print("  worst  median     p95   ms of the window's thread in one turn")
    for name, figures in summary.items():
        print(f"{figures['worst']:7.1f} {figures['median']:7.1f} {figures['p95']:7.1f}   {name}")
    if arguments.profile:
        pstats.Stats(turns.profile).sort_stats("cumulative").print_stats(60)


if __name__ == "__main__":
    main()
