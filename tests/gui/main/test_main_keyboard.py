"""The main area by keyboard alone: every control is reached and shows it, and every page scrolls."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from gpu_assistant.gui.main.main_area import BENCHMARK, HEALTH, HOME, MONITOR, SETTINGS
from gpu_assistant.gui.widgets.base import KeyboardFocus
from tests.gui.keyboard import wait_until_loaded

pytestmark = pytest.mark.gui

PAGES = [
    pytest.param(page, id=name)
    for name, page in zip(
        ("home", "monitor", "health", "benchmark", "settings"),
        (HOME, MONITOR, HEALTH, BENCHMARK, SETTINGS),
        strict=True,
    )
]


@pytest.fixture
def area(open_window, app, qtbot):
    window = open_window(app, (1000, 560))
    qtbot.waitUntil(lambda: window.main_area.pages[HOME].facts.machine is not None, timeout=10_000)
    qtbot.waitUntil(lambda: window.main_area.is_monitor_ready, timeout=20_000)
    return window.main_area


@pytest.mark.parametrize("page", PAGES)
def test_every_page_scrolls_by_keys_from_the_rail(area, qtbot, page):
    area.open_page(page)
    shown, rail = area.pages[page], area.rail.buttons[page]
    bar = shown.verticalScrollBar()
    # Higher than the window on any font, whatever the page holds today.
    shown.content.setMinimumHeight(4 * shown.height())
    qtbot.waitUntil(lambda: bar.maximum() > 2 * shown.height(), timeout=5000)
    rail.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(rail, Qt.Key.Key_PageDown)
    below = bar.value()
    assert below > 0
    qtbot.keyClick(rail, Qt.Key.Key_End)
    assert bar.value() == bar.maximum()
    qtbot.keyClick(rail, Qt.Key.Key_PageUp)
    assert bar.value() < bar.maximum()
    qtbot.keyClick(rail, Qt.Key.Key_Home)
    assert bar.value() == 0
    for key, moved in ((Qt.Key.Key_Down, True), (Qt.Key.Key_Up, False)):
        qtbot.keyClick(shown, key)
        assert (bar.value() > 0) is moved


def controls(page: QWidget) -> list[QAbstractButton]:
    """The buttons that Tab has to reach."""
    return [
        each
        for each in page.findChildren(QAbstractButton)
        if each.isVisible() and each.isEnabled() and each.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]


@pytest.mark.parametrize("page", PAGES)
def test_tab_reaches_every_control_with_visible_focus(area, qtbot, page):
    area.go_to_page(page)
    shown = area.pages[page]
    wait_until_loaded(qtbot, area)
    seen: list[QWidget] = []
    while (here := QApplication.focusWidget()) not in seen:
        assert here is not None
        seen.append(here)
        assert here.accessibleName() or here.text(), here
        # The first may have been given the keyboard before anybody pressed a key.
        assert len(seen) == 1 or not isinstance(here, KeyboardFocus) or here.shows_focus_ring, here
        focused = here.grab().toImage()
        qtbot.keyClick(here, Qt.Key.Key_Tab)
        assert len(seen) == 1 or here.grab().toImage() != focused, here
        assert len(seen) < 120
    assert [each for each in controls(shown) if each not in seen] == []
    assert set(area.rail.buttons) & set(seen)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("size", [(1180, 760), (880, 520)], ids=["wide", "narrow"])
def test_tab_goes_through_a_page_in_reading_order(area, app, qtbot, page, size):
    area.window().resize(*size)
    area.go_to_page(page)
    shown = area.pages[page]
    wait_until_loaded(qtbot, area)
    assert len(controls(shown)) > 1
    QCoreApplication.sendPostedEvents()
    here = area.rail.buttons[page]
    here.setFocus(Qt.FocusReason.TabFocusReason)
    visited: list[QWidget] = []
    while len(visited) < 120:
        qtbot.keyClick(here, Qt.Key.Key_Tab)
        here = QApplication.focusWidget()
        if here in visited:
            break
        visited.append(here)
    rects = {
        each: QRect(each.mapTo(shown.content, QPoint(0, 0)), each.size())
        for each in visited
        if shown.content.isAncestorOf(each)
    }
    assert len(rects) > 1
    for before, after in pairwise(rects):
        # Up only into the next column.
        assert rects[after].bottom() > rects[before].top() or rects[after].left() > rects[before].left(), (
            before,
            after,
        )
