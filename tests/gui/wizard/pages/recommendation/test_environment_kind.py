"""What makes the environment, chosen on the recommendation page where conda was found."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt

from gpu_assistant.core.machine import Tools
from gpu_assistant.gui.wizard.pages.recommendation.plan_view import install_command
from tests.fakes.app import FakeApp
from tests.fakes.examples import rtx4060, rtx4060_recommendation

pytestmark = pytest.mark.gui


@pytest.fixture
def with_conda(tmp_path):
    machine = msgspec.structs.replace(rtx4060(), tools=Tools(conda="24.9.2"))
    app = FakeApp(tmp_path, machine, simulated=True)
    app.recommendation = rtx4060_recommendation
    return app


@pytest.fixture
def page(with_conda, at_recommendation, qtbot):
    wizard = at_recommendation(with_conda)
    page = wizard.recommendation
    qtbot.waitUntil(lambda: not wizard.controller.busy and page.focusWidget() is page.default_button, timeout=10_000)
    return page


def test_environment_kind_is_hidden_without_conda(simulated, at_recommendation, qtbot):
    wizard = at_recommendation(simulated)
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=10_000)
    wizard.recommendation.options_bar.customize_button.click()
    qtbot.waitUntil(wizard.recommendation.options_bar.goal_picker.isVisible, timeout=10_000)
    assert not wizard.recommendation.options_bar.environment_picker.isVisible()


@pytest.mark.qt_log_ignore("raise\\(\\)", "grabbing the keyboard", extend=True)
@pytest.mark.parametrize(("code", "caption"), [("en", "Environment type"), ("zh_CN", "环境类型")])
def test_conda_is_chosen_by_keyboard(page, with_conda, speak, seen, qtbot, code, caption):
    speak(code)
    page.options_bar.customize_button.click()
    qtbot.waitUntil(lambda: not page.controller.busy, timeout=10_000)
    maker = page.options_bar.environment_picker
    assert maker.isVisible()
    assert [entry.value for entry in maker.entries] == ["venv", "conda"]
    assert "plan by conda" not in with_conda.calls
    maker.setFocus(Qt.FocusReason.TabFocusReason)
    maker.open_popup()
    qtbot.waitUntil(maker.popup.isVisible, timeout=5000)
    qtbot.keyClick(maker.popup.entry_list, Qt.Key.Key_End)
    qtbot.keyClick(maker.popup.entry_list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not page.controller.busy and "plan by conda" in with_conda.calls, timeout=10_000)
    assert maker.text() == "conda 24.9.2"
    assert caption in seen(page.options_bar)
    state = page.controller.flow.state
    assert state.environment_kind == "conda"
    command = install_command(with_conda, state)
    assert command[command.index("--environment") + 1] == "conda"


def test_conda_stays_with_another_goal(page, qtbot):
    page.controller.set_environment_kind("conda")
    qtbot.waitUntil(lambda: not page.controller.busy, timeout=10_000)
    page.controller.change_options(goal="cuda-dev")
    qtbot.waitUntil(lambda: not page.controller.busy, timeout=10_000)
    assert page.controller.flow.state.environment_kind == "conda"
    page.options_bar.channel_picker.setFocus()
    assert page.options_bar.channel_picker.nextInFocusChain() is page.options_bar.environment_picker
