"""Saves pictures of the window: `python -m tests.gui.screenshots OUT_FOLDER [NAME...]`, in both languages and themes.

Every scene opens a window in some state; all scenes run on the fakes, so the pictures are the same everywhere.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget

from gpu_assistant.app import App
from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.plan import InterruptedInstall, LogEvent, PlanEvent, StepEvent, StepSummary
from gpu_assistant.gui import theme
from gpu_assistant.gui.help import HelpDialog
from gpu_assistant.gui.language import Language
from gpu_assistant.gui.wizard.wizard import Wizard
from tests.fakes.app import FakeApp
from tests.fakes.examples import WHEELHOUSE_OFFER, cpu_recommendation, make_plan, rtx4060, rtx4060_recommendation
from tests.gui import bundle_scenes, main_scenes

SIZES = ((1180, 760), (880, 520))
LARGE = (1600, 900)
Scene = Callable[["Studio", FakeApp], Wizard]
SPEEDS = [18.4e6 + 2.5e6 * ((second * 7919) % 13 - 6) / 6 for second in range(90)]  # bytes per second


class Studio:
    """The application, its language, and a camera."""

    def __init__(self, out: Path) -> None:
        self.qt = QApplication.instance() or QApplication(["screenshots"])
        self.language = Language(self.qt)
        self.out = out

    def settle(self, seconds: float = 0.35) -> None:
        """Let everything that was started come to rest."""
        end = time.monotonic() + seconds
        rounds = 0
        while time.monotonic() < end or rounds < 12:
            self.qt.processEvents()
            time.sleep(0.005)
            rounds += 1
        self.qt.sendPostedEvents(None, QEvent.Type.LayoutRequest)

    def until(self, holds: Callable[[], bool], seconds: float = 10) -> None:
        """Wait for something."""
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError
            self.qt.processEvents()
            time.sleep(0.005)
        self.settle()

    def save(self, widget: QWidget, name: str) -> None:
        """Both languages, both themes, both sizes of what stands there."""
        for code in ("en", "zh_CN"):
            self.language.set(code)
            for colours in ("light", "dark"):
                theme.set_theme(self.qt, colours)
                for size in (*SIZES, *((LARGE,) if code == "en" and colours == "light" else ())):
                    widget.resize(*size)
                    self.settle(0.12)
                    assert widget.grab().save(str(self.out / f"{name}_{code}_{colours}_{size[0]}x{size[1]}.png"))
        self.language.set("en")
        theme.set_theme(self.qt, "light")


def wizard(studio: Studio, app: FakeApp | App) -> Wizard:
    """A wizard on its first page."""
    made = Wizard(app, studio.language)
    made.resize(*SIZES[0])
    made.show()
    studio.settle()
    return made


def to_computer(studio: Studio, made: Wizard) -> None:
    made.controller.go_next()
    studio.until(lambda: made.flow.state.plan is not None or bool(made.controller.errors))


def to_recommendation(studio: Studio, made: Wizard) -> None:
    to_computer(studio, made)
    made.controller.go_next()
    studio.settle()


def welcome(studio: Studio, app: FakeApp) -> Wizard:
    return wizard(studio, app)


def welcome_resume(studio: Studio, app: FakeApp) -> Wizard:
    plan = make_plan(cpu_recommendation(), "/home/mei/ai/pytorch")
    app.begun = InterruptedInstall(plan=plan, step="download", began=0.0)
    made = wizard(studio, app)
    studio.until(lambda: made.controller.interrupted_install is not None)
    return made


def computer(studio: Studio, app: FakeApp) -> Wizard:
    made = wizard(studio, app)
    to_computer(studio, made)
    return made


def recommendation(studio: Studio, app: FakeApp) -> Wizard:
    made = wizard(studio, app)
    to_recommendation(studio, made)
    return made


def recommendation_why(studio: Studio, app: FakeApp) -> Wizard:
    made = recommendation(studio, app)
    made.recommendation.part_cards["driver"].reasons.set_open(True)
    return made


def recommendation_steps(studio: Studio, app: FakeApp) -> Wizard:
    made = recommendation(studio, app)
    made.recommendation.more_options.steps_button.click()
    studio.settle()
    bar = made.recommendation.page.verticalScrollBar()
    bar.setValue(bar.maximum())
    return made


def help_opened(studio: Studio, app: FakeApp) -> Wizard:
    made = recommendation(studio, app)
    made.show_help()
    return made


def folder_refused(studio: Studio, app: FakeApp) -> Wizard:
    made = recommendation(studio, app)
    folder = app.folder / "OneDrive" / "pytorch"
    app.refusals[str(folder)] = UsageError("folder-synced", path=str(folder), synced=str(folder.parent))
    made.recommendation.use_folder(str(folder))
    studio.until(made.recommendation.folder_card.error_label.isVisible)
    bar = made.recommendation.page.verticalScrollBar()
    bar.setValue(bar.maximum())
    return made


def installing(studio: Studio, app: FakeApp) -> Wizard:
    made = recommendation(studio, app)
    plan = made.flow.state.plan
    assert plan is not None
    app.gate = threading.Event()
    download = next(step for step in plan.steps if step.kind == "download")
    events = [PlanEvent(steps=tuple(StepSummary(id=step.id, code=step.code, data=step.data) for step in plan.steps))]
    for step in plan.steps[: plan.steps.index(download)]:
        events += [StepEvent(id=step.id, state="running"), StepEvent(id=step.id, state="done")]
    events.append(StepEvent(id=download.id, state="running"))
    app.events["install"] = tuple(events)
    made.recommendation.primary_button.click()
    studio.until(lambda: made.controller.progress is not None and made.controller.progress.running_step is not None)
    event = StepEvent(
        id=download.id,
        state="running",
        done=119_000_000,
        total=192_000_000,
        unit="bytes",
        speed=SPEEDS[-1],
        bottleneck="network",
    )
    made.controller.runners.install.reported.emit(event)
    made.install.step_panel.speed_line.set_points(list(enumerate(SPEEDS)))
    made.install.log_drawer.append(["torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"])
    return made


def failed(studio: Studio, app: FakeApp) -> Wizard:
    made = recommendation(studio, app)
    plan = made.flow.state.plan
    assert plan is not None
    app.results["install"] = AppError(
        "release-unavailable",
        alternatives=(WHEELHOUSE_OFFER,),
        version="2.15.0",
        variant="cpu",
        site="@site.pytorch-wheels",
        wheelhouse="@answer.absent",
        index="@answer.unreachable",
        general="@answer.not-asked",
        offer="2.13.0",
    )
    first, python, second = plan.steps[:3]
    app.events["install"] = (
        StepEvent(id=first.id, state="running"),
        StepEvent(id=first.id, state="done"),
        StepEvent(id=python.id, state="running"),
        StepEvent(id=python.id, state="done"),
        StepEvent(id=second.id, state="running"),
        LogEvent(id=second.id, line="no version of torch==2.15.0+cpu"),
        StepEvent(id=second.id, state="failed"),
    )
    made.recommendation.primary_button.click()
    studio.until(lambda: made.flow.state.stage == "failed")
    return made


def cancelled(studio: Studio, app: FakeApp) -> Wizard:
    made = installing(studio, app)
    made.controller.stop()
    studio.until(lambda: made.flow.state.stage == "cancelled")
    return made


def done(studio: Studio, app: FakeApp) -> Wizard:
    made = recommendation(studio, app)
    made.recommendation.primary_button.click()
    studio.until(lambda: made.flow.page == "done" and made.flow.state.checks is not None)
    return made


def done_measured(studio: Studio, app: FakeApp) -> Wizard:
    made = done(studio, app)
    made.done.benchmark_card.button.click()
    studio.until(lambda: made.flow.state.benchmark is not None)
    return made


def simulated_done(studio: Studio, app: FakeApp) -> Wizard:
    made = recommendation(studio, app)
    made.recommendation.primary_button.click()
    studio.until(lambda: made.flow.state.stage == "done")
    made.controller.go_next()
    return made


def simulated_install(studio: Studio, app: FakeApp) -> Wizard:
    made = recommendation(studio, app)
    made.recommendation.primary_button.click()
    studio.until(lambda: made.flow.state.stage == "done")
    return made


SCENES: dict[str, tuple[Scene, bool]] = {
    "welcome": (welcome, False),
    "welcome-resume": (welcome_resume, False),
    "computer": (computer, False),
    "recommendation": (recommendation, False),
    "recommendation-steps": (recommendation_steps, False),
    "help": (help_opened, False),
    "recommendation-folder-refused": (folder_refused, False),
    "installing": (installing, False),
    "failed": (failed, False),
    "cancelled": (cancelled, False),
    "done": (done, False),
    "done-measured": (done_measured, False),
    "rtx-computer": (computer, True),
    "rtx-recommendation-why": (recommendation_why, True),
    "rtx-install": (simulated_install, True),
    "rtx-done": (simulated_done, True),
    **bundle_scenes.SCENES,
}


def shoot(studio: Studio, name: str) -> None:
    """One scene on an app of its own."""
    make, simulated = SCENES[name]
    with tempfile.TemporaryDirectory() as folder:
        app = FakeApp(Path(folder), rtx4060() if simulated else None, simulated=simulated)
        app.shown_folder = "D:\\AI\\pytorch" if simulated else "/home/mei/ai/pytorch"
        if simulated:
            app.recommendation = rtx4060_recommendation
        made = make(studio, app)
        studio.save(made.findChild(HelpDialog) or made, name)
        if app.gate is not None:
            app.gate.set()
        studio.until(lambda: not made.controller.busy)
        made.close()
        made.deleteLater()
        studio.settle()


def real(studio: Studio) -> None:
    """The wizard with everything real behind it: this computer, the wheelhouse, an install, the proof, the speed."""
    with tempfile.TemporaryDirectory() as folder:
        app = App(data_dir=str(Path(folder) / "data"))
        made = wizard(studio, app)
        made.controller.go_next()
        studio.until(lambda: not made.controller.busy, 60)
        studio.save(made, "real-computer")
        made.controller.go_next()
        made.recommendation.use_folder(str(Path(folder) / "ai"))
        studio.until(lambda: not made.controller.busy, 60)
        studio.save(made, "real-recommendation")
        if made.recommendation.alternatives_card.buttons:
            made.recommendation.alternatives_card.buttons[0].click()
            studio.until(lambda: not made.controller.busy, 60)
            studio.save(made, "real-recommendation-taken")
        made.recommendation.primary_button.click()
        studio.until(lambda: not made.controller.busy, 600)
        studio.save(made, "real-done" if made.flow.page == "done" else "real-failed")
        if made.flow.page == "done":
            made.done.benchmark_card.button.click()
            studio.until(lambda: not made.controller.busy, 300)
            made.done.toggle_log_button.click()
            studio.save(made, "real-done-measured")
        made.close()
        made.deleteLater()
        studio.settle()


def main(arguments: list[str]) -> None:
    """The command; `real` is not among the scenes that are taken without a name, since it installs PyTorch."""
    known = (*SCENES, *main_scenes.SCENES)
    parser = argparse.ArgumentParser(description="Takes pictures of the window's pages.")
    parser.add_argument("out", type=Path, help="a folder for the pictures")
    parser.add_argument("names", nargs="*", metavar="name", help=f"all without one, or of: {', '.join(known)}, real")
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - {*known, "real"}:
        parser.error(f"no such scene: {', '.join(sorted(unknown))}")
    given.out.mkdir(parents=True, exist_ok=True)
    studio = Studio(given.out)
    for name in given.names or known:
        if name == "real":
            real(studio)
        elif name in main_scenes.SCENES:
            with tempfile.TemporaryDirectory() as folder:
                main_scenes.shoot(studio, name, Path(folder))
        else:
            shoot(studio, name)
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
