"""The wizard's next page is built while the present one is read, and the window answers meanwhile."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import QTimer

from gpu_assistant.gui.wizard.pages.recommendation.part_card import PartCard

pytestmark = pytest.mark.gui


def test_next_page_is_built_in_a_turn_of_its_own(app, at_computer, qtbot):
    wizard = at_computer(app)
    assert not wizard.is_built("recommendation")
    ticks = []
    timer = QTimer(wizard, interval=0)
    timer.timeout.connect(lambda: ticks.append(wizard.is_built("recommendation")))
    timer.start()
    qtbot.waitUntil(lambda: wizard.is_built("recommendation"), timeout=10_000)
    timer.stop()
    assert ticks
    assert wizard.flow.page == "computer"
    assert wizard.current_page is wizard.computer
    assert not wizard.recommendation.isVisible()


def test_page_opened_before_preload_is_complete(app, at_computer):
    wizard = at_computer(app)
    assert not wizard.is_built("recommendation")
    wizard.computer.primary_button.click()
    page = wizard.recommendation
    assert page.isVisible()
    assert all(isinstance(card, PartCard) and page.isAncestorOf(card) for card in page.part_cards.values())


def test_built_page_is_kept(app, at_computer, qtbot):
    wizard = at_computer(app)
    qtbot.waitUntil(lambda: wizard.is_built("recommendation"), timeout=10_000)
    page = wizard.recommendation
    wizard.computer.primary_button.click()
    assert wizard.recommendation is page
    assert page.isVisible()


def test_install_page_is_preloaded_with_no_row_lost(app, at_recommendation, qtbot):
    wizard = at_recommendation(app)
    qtbot.waitUntil(lambda: wizard.is_built("install"), timeout=10_000)
    steps = wizard.flow.state.plan.steps
    wizard.recommendation.primary_button.click()
    assert list(wizard.install.step_list.rows) == [step.id for step in steps]
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=10_000)


def test_done_page_is_preloaded_during_install(app, at_recommendation, qtbot):
    wizard = at_recommendation(app)
    app.gate = threading.Event()
    wizard.recommendation.primary_button.click()
    qtbot.waitUntil(lambda: wizard.is_built("done"), timeout=10_000)
    assert wizard.flow.is_locked
    app.gate.set()
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=10_000)
