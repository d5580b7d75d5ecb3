"""What each component does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QFontMetrics, QImage
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import components as ui
from gpu_assistant.gui import theme


@pytest.fixture
def show(qtbot: QtBot):
    kept = []

    def shown(widget: QWidget, width: int = 700, height: int = 420) -> QWidget:
        window = QWidget()
        kept.append(window)  # qtbot holds only weak references
        qtbot.addWidget(window)
        QVBoxLayout(window).addWidget(widget)
        window.resize(width, height)
        window.show()
        qtbot.waitExposed(window)
        window.activateWindow()
        return widget

    return shown


def heard(signal) -> list:
    found: list = []
    signal.connect(lambda *args: found.append(args[0] if args else None))
    return found


# Buttons


def test_another_verdict_paints_all_of_the_hero_anew(show, qtbot: QtBot) -> None:
    class Watched(ui.Hero):
        regions: Sequence = ()

        def paintEvent(self, event) -> None:
            self.regions = [*self.regions, event.rect()]
            super().paintEvent(event)

    hero = show(Watched("neutral", "Looking"))
    qtbot.waitUntil(lambda: bool(hero.regions), timeout=5000)
    hero.regions = ()
    hero.set("ok", "Looking")
    qtbot.waitUntil(lambda: hero.rect() in hero.regions, timeout=5000)


@pytest.mark.parametrize("chinese", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_the_narrow_rail_has_room_for_its_widest_word(show, qapp, scale: float, chinese: bool) -> None:
    theme.set_text_scale(qapp, scale)
    try:
        rail = show(ui.NavRail([("home", ""), ("bench", "")]))
        rail.set_words(("主页", "测速") if chinese else ("Home", "Benchmark"))
        for index, button in enumerate(rail.buttons):
            rail.set_current(index)
            room = rail.width() - rail.outer.contentsMargins().left() - rail.outer.contentsMargins().right()
            assert QFontMetrics(button.font()).horizontalAdvance(button.text()) + 8 <= room
    finally:
        theme.set_text_scale(qapp, 1.0)


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
    back, go = footer.add(ui.Button("Back")), footer.add(ui.Button("Install", "primary"))
    show(footer)
    back.setFocus()
    qtbot.waitUntil(back.hasFocus)
    qtbot.keyClick(back, Qt.Key.Key_Tab)
    assert go.hasFocus()


def test_a_card_is_one_target(show, qtbot: QtBot) -> None:
    card = show(ui.PressableCard("play", "Run a first script", "in 1 min"))
    clicks = heard(card.clicked)
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton, pos=card.title.geometry().center())
    qtbot.keyClick(card, Qt.Key.Key_Return)
    assert len(clicks) == 2
    assert card.accessibleName() == "Run a first script: in 1 min"


# Text


def test_text_wraps_and_nothing_is_cut(show) -> None:
    text = "A sentence that is long enough to need more than one line " + "https://" + "x" * 80
    label = ui.label("small", text)
    narrow, wide = label.heightForWidth(200), label.heightForWidth(1200)
    assert narrow > wide >= label.fontMetrics().height()
    from gpu_assistant.gui.components.text import laid_out

    layout, size = laid_out(text, label.font(), 200)
    assert size.width() <= 200
    assert layout.lineCount() >= 5


def test_one_line_text_is_whole_on_hover(show) -> None:
    label = show(ui.label("body", "word " * 100), 300, 60)
    label.set_one_line(True)
    label.grab()
    assert label.toolTip() == label.text()
    assert label.sizeHint().height() <= label.fontMetrics().height() + 1


def test_chinese_breaks_between_characters() -> None:
    label = ui.label("body", "下载到一半时网络断了，已下载的都在，下次会从这里接着装。" * 3)
    assert label.heightForWidth(160) > 2 * label.heightForWidth(4000)


# Progress


def test_progress_has_a_value_and_an_unknown_total(show) -> None:
    bar = show(ui.ProgressBar())
    bar.set_fraction(0.62)
    assert bar.value() == 62
    known = bar.grab().toImage()
    bar.set_fraction(None)
    assert bar.fraction() is None
    assert bar.grab().toImage() != known
    bar.set_fraction(7)
    assert bar.fraction() == 1.0
    assert QAccessible.queryAccessibleInterface(bar).role() == QAccessible.Role.ProgressBar


def test_quarters_are_announced_once(show, monkeypatch: pytest.MonkeyPatch) -> None:
    bar = show(ui.ProgressBar())
    said: list[str] = []
    monkeypatch.setattr("gpu_assistant.gui.components.progress_bar.announce", lambda _widget, text: said.append(text))
    for percent in range(101):
        bar.set_fraction(percent / 100)
    assert said == ["25 %", "50 %", "75 %", "100 %"]


def test_the_speed_line_keeps_ninety_seconds_and_its_gaps() -> None:
    now = [0.0]
    line = ui.SpeedLine(clock=lambda: now[0])
    for second in range(200):
        now[0] = float(second)
        line.add(None if second == 150 else 1e6)
    points = line.points()
    assert points[0][0] == 109.0
    assert points[-1] == (199.0, 1e6)
    assert [x for x, value in points if value is None] == [150.0]
    line.resize(300, 60)
    assert not line.grab().isNull()
    line.clear()
    assert line.points() == ()


def test_unknown_is_a_dash_with_a_reason() -> None:
    tile = ui.MetricTile("fan", "Fan")
    tile.set_value(None, "%", None, "This card does not report its fan.")
    assert tile.accessibleName() == "Fan: —"
    assert tile.toolTip() == tile.accessibleDescription() == "This card does not report its fan."
    assert not tile.bar.isVisibleTo(tile)
    tile.set_value("0", "%", 0.0)
    assert tile.accessibleName() == "Fan: 0 %"
    assert tile.bar.isVisibleTo(tile)


# Steps


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("waiting", "waiting"),
        ("running", "running"),
        ("done", "done"),
        ("skipped", "not needed"),
        ("failed", "failed"),
        ("cancelled", "stopped"),
    ],
)
def test_a_step_shows_and_says_its_state(show, state: str, word: str) -> None:
    steps = ui.StepList()
    steps.add("a", "Download PyTorch", "740 MB")
    show(steps)
    steps.set_state("a", state, "1.62 / 2.61 GB", "62 %")
    row = steps.rows["a"]
    assert steps.state("a") == state
    assert row.accessibleName() == f"Download PyTorch: {word}, 1.62 / 2.61 GB, 62 %"
    assert not row.grab().isNull()


def test_the_states_look_different(show) -> None:
    steps = ui.StepList()
    steps.add("a", "Download")
    show(steps)
    seen = []
    for state in ("waiting", "running", "done", "skipped", "failed", "cancelled"):
        steps.set_state("a", state)
        seen.append(steps.grab().toImage())
    assert all(one != other for index, one in enumerate(seen) for other in seen[:index])


def test_the_arc_turns_only_while_seen(show) -> None:
    steps = ui.StepList()
    steps.add("a", "Download")
    show(steps)
    picture = steps.rows["a"]._picture
    steps.set_state("a", "running")
    assert picture._turn.isActive()
    steps.window().hide()
    assert not picture._turn.isActive()
    steps.window().show()
    assert picture._turn.isActive()
    steps.set_state("a", "done")
    assert not picture._turn.isActive()


def test_steps_can_be_cleared(show, qtbot: QtBot) -> None:
    steps = show(ui.StepList())
    steps.add("a", "One")
    steps.clear()
    steps.add("a", "Two")
    assert steps.rows["a"].accessibleName().startswith("Two")


# Rails


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
    rail = ui.NavRail([("home", "Home"), ("monitor", "Monitor")], [("settings", "Settings")])
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
    rail = ui.NavRail([("home", "Home")])
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
    one, two = ui.RailButton("globe", "English", after="down"), ui.RailButton("help", "F1")
    rail.add_foot(one, two)
    window = _in_window(qtbot, rail, 1100)
    assert one.geometry().right() < two.geometry().left()
    two.setText("A much longer word")
    rail.refresh()
    qtbot.waitUntil(lambda: one.geometry().bottom() < two.geometry().top())
    window.close()


def test_a_badge_has_a_sentence(show) -> None:
    rail = show(ui.NavRail([("home", "Home")]))
    before = rail.grab().toImage()
    rail.set_badge(0, "warn", "!", "The card is hot.")
    assert rail.buttons[0].accessibleDescription() == "The card is hot."
    assert rail.grab().toImage() != before


# Disclosure, choice, copy


def test_why_opens_and_offers(show, qtbot: QtBot) -> None:
    why = ui.Why()
    why.set(
        "Because.", alternative=("Rather keep it?", "Use that"), source=("Release notes", "https://example.invalid")
    )
    show(why)
    toggled, chosen = heard(why.toggled), heard(why.alternative_chosen)
    assert not why.inset.isVisible()
    qtbot.keyClick(why.toggle, Qt.Key.Key_Space)
    assert toggled == [True]
    assert why.inset.isVisible()
    assert why.source.text() == "Source: Release notes"
    assert why.toggle.accessibleDescription() == "open"
    qtbot.mouseClick(why.choose, Qt.MouseButton.LeftButton)
    assert len(chosen) == 1
    why.set("Because.")
    assert not why.choose.isVisible()
    assert not why.source.isVisible()


def test_copy_says_copied_and_then_copy_again(show, qtbot: QtBot, qapp: QApplication) -> None:
    box = show(ui.CommandBox("pip install torch"))
    qtbot.mouseClick(box.copy, Qt.MouseButton.LeftButton)
    assert qapp.clipboard().text() == "pip install torch"
    assert box.copy.text() == "Copied"
    box._copied.setInterval(1)
    qtbot.waitUntil(lambda: box.copy.text() == "Copy")


def test_a_long_command_breaks_and_is_not_cut(show) -> None:
    box = ui.CommandBox("python " + "x" * 300)
    assert box.text.heightForWidth(300) > 4 * box.text.fontMetrics().height()


def test_segments_choose_with_arrows(show, qtbot: QtBot) -> None:
    segments = show(ui.Segments(["1 min", "10 min", "1 h"]))
    chosen = heard(segments.chosen)
    segments.buttons[0].setFocus()
    qtbot.waitUntil(segments.buttons[0].hasFocus)
    qtbot.keyClick(segments.buttons[0], Qt.Key.Key_Right)
    assert (chosen, segments.current()) == ([1], 1)
    qtbot.mouseClick(segments.buttons[2], Qt.MouseButton.LeftButton, pos=segments.buttons[2].rect().center())
    assert chosen == [1, 2]
    segments.set_options(["1 分钟", "10 分钟", "1 小时"])
    assert segments.buttons[2].text() == "1 小时"


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
        assert dialog.focusWidget() is dialog.stay
        for key in keys:
            qtbot.keyClick(dialog.focusWidget(), key)

    QTimer.singleShot(50, press)
    assert ui.ConfirmDialog.ask(None, "Stop here?", "What is downloaded is kept.", "Stop", "Go on") is answer


# Heroes, rows, bars, page


@pytest.mark.parametrize("kind", ["ok", "warn", "error", "neutral", "accent"])
def test_a_hero_says_its_verdict(show, kind: str) -> None:
    hero = show(ui.Hero(kind, "Your GPU is well", "41 °C"))
    assert hero.accessibleName() == "Your GPU is well. 41 °C"
    assert not hero.button.isVisible()
    hero.set(kind, "Hot", "", "What can I do?")
    assert hero.button.isVisible()
    assert not hero.detail.isVisible()


def test_a_row_is_one_sentence() -> None:
    row = ui.ValueRow("driver")
    row.set("Graphics driver", "566.03", "CUDA up to 12.7", ("warn", "update advised"))
    assert row.accessibleName() == "Graphics driver: 566.03, CUDA up to 12.7, update advised"
    row.set("Graphics driver", None, reason="could not be read")
    assert row.accessibleName() == "Graphics driver: —, could not be read"


def test_bars_are_told_and_drawn(show) -> None:
    bars = show(ui.Bars([("CPU", 8.4, "8.4 images/s", "s5"), ("GPU", None, "—", "accent")]))
    assert bars.accessibleName() == "CPU: 8.4 images/s, GPU: —"
    before = bars.grab().toImage()
    bars.set_bars([("CPU", 8.4, "8.4 images/s", "s5"), ("GPU", 262.0, "262 images/s", "accent")])
    assert bars.grab().toImage() != before


def test_a_pill_never_shows_colour_alone(show) -> None:
    pictures = []
    for kind in ("ok", "warn", "error"):
        pill = show(ui.Pill(kind, "state"))
        assert pill.accessibleName() == "state"
        grey = pill.grab().toImage().convertToFormat(QImage.Format.Format_Mono)
        pictures.append([grey.pixelIndex(x, y) for x in range(26) for y in range(grey.height())])
    assert pictures[0] != pictures[1] != pictures[2], "their icons differ without colour"


@pytest.mark.parametrize(
    ("width", "left", "column"), [(1180, 28, 1120), (1400, 40, 1120), (1700, 290, 1120), (900, 24, 852)]
)
def test_the_page_keeps_its_column(qtbot: QtBot, width: int, left: int, column: int) -> None:
    page = ui.Page("Home", "A card")
    qtbot.addWidget(page)
    page.resize(width, 700)
    page.show()
    qtbot.waitExposed(page)
    if page.width() != width:
        pytest.skip(f"this screen lets no window be {width} px wide")
    assert page.title.parentWidget().layout().contentsMargins().left() == left
    assert min(page.content.contentsRect().width() - 2 * left, column) == page.head.geometry().width()


def test_a_low_window_makes_the_subtitle_one_line(qtbot: QtBot) -> None:
    page = ui.Page("Home", "word " * 80)
    qtbot.addWidget(page)
    page.resize(900, 700)
    page.show()
    qtbot.waitExposed(page)
    tall = page.subtitle.height()
    page.resize(900, 520)
    qtbot.waitUntil(lambda: page.subtitle.height() < tall)


def test_the_page_scrolls_to_what_has_focus(qtbot: QtBot) -> None:
    page = ui.Page("Home")
    for number in range(40):
        page.column.addWidget(ui.Button(f"Button {number}"))
    qtbot.addWidget(page)
    page.resize(900, 520)
    page.show()
    qtbot.waitExposed(page)
    page.activateWindow()
    first = page.column.itemAt(0).widget()
    first.setFocus()
    qtbot.waitUntil(first.hasFocus)
    for _ in range(20):
        qtbot.keyClick(page.focusWidget(), Qt.Key.Key_Tab)
    assert page.verticalScrollBar().value() > 0
    assert page.focusWidget().text() == "Button 20"


def test_a_hint_without_room_stands_above_the_buttons(qtbot: QtBot) -> None:
    footer = ui.Footer()
    go = footer.add(ui.Button("Install the graphics driver", "primary"))
    footer.set_hint("A hint that needs quite a lot of room, far more than there is beside the buttons here.")
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    column.addStretch(1)
    column.addWidget(footer)
    window.resize(1200, 400)
    window.show()
    qtbot.waitExposed(window)
    hint = footer.hint.mapTo(footer, footer.hint.rect().topLeft())
    assert hint.x() < go.mapTo(footer, go.rect().topLeft()).x()
    window.resize(460, 400)
    qtbot.waitUntil(lambda: footer.hint.geometry().bottom() < go.geometry().top())


def test_no_module_pulls_in_heavy_ones() -> None:
    import subprocess
    import sys

    code = (
        "import sys, gpu_assistant.gui.components\n"
        "print([name for name in ('numpy', 'pyqtgraph', 'requests', 'psutil') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "[]"


def test_the_package_itself_loads_no_qt() -> None:
    import subprocess
    import sys

    code = "import sys, gpu_assistant.gui; print('PySide6' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "False"
