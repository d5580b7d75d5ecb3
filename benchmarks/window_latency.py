"""How much of a processor the window's thread takes at a stretch, while pages open and everything on them changes.

    python benchmarks/window_latency.py [--only PART...] [--gpus N...] [--scenes NAME...] [--profile ACT]

A stretch is one turn of the event loop: until it ends, the window answers nobody. What is counted is the thread's own
processor time, so that other work on the computer does not blur it (Windows counts it in steps of 15.6 ms). Prints for
every act in milliseconds the worst turn, the median of the worst of its repetitions, the 95th percentile of the
turns that took more than 1 ms, and a mark where that median is over the limit: 50 while something is live, 100 at a
first look and for another theme, text size or language. The parts:

    wizard    from the first page to the last, for a recorded machine, with an install that reports as fast as it can
    examples  the window of the example programs
    main      the main area with 1, 2 and 8 GPUs: samples each second, a benchmark, a health test, alarms
    scenes    each page in each state, as `tests/gui/screenshots.py` draws it: first look, theme, text size, language

`--profile ACT` says where the time of an act goes.
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
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, cast

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from busy_computer import BusyComputer, Reports
from msgspec.structs import replace
from PySide6.QtCore import QAbstractEventDispatcher, QEventLoop, QTimer
from PySide6.QtWidgets import QWidget

from gpu_assistant.app import App
from gpu_assistant.app.setup import SetupService
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import EndEvent, Plan, StepEvent
from gpu_assistant.core.results import Check, Checks
from gpu_assistant.examples.child_protocol import ExampleProgress, ShownPicture
from gpu_assistant.gui import theme
from gpu_assistant.gui.app import DesktopApplication
from gpu_assistant.gui.bench.page import MEMORY_TAB, RESULT_VIEW
from gpu_assistant.gui.help import open_help
from gpu_assistant.gui.main import main_area
from gpu_assistant.gui.main.window import MainWindow
from gpu_assistant.gui.wizard.wizard import Wizard
from tests.gui import main_scenes
from tests.gui.deletion import delete_window
from tests.gui.screenshots import ALL_SCENES, Studio, shoot

if TYPE_CHECKING:
    from gpu_assistant.gui.bench.page import BenchmarkPage
    from gpu_assistant.gui.health.page import HealthPage
    from gpu_assistant.gui.monitor.page import MonitorPage

MACHINE = Path(__file__).resolve().parent.parent / "tests" / "machines" / "windows11-rtx4060-566.json"
SIZE = (1366, 768)
INSTALL_SECONDS = 4.0
PROOF = Checks(
    schema="gpu-assistant/checks/1",
    verdict="pass",
    checks=tuple(
        Check(id=name, state="pass", value=value, data={"value": value, "expected": None})
        for name, value in (("python", "3.11.2"), ("torch-variant", "2.13.0+cpu"), ("cpu-compute", 2.1e-7))
    ),
)
PARTS = ("wizard", "examples", "main", "scenes")
LOOKS = ("first look", "theme", "text 150%", "text 100%", "language")  # what the last words of an act are then
LIVE_MS, LOOK_MS = 50.0, 100.0
MAIN_PAGES = {
    "home": main_area.HOME,
    "monitor": main_area.MONITOR,
    "health": main_area.HEALTH,
    "benchmark": main_area.BENCHMARK,
    "settings": main_area.SETTINGS,
}
QUIET_SECONDS, QUIET_MS = 0.15, 3.0
LIVE_S, ALARM_S = 4.0, 15.0
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


class SimulatedSetup(SetupService):
    """The real service, but an install that touches nothing."""

    def install(self, plan: Plan, **_how: object) -> Talkative:  # type: ignore[override]
        """An install that only reports progress."""
        return Talkative(plan)


class Simulated(App):
    """The real services for a machine from a file; its install is made up."""

    @cached_property
    def setup(self) -> SimulatedSetup:
        """The setup whose install is made up."""
        return SimulatedSetup(self)


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
        self.begin(name)
        QTimer.singleShot(0, act)
        self._live(seconds)
        self.end(name)

    def begin(self, name: str) -> None:
        """What happens from now on is part of this act."""
        self._turns = []
        self._last = time.thread_time()
        if name == self._profiled:
            self.profile.enable()

    def end(self, name: str) -> None:
        """The act is over once the window has nothing left to do."""
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


def main_acts(turns: Turns, program: DesktopApplication, gpus: int, folder: Path) -> None:
    """The pages of the main area of a computer with these cards."""
    computer = BusyComputer(folder, gpus)
    windows: list[MainWindow] = []
    place = f"{gpus} GPU{'s'[: gpus - 1]}, "

    def open_window() -> None:
        window = MainWindow(cast("App", computer))
        window.build(program.initialize())
        window.resize(*SIZE)
        window.show()
        windows.append(window)

    turns.during(f"{place}home: first look", open_window, 2.5)
    (window,) = windows
    area = window.main_area
    if area is None:
        raise RuntimeError("no main area")
    turns.until(lambda: area.is_monitor_ready)
    for name, number in MAIN_PAGES.items():
        if number != main_area.HOME:
            turns.during(f"{place}{name}: first look", partial(area.open_page, number), 2.5)
    for name, number in MAIN_PAGES.items():
        turns.during(f"{place}{name}: again", partial(area.open_page, number), 2.5)
        changes(turns, program, f"{place}{name}")
    area.open_page(main_area.HOME)
    turns.during(f"{place}home: live", lambda: None, LIVE_S)
    area.open_page(main_area.MONITOR)
    monitor_acts(turns, program, computer, cast("MonitorPage", area.pages[main_area.MONITOR]), place)
    area.open_page(main_area.BENCHMARK)
    benchmark_acts(turns, program, cast("BenchmarkPage", area.pages[main_area.BENCHMARK]), place)
    area.open_page(main_area.HEALTH)
    health_acts(turns, program, cast("HealthPage", area.pages[main_area.HEALTH]), place)
    area.open_page(main_area.HOME)
    changes(turns, program, f"{place}home with results")
    helps: list[Any] = []
    turns.during(f"{place}help: first look", lambda: helps.append(open_help(window.app, area, "monitor")), 1.0)
    changes(turns, program, f"{place}help")
    for topic in ("install", "files", "monitor"):
        turns.during(f"{place}help: another topic", partial(helps[0].open_topic, topic))
    helps.pop().close()
    turns.during(f"{place}close", window.end_session, 1.0)
    turns.until(lambda: not window.isVisible())
    delete_window(window)


def monitor_acts(
    turns: Turns, program: DesktopApplication, computer: BusyComputer, page: MonitorPage, place: str
) -> None:
    """Everything that Monitor shows, live."""
    turns.during(f"{place}monitor: live", lambda: None, LIVE_S)
    if page.layout_control.isVisible():
        turns.during(f"{place}monitor: side by side", page.layout_control.buttons[1].click, LIVE_S)
        changes(turns, program, f"{place}monitor side by side")
        turns.during(f"{place}monitor: overlaid", page.layout_control.buttons[0].click)
    for index, button in enumerate(page.toolbar.range_control.buttons):
        turns.during(f"{place}monitor: range {index}", button.click, LIVE_S)
    turns.during(f"{place}monitor: details", page.gpu_details.toggle_button.click, LIVE_S)
    turns.during(f"{place}monitor: more graphs", page.secondary_plots_button.click, LIVE_S)
    changes(turns, program, f"{place}monitor with all")
    turns.during(f"{place}monitor: table", page.toolbar.table_button.click, LIVE_S)
    changes(turns, program, f"{place}monitor as table")
    turns.during(f"{place}monitor: no table", page.toolbar.table_button.click)
    turns.during(f"{place}monitor: fewer graphs", page.secondary_plots_button.click)
    turns.during(f"{place}monitor: no details", page.gpu_details.toggle_button.click)
    turns.during(f"{place}monitor: range 0", page.toolbar.range_control.buttons[0].click)
    computer.busy_sampler.hot = True
    turns.during(f"{place}monitor: alarm", lambda: None, ALARM_S)
    changes(turns, program, f"{place}monitor with an alarm")
    computer.busy_sampler.hot = False


def benchmark_acts(turns: Turns, program: DesktopApplication, page: BenchmarkPage, place: str) -> None:
    """A benchmark, its result, and what fits."""
    turns.during(f"{place}benchmark: runs", page.measure, Reports.SECONDS - 1)
    turns.during(f"{place}benchmark result: first look", lambda: None, 2.0)
    turns.until(lambda: page.current_view == RESULT_VIEW)
    changes(turns, program, f"{place}benchmark result")
    turns.during(f"{place}benchmark: all figures", page.result_view.results_table.toggle_button.click)
    changes(turns, program, f"{place}benchmark result with all figures")
    turns.during(f"{place}what fits: first look", page.tabs.buttons[MEMORY_TAB].click, 1.0)
    turns.during(f"{place}what fits: measured", page.memory_view.measure_button.click, 1.0)
    for batch in (32, 64):
        turns.during(f"{place}what fits: batch", partial(page.memory_view.batch_box.setValue, batch))
    changes(turns, program, f"{place}what fits")
    page.tabs.buttons[0].click()
    page.measure()
    turns.during(f"{place}benchmark running: live", lambda: None, 1.0)
    changes(turns, program, f"{place}benchmark running")
    page.stop()
    turns.until(lambda: not page.measuring)


def health_acts(turns: Turns, program: DesktopApplication, page: HealthPage, place: str) -> None:
    """A health test and its result."""
    page.choose(2, None)
    turns.during(f"{place}health: runs", page.start_test, Reports.SECONDS - 1)
    turns.during(f"{place}health result: first look", lambda: None, 2.0)
    turns.until(lambda: not page.testing)
    changes(turns, program, f"{place}health result")
    page.start_test()
    turns.during(f"{place}health running: live", lambda: None, 1.0)
    changes(turns, program, f"{place}health running")
    page.stop_test()
    turns.until(lambda: not page.testing)


class Meter(Studio):
    """Counts turns where a picture would be taken."""

    def __init__(self, turns: Turns, program: DesktopApplication) -> None:
        super().__init__(Path(), codes=("en",))
        self.language = program.initialize()
        self._turns, self._program = turns, program

    def save(self, widget: QWidget, name: str, **_how: object) -> None:
        """The page stands there: from here on it is dressed anew."""
        # How a main page came to be is not how a user comes to it: ten minutes of samples in a moment.
        if name not in main_scenes.SCENES:
            self._turns.end(f"scene {name}: first look")
        widget.resize(*SIZE)
        changes(self._turns, self._program, f"scene {name}")


def scene_acts(turns: Turns, program: DesktopApplication, names: Sequence[str]) -> None:
    """Each page in each state."""
    meter = Meter(turns, program)
    for name in names:
        turns.settle()
        turns.begin(f"scene {name}: first look")
        shoot(meter, name)


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


def settings_acts(turns: Turns, window: MainWindow, wizard: Wizard) -> None:
    """What opens over the wizard's page."""
    turns.during("settings over the wizard: first look", window.show_settings, 1.0)
    if window.settings_overlay is not None:
        turns.during("settings over the wizard: closed", window.settings_overlay.closed.emit)
    for name in ("load-bundle", "create-bundle"):
        turns.during(f"{name}: first look", partial(wizard.side_pages.open, name), 1.0)
        turns.during(f"{name}: closed", wizard.side_pages.close)


def limit_ms(act: str) -> float:
    """How long a turn of this act may take."""
    return LOOK_MS if act.endswith(LOOKS) else LIVE_MS


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", default=str(MACHINE), help="a machine's file")
    parser.add_argument("--repeat", type=int, default=3, help="how often what can be repeated is done")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="leave out the other parts")
    parser.add_argument("--gpus", nargs="+", type=int, default=(1, 2, 8), help="how many cards the main area shows")
    parser.add_argument("--scenes", nargs="+", choices=ALL_SCENES, default=ALL_SCENES, metavar="NAME")
    parser.add_argument("--profile", metavar="ACT", help="where the time of an act goes")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # the offscreen platform says often what it cannot do
    with tempfile.TemporaryDirectory() as folder:
        app = Simulated(data_dir=folder, machine_file=arguments.machine, environ={**os.environ, "UV_OFFLINE": "1"})
        app.settings = replace(app.settings, setup_done=False, theme="light", text_scale=1.0)
        program = Strict(app, language="en")
        turns = Turns(arguments.repeat, arguments.profile)
        turns.during("start", program.open, 1.5)
        window = program.window
        if window is None or window.wizard is None:
            raise RuntimeError("no wizard")
        window.resize(*SIZE)
        if "wizard" in arguments.only:
            wizard_acts(turns, program, window.wizard)
            settings_acts(turns, window, window.wizard)
        if "examples" in arguments.only:
            example_acts(turns, program, window)
        if "wizard" in arguments.only:
            turns.during("main area from the wizard: first look", window.show_main, 2.5)
        turns.during("close", window.close, 1.0)
        turns.until(lambda: not window.isVisible())
        delete_window(window)
        for gpus in arguments.gpus if "main" in arguments.only else ():
            main_acts(turns, program, gpus, Path(folder) / f"{gpus}-gpus")
        if "scenes" in arguments.only:
            scene_acts(turns, program, arguments.scenes)
    summary = turns.summary()
    if arguments.json:
        print(json.dumps(summary))
        return
    print("  worst  median     p95   ms of the window's thread in one turn; ! is over the limit")
    for name, figures in summary.items():
        mark = "!" if figures["median"] > limit_ms(name) else " "
        print(f"{figures['worst']:7.1f} {figures['median']:7.1f} {figures['p95']:7.1f} {mark} {name}")
    if arguments.profile:
        pstats.Stats(turns.profile).sort_stats("cumulative").print_stats(60)


if __name__ == "__main__":
    main()
