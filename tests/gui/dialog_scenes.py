"""The windows above the window, for `tests.gui.screenshots`: the example programs."""

from __future__ import annotations

import ast
import math
import threading
import time
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from gpu_assistant.core.errors import AppError
from gpu_assistant.examples.child_protocol import ExampleProgress, ExampleStart, ShownPicture
from gpu_assistant.examples.job import ExampleResult
from gpu_assistant.examples.programs import script_path
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
SIDE, SEED = 28, 7  # pixels of a drawn digit; what the first person's hand depends on
RUNNING_S = 6.0


def digits(wrong: int | None) -> tuple[ShownPicture, ...]:
    """Thirty drawn digits, as many as the program shows; the network reads one of them wrong, or none."""
    return tuple(
        ShownPicture(
            width=SIDE,
            height=SIDE,
            channels=1,
            pixels=digit(index % 10, index),
            caption=str((index + (index == wrong)) % 10),
            correct=index != wrong,
        )
        for index in range(30)
    )


@cache
def strokes() -> list[list[list[tuple[float, float]]]]:
    """How the program draws each digit: its own constants, read from its source."""
    wanted = ("arc", "DIGITS")
    module = ast.parse(script_path("first-program").read_text(encoding="utf-8"))
    parts = [
        node
        for node in module.body
        if (isinstance(node, ast.FunctionDef) and node.name in wanted)
        or (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in wanted)
    ]
    names: dict[str, Any] = {"math": math}
    exec(compile(ast.Module(parts, []), "first_program", "exec"), names)
    return names["DIGITS"]


def digit(number: int, person: int) -> bytes:
    """A digit as one of many people writes it, white on black, a byte for each pixel: what `draw` of the program does,
    without PyTorch.
    """
    random = np.random.default_rng(SEED + person)
    segments = np.array([[*a, *b] for line in strokes()[number] for a, b in pairwise(line)])
    points = segments.reshape(-1, 2) - 0.5 + 0.022 * random.standard_normal((2 * len(segments), 2))
    angle = 0.3 * random.standard_normal()
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    points = points @ turn * (0.75 + 0.4 * random.random(2)) + 0.5 + 0.05 * random.standard_normal(2)
    x1, y1, x2, y2 = points.reshape(-1, 4).T
    axis = (np.arange(SIDE) + 0.5) / SIDE
    across, down = np.tile(axis, SIDE)[:, None] - x1, np.repeat(axis, SIDE)[:, None] - y1
    dx, dy = x2 - x1, y2 - y1
    share = np.clip((across * dx + down * dy) / (dx * dx + dy * dy + 1e-6), 0, 1)
    distance = np.sqrt(((across - share * dx) ** 2 + (down - share * dy) ** 2).min(axis=1))
    ink = 1 / (1 + np.exp(-60 * (0.025 + 0.035 * random.random() - distance)))
    ink = np.clip(ink + 0.15 * random.standard_normal(ink.shape), 0, 1)
    return (255 * ink).astype(np.uint8).tobytes()


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
    dialog.monotonic = lambda: time.monotonic() + RUNNING_S
    dialog.retranslate()
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
    app.results["example"] = AppError("example-memory", memory="@example.memory.gpu")
    app.events["example"] = (START,)
    dialog = example(studio, app, parent)
    dialog.run()
    studio.until(lambda: not dialog.runner.running and dialog.result_hero.isVisible())
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
