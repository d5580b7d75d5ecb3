"""What is pressed and chosen, by mouse and by key."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets.buttons import Button, SegmentedControl

from .samples import heard


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_a_button_is_pressed_by_key(show, qtbot: QtBot, key: Qt.Key) -> None:
    button = show(Button("Install", "primary"))
    clicks = heard(button.clicked)
    qtbot.keyClick(button, key)
    assert len(clicks) == 1


def test_busy_button_keeps_width_and_ignores_clicks(show, qtbot: QtBot) -> None:
    button = show(Button("Install", "primary"))
    clicks, width, before = heard(button.clicked), button.sizeHint().width(), button.grab().toImage()
    button.set_busy(True)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.keyClick(button, Qt.Key.Key_Space)
    qtbot.keyClick(button, Qt.Key.Key_Return)
    assert not clicks
    assert button.sizeHint().width() == width
    assert button.accessibleDescription() == "working"
    assert button.grab().toImage() != before
    button.set_busy(False)
    assert button.accessibleDescription() == ""
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert len(clicks) == 1


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_text_of_a_flush_button_stands_in_line_with_what_is_above(show, qtbot: QtBot, side: str) -> None:
    button = show(Button("Menu", "ghost", small=True, flush=side))
    plain = Button("Menu", "ghost", small=True)
    assert button.sizeHint().width() < plain.sizeHint().width()

    def ink() -> tuple[int, int]:
        """The first and the last column with something in it."""
        image = button.grab().toImage()
        ground = image.pixel(image.width() // 2, 0)
        rows = range(image.height())
        columns = [x for x in range(image.width()) if any(image.pixel(x, y) != ground for y in rows)]
        return columns[0], image.width() - 1 - columns[-1]

    assert ink()[side == "right"] <= 4
    before = button.grab().toImage()
    qtbot.mouseMove(button)
    qtbot.waitUntil(lambda: button.grab().toImage() != before)  # it is underlined


@pytest.mark.parametrize("kind", ["secondary", "ghost"])
def test_a_small_button_is_high_enough_to_be_hit(qapp, kind: str) -> None:
    assert Button("Update", kind, small=True).sizeHint().height() >= 32


def test_narrow_button_wraps_text(show) -> None:
    button = Button("Start with PyTorch 2.15.0 for the processor", "ghost")
    wide = button.sizeHint()
    button.set_max_width(wide.width() // 2)
    show(button)
    assert button.width() <= wide.width() // 2
    assert button.height() > wide.height()
    # As much ink as in one line: nothing was left out.
    inks = []
    for room in (wide.width() // 2, wide.width()):
        button.set_max_width(room)
        button.adjustSize()
        image = button.grab().toImage().convertToFormat(QImage.Format.Format_Mono)
        inks.append(sum(image.pixelIndex(x, y) for x in range(image.width()) for y in range(image.height())))
    assert abs(inks[0] - inks[1]) < 0.15 * inks[1]


def test_focus_ring_only_for_keyboard(show, qtbot: QtBot) -> None:
    button = show(Button("Back"))
    button.clearFocus()
    button.setFocus(Qt.FocusReason.MouseFocusReason)
    qtbot.waitUntil(button.hasFocus)
    assert not button.shows_focus_ring
    button.clearFocus()
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: button.shows_focus_ring)
    corner = button.grab().toImage().pixelColor(button.width() // 2, 0)
    assert corner.name().upper() == theme.current().focus


def test_a_button_is_a_button_to_a_screen_reader(show) -> None:
    button = show(Button("Install && go"))
    interface = QAccessible.queryAccessibleInterface(button)
    assert interface.role() == QAccessible.Role.PushButton


@pytest.mark.parametrize("theme_name", ["light", "dark", "contrast"])
def test_checked_button_looks_checked(show, qapp, theme_name):
    theme.set_theme(qapp, theme_name)
    button = Button("Table", icon_name="table")
    button.setCheckable(True)
    show(button)
    off = button.grab().toImage()
    button.setChecked(True)
    assert button.grab().toImage() != off
    button.setChecked(False)
    assert button.grab().toImage() == off


def test_segments_choose_with_arrows(show, qtbot: QtBot) -> None:
    segments = show(SegmentedControl(["1 min", "10 min", "1 h"]))
    chosen = heard(segments.chosen)
    segments.buttons[0].setFocus()
    qtbot.waitUntil(segments.buttons[0].hasFocus)
    qtbot.keyClick(segments.buttons[0], Qt.Key.Key_Right)
    assert (chosen, segments.current()) == ([1], 1)
    qtbot.mouseClick(segments.buttons[2], Qt.MouseButton.LeftButton, pos=segments.buttons[2].rect().center())
    assert chosen == [1, 2]
    segments.set_options(["1 分钟", "10 分钟", "1 小时"])
    assert segments.buttons[2].text() == "1 小时"


def test_tab_enters_segments_at_current(show, qtbot: QtBot) -> None:
    holder = QWidget()
    column = QVBoxLayout(holder)
    before, segments, after = Button("before"), SegmentedControl(["a", "b", "c"], 1), Button("after")
    for widget in (before, segments, after):
        column.addWidget(widget)
    show(holder)
    for start, key in ((before, Qt.Key.Key_Tab), (after, Qt.Key.Key_Backtab)):
        start.setFocus()
        qtbot.waitUntil(start.hasFocus)
        qtbot.keyClick(start, key)
        assert [button.hasFocus() for button in segments.buttons] == [False, True, False]
    qtbot.keyClick(segments.buttons[1], Qt.Key.Key_Right)
    assert segments.current() == 2
    assert segments.buttons[2].hasFocus()
    qtbot.keyClick(segments.buttons[2], Qt.Key.Key_Tab)
    assert after.hasFocus()
    segments.set_current(None)
    before.setFocus()
    qtbot.keyClick(before, Qt.Key.Key_Tab)
    assert segments.buttons[0].hasFocus()
