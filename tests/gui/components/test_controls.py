"""What is pressed, chosen, copied, asked: the components that answer mouse and keyboard."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QFontMetrics, QImage
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import components as ui
from gpu_assistant.gui import theme

from .samples import heard

# Buttons


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_a_button_is_pressed_by_key(show, qtbot: QtBot, key: Qt.Key) -> None:
    button = show(ui.Button("Install", "primary"))
    clicks = heard(button.clicked)
    qtbot.keyClick(button, key)
    assert len(clicks) == 1


def test_a_busy_button_keeps_its_width_and_takes_no_clicks(show, qtbot: QtBot) -> None:
    button = show(ui.Button("Install", "primary"))
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


def test_a_button_without_room_breaks_its_words_and_shows_them_all(show) -> None:
    button = ui.Button("Start with PyTorch 2.15.0 for the processor", "ghost")
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


def test_the_ring_is_for_the_keyboard(show, qtbot: QtBot) -> None:
    button = show(ui.Button("Back"))
    button.clearFocus()
    button.setFocus(Qt.FocusReason.MouseFocusReason)
    qtbot.waitUntil(button.hasFocus)
    assert not button.ringed
    button.clearFocus()
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: button.ringed)
    corner = button.grab().toImage().pixelColor(button.width() // 2, 0)
    assert corner.name().upper() == theme.current().focus


def test_a_button_is_a_button_to_a_screen_reader(show) -> None:
    button = show(ui.Button("Install && go"))
    told = QAccessible.queryAccessibleInterface(button)
    assert told.role() == QAccessible.Role.PushButton


def test_tab_goes_in_reading_order(show, qtbot: QtBot) -> None:
    footer = ui.Footer()
    back, go = footer.add_button(ui.Button("Back")), footer.add_button(ui.Button("Install", "primary"))
    show(footer)
    back.setFocus()
    qtbot.waitUntil(back.hasFocus)
    qtbot.keyClick(back, Qt.Key.Key_Tab)
    assert go.hasFocus()


def test_a_card_is_one_target(show, qtbot: QtBot) -> None:
    card = show(ui.ClickableCard("play", "Run a first script", "in 1 min"))
    clicks = heard(card.clicked)
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton, pos=card.title.geometry().center())
    qtbot.keyClick(card, Qt.Key.Key_Return)
    assert len(clicks) == 2
    assert card.accessibleName() == "Run a first script: in 1 min"


# Rails


@pytest.mark.parametrize("chinese", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_the_narrow_rail_has_room_for_its_widest_word(show, qapp, scale: float, chinese: bool) -> None:
    theme.set_text_scale(qapp, scale)
    try:
        rail = show(ui.NavigationRail([("home", ""), ("bench", "")]))
        rail.set_words(("主页", "测速") if chinese else ("Home", "Benchmark"))
        for index, button in enumerate(rail.buttons):
            rail.set_current(index)
            room = rail.width() - rail.outer.contentsMargins().left() - rail.outer.contentsMargins().right()
            assert QFontMetrics(button.font()).horizontalAdvance(button.text()) + 8 <= room
    finally:
        theme.set_text_scale(qapp, 1.0)


def test_only_done_steps_lead_back(show, qtbot: QtBot) -> None:
    rail = show(ui.StepRail([("Welcome", ""), ("This computer", "What is in it"), ("Done", "")]))
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


def test_the_navigation_chooses_by_mouse_and_arrows(qtbot: QtBot) -> None:
    rail = ui.NavigationRail([("home", "Home"), ("monitor", "Monitor")], [("settings", "Settings")])
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


def test_the_navigation_puts_icons_above_words_in_a_narrow_window(qtbot: QtBot) -> None:
    rail = ui.NavigationRail([("home", "Home")])
    window = _in_window(qtbot, rail, 1300)
    assert (rail.width(), rail.buttons[0].stacked) == (212, False)
    window.resize(1100, 700)
    qtbot.waitUntil(lambda: (rail.width(), rail.buttons[0].stacked) == (88, True))


def test_the_step_rail_is_slim_in_a_narrow_window(qtbot: QtBot) -> None:
    rail = ui.StepRail([("Welcome", "Language")])
    window = _in_window(qtbot, rail, 1300)
    assert rail.width() == 240
    window.resize(1100, 700)
    qtbot.waitUntil(lambda: rail.width() == 200)


def test_a_foot_too_wide_becomes_a_column(qtbot: QtBot, qapp: QApplication) -> None:
    rail = ui.StepRail([("Welcome", "")])
    one, two = ui.RailButton("globe", "English", trailing_icon="down"), ui.RailButton("help", "F1")
    rail.add_footer_row(one, two)
    window = _in_window(qtbot, rail, 1100)
    assert one.geometry().right() < two.geometry().left()
    two.setText("A much longer word")
    rail.refresh()
    qtbot.waitUntil(lambda: one.geometry().bottom() < two.geometry().top())
    window.close()


def test_a_badge_has_a_sentence(show) -> None:
    rail = show(ui.NavigationRail([("home", "Home")]))
    before = rail.grab().toImage()
    rail.set_badge(0, "warn", "!", "The card is hot.")
    assert rail.buttons[0].accessibleDescription() == "The card is hot."
    assert rail.grab().toImage() != before


# Disclosure, choice, copy


def test_why_opens_and_offers(show, qtbot: QtBot) -> None:
    why = ui.Disclosure()
    notes = ui.SourcedClaim(text="Because.", source=("Release notes", "https://example.invalid"))
    own = ui.SourcedClaim(text="And because.", source=("A page", "https://example.invalid/page"))
    why.set_claims(notes, own, ui.SourcedClaim(text="A word: what it means."), alternative=("Rather keep it?", "Use that"))
    show(why)
    toggled, chosen = heard(why.toggled), heard(why.alternative_chosen)
    assert not why.inset.isVisible()
    qtbot.keyClick(why.toggle_button, Qt.Key.Key_Space)
    assert toggled == [True]
    assert why.inset.isVisible()
    assert [source.text() for source in why.source_buttons] == ["Source: Release notes", "Source: A page"]
    assert [source.toolTip() for source in why.source_buttons] == ["https://example.invalid", "https://example.invalid/page"]
    assert why.toggle_button.accessibleDescription() == "open"
    qtbot.mouseClick(why.alternative_button, Qt.MouseButton.LeftButton)
    assert len(chosen) == 1
    why.set_claims(ui.SourcedClaim(text="Because."))
    assert why.text() == "Because."
    assert not why.alternative_button.isVisible()
    assert not why.source_buttons


def test_copy_says_copied_and_then_copy_again(show, qtbot: QtBot, qapp: QApplication) -> None:
    box = show(ui.CommandBox("pip install torch"))
    qtbot.mouseClick(box.copy, Qt.MouseButton.LeftButton)
    assert qapp.clipboard().text() == "pip install torch"
    assert box.copy.text() == "Copied"
    box._copied.setInterval(1)
    qtbot.waitUntil(lambda: box.copy.text() == "Copy")


def test_a_long_command_breaks_and_is_not_cut(show) -> None:
    box = ui.CommandBox("python " + "x" * 300)
    assert box.text_edit.heightForWidth(300) > 4 * box.text_edit.fontMetrics().height()


def test_a_program_of_many_lines_is_as_high_as_it_is(show, qapp: QApplication) -> None:
    box = show(ui.CommandBox("\n".join(["import torch"] * 60)))
    for scale in (1.0, 2.0):
        theme.set_text_scale(qapp, scale)
        box.resize(700, box.heightForWidth(700))
        qapp.processEvents()
        text, real, block = box.text, 0.0, box.text.document().begin()
        while block.isValid():
            real += text.blockBoundingRect(block).height()
            block = block.next()
        assert real <= text.viewport().height() <= real + 10
    theme.set_text_scale(qapp, 1.0)


def test_another_text_has_another_height_at_the_same_width(show) -> None:
    box = show(ui.CommandBox("one line"))
    one = box.heightForWidth(700)
    box.set_text("\n".join(["import torch"] * 60))
    assert box.heightForWidth(700) > 10 * one


def test_segments_choose_with_arrows(show, qtbot: QtBot) -> None:
    segments = show(ui.SegmentedControl(["1 min", "10 min", "1 h"]))
    chosen = heard(segments.chosen)
    segments.buttons[0].setFocus()
    qtbot.waitUntil(segments.buttons[0].hasFocus)
    qtbot.keyClick(segments.buttons[0], Qt.Key.Key_Right)
    assert (chosen, segments.current()) == ([1], 1)
    qtbot.mouseClick(segments.buttons[2], Qt.MouseButton.LeftButton, pos=segments.buttons[2].rect().center())
    assert chosen == [1, 2]
    segments.set_options(["1 分钟", "10 分钟", "1 小时"])
    assert segments.buttons[2].text() == "1 小时"


def test_tab_comes_into_segments_at_the_one_that_holds(show, qtbot: QtBot) -> None:
    holder = QWidget()
    column = QVBoxLayout(holder)
    before, segments, after = ui.Button("before"), ui.SegmentedControl(["a", "b", "c"], 1), ui.Button("after")
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
    menu = show(ui.ThemeMenu())
    with qtbot.waitSignal(menu.chosen) as chosen:
        menu.actions_by_entry()["dark"].trigger()
    assert chosen.args == ["dark"]
    assert theme.current().dark
    assert menu.text() == "Dark"
    assert menu.icon_name == "moon"


@pytest.mark.qt_log_ignore("does not support (raise|grabbing)", extend=True)
def test_the_menu_opens_above(show, qtbot: QtBot) -> None:
    menu = show(ui.ThemeMenu())
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(menu._list.isVisible)
    menu._list.close()


# Log


def test_the_drawer_keeps_the_newest_lines(show, qtbot: QtBot, qapp: QApplication) -> None:
    drawer = show(ui.LogDrawer())
    drawer.append([f"line {count}" for count in range(6000)])
    lines = drawer.text().splitlines()
    assert len(lines) == 5000
    assert lines[-1] == "line 5999"
    assert not drawer.is_open()
    qtbot.keyClick(drawer.head, Qt.Key.Key_Return)
    assert drawer.is_open()
    qtbot.mouseClick(drawer.copy, Qt.MouseButton.LeftButton)
    assert qapp.clipboard().text().endswith("line 5999")
    drawer.clear()
    assert drawer.text() == ""


# Confirm


@pytest.mark.parametrize(
    ("keys", "answer"),
    [([Qt.Key.Key_Escape], False), ([Qt.Key.Key_Return], False), ([Qt.Key.Key_Backtab, Qt.Key.Key_Space], True)],
)
def test_only_the_verb_does_it(qtbot: QtBot, keys: Sequence[Qt.Key], answer: bool) -> None:
    from PySide6.QtCore import QTimer

    def press() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, ui.ConfirmDialog)
        assert dialog.focusWidget() is dialog.reject_button
        for key in keys:
            qtbot.keyClick(dialog.focusWidget(), key)

    QTimer.singleShot(50, press)
    assert ui.ConfirmDialog.ask(None, "Stop here?", "What is downloaded is kept.", "Stop", "Go on") is answer


@pytest.mark.parametrize("theme_name", ["light", "dark", "contrast"])
def test_a_switch_that_is_on_looks_so(show, qapp, theme_name):
    theme.set_theme(qapp, theme_name)
    button = ui.Button("Table", icon_name="table")
    button.setCheckable(True)
    show(button)
    off = button.grab().toImage()
    button.setChecked(True)
    assert button.grab().toImage() != off
    button.setChecked(False)
    assert button.grab().toImage() == off
