"""Draws every page in every state: `python -m tests.gui.screenshots OUT_FOLDER [NAME...]`.

In both languages and themes, with text at 100, 150 and 200 %. `--docs` draws the pictures of README and guide, in
`resources/guide/<language>/images/`, anew.

Every scene opens a window in some state; all scenes run on the fakes, so the pictures are the same everywhere.
`tests/gui/test_layout.py` looks at the geometry of the same scenes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from gpu_assistant.app import App
from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.plan import PlanEvent, StepSummary
from gpu_assistant.core.results import Check, Checks
from gpu_assistant.core.types import Language as Code
from gpu_assistant.gui import theme
from gpu_assistant.gui.help import DARK_FOLDER, HelpDialog
from gpu_assistant.gui.language import Language
from gpu_assistant.gui.main.window import MINIMUM_SIZE
from gpu_assistant.gui.widgets.navigation import Rail
from gpu_assistant.gui.wizard.wizard import Wizard
from gpu_assistant.gui.worker import JobRunner
from gpu_assistant.texts.guide import guide_dir
from tests.fakes.app import FakeApp
from tests.fakes.benchmarks import processor_benchmark
from tests.fakes.examples import good_checks, gpu_checks, rtx4060
from tests.gui import bundle_scenes, dialog_scenes, main_scenes
from tests.gui.deletion import delete_window
from tests.gui.rtx4060_run import RECORDED_MACHINE, SPEEDS, Rtx4060Run

SIZES = ((1180, 760), (880, 520))
FULL_DISK_BYTES = 4_200_000_000  # free on a disk that is too small for an install
SCARCE_BYTES = 12_000_000_000  # free on a disk that is too small for everything, but not for less
ROOM_ON_SCREEN = (1880, 960)
CODES: tuple[Code, ...] = ("en", "zh_CN")
THEMES = ("light", "dark")
SCALES = (100, 150, 200)  # percent
Size = tuple[int, int]
# The pictures of README and guide: their scenes, drawn without the rail in light colours, and for Help in dark ones, as
# small as they still have the layout of a large window; so they can be read in the help of a small one.
EMPTY_END = 28  # pixels below what stands lowest on the page
DOCS_SIZE, DOCS_DIALOG_SIZE = (1100, 760), (960, 720)
DOCS_SCENES = (
    *("welcome", "rtx-computer", "rtx-recommendation", "installing", "failed", "done"),
    *("example-running", "home-gpu", "monitor-gpu", "benchmark-gpu", "memory", "health-done", "settings"),
)
Scene = Callable[["Studio", FakeApp], Wizard]


class Studio:
    """The application, its language, and a camera for these languages, themes and sizes of text."""

    def __init__(
        self,
        out: Path,
        codes: Sequence[Code] = CODES,
        themes: Sequence[str] = THEMES,
        scales: Sequence[int] = SCALES,
    ) -> None:
        self.qt = QApplication.instance() or QApplication(["screenshots"])
        self.language = Language(self.qt)
        self.out = out
        self.codes, self.themes, self.scales = codes, themes, scales
        self.before_picture: Callable[[], None] | None = None  # such as scrolling, at each size

    pause = 0.12  # seconds until a window that changed its size has come to rest

    def settle(self, seconds: float = 0.35) -> None:
        """Let everything that was started come to rest."""
        end = time.monotonic() + seconds
        rounds = 0
        while time.monotonic() < end or rounds < 12:
            self.qt.processEvents()
            time.sleep(0.005)
            rounds += 1
        self.qt.sendPostedEvents(None, QEvent.Type.LayoutRequest)

    def until(self, holds: Callable[[], bool], seconds: float = 60) -> None:
        """Wait for something."""
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError
            self.qt.processEvents()
            time.sleep(0.005)
        self.settle()

    def dispose(self, window: QWidget) -> None:
        """Delete a window that was closed, once its jobs have ended: one that stays would be dressed for every later
        picture.
        """
        self.until(lambda: not any(runner.running for runner in window.findChildren(JobRunner)))
        delete_window(window)
        self.settle()

    def save(
        self, widget: QWidget, name: str, *, codes: Sequence[Code] | None = None, sizes: Sequence[Size] = SIZES
    ) -> None:
        """Pictures of what stands there: each size with text at 100 %, the first one also with larger text, with which
        a dialog is larger, up to what a screen of 1920 × 1080 has room for.
        """
        is_dialog = isinstance(widget, QDialog)
        if not is_dialog:
            widget.setMinimumSize(*MINIMUM_SIZE)
        for code, colours, scale in product(codes or self.codes, self.themes, self.scales):
            if self.language.current != code:
                self.language.set(code)
            theme.set_theme(self.qt, colours)
            theme.set_text_scale(self.qt, scale / 100)
            for size in self.sizes_at(scale, code, sizes):
                factor = scale / 100 if is_dialog else 1
                width, height = (
                    min(round(length * factor), limit) for length, limit in zip(size, ROOM_ON_SCREEN, strict=True)
                )
                widget.resize(width, height)
                self.settle(self.pause)
                if self.before_picture is not None:
                    self.before_picture()
                self.take(widget, name, f"{code}_{colours}_{width}x{height}_{scale}")
        self.language.set("en")
        theme.set_theme(self.qt, "light")
        theme.set_text_scale(self.qt, 1.0)

    def sizes_at(self, scale: int, code: Code, sizes: Sequence[Size]) -> Sequence[Size]:
        """Those of the sizes that are taken with text of this size in percent, in this language."""
        del code
        return sizes if scale == 100 else sizes[:1]

    def take(self, widget: QWidget, name: str, how: str) -> None:
        """Save one picture."""
        assert widget.grab().save(str(self.out / f"{name}_{how}.png"))


class DocsStudio(Studio):
    """The camera for the guide: the page without the rail, in few colours, so that the pictures stay small; those for
    a dark theme in a folder of their own.
    """

    def __init__(self) -> None:
        super().__init__(resources_dir() / "guide", scales=(100,))

    def save(
        self, widget: QWidget, name: str, *, codes: Sequence[Code] | None = None, sizes: Sequence[Size] = SIZES
    ) -> None:
        del sizes
        super().save(widget, name, codes=codes, sizes=(DOCS_DIALOG_SIZE if isinstance(widget, QDialog) else DOCS_SIZE,))

    def take(self, widget: QWidget, name: str, how: str) -> None:
        folder = guide_dir("zh_CN" if how.startswith("zh") else "en") / "images"
        if "_dark_" in how:
            folder /= DARK_FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        picture = few_colours(without_empty_end(widget.grab(page_of(widget)).toImage()))
        assert picture.save(str(folder / f"{name.removeprefix('rtx-')}.png"), "PNG", 0)


def page_of(window: QWidget) -> QRect:
    """The part of a window beside its rail; all of one without."""
    rails = [rail for rail in window.findChildren(Rail) if rail.isVisible()]
    left = max((rail.mapTo(window, rail.rect().topRight()).x() + 1 for rail in rails), default=0)
    return window.rect().adjusted(left, 0, 0, 0)


def without_empty_end(image: QImage) -> QImage:
    """The image up to EMPTY_END pixels below what stands lowest on the page, and with as much of each empty part within
    it, as above the buttons of a page: who reads the guide need not scroll past nothing.
    """
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    width, height = image.width(), image.height()
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(height, image.bytesPerLine() // 4)[:, :width]
    used = np.flatnonzero((pixels != pixels[-1, 0]).any(axis=1))
    end = min(height, int(used[-1]) + 1 + EMPTY_END if used.size else height)
    plain = (pixels == pixels[:, :1]).all(axis=1)
    kept, length = [], 0
    for row in range(end):
        is_empty = used.size and row > used[0] and plain[row] and pixels[row, 0] == pixels[row - 1, 0]
        length = length + 1 if is_empty else 0
        if length <= EMPTY_END:
            kept.append(row)
    rows = np.ascontiguousarray(pixels[kept])
    return QImage(rows.tobytes(), width, len(kept), 4 * width, QImage.Format.Format_RGB32).copy()


def few_colours(image: QImage) -> QImage:
    """The image with 256 colours, each other one as the nearest of them: a third of the bytes, and to the eye the same.

    Half of them are the most frequent ones, the grounds. Of the rest the one is added, time after time, that is least
    like those that are there: so no smoothed edge of a letter or an icon is far from its own colour.
    """
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    width, height = image.width(), image.height()
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(height, image.bytesPerLine() // 4)[:, :width]
    colours, place, counts = np.unique(pixels & 0xFFFFFF, return_inverse=True, return_counts=True)
    parts = np.stack([(colours >> shift) & 255 for shift in (16, 8, 0)], axis=1).astype(np.int32)
    chosen = list(np.argsort(counts)[::-1][:128])
    distances = np.min([np.abs(parts - parts[index]).sum(axis=1) for index in chosen], axis=0)
    while len(chosen) < min(256, len(colours)):
        chosen.append(distances.argmax())
        distances = np.minimum(distances, np.abs(parts - parts[chosen[-1]]).sum(axis=1))
    nearest = np.array([np.abs(parts[chosen] - part).sum(axis=1).argmin() for part in parts], np.uint8)
    indexes = np.ascontiguousarray(nearest[place].reshape(height, width))
    made = QImage(indexes.tobytes(), width, height, width, QImage.Format.Format_Indexed8)
    made.setColorTable([0xFF000000 | int(colours[index]) for index in chosen])
    return made.copy()


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
    app.begun = rtx4060_run(app).begun()
    made = wizard(studio, app)
    studio.until(lambda: made.controller.interrupted_install is not None)
    return made


def rtx4060_run(app: FakeApp, *, simulated: bool = False) -> Rtx4060Run:
    """Make an app the computer of the RTX 4060's run."""
    run = Rtx4060Run(app.folder, simulated=simulated)
    run.set_up(app)
    return run


def rtx_computer(studio: Studio, app: FakeApp) -> Wizard:
    rtx4060_run(app)
    return computer(studio, app)


def rtx_recommendation(studio: Studio, app: FakeApp) -> Wizard:
    rtx4060_run(app)
    return recommendation(studio, app)


def computer(studio: Studio, app: FakeApp | App) -> Wizard:
    made = wizard(studio, app)
    to_computer(studio, made)
    made.controller.detection_seconds = 1.4  # of the fakes it takes none
    made.computer.draw()
    return made


def recommendation(studio: Studio, app: FakeApp | App) -> Wizard:
    made = wizard(studio, app)
    to_recommendation(studio, made)
    return made


def recommendation_why(studio: Studio, app: FakeApp) -> Wizard:
    made = recommendation(studio, app)
    made.recommendation.more_options.reasons_button.click()
    return made


def customising(studio: Studio, app: FakeApp | App) -> Wizard:
    made = recommendation(studio, app)
    made.recommendation.options_bar.customize_button.click()
    studio.until(lambda: made.flow.state.options is not None and not made.controller.is_recommending)
    return made


def choices_reset(studio: Studio, app: FakeApp | App) -> Wizard:
    made = customising(studio, app)
    made.controller.choose_version("pytorch", "2.14.1")
    studio.until(lambda: made.flow.state.choice is not None and not made.controller.is_recommending)
    made.recommendation.options_bar.recommended_button.click()
    studio.until(lambda: made.recommendation.hero.isVisible() and not made.controller.is_recommending)
    return made


def more_options(studio: Studio, app: FakeApp | App) -> Wizard:
    made = recommendation(studio, app)
    made.recommendation.more_options.toggle_button.click()
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
    studio.until(made.recommendation.folder_card.error_banner.isVisible)
    bar = made.recommendation.page.verticalScrollBar()
    bar.setValue(bar.maximum())
    return made


def installing(studio: Studio, app: FakeApp) -> Wizard:
    run = rtx4060_run(app)
    made = recommendation(studio, app)
    plan = made.flow.state.plan
    assert plan is not None
    app.gate = threading.Event()
    steps = tuple(StepSummary(id=step.id, code=step.code, data=step.data) for step in plan.steps)
    app.events["install"] = (PlanEvent(steps=steps), *run.events_until(plan, "download"))
    made.recommendation.primary_button.click()
    studio.until(lambda: made.controller.progress is not None and made.controller.progress.running_step is not None)
    made.controller.runners.install.reported.emit(run.downloading(plan))
    made.install.step_panel.speed_line.set_points(list(enumerate(SPEEDS)))
    made.controller.lines_logged.emit([run.wheel(plan)])
    return made


def failed(studio: Studio, app: FakeApp) -> Wizard:
    run = rtx4060_run(app)
    made = recommendation(studio, app)
    plan = made.flow.state.plan
    assert plan is not None
    app.results["install"], app.events["install"] = run.missing(plan)
    made.recommendation.primary_button.click()
    studio.until(lambda: made.flow.state.stage == "failed")
    return made


def stopping(studio: Studio, app: FakeApp) -> Wizard:
    made = installing(studio, app)
    made.flow.request_stop()
    made.controller.changed.emit()
    return made


def done_checking(studio: Studio, app: FakeApp) -> Wizard:
    made = done(studio, app)
    app.gate = threading.Event()
    app.events["verify"] = gpu_checks().checks[:4]
    made.controller.verify()
    studio.until(lambda: len(made.done.verification_card.row_widgets) == 5)
    return made


def cancelled(studio: Studio, app: FakeApp) -> Wizard:
    made = installing(studio, app)
    made.controller.stop()
    studio.until(lambda: made.flow.state.stage == "cancelled")
    return made


def done_before_benchmark(studio: Studio, app: FakeApp) -> Wizard:
    """After the restart that the driver needs."""
    app.begun = rtx4060_run(app).begun()
    made = wizard(studio, app)
    studio.until(lambda: made.controller.interrupted_install is not None)
    made.controller.resume()
    studio.until(lambda: made.flow.page == "done" and made.flow.state.checks is not None)
    return made


def done(studio: Studio, app: FakeApp) -> Wizard:
    made = done_before_benchmark(studio, app)
    made.done.benchmark_card.button.click()
    studio.until(lambda: made.flow.state.benchmark is not None)
    return made


def done_cpu(studio: Studio, app: FakeApp) -> Wizard:
    app.results["bench"] = processor_benchmark()
    app.results["verify"] = checks_of_release("2.15.0+cpu")
    made = recommendation(studio, app)
    made.recommendation.primary_button.click()
    studio.until(lambda: made.flow.page == "done" and made.flow.state.checks is not None)
    made.done.benchmark_card.button.click()
    studio.until(lambda: made.flow.state.benchmark is not None)
    return made


def checks_of_release(release: str) -> Checks:
    """Everything passed on the CPU, with the release of PyTorch that the pages before recommend."""

    def renamed(check: Check) -> Check:
        is_release = check.id in ("torch-import", "torch-variant")
        return replace(check, value=release, data={**check.data, "value": release}) if is_release else check

    checks = good_checks()
    return replace(checks, checks=tuple(renamed(check) for check in checks.checks))


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
    "stopping": (stopping, False),
    "cancelled": (cancelled, False),
    "done": (done, False),
    "done-before-benchmark": (done_before_benchmark, False),
    "done-cpu": (done_cpu, False),
    "done-checking": (done_checking, False),
    "rtx-computer": (rtx_computer, False),
    "rtx-recommendation": (rtx_recommendation, False),
    "simulated-computer": (computer, True),
    "simulated-recommendation": (recommendation, True),
    "simulated-recommendation-why": (recommendation_why, True),
    "simulated-install": (simulated_install, True),
    "simulated-done": (simulated_done, True),
    **bundle_scenes.SCENES,
}


def choice_too_large(studio: Studio, app: FakeApp | App) -> Wizard:
    """The user's own choice of everything, for which the disk is too small."""
    made = customising(studio, app)
    made.controller.change_options(goal="all")
    studio.until(lambda: made.flow.state.goal == "all" and not made.controller.is_recommending)
    return made


def machine_with_full_disks(folder: Path, free_bytes: int = FULL_DISK_BYTES) -> Path:
    """The recorded computer with little space on each disk."""
    machine = msgspec.json.decode(RECORDED_MACHINE.read_bytes())
    for disk in machine["disks"]:
        disk["free_bytes"] = free_bytes
    path = folder / "full.json"
    path.write_bytes(msgspec.json.encode(machine))
    return path


ADVICE_SCENES: dict[str, Callable[[Studio, App], Wizard]] = {
    "advice-customise": customising,
    "advice-reset": choices_reset,
    "advice-options": more_options,
    "advice-too-large": choice_too_large,
    "advice-disk-full": recommendation,
}
# Free on each disk of the recorded computer.
FREE_BYTES = {"advice-too-large": SCARCE_BYTES, "advice-disk-full": FULL_DISK_BYTES}


def shoot(studio: Studio, name: str) -> None:
    """One scene on an app of its own."""
    with tempfile.TemporaryDirectory() as folder:
        if name in main_scenes.SCENES:
            main_scenes.shoot(studio, name, Path(folder))
        elif name in dialog_scenes.SCENES:
            dialog_scenes.shoot(studio, name, Path(folder))
        elif name in ADVICE_SCENES:
            _shoot_advice(studio, name, folder)
        else:
            _shoot_wizard(studio, name, Path(folder))


def _shoot_advice(studio: Studio, name: str, folder: str) -> None:
    """What is really advised for a recorded computer with an RTX 4060."""
    free_bytes = FREE_BYTES.get(name)
    machine = RECORDED_MACHINE if free_bytes is None else machine_with_full_disks(Path(folder), free_bytes)
    made = ADVICE_SCENES[name](studio, App(data_dir=str(Path(folder) / "data"), machine_file=str(machine)))
    studio.save(made, name)
    studio.until(lambda: not made.controller.busy, 60)
    made.close()
    studio.dispose(made)


def _shoot_wizard(studio: Studio, name: str, folder: Path) -> None:
    make, simulated = SCENES[name]
    app = FakeApp(folder, rtx4060() if simulated else None, simulated=simulated)
    app.shown_folder = "/home/mei/ai/pytorch"
    if simulated:
        rtx4060_run(app, simulated=True)
    made = make(studio, app)
    studio.save(made.findChild(HelpDialog) or made, name)
    if app.gate is not None:
        app.gate.set()
    studio.until(lambda: not made.controller.busy)
    made.close()
    studio.dispose(made)


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
        studio.dispose(made)


ALL_SCENES = (*SCENES, *ADVICE_SCENES, *main_scenes.SCENES, *dialog_scenes.SCENES)


def main(arguments: list[str]) -> None:
    """The command; `real` is not among the scenes that are taken without a name, since it installs PyTorch."""
    parser = argparse.ArgumentParser(description="Takes pictures of the window's pages.")
    parser.add_argument("out", type=Path, nargs="?", help="a folder for the pictures")
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"all without one, or of: {', '.join(ALL_SCENES)}, real"
    )
    parser.add_argument("--docs", action="store_true", help="draw the pictures of README and guide anew")
    parser.add_argument("--languages", nargs="+", choices=CODES, default=CODES)
    parser.add_argument("--themes", nargs="+", choices=(*THEMES, "contrast"), default=THEMES)
    parser.add_argument("--scales", nargs="+", type=int, choices=SCALES, default=SCALES)
    given = parser.parse_args(arguments)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # not at import: tests draw on Windows' own platform there
    if given.docs:
        studio: Studio = DocsStudio()
    elif given.out is None:
        parser.error("name a folder for the pictures")
    else:
        studio = Studio(given.out, given.languages, given.themes, given.scales)
    if unknown := set(given.names) - {*ALL_SCENES, "real"}:
        parser.error(f"no such scene: {', '.join(sorted(unknown))}")
    studio.out.mkdir(parents=True, exist_ok=True)
    for name in DOCS_SCENES if given.docs else given.names or ALL_SCENES:
        if name == "real":
            real(studio)
        else:
            shoot(studio, name)
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
