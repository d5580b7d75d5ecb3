"""The wizard on fake services; every test ends with no job running."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from gpu_assistant.core.machine import Machine
from gpu_assistant.gui.wizard.wizard import Wizard
from gpu_assistant.gui.worker import JobRunner
from tests.fakes.app import FakeApp
from tests.fakes.examples import rtx4060, rtx4060_recommendation
from tests.gui.keyboard import wait_until_active


@pytest.fixture
def app(tmp_path):
    return FakeApp(tmp_path)


@pytest.fixture
def simulated(tmp_path):
    app = FakeApp(tmp_path, rtx4060(), simulated=True)
    app.recommendation = rtx4060_recommendation
    app.shown_folder = "D:\\AI\\pytorch"
    return app


@pytest.fixture
def machine_566() -> Machine:
    """A recorded RTX 4060 on Windows 11 whose driver is 566.03."""
    file = Path(__file__).parents[2] / "machines" / "windows11-rtx4060-566" / "expected.json"
    return msgspec.json.decode(file.read_bytes(), type=Machine)


@pytest.fixture
def speak(language):
    """Speaks another language, as far as every widget has heard of it."""

    def spoken(code: str) -> None:
        language.set(code)
        # The words of a page come in the turn after that of its fonts.
        for _ in range(2):
            QApplication.processEvents()

    return spoken


@pytest.fixture
def open_wizard(qtbot, language):
    """Opens a wizard on given services, on its first page."""
    made: list[Wizard] = []

    def opened(app, size=(1180, 760)) -> Wizard:
        wizard = Wizard(app, language)
        made.append(wizard)
        wizard.resize(*size)
        wizard.show()
        qtbot.waitExposed(wizard)
        wait_until_active(qtbot, wizard)
        return wizard

    yield opened
    for wizard in made:
        for runner in wizard.findChildren(JobRunner):
            runner.cancel()
        # All of them, the one that writes the settings and one that another's end started too: Qt ends the process
        # over a thread destroyed at work.
        qtbot.waitUntil(lambda made=wizard: not any(runner.running for runner in made.findChildren(JobRunner)))
        wizard.hide()
        wizard.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QApplication.processEvents()


@pytest.fixture
def at_computer(open_wizard, qtbot):
    """Opens a wizard and goes on to This computer, until all is known there."""

    def opened(app, size=(1180, 760)) -> Wizard:
        wizard = open_wizard(app, size)
        wizard.welcome.primary_button.click()
        qtbot.waitUntil(lambda: not wizard.controller.busy and wizard.flow.state.machine is not None, timeout=20_000)
        return wizard

    return opened


@pytest.fixture
def at_recommendation(at_computer):
    """Opens a wizard and goes on to its recommendation."""

    def opened(app, size=(1180, 760)) -> Wizard:
        wizard = at_computer(app, size)
        wizard.computer.primary_button.click()
        return wizard

    return opened


@pytest.fixture
def at_done(at_recommendation, qtbot):
    """Opens a wizard and goes through to the proof."""

    def opened(app, size=(1180, 760)) -> Wizard:
        wizard = at_recommendation(app, size)
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: not wizard.controller.busy and wizard.flow.page == "done", timeout=20_000)
        return wizard

    return opened
