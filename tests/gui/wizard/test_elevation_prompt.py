"""The window's question before Windows' own: a job's thread waits for the user, or for a cancel."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget

from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from gpu_assistant.gui.wizard.elevation_prompt import WindowElevationPrompt

pytestmark = [pytest.mark.gui, pytest.mark.qt_log_ignore("raise\\(\\)", "propagateSizeHints", extend=True)]


class Asking:
    """A job's thread that asks."""

    def __init__(self, prompt: WindowElevationPrompt, reason: str) -> None:
        self.cancel, self.answer = threading.Event(), None
        self.thread = threading.Thread(target=self._ask, args=(prompt, reason))
        self.thread.start()

    def _ask(self, prompt, reason) -> None:
        self.answer = prompt.confirm(reason, self.cancel)


@pytest.fixture
def prompt(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    return WindowElevationPrompt(window)


@pytest.fixture
def when_shown(qapp):
    """Calls a function with the question as soon as it is shown."""
    timer = QTimer(interval=20)

    def call(act) -> None:
        def look() -> None:
            dialog = QApplication.activeModalWidget()
            if isinstance(dialog, ConfirmDialog):
                timer.stop()
                act(dialog)

        timer.timeout.connect(look)
        timer.start()

    yield call
    timer.stop()


@pytest.mark.parametrize(("reason", "title"), [("late", "Ready?"), ("unanswered", "not answered in time")])
@pytest.mark.parametrize("agrees", [True, False])
def test_answer_goes_to_the_job(prompt, when_shown, qtbot, reason, title, agrees):
    clicked_at, titles = prompt.clicked_at, []

    def answer(dialog) -> None:
        titles.append(dialog.windowTitle())
        (dialog.accept_button if agrees else dialog.reject_button).click()

    when_shown(answer)
    asking = Asking(prompt, reason)
    qtbot.waitUntil(lambda: not asking.thread.is_alive(), timeout=20_000)
    assert asking.answer is agrees
    assert title in titles[0]
    assert prompt.clicked_at > clicked_at
    assert prompt.window


def test_minimised_window_is_restored_for_the_question(prompt, when_shown, qtbot):
    window, states = prompt.parent().window(), []
    window.showMinimized()

    def answer(dialog) -> None:
        states.append(window.isMinimized())
        dialog.accept_button.click()

    when_shown(answer)
    asking = Asking(prompt, "late")
    qtbot.waitUntil(lambda: not asking.thread.is_alive(), timeout=20_000)
    assert (asking.answer, states) == (True, [False])


def test_cancel_withdraws_the_question(prompt, when_shown, qtbot):
    asking = []
    when_shown(lambda _dialog: asking[0].cancel.set())
    asking.append(Asking(prompt, "late"))
    qtbot.waitUntil(lambda: not asking[0].thread.is_alive(), timeout=20_000)
    assert asking[0].answer is False
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None, timeout=5_000)
