"""Progress bars and the steps of an installation."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QAccessible
from pytestqt.qtbot import QtBot

from gpu_assistant.gui.widgets.progress import ProgressBar, StepList


def test_progress_has_a_value_and_an_unknown_total(show) -> None:
    bar = show(ProgressBar())
    bar.set_fraction(0.62)
    assert bar.value() == 62
    known = bar.grab().toImage()
    bar.set_fraction(None)
    assert bar.fraction() is None
    assert bar.grab().toImage() != known
    bar.set_fraction(7)
    assert bar.fraction() == 1.0
    assert QAccessible.queryAccessibleInterface(bar).role() == QAccessible.Role.ProgressBar


def test_quarters_are_announced_once(show, monkeypatch: pytest.MonkeyPatch) -> None:
    bar = show(ProgressBar())
    announced: list[str] = []
    monkeypatch.setattr("gpu_assistant.gui.widgets.progress.announce", lambda _widget, text: announced.append(text))
    for percent in range(101):
        bar.set_fraction(percent / 100)
    assert announced == ["25%", "50%", "75%", "100%"]


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("waiting", "waiting"),
        ("running", "running"),
        ("done", "done"),
        ("skipped", "not needed"),
        ("failed", "failed"),
        ("cancelled", "stopped"),
    ],
)
def test_a_step_shows_and_says_its_state(show, state: str, word: str) -> None:
    steps = StepList()
    steps.add_step("a", "Download PyTorch", "740 MB")
    show(steps)
    steps.set_state("a", state, "1.62 / 2.61 GB", "62%")
    row = steps.rows["a"]
    assert steps.state("a") == state
    assert row.accessibleName() == f"Download PyTorch: {word}, 1.62 / 2.61 GB, 62%"
    assert not row.grab().isNull()


def test_the_states_look_different(show) -> None:
    steps = StepList()
    steps.add_step("a", "Download")
    show(steps)
    seen = []
    for state in ("waiting", "running", "done", "skipped", "failed", "cancelled"):
        steps.set_state("a", state)
        seen.append(steps.grab().toImage())
    assert all(one != other for index, one in enumerate(seen) for other in seen[:index])


def test_spinner_runs_only_while_visible(show) -> None:
    steps = StepList()
    steps.add_step("a", "Download")
    show(steps)
    spinner = steps.rows["a"].findChild(QTimer)
    steps.set_state("a", "running")
    assert spinner.isActive()
    steps.window().hide()
    assert not spinner.isActive()
    steps.window().show()
    assert spinner.isActive()
    steps.set_state("a", "done")
    assert not spinner.isActive()


def test_steps_can_be_cleared(show, qtbot: QtBot) -> None:
    steps = show(StepList())
    steps.add_step("a", "One")
    steps.clear()
    steps.add_step("a", "Two")
    assert steps.rows["a"].accessibleName().startswith("Two")
