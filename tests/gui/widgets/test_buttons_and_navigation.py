"""What is pressed, chosen, copied, asked: the components that answer mouse and keyboard."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QFontMetrics, QImage
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets.buttons import Button, SegmentedControl
from gpu_assistant.gui.widgets.cards import ClickableCard
from gpu_assistant.gui.widgets.console import CommandBox, LogDrawer
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from gpu_assistant.gui.widgets.disclosure import Disclosure, SourcedClaim
from gpu_assistant.gui.widgets.navigation import NavigationRail, RailButton, StepRail, ThemeMenu
from gpu_assistant.gui.widgets.page import Footer

from .samples import heard

# Buttons


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
    told = QAccessible.queryAccessibleInterface(button)
    assert told.role() == QAccessible.Role.PushButton


def test_tab_goes_in_reading_order(show, qtbot: QtBot) -> None:
    footer = Footer()
    back, go = footer.add_button(Button("Back")), footer.add_button(Button("Install", "primary"))
    show(footer)
    back.setFocus()
    qtbot.waitUntil(back.hasFocus)
    qtbot.keyClick(back, Qt.Key.Key_Tab)
    assert go.hasFocus()


def test_clickable_card_is_one_target(show, qtbot: QtBot) -> None:
    card = show(ClickableCard("play", "Run a first script", "in 1 min"))
    clicks = heard(card.clicked)
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton, pos=card.title_label.geometry().center())
    qtbot.keyClick(card, Qt.Key.Key_Return)
    assert len(clicks) == 2
    assert card.accessibleName() == "Run a first script: in 1 min"


# Rails


@pytest.mark.parametrize("chinese", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_narrow_rail_fits_widest_text(show, qapp, scale: float, chinese: bool) -> None:
    theme.set_text_scale(qapp, scale)
    try:
        rail = show(NavigationRail([("home", ""), ("bench", "")]))
        rail.set_texts(("主页", "测速") if chinese else ("Home", "Benchmark"))
        for index, button in enumerate(rail.buttons):
            rail.set_current(index)
            room = (
                rail.width() - rail.outer_layout.contentsMargins().left() - rail.outer_layout.contentsMargins().right()
            )
            assert QFontMetrics(button.font()).horizontalAdvance(button.text()) + 8 <= room
    finally:
        theme.set_text_scale(qapp, 1.0)


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


# Disclosure, choice, copy


def test_disclosure_opens_and_offers_alternative(show, qtbot: QtBot) -> None:
    why = Disclosure()
    notes = SourcedClaim(text="Because.", source=("Release notes", "https://example.invalid"))
    own = SourcedClaim(text="And because.", source=("A page", "https://example.invalid/page"))
    why.set_claims(notes, own, SourcedClaim(text="A word: what it means."), alternative=("Rather keep it?", "Use that"))
    show(why)
    toggled, chosen = heard(why.toggled), heard(why.alternative_chosen)
    assert not why.inset.isVisible()
    qtbot.keyClick(why.toggle_button, Qt.Key.Key_Space)
    assert toggled == [True]
    assert why.inset.isVisible()
    assert [source.text() for source in why.source_buttons] == ["Source: Release notes", "Source: A page"]
    assert [source.toolTip() for source in why.source_buttons] == [
        "https://example.invalid",
        "https://example.invalid/page",
    ]
    assert why.toggle_button.accessibleDescription() == "open"
    qtbot.mouseClick(why.alternative_button, Qt.MouseButton.LeftButton)
    assert len(chosen) == 1
    why.set_claims(SourcedClaim(text="Because."))
    assert why.text() == "Because."
    assert not why.alternative_button.isVisible()
    assert not why.source_buttons


def test_copy_button_text_resets(show, qtbot: QtBot, qapp: QApplication) -> None:
    box = show(CommandBox("pip install torch"))
    qtbot.mouseClick(box.copy_button, Qt.MouseButton.LeftButton)
    assert qapp.clipboard().text() == "pip install torch"
    assert box.copy_button.text() == "Copied"
    box._copied_timer.setInterval(1)
    qtbot.waitUntil(lambda: box.copy_button.text() == "Copy")


def test_long_command_wraps(show) -> None:
    box = CommandBox("python " + "x" * 300)
    assert box.text_edit.heightForWidth(300) > 4 * box.text_edit.fontMetrics().height()


def test_multiline_command_has_full_height(show, qapp: QApplication) -> None:
    box = show(CommandBox("\n".join(["import torch"] * 60)))
    for scale in (1.0, 2.0):
        theme.set_text_scale(qapp, scale)
        box.resize(700, box.heightForWidth(700))
        qapp.processEvents()
        text, real, block = box.text_edit, 0.0, box.text_edit.document().begin()
        while block.isValid():
            real += text.blockBoundingRect(block).height()
            block = block.next()
        assert real <= text.viewport().height() <= real + 10
    theme.set_text_scale(qapp, 1.0)


def test_command_height_follows_text(show) -> None:
    box = show(CommandBox("one line"))
    one = box.heightForWidth(700)
    box.set_text("\n".join(["import torch"] * 60))
    assert box.heightForWidth(700) > 10 * one


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


def test_the_theme_menu_changes_the_theme(show, qtbot: QtBot) -> None:
    menu = show(ThemeMenu())
    with qtbot.waitSignal(menu.chosen) as chosen:
        menu.actions_by_entry()["dark"].trigger()
    assert chosen.args == ["dark"]
    assert theme.current().dark
    assert menu.text() == "Dark"
    assert menu.icon_name == "moon"


@pytest.mark.qt_log_ignore("does not support (raise|grabbing)", extend=True)
def test_rail_menu_opens_above(show, qtbot: QtBot) -> None:
    menu = show(ThemeMenu())
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(menu._menu.isVisible)
    menu._menu.close()


# Log


def test_the_drawer_keeps_the_newest_lines(show, qtbot: QtBot, qapp: QApplication) -> None:
    drawer = show(LogDrawer())
    drawer.append([f"line {count}" for count in range(6000)])
    lines = drawer.text().splitlines()
    assert len(lines) == 5000
    assert lines[-1] == "line 5999"
    assert not drawer.is_open()
    qtbot.keyClick(drawer.header, Qt.Key.Key_Return)
    assert drawer.is_open()
    qtbot.mouseClick(drawer.copy_button, Qt.MouseButton.LeftButton)
    assert qapp.clipboard().text().endswith("line 5999")
    drawer.clear()
    assert drawer.text() == ""


# Confirm


@pytest.mark.parametrize(
    ("keys", "answer"),
    [([Qt.Key.Key_Escape], False), ([Qt.Key.Key_Return], False), ([Qt.Key.Key_Backtab, Qt.Key.Key_Space], True)],
)
def test_confirm_dialog_accepts_only_by_button(qtbot: QtBot, keys: Sequence[Qt.Key], answer: bool) -> None:
    from PySide6.QtCore import QTimer

    def press() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, ConfirmDialog)
        assert dialog.focusWidget() is dialog.reject_button
        for key in keys:
            qtbot.keyClick(dialog.focusWidget(), key)

    QTimer.singleShot(50, press)
    assert ConfirmDialog.ask(None, "Stop here?", "What is downloaded is kept.", "Stop", "Go on") is answer


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
