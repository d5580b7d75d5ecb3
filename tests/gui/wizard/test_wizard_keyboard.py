"""The wizard by keyboard alone, and as a screen reader meets it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from gpu_assistant.core.plan import StepEvent
from gpu_assistant.gui.help import HelpDialog
from tests.fakes.app import FakeApp

pytestmark = pytest.mark.gui


def focus(qtbot, widget: QWidget) -> None:
    qtbot.waitUntil(lambda: QApplication.focusWidget() is widget, timeout=5000)


def press(qtbot, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    target = QApplication.focusWidget()
    assert target is not None
    qtbot.keyClick(target, key, modifier)


def test_enter_leads_through_to_home(app, open_wizard, qtbot):
    wizard = open_wizard(app)
    for name in ("welcome", "computer", "recommendation"):
        qtbot.waitUntil(lambda name=name: wizard.flow.page == name, timeout=5000)
        focus(qtbot, wizard.page(name).primary_button)
        press(qtbot, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: wizard.flow.page == "done" and not wizard.controller.busy, timeout=10_000)
    focus(qtbot, wizard.done.primary_button)
    press(qtbot, Qt.Key.Key_Backtab)
    assert QApplication.focusWidget() is wizard.done.home_button
    with qtbot.waitSignal(wizard.finished):
        press(qtbot, Qt.Key.Key_Return)


def test_held_enter_clicks_once(app, open_wizard, qtbot):
    wizard = open_wizard(app)
    focus(qtbot, wizard.welcome.primary_button)
    press(qtbot, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not wizard.controller.busy and wizard.flow.state.recommendation is not None, timeout=10_000)
    for target in (wizard.computer.primary_button, wizard):
        held = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", True)
        QApplication.sendEvent(target, held)
        assert wizard.flow.page == "computer"


def test_tab_reaches_every_named_control(app, at_recommendation, qtbot):
    wizard = at_recommendation(app)
    focus(qtbot, wizard.recommendation.primary_button)
    wizard.recommendation.more_options.toggle_button.click()
    seen: list[QWidget] = []
    while (here := QApplication.focusWidget()) not in seen:
        seen.append(here)
        assert here.accessibleName() or here.text(), here
        press(qtbot, Qt.Key.Key_Tab)
        assert len(seen) < 60
    page = wizard.recommendation
    wanted = [
        page.more_options.reasons_button,
        page.more_options.steps_button,
        page.more_options.toggle_button,
        page.folder_card.change_button,
        *page.alternatives_card.buttons,
        page.back_button,
        page.primary_button,
    ]
    assert set(wanted) <= set(seen)
    # From the top of the page to its foot, as one reads.
    start = seen.index(wanted[0])
    order = [widget for widget in seen[start:] + seen[:start] if widget in wanted]
    assert order == wanted


def test_alt_left_goes_back_and_rail_returns(app, at_recommendation, qtbot):
    wizard = at_recommendation(app)
    focus(qtbot, wizard.recommendation.primary_button)
    press(qtbot, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert wizard.flow.page == "computer"
    wizard.rail.buttons[0].click()
    assert wizard.flow.page == "welcome"
    wizard.welcome.primary_button.click()
    assert wizard.flow.page == "computer"
    assert app.calls.count("detect") == 1


def test_f5_detects_again(app, at_computer, qtbot):
    wizard = at_computer(app)
    focus(qtbot, wizard.computer.primary_button)
    press(qtbot, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: app.calls.count("detect") == 2 and not wizard.controller.busy, timeout=5000)


def test_f1_opens_help_and_escape_closes_it(app, open_wizard, qtbot):
    wizard = open_wizard(app)
    focus(qtbot, wizard.welcome.primary_button)
    press(qtbot, Qt.Key.Key_F1)
    qtbot.waitUntil(lambda: wizard.findChild(HelpDialog) is not None)
    dialog = wizard.findChild(HelpDialog)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not dialog.isVisible())


class Escapes(QObject):
    """Answers the question about stopping with Esc, and notes its words."""

    def __init__(self, qtbot) -> None:
        super().__init__()
        self.titles: list[str] = []
        self._qtbot = qtbot
        QApplication.instance().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QDialog):
            self.titles.append(watched.windowTitle())
            QApplication.postEvent(watched, key_press(Qt.Key.Key_Escape))
        return False


def key_press(key: Qt.Key) -> QEvent:
    from PySide6.QtGui import QKeyEvent

    return QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier)


def test_only_escape_asks_to_stop_an_install_and_second_declines(app: FakeApp, at_recommendation, qtbot):
    wizard = at_recommendation(app)
    app.gate = threading.Event()
    app.results["install"] = Path(wizard.flow.state.plan.env)
    app.events["install"] = (StepEvent(id="space", state="running"),)
    wizard.recommendation.primary_button.click()
    qtbot.waitUntil(lambda: wizard.flow.state.stage == "running")
    focus(qtbot, wizard.install.page)
    escapes = Escapes(qtbot)
    try:
        press(qtbot, Qt.Key.Key_Return)  # stops nothing
        press(qtbot, Qt.Key.Key_Escape)
    finally:
        QApplication.instance().removeEventFilter(escapes)
    assert escapes.titles == ["Stop here?"]
    assert wizard.flow.state.stage == "running"
    app.gate.set()
    qtbot.waitUntil(lambda: wizard.flow.page == "done" and not wizard.controller.busy, timeout=5000)


def test_cards_have_one_sentence_accessible_names(simulated, at_recommendation):
    wizard = at_recommendation(simulated)
    assert (
        wizard.recommendation.part_cards["driver"].accessibleName()
        == "Graphics driver: now 566.03, after 617.42, Update"
    )
