"""The wizard's next page is there before it is asked for, and the window answered all the while."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer

from gpu_assistant.gui.widgets.inputs import Dropdown, DropdownEntry
from gpu_assistant.gui.wizard.pages.recommendation.part_card import PartCard

pytestmark = pytest.mark.gui


def test_next_page_is_built_in_separate_event_loop_turns(app, at_computer, qtbot):
    wizard = at_computer(app)
    assert "recommendation" not in vars(wizard)
    beats = []
    heart = QTimer(wizard, interval=0)
    heart.timeout.connect(lambda: beats.append(len(wizard.preloader.part_cards)))
    heart.start()
    qtbot.waitUntil(lambda: "recommendation" in vars(wizard), timeout=10_000)
    heart.stop()
    # Something else had its turn between any two cards.
    assert set(beats) >= set(range(1, len(wizard.recommendation.part_cards)))
    assert all(wizard.recommendation.part_cards[name] is card for name, card in wizard.preloader.part_cards.items())


def test_page_opened_before_preload_ends_is_complete(app, at_computer, qtbot):
    wizard = at_computer(app)
    wizard.preloader.preload("recommendation")
    qtbot.waitUntil(lambda: len(wizard.preloader.part_cards) == 1, timeout=10_000)
    (early,) = wizard.preloader.part_cards.values()
    wizard.computer.primary_button.click()
    page = wizard.recommendation
    assert page.isVisible()
    assert early in page.part_cards.values()
    assert all(isinstance(card, PartCard) and page.isAncestorOf(card) for card in page.part_cards.values())
    assert len(wizard.preloader.part_cards) == 1, "nothing more is made ahead of a page that stands there"


def test_built_page_is_not_preloaded_again(app, at_computer, qtbot):
    wizard = at_computer(app)
    wizard.controller.go_to("welcome")
    wizard.preloader.preload("computer")
    wizard.preloader.stop()
    wizard.preloader._created.add("computer")
    wizard.preloader.preload("computer")
    assert not wizard.preloader._steps.busy


def test_plan_and_install_rows_are_preloaded(app, at_recommendation, qtbot):
    wizard = at_recommendation(app)
    steps = wizard.recommendation.plan_list
    count = len(wizard.flow.state.plan.steps)
    qtbot.waitUntil(lambda: len(steps._preloaded_rows) == len(wizard.install.step_list.rows) == count, timeout=10_000)
    made, rows = list(steps._preloaded_rows), list(wizard.install.step_list.rows.values())
    assert not any(row.isVisible() for row in made)
    wizard.recommendation.cost_card.steps_button.click()
    assert steps.rows == made
    assert all(row.isVisible() for row in made)
    wizard.recommendation.primary_button.click()
    assert list(wizard.install.step_list.rows.values()) == rows
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=10_000)


def test_drop_down_builds_entries_on_first_open(qtbot):
    asked = []

    def entries():
        asked.append(1)
        return [DropdownEntry(value="a", text="A")]

    picker = Dropdown()
    qtbot.addWidget(picker)
    picker.set_entries(entries, "a", "A", "Letter")
    assert asked == []
    assert [entry.text for entry in picker.entries] == ["A"]
    assert len(picker.entries) == len(asked) == 1
