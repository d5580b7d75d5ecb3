"""Narrow windows and large text: nothing is cut, nothing is wider than its page, whatever was open before."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.gui import theme
from gpu_assistant.gui.main.window import MINIMUM_SIZE
from gpu_assistant.gui.widgets.buttons import Button
from gpu_assistant.gui.widgets.inputs import Dropdown
from gpu_assistant.gui.widgets.text import TextLabel
from gpu_assistant.gui.wizard.flow import PAGES

pytestmark = pytest.mark.gui


@pytest.fixture
def real(simulated, machine_566):
    """The real catalog's advice for a recorded machine."""
    simulated.machine = machine_566

    def advise(machine, *, goal="pytorch", channel="studio", choice=None, sources=()):
        return recommend(machine, simulated.catalog, goal=goal, channel=channel, choice=choice)

    simulated.recommend = advise
    return simulated


@pytest.fixture
def scale(qapp: QApplication) -> Callable[[float], None]:
    def scaled(to: float) -> None:
        theme.set_text_scale(qapp, to)

    return scaled


def cut(widget: QWidget) -> list[str]:
    """What cannot be read as a whole; a picker's list has the whole of what it cuts."""
    texts = [
        f"{text.text()}: {text.height()} of {text.heightForWidth(text.width())} high"
        for text in widget.findChildren(TextLabel)
        if text.isVisible() and text.hasHeightForWidth() and text.height() < text.heightForWidth(text.width())
    ]
    texts += [
        f"{button.text()}: {button.width()} of {button.sizeHint().width()} wide"
        for button in widget.findChildren(Button)
        if button.isVisible() and not isinstance(button, Dropdown) and button.width() < button.sizeHint().width()
    ]
    return texts


def whole(wizard) -> list[str]:
    """Nothing is cut on the wizard, and its page does not scroll sideways."""
    page = wizard.page(wizard.flow.page).page
    texts = cut(wizard)
    bar = page.horizontalScrollBar()
    if bar.maximum() > 0:
        texts.append(f"scrolls sideways by {bar.maximum()}")
    step = wizard.rail.buttons[PAGES.index(wizard.flow.page)]
    if step.height() < step.heightForWidth(step.width()):
        texts.append(f"rail: {step.height()} of {step.heightForWidth(step.width())} high")
    return texts


def rests(qtbot, wizard) -> None:
    """Waits until everything can be read."""

    def nothing_cut() -> None:
        assert whole(wizard) == []

    qtbot.waitUntil(nothing_cut, timeout=60_000)


# Until all words have wrapped anew the window is a little higher than asked, which Windows tells.
@pytest.mark.qt_log_ignore("Unable to set geometry", extend=True)
def test_narrower_window_wraps_open_reasons(real, at_recommendation, scale, qtbot):
    wizard = at_recommendation(real, (1366, 768))
    scale(1.5)
    wizard.recommendation.more_options.reasons_button.click()
    rests(qtbot, wizard)
    wizard.resize(1000, 700)
    rests(qtbot, wizard)


@pytest.mark.parametrize("size", [(1366, 768), (1000, 700)])
def test_language_change_resizes_open_reasons(real, at_recommendation, speak, qtbot, size):
    wizard = at_recommendation(real, size)
    wizard.recommendation.more_options.reasons_button.click()
    rests(qtbot, wizard)
    for code in ("zh_CN", "en"):
        speak(code)
        rests(qtbot, wizard)


def test_language_change_resizes_card_that_was_narrow(real, at_recommendation, speak, qtbot):
    # What stood in the line of its own that a narrow card has kept the height of its English words.
    wizard = at_recommendation(real, (1366, 768))
    rests(qtbot, wizard)
    speak("zh_CN")
    rests(qtbot, wizard)
    assert "PyTorch" in wizard.recommendation.part_cards["torch"].title_label.text()


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_text_at_200_percent_is_not_cut(real, at_recommendation, scale, speak, qtbot, code):
    wizard = at_recommendation(real, (1000, 700))
    speak(code)
    scale(2.0)
    for name in ("recommendation", "computer"):
        wizard.controller.go_to(name)
        rests(qtbot, wizard)


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_smallest_window_at_200_percent_never_scrolls_sideways(real, open_wizard, scale, speak, qtbot, code):
    wizard = open_wizard(real, MINIMUM_SIZE)
    # As the main window has it: by itself a wizard would be as large as its words want.
    wizard.setMinimumSize(*MINIMUM_SIZE)
    speak(code)
    scale(2.0)
    wizard.resize(*MINIMUM_SIZE)
    rests(qtbot, wizard)
    for name in ("computer", "recommendation"):
        wizard.controller.go_to(name)
        qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=60_000)
        rests(qtbot, wizard)
    wizard.controller.change_options(goal="all")
    wizard.controller.start_customizing()
    page = wizard.recommendation
    qtbot.waitUntil(
        lambda: not wizard.controller.busy and page.part_cards["torch"].version_pickers is not None, timeout=60_000
    )
    page.more_options.reasons_button.click()
    page.more_options.steps_button.click()
    rests(qtbot, wizard)
    wizard.controller.install()
    qtbot.waitUntil(lambda: wizard.flow.state.stage == "done", timeout=60_000)
    for name in ("install", "done"):
        wizard.controller.go_to(name)
        rests(qtbot, wizard)
    assert wizard.size().toTuple() == MINIMUM_SIZE
    assert wizard.rail.icon_only
    step = wizard.rail.buttons[0]
    assert step.text() in step.accessibleName()
    assert step.toolTip() == step.text()
    wizard.resize(1600, 900)
    qtbot.waitUntil(lambda: not wizard.rail.icon_only and not step.toolTip(), timeout=60_000)
    rests(qtbot, wizard)


def places(page) -> list[tuple[int, int]]:
    buttons = (page.options_bar.customize_button, page.options_bar.recommended_button)
    button = next(each for each in buttons if each.isVisible())
    labels = (page.page.title_label, page.page.subtitle_label)
    return [
        *(widget.mapTo(page, QPoint()).toTuple() for widget in labels),
        button.mapTo(page, QPoint(button.width(), 0)).toTuple(),
    ]


def lies_still(qtbot, page) -> list[tuple[int, int]]:
    """The head's places once nothing moves any more: wrapped words find their height in several turns."""
    seen: list[list[tuple[int, int]]] = []

    def still() -> None:
        seen.append(places(page))
        assert seen[-4:] == [seen[-1]] * 4

    qtbot.waitUntil(still, timeout=60_000)
    return seen[-1]


def test_header_keeps_its_place_for_every_choice(real, at_recommendation, qtbot):
    wizard = at_recommendation(real, (1366, 768))
    page = wizard.recommendation
    qtbot.waitUntil(lambda: not page.controller.busy, timeout=60_000)
    before = lies_still(qtbot, page)
    assert (
        page.page.subtitle_label.heightForWidth(page.page.subtitle_label.width())
        < 1.5 * page.page.subtitle_label.fontMetrics().height()
    )
    page.options_bar.customize_button.click()
    qtbot.waitUntil(
        lambda: not page.controller.busy and page.part_cards["torch"].version_pickers is not None, timeout=60_000
    )
    assert lies_still(qtbot, page) == before
    page.part_cards["torch"].version_pickers.pickers["variant"].chosen.emit("cpu")
    qtbot.waitUntil(lambda: not page.controller.busy, timeout=60_000)
    assert page.options_bar.channel_picker.isVisible()
    assert lies_still(qtbot, page) == before


def test_accepted_alternative_keeps_focus_at_the_change(app, at_recommendation, qtbot):
    wizard = at_recommendation(app, (1000, 560))
    page = wizard.recommendation
    # A page that is just shown gives the keyboard to its primary a turn later.
    for _ in range(5):
        QApplication.processEvents()
    page.more_options.toggle_button.click()
    button = page.alternatives_card.buttons[0]
    button.setFocus(Qt.FocusReason.TabFocusReason)
    page.page.ensureWidgetVisible(button)
    qtbot.keyClick(button, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.warnings_card.undo_button is not None and not page.controller.busy, timeout=60_000)
    undo = page.warnings_card.undo_button
    assert any(
        "2.15.0 → 2.13.0" in each.text() for each in page.warnings_card.findChildren(TextLabel) if each.isVisible()
    )
    assert page.window().focusWidget() is undo
    qtbot.waitUntil(lambda: not undo.visibleRegion().isEmpty(), timeout=60_000)
    undo.click()
    qtbot.waitUntil(
        lambda: page.part_cards["torch"].planned_label.text() == "2.15.0" and not page.controller.busy, timeout=60_000
    )
    assert wizard.flow.state.choice is None


def test_empty_page_takes_no_tab_focus_but_scrolls(simulated, at_recommendation, qtbot):
    wizard = at_recommendation(simulated, (880, 520))
    page = wizard.recommendation.page
    wizard.help_button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(wizard.help_button, Qt.Key.Key_Tab)
    assert isinstance(QApplication.focusWidget(), QAbstractButton)
    assert page.verticalScrollBar().maximum() > 0
    qtbot.keyClick(wizard.help_button, Qt.Key.Key_PageDown)
    assert page.verticalScrollBar().value() > 0
    qtbot.keyClick(wizard.help_button, Qt.Key.Key_Home)
    assert page.verticalScrollBar().value() == 0
