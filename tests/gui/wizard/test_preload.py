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
    heart.timeout.connect(lambda: beats.append(len(wizard.ahead.cards)))
    heart.start()
    qtbot.waitUntil(lambda: "recommendation" in vars(wizard), timeout=10_000)
    heart.stop()
    # Something else had its turn between any two cards.
    assert set(beats) >= set(range(1, len(wizard.recommendation.cards)))
    assert all(wizard.recommendation.cards[name] is card for name, card in wizard.ahead.cards.items())


def test_page_opened_before_preload_ends_is_complete(app, at_computer, qtbot):
    wizard = at_computer(app)
    wizard.ahead.begin("recommendation")
    qtbot.waitUntil(lambda: len(wizard.ahead.cards) == 1, timeout=10_000)
    (early,) = wizard.ahead.cards.values()
    wizard.computer.primary.click()
    page = wizard.recommendation
    assert page.isVisible()
    assert early in page.cards.values()
    assert all(isinstance(card, PartCard) and page.isAncestorOf(card) for card in page.cards.values())
    assert len(wizard.ahead.cards) == 1, "nothing more is made ahead of a page that stands there"


def test_built_page_is_not_preloaded_again(app, at_computer, qtbot):
    wizard = at_computer(app)
    wizard.road.go("welcome")
    wizard.ahead.begin("computer")
    wizard.ahead.stop()
    wizard.ahead._made.add("computer")
    wizard.ahead.begin("computer")
    assert not wizard.ahead._steps.busy


def test_plan_and_install_rows_are_preloaded(app, at_recommendation, qtbot):
    wizard = at_recommendation(app)
    steps = wizard.recommendation.steps
    count = len(wizard.flow.facts.plan.steps)
    qtbot.waitUntil(lambda: len(steps._ready) == len(wizard.install.steps.rows) == count, timeout=10_000)
    made, rows = list(steps._ready), list(wizard.install.steps.rows.values())
    assert not any(row.isVisible() for row in made)
    wizard.recommendation.price.steps.click()
    assert steps.rows == made
    assert all(row.isVisible() for row in made)
    wizard.recommendation.primary.click()
    assert list(wizard.install.steps.rows.values()) == rows
    qtbot.waitUntil(lambda: not wizard.road.busy, timeout=10_000)


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
