"""Monitor is there before it is asked for, and the window answered all the while."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer

from gpu_assistant.gui.main.main_area import HOME, MONITOR, SETTINGS
from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui


@pytest.fixture
def loaded(home, app, qtbot):
    """The main area at Home, whose cards are known, in the moment in which the graphs' code is there."""
    window, _ = home(app)
    area = window.area
    feed(window, sample(gpu()))
    qtbot.waitUntil(lambda: area._graphs_ready() and not area._ahead.busy, timeout=20_000)
    made = area.pages.pop(MONITOR, None)
    if made is not None:  # this process had not loaded the code before
        area._stack.removeWidget(made)
        made.deleteLater()
    area._loaded()
    return area


def test_monitor_is_built_in_separate_turns(loaded, qtbot):
    beats = []
    heart = QTimer(loaded, interval=0)
    heart.timeout.connect(lambda: beats.append(len(loaded.pages[MONITOR].cards) if MONITOR in loaded.pages else 0))
    heart.start()
    qtbot.waitUntil(lambda: not loaded._ahead.busy, timeout=10_000)
    heart.stop()
    page = loaded.pages[MONITOR]
    # Something else had its turn before its plots were made, and between any two that were drawn.
    assert set(beats) == {0, len(page.cards)}
    assert beats.count(len(page.cards)) >= len(page.cards)
    assert loaded.current == loaded.rail.current() == HOME
    assert "monitor" not in loaded.sampling._wanted, "nobody has looked at it yet"
    cards, frames = list(page.cards), [card.plot.view for card in page.cards]
    assert all(frame is not None for frame in frames)
    loaded.open(MONITOR)
    assert page.isVisible()
    assert page.cards == cards


def test_monitor_opened_early_shows_loading_page(loaded, qtbot):
    loaded.open(MONITOR)
    assert loaded._waiting.isVisible()
    qtbot.waitUntil(lambda: loaded.current == MONITOR, timeout=10_000)
    assert loaded.pages[MONITOR].cards


def test_other_page_chosen_during_loading_stays(loaded, qtbot):
    loaded.open(MONITOR)
    loaded.open(SETTINGS)
    qtbot.waitUntil(lambda: MONITOR in loaded.pages and not loaded._ahead.busy, timeout=10_000)
    assert loaded.current == SETTINGS
