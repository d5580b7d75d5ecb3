"""The smallest window with the largest text: nothing is cut, nothing is wider than its page."""

from __future__ import annotations

import threading

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.gui import theme
from gpu_assistant.gui.main.window import MINIMUM_SIZE
from tests.fakes import bundles
from tests.gui.wizard.test_wizard_layout import cut

pytestmark = pytest.mark.gui

BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


@pytest.fixture
def largest(qapp):
    theme.set_text_scale(qapp, 2.0)


def settled(wizard, qtbot) -> None:
    page = wizard.current_page.page
    qtbot.waitUntil(lambda: cut(wizard.current_page) == [], timeout=5000)
    assert page.horizontalScrollBar().maximum() == 0


@BOTH
def test_create_page_fits(app, at_recommendation, speak, largest, qtbot, tmp_path, code):
    wizard = at_recommendation(app, MINIMUM_SIZE)
    speak(code)
    settled(wizard, qtbot)
    wizard.recommendation.bundle_controls.create_button.click()
    settled(wizard, qtbot)
    wizard.side_pages.create_page.target_card.target_segments.buttons[1].click()
    wizard.side_pages.create_page.use_machine_file(tmp_path / "a computer with a long name.json")
    settled(wizard, qtbot)
    wizard.side_pages.create_page.target_card.target_segments.buttons[0].click()
    wizard.side_pages.create_page.use_folder(tmp_path / "stick")
    app.gate, app.events["bundle"] = threading.Event(), bundles.gathering(done=1_190_000_000)
    made = bundles.contents(excluded_codes=("nvidia-driver-linux",))
    app.results["bundle"] = lambda: bundles.write(tmp_path / "stick", made)
    wizard.side_pages.create_page.primary_button.click()
    qtbot.waitUntil(wizard.side_pages.create_page.step_panel.isVisible, timeout=5000)
    settled(wizard, qtbot)
    app.gate.set()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    settled(wizard, qtbot)
    wizard.side_pages.create_page.ready_card.trouble_button.click()
    wizard.side_pages.create_page.ready_card.details_button.click()
    settled(wizard, qtbot)


@BOTH
def test_load_page_fits(app, open_wizard, speak, largest, qtbot, tmp_path, code):
    app.results["check"] = AppError("bundle-damaged", path=str(tmp_path), files=bundles.WHEEL)
    wizard = open_wizard(app, MINIMUM_SIZE)
    speak(code)
    settled(wizard, qtbot)
    wizard.side_pages.load_page.check_folder(tmp_path)
    qtbot.waitUntil(lambda: wizard.side_pages.load_page.error is not None, timeout=5000)
    settled(wizard, qtbot)
    app.results["check"] = None
    wizard.side_pages.load_page.check_folder(tmp_path / "stick")
    qtbot.waitUntil(lambda: wizard.flow.page == "computer" and not wizard.controller.busy, timeout=5000)
    wizard.controller.go_next()
    settled(wizard, qtbot)
