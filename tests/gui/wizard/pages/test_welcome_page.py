"""Welcome: shall I begin?"""

from __future__ import annotations

import pytest

from gpu_assistant.core.plan import InterruptedInstall
from gpu_assistant.gui import theme
from tests.fakes.examples import cpu_recommendation, make_plan

pytestmark = pytest.mark.gui


BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


class TestWelcome:
    @BOTH
    def test_welcome_text(self, app, open_wizard, speak, seen, code):
        wizard = open_wizard(app)
        speak(code)
        shown = seen(wizard.welcome)
        assert {"en": "Set up my GPU", "zh_CN": "配置我的显卡"}[code] in shown
        assert {"en": "Nothing about you is sent anywhere.", "zh_CN": "也不上传任何信息"}[code] in shown

    def test_language_is_chosen_and_saved(self, app, open_wizard, language, qtbot):
        wizard = open_wizard(app)
        assert not wizard.language_menu.isVisible()  # one choice is enough
        wizard.welcome.language_segments.buttons[1].click()
        assert language.current == "zh_CN"
        qtbot.waitUntil(lambda: wizard.welcome.title_label.text() == "让你的显卡开始跑深度学习")
        qtbot.waitUntil(lambda: app.settings.language == "zh_CN")
        wizard.welcome.primary_button.click()
        assert wizard.language_menu.isVisible()

    def test_side_page_shows_the_language_menu(self, app, open_wizard):
        wizard = open_wizard(app)
        wizard.side_pages.open_from_main_area("load-bundle")
        assert wizard.language_menu.isVisible()
        wizard.side_pages.close()
        assert not wizard.language_menu.isVisible()

    def test_theme_is_chosen_in_rail_and_saved(self, app, open_wizard, qtbot):
        wizard = open_wizard(app)
        wizard.theme_menu.choose("dark")
        assert theme.current().dark
        qtbot.waitUntil(lambda: app.settings.theme == "dark")

    def test_only_look_requests_home(self, app, open_wizard, qtbot):
        wizard = open_wizard(app)
        with qtbot.waitSignal(wizard.main_area_requested), qtbot.assertNotEmitted(wizard.finished):
            wizard.welcome.main_area_button.click()

    def test_interrupted_install_is_offered_and_resumed(self, app, open_wizard, qtbot):
        plan = make_plan(cpu_recommendation(), str(app.folder / "env"))
        app.begun = InterruptedInstall(plan=plan, step="download", began=0.0)
        wizard = open_wizard(app)
        qtbot.waitUntil(wizard.welcome.resume_hero.isVisible, timeout=5000)
        page = wizard.welcome
        assert (
            page.resume_hero.title_label.text() == f"Continue installing PyTorch {plan.recommendation.pytorch.version}?"
        )
        reached, details = page.resume_hero.detail_label.text().split("\n")
        assert reached == "Last time it stopped at step 4 of 6: Download."
        assert str(app.folder / "env") in details
        assert page.title_label.text() == "Welcome back"
        assert page.primary_button.text() == "Start a new setup"
        assert (page.resume_hero.button.kind, page.primary_button.kind) == ("primary", "secondary")
        qtbot.waitUntil(page.resume_hero.button.hasFocus, timeout=5000)
        wizard.welcome.resume_hero.button.click()
        qtbot.waitUntil(lambda: wizard.flow.page == "done", timeout=5000)
        assert "install" in app.calls

    def test_install_resumes_by_itself_after_reboot(self, app, open_wizard, qtbot):
        plan = make_plan(cpu_recommendation(), str(app.folder / "env"))
        app.begun = InterruptedInstall(plan=plan, step="python", began=0.0, state="reboot-needed")
        app.resuming = True
        wizard = open_wizard(app)
        qtbot.waitUntil(lambda: wizard.flow.page == "done", timeout=5000)
        assert "install" in app.calls
        assert not app.resuming

    def test_no_resume_offer_without_interrupted_install(self, app, open_wizard, qtbot):
        wizard = open_wizard(app)
        qtbot.waitUntil(lambda: not wizard.controller.busy)
        assert not wizard.welcome.resume_hero.isVisible()
        assert wizard.welcome.primary_button.kind == "primary"
