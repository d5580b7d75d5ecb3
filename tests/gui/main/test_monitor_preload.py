"""Monitor is there before it is asked for, and the window answered all the while."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QTimer

from gpu_assistant.gui.main.main_area import HOME, MONITOR, SETTINGS
from gpu_assistant.gui.widgets.cards import EmptyState
from gpu_assistant.gui.worker import JobRunner
from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui


@pytest.fixture
def loading(home, app, qtbot):
    """The main area at Home, whose cards are known, and the loader of the graphs' code, just before its end."""
    window, _ = home(app)
    area = window.main_area
    feed(window, sample(gpu()))
    qtbot.waitUntil(lambda: area.is_monitor_ready, timeout=20_000)
    made = area.pages.pop(MONITOR, None)
    if made is not None:  # this process had not loaded the code before
        made.setParent(None)
        made.deleteLater()
    (loader,) = area.findChildren(JobRunner, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return area, loader


@pytest.fixture
def loaded(loading):
    """The main area in the moment in which the graphs' code is there."""
    area, loader = loading
    loader.finished.emit()
    return area


def test_monitor_is_built_in_separate_turns(loading, qtbot):
    loaded, loader = loading
    beats = []
    heart = QTimer(loaded, interval=0)
    heart.timeout.connect(lambda: beats.append(len(loaded.pages[MONITOR].plot_cards) if MONITOR in loaded.pages else 0))
    heart.start()
    loader.finished.emit()
    qtbot.waitUntil(lambda: loaded.is_monitor_ready, timeout=10_000)
    heart.stop()
    page = loaded.pages[MONITOR]
    # Something else had its turn before its plots were made, and between any two that were drawn.
    assert set(beats) == {0, len(page.plot_cards)}
    assert beats.count(len(page.plot_cards)) >= len(page.plot_cards)
    assert loaded.current_page == loaded.rail.current() == HOME
    assert "monitor" not in loaded.sampling.requests, "the page was not shown yet"
    cards, frames = list(page.plot_cards), [card.plot.view for card in page.plot_cards]
    assert all(frame is not None for frame in frames)
    loaded.open_page(MONITOR)
    assert page.isVisible()
    assert page.plot_cards == cards


def test_monitor_opened_early_shows_loading_page(loaded, qtbot):
    loaded.open_page(MONITOR)
    assert loaded.findChild(EmptyState, "loadingPage").isVisible()
    qtbot.waitUntil(lambda: loaded.current_page == MONITOR, timeout=10_000)
    assert loaded.pages[MONITOR].plot_cards


def test_other_page_chosen_during_loading_stays(loaded, qtbot):
    loaded.open_page(MONITOR)
    loaded.open_page(SETTINGS)
    qtbot.waitUntil(lambda: MONITOR in loaded.pages and loaded.is_monitor_ready, timeout=10_000)
    assert loaded.current_page == SETTINGS


def test_programs_asked_for_early_are_shown_once_monitor_is_there(loaded, qtbot):
    loaded.open_programs()
    qtbot.waitUntil(lambda: loaded.current_page == MONITOR, timeout=10_000)
    assert loaded.pages[MONITOR].gpu_details.is_open


def test_programs_asked_for_early_are_forgotten_on_another_page(loaded, qtbot):
    loaded.open_programs()
    loaded.open_page(SETTINGS)
    loaded.open_page(MONITOR)
    qtbot.waitUntil(lambda: loaded.current_page == MONITOR, timeout=10_000)
    assert not loaded.pages[MONITOR].gpu_details.is_open
