"""What holds on every page of the wizard."""

from __future__ import annotations

import pytest

from gpu_assistant.app.monitoring import MonitoringService
from gpu_assistant.app.setup import SetupService
from gpu_assistant.gui import theme
from tests.fakes.app import FakeApp

pytestmark = pytest.mark.gui


BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


class TestSimulated:
    @BOTH
    def test_simulated_walk_executes_nothing(self, simulated, at_recommendation, speak, qtbot, seen, code):
        wizard = at_recommendation(simulated)
        speak(code)
        assert wizard.banner.isVisible()
        assert {"en": "Simulated computer", "zh_CN": "模拟的电脑"}[code] in wizard.banner.label.text()
        wizard.recommendation.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.stage == "done", timeout=5000)
        assert wizard.flow.page == "install"
        assert {wizard.install.step_list.state(step) for step in wizard.install.step_list.rows} == {"skipped"}
        wizard.install.plan_list.rows[2].details_button.click()
        shown = seen(wizard.install)
        assert "uv pip compile requirements.in -o pylock.toml" in shown
        assert "torch\nnumpy" in shown
        assert "192 MB" in shown
        assert not wizard.install.log_drawer.isVisible()
        wizard.install.primary_button.click()
        assert not wizard.done.toggle_log_button.isVisible()
        assert wizard.banner.isVisible()
        assert {"en": "Nothing was installed", "zh_CN": "没有安装任何东西"}[code] in wizard.done.hero.title_label.text()
        assert set(simulated.calls) <= {"detect", "recommend", "dry install"}
        with qtbot.waitSignal(wizard.finished):
            wizard.done.primary_button.click()
        assert simulated.settings.environment is None


def test_language_and_theme_change_keep_every_page(app, at_done, speak, qapp):
    wizard = at_done(app)
    state = wizard.flow.state
    for page in ("done", "install", "recommendation", "computer", "welcome"):
        wizard.controller.go_to(page)
        for code in ("zh_CN", "en"):
            speak(code)
        for colours in ("dark", "contrast", "light"):
            theme.set_theme(qapp, colours)
        assert wizard.flow.page == page
    assert wizard.flow.state == state


@pytest.mark.parametrize("size", [(880, 520), (1024, 640)])
def test_nothing_exceeds_a_small_window(simulated, at_recommendation, qtbot, size):
    wizard = at_recommendation(simulated, size)
    wizard.recommendation.more_options.reasons_button.click()
    wizard.recommendation.more_options.steps_button.click()
    qtbot.wait(50)
    for name in ("recommendation", "computer"):
        page = wizard.page(name).page
        wizard.controller.go_to(name)
        qtbot.wait(20)
        assert page.content.minimumSizeHint().width() <= page.viewport().width(), name


def test_large_text_fits(app, at_recommendation, qapp, qtbot):
    wizard = at_recommendation(app, (1024, 640))
    theme.set_text_scale(qapp, 1.5)
    qtbot.wait(50)
    page = wizard.recommendation.page
    assert page.content.minimumSizeHint().width() <= page.viewport().width()


def test_fake_app_has_the_real_methods():
    setup = (
        "detect",
        "recommend",
        "plan",
        "install",
        "verify",
        "environments",
        "interrupted_install",
        "resume_command",
    )
    for service, names in ((SetupService, setup), (MonitoringService, ("benchmark", "estimate_memory"))):
        for name in names:
            assert callable(getattr(service, name))
            assert callable(getattr(FakeApp, name))
