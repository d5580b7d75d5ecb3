"""Rails: pages, steps, badges, and the menus at their bottom."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets.inputs import Menu
from gpu_assistant.gui.widgets.menus import ThemeMenu
from gpu_assistant.gui.widgets.navigation import NavigationRail, RailButton, StepRail

from .samples import heard


def _in_window(qtbot: QtBot, rail: QWidget, width: int) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    row = QHBoxLayout(window)
    row.addWidget(rail)
    row.addStretch(1)
    window.resize(width, 700)
    window.show()
    qtbot.waitExposed(window)
    return window


@pytest.mark.parametrize("chinese", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_narrow_rail_fits_widest_text(show, qapp, scale: float, chinese: bool) -> None:
    theme.set_text_scale(qapp, scale)
    rail = show(NavigationRail([("home", ""), ("bench", "")]))
    rail.set_texts(("主页", "测速") if chinese else ("Home", "Benchmark"))
    margins = rail.outer_layout.contentsMargins()
    for index, button in enumerate(rail.buttons):
        rail.set_current(index)
        room = rail.width() - margins.left() - margins.right()
        assert QFontMetrics(button.font()).horizontalAdvance(button.text()) + 8 <= room


def test_only_done_steps_are_clickable(show, qtbot: QtBot) -> None:
    rail = show(StepRail([("Welcome", ""), ("This computer", "What is in it"), ("Done", "")]))
    rail.set_current(1)
    chosen = heard(rail.chosen)
    for button in rail.buttons:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert chosen == [0]
    qtbot.keyClick(rail.buttons[0], Qt.Key.Key_Space)
    assert chosen == [0, 0]
    names = [button.accessibleName() for button in rail.buttons]
    assert names[0] == "Step 1 of 3: Welcome, done"
    assert names[1].endswith("current")
    assert [bool(button.focusPolicy()) for button in rail.buttons] == [True, False, False]
    rail.set_current(2, reachable=False)
    qtbot.mouseClick(rail.buttons[0], Qt.MouseButton.LeftButton)
    assert chosen == [0, 0]


def test_navigation_by_mouse_and_arrow_keys(qtbot: QtBot) -> None:
    rail = NavigationRail([("home", "Home"), ("monitor", "Monitor")], [("settings", "Settings")])
    window = _in_window(qtbot, rail, 1300)
    rail.set_current(0)
    chosen = heard(rail.chosen)
    qtbot.mouseClick(rail.buttons[1], Qt.MouseButton.LeftButton)
    assert (chosen, rail.current()) == ([1], 1)
    window.activateWindow()
    rail.buttons[1].setFocus()
    qtbot.waitUntil(rail.buttons[1].hasFocus)
    qtbot.keyClick(rail.buttons[1], Qt.Key.Key_Up)
    assert (chosen, rail.current()) == ([1, 0], 0)
    window.close()


def test_narrow_navigation_stacks_icon_above_text(qtbot: QtBot) -> None:
    rail = NavigationRail([("home", "Home")])
    window = _in_window(qtbot, rail, 1300)
    assert (rail.width(), rail.buttons[0].stacked) == (212, False)
    window.resize(1100, 700)
    qtbot.waitUntil(lambda: (rail.width(), rail.buttons[0].stacked) == (88, True))


def test_a_step_that_failed_says_so_and_differs_from_the_current_one(show) -> None:
    rail = StepRail([("One", ""), ("Two", "")])
    show(rail)
    rail.set_current(1)
    current = rail.buttons[1].grab().toImage()
    rail.set_current(1, failed=True)
    assert rail.buttons[1].accessibleName() == "Step 2 of 2: Two, failed"
    assert rail.buttons[1].grab().toImage() != current
    rail.set_current(1)
    assert rail.buttons[1].grab().toImage() == current


def test_the_step_rail_is_slim_in_a_narrow_window(qtbot: QtBot) -> None:
    rail = StepRail([("Welcome", "Language")])
    window = _in_window(qtbot, rail, 1300)
    assert rail.width() == 240
    window.resize(1100, 700)
    qtbot.waitUntil(lambda: rail.width() == 200)


def test_wide_rail_footer_becomes_column(qtbot: QtBot, qapp: QApplication) -> None:
    rail = StepRail([("Welcome", "")])
    one, two = RailButton("globe", "English", trailing_icon="down"), RailButton("help", "F1")
    rail.add_footer_row(one, two)
    window = _in_window(qtbot, rail, 1100)
    assert one.geometry().right() < two.geometry().left()
    two.setText("A much longer word")
    rail.refresh()
    qtbot.waitUntil(lambda: one.geometry().bottom() < two.geometry().top())
    window.close()


def test_badge_has_description(show) -> None:
    rail = show(NavigationRail([("home", "Home")]))
    before = rail.grab().toImage()
    rail.set_badge(0, "warn", "!", "The card is hot.")
    assert rail.buttons[0].accessibleDescription() == "The card is hot."
    assert rail.grab().toImage() != before


def test_the_theme_menu_changes_the_theme(show, qtbot: QtBot) -> None:
    menu = show(ThemeMenu())
    with qtbot.waitSignal(menu.chosen) as chosen:
        menu.actions_by_entry()["dark"].trigger()
    assert chosen.args == ["dark"]
    assert theme.current().dark
    assert menu.text() == "Dark theme"
    assert menu.icon_name == "moon"


@pytest.mark.qt_log_ignore("does not support (raise|grabbing)", extend=True)
def test_rail_menu_opens_above(show, qtbot: QtBot) -> None:
    menu = show(ThemeMenu())
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton)
    entries = menu.findChild(Menu)
    qtbot.waitUntil(entries.isVisible)
    assert entries.geometry().bottom() <= menu.mapToGlobal(menu.rect().topLeft()).y()
    entries.close()
