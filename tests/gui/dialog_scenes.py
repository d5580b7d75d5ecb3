"""The windows above the window, for `tests.gui.screenshots`: the example programs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from PySide6.QtWidgets import QWidget

from gpu_assistant.core.errors import AppError
from gpu_assistant.examples.child_protocol import ExampleProgress, ExampleStart, ShownPicture
from gpu_assistant.examples.job import ExampleResult
from gpu_assistant.gui.examples.dialog import DIALOG_SIZE as EXAMPLE_SIZE
from gpu_assistant.gui.examples.dialog import ExampleDialog
from gpu_assistant.gui.worker import JobRunner

from ..fakes.examples import rtx4060
from ..fakes.main_window import ENVIRONMENT as INSTALLED
from ..fakes.main_window import FakeMain

if TYPE_CHECKING:
    from .screenshots import Studio

Scene = Callable[["Studio", FakeMain, QWidget], QWidget]
PARENT_SIZE = 1180, 760
START = ExampleStart(torch="2.15.0+cu132", device="cuda:0", name="NVIDIA GeForce RTX 4060")
ENVIRONMENT = Path("/home/mei/ai/pytorch")
SIDE = 28  # pixels of a drawn digit


def digits(wrong: int | None) -> tuple[ShownPicture, ...]:
    """Thirty drawn digits, as many as the program shows; the network reads one of them wrong, or none."""
    return tuple(
        ShownPicture(
            width=SIDE,
            height=SIDE,
            channels=1,
            pixels=digit(index % 10),
            caption=str((index + (index == wrong)) % 10),
            correct=index != wrong,
        )
        for index in range(30)
    )


def digit(number: int) -> bytes:
    """A digit, white on black, a byte for each pixel."""
    image = QImage(SIDE, SIDE, QImage.Format.Format_Grayscale8)
    image.fill(0)
    painter, font = QPainter(image), QFont()
    font.setPixelSize(SIDE - 4)
    painter.setFont(font)
    painter.setPen(QColor("white"))
    painter.drawText(image.rect(), int(Qt.AlignmentFlag.AlignCenter), str(number))
    painter.end()
    rows = bytes(image.constBits())
    return b"".join(rows[row * image.bytesPerLine() :][:SIDE] for row in range(SIDE))


def learning(step: int) -> ExampleProgress:
    """The first program after `step` of its 600 steps; at the end it reads all digits that are shown."""
    return ExampleProgress(
        step=step,
        steps=600,
        loss=2.3 * 0.992**step + 0.03,
        score=1 - 0.9 * 0.99**step,
        pictures=digits(wrong=3 if step < 600 else None),
    )


def result_of(last: ExampleProgress) -> ExampleResult:
    """The first program that ended with these figures."""
    return ExampleResult(
        program="first-program", torch=START.torch, device=START.device, name=START.name, last=last, seconds=12.0
    )


def example(studio: Studio, app: FakeMain, parent: QWidget, program: int = 0) -> ExampleDialog:
    """The window of the programs with one of them chosen, not started."""
    dialog = ExampleDialog(app, studio.language, ENVIRONMENT, parent, has_editor=True)
    dialog.open()
    dialog.resize(*EXAMPLE_SIZE)
    if program:
        dialog.programs.buttons[program].click()
    studio.settle()
    return dialog


def example_running(studio: Studio, app: FakeMain, parent: QWidget) -> QWidget:
    app.gate = threading.Event()
    app.events["example"] = (START, *(learning(step) for step in range(0, 330, 30)))
    app.results["example"] = result_of(learning(600))
    dialog = example(studio, app, parent)
    dialog.run()
    studio.until(lambda: bool(dialog.picture_grid.pictures))
    return dialog


def example_done(studio: Studio, app: FakeMain, parent: QWidget) -> QWidget:
    last = learning(600)
    app.events["example"] = (START, *(learning(step) for step in range(0, 600, 30)), last)
    app.results["example"] = result_of(last)
    dialog = example(studio, app, parent)
    dialog.run()
    studio.until(lambda: not dialog.runner.running and dialog.result_hero.isVisible())
    return dialog


def example_failed(studio: Studio, app: FakeMain, parent: QWidget) -> QWidget:
    app.results["example"] = AppError("example-memory")
    app.events["example"] = (START,)
    dialog = example(studio, app, parent)
    dialog.run()
    studio.until(lambda: not dialog.runner.running and dialog.banner.isVisible())
    return dialog


def example_pictures(studio: Studio, app: FakeMain, parent: QWidget) -> QWidget:
    return example(studio, app, parent, 1)


def example_language_model(studio: Studio, app: FakeMain, parent: QWidget) -> QWidget:
    return example(studio, app, parent, 2)


SCENES: dict[str, Scene] = {
    "example": example,
    "example-running": example_running,
    "example-done": example_done,
    "example-failed": example_failed,
    "example-pictures": example_pictures,
    "example-language-model": example_language_model,
}


def shoot(studio: Studio, name: str, folder: Path) -> None:
    """One scene on an app and a window of its own, once for each language: an open window keeps its own."""
    for code in studio.codes:
        studio.language.set(code)
        app = FakeMain(folder, rtx4060())
        app.known = (replace(INSTALLED, variant="cu132"),)
        parent = QWidget()
        parent.resize(*PARENT_SIZE)
        parent.show()
        dialog = SCENES[name](studio, app, parent)
        studio.save(dialog, name, codes=(code,), sizes=((dialog.width(), dialog.height()),))
        if app.gate is not None:
            app.gate.set()
        studio.until(lambda dialog=dialog: not any(each.running for each in dialog.findChildren(JobRunner)))
        dialog.reject()
        studio.until(lambda dialog=dialog: not dialog.isVisible())
        parent.close()
        studio.dispose(parent)
    studio.language.set("en")
