"""What it is for, which kind of driver, and versions of one's own, on the recommendation page."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import SetupNotSupported
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.gui.wizard.choices import retained_choice
from gpu_assistant.gui.wizard.state import UndoState, WizardState
from tests.fakes.examples import make_plan

pytestmark = pytest.mark.gui

BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


@pytest.fixture
def real(simulated):
    """An app that advises with the real catalog."""
    catalog = load_catalog(resources_dir() / "catalog")

    def advise(machine, *, goal="pytorch", channel="studio", choice=None, sources=()):
        simulated.calls.append(f"{goal} {channel}")
        return recommend(machine, catalog, goal=goal, channel=channel, choice=choice)

    simulated.recommend = advise
    return simulated


@pytest.fixture
def page(real, at_recommendation, qtbot):
    wizard = at_recommendation(real)
    page = wizard.recommendation
    # Shown whole: the way on takes the keyboard in a turn of its own.
    qtbot.waitUntil(lambda: not wizard.controller.busy and page.focusWidget() is page.default_button, timeout=10_000)
    return page


@pytest.fixture
def rest(qtbot):
    """Waits until the page has its answer."""
    return lambda page: qtbot.waitUntil(lambda: not page.controller.busy, timeout=10_000)


def entry(picker, value):
    return next(entry for entry in picker.entries if entry.value == value)


@BOTH
def test_goal_texts(page, speak, code):
    speak(code)
    details = {entry.value: entry.detail for entry in page.options_bar.goal_picker.entries}
    assert list(details) == ["pytorch", "tensorflow", "cuda-dev", "all"]
    assert {"en": "most people", "zh_CN": "大多数人"}[code] in details["pytorch"]
    assert page.options_bar.goal_picker.text() == "PyTorch"
    assert page.options_bar.goal_picker.accessibleName() == {"en": "Goal", "zh_CN": "用途"}[code] + ": PyTorch"


def test_new_goal_updates_recommendation(page, real, rest):
    page.options_bar.goal_picker.chosen.emit("all")
    rest(page)
    assert real.calls[-1] == "all studio"
    assert page.part_cards["tensorflow"].isVisible()
    assert page.part_cards["cuda"].pill.text == "Install"
    assert page.options_bar.goal_picker.text() == "Everything"


def test_uncovered_parts_are_named(page, rest, seen):
    page.options_bar.goal_picker.chosen.emit("cuda-dev")
    rest(page)
    assert "CUDA Toolkit" in seen(page.warnings_card)
    assert "cannot be installed from here yet" in seen(page.warnings_card)


@BOTH
def test_unsupported_goal_offers_a_way_on(page, real, rest, speak, seen, code):
    def no_plan(machine, recommendation, environment, **_):
        if recommendation.goal == "tensorflow":
            raise SetupNotSupported("setup-nothing", goal=recommendation.goal)
        return make_plan(recommendation, str(environment), simulated=True)

    real.plan = no_plan
    page.options_bar.goal_picker.chosen.emit("tensorflow")
    rest(page)
    assert page.focusWidget() is page.hero.button
    speak(code)
    assert page.hero.isVisible()
    assert page.hero.kind == "warn"
    assert page.part_cards["tensorflow"].isVisible()
    assert not page.part_cards["torch"].isVisible()
    assert not page.cost_card.isVisible()
    assert not page.primary_button.isEnabled()
    assert page.default_button is page.hero.button
    assert {"en": "Set up PyTorch instead", "zh_CN": "改为安装 PyTorch"}[code] == page.hero.button.text()
    page.hero.button.click()
    rest(page)
    assert page.primary_button.isEnabled()
    assert not page.hero.isVisible()


def test_choice_that_cannot_be_installed_keeps_focus_and_shows_why(page, real, rest, qtbot):
    def no_plan(machine, recommendation, environment, **_):
        if recommendation.goal == "tensorflow":
            raise SetupNotSupported("setup-nothing", goal=recommendation.goal)
        return make_plan(recommendation, str(environment), simulated=True)

    real.plan = no_plan
    page.options_bar.customize_button.click()
    rest(page)
    picker = page.options_bar.goal_picker
    picker.setFocus(Qt.FocusReason.TabFocusReason)
    picker.choose(entry(picker, "tensorflow"))
    rest(page)
    qtbot.waitUntil(lambda: page.hero.visibleRegion().boundingRect() == page.hero.rect(), timeout=5000)
    assert page.focusWidget() is picker
    assert page.page.verticalScrollBar().value() == 0


def test_other_driver_channel(page, real, rest):
    assert not page.options_bar.channel_picker.isVisible()
    page.options_bar.customize_button.click()
    rest(page)
    assert page.options_bar.channel_picker.isVisible()
    page.options_bar.channel_picker.chosen.emit("game-ready")
    rest(page)
    assert "pytorch game-ready" in real.calls
    assert "Game Ready" in page.part_cards["driver"].planned_detail.text()


def test_customize_restores_last_choices(page, rest):
    page.options_bar.customize_button.click()
    rest(page)
    page.controller.choose_version("pytorch", "2.13.0")
    rest(page)
    page.options_bar.recommended_button.click()
    rest(page)
    assert page.controller.flow.state.choice is None
    assert "Dropped: PyTorch 2.13.0" in page.hero.detail_label.text()
    # Another goal in between: what does not go with it is named, the rest is picked again.
    page.options_bar.goal_picker.chosen.emit("cuda-dev")
    rest(page)
    page.options_bar.customize_button.click()
    rest(page)
    assert page.controller.flow.state.choice == Choice(pytorch="2.13.0")
    assert page.part_cards["torch"].planned_label.text() == "2.13.0"
    assert page.warnings_card.undo_button is not None
    page.warnings_card.undo_button.click()
    rest(page)
    assert page.controller.flow.state.choice is None


def test_reset_choices_do_not_return(page, rest):
    page.options_bar.customize_button.click()
    rest(page)
    for version in ("2.13.0", None):
        page.controller.choose_version("pytorch", version)
        rest(page)
    page.options_bar.recommended_button.click()
    rest(page)
    page.options_bar.customize_button.click()
    rest(page)
    assert page.controller.flow.state.choice is None


@BOTH
def test_pickers_keep_their_places(page, rest, speak, qtbot, code):
    speak(code)
    page.options_bar.customize_button.click()
    rest(page)
    for size in ((1366, 768), (1000, 700)):
        page.window().resize(*size)
        seen = set()
        for goal in ("pytorch", "cuda-dev", "tensorflow", "all"):
            page.options_bar.goal_picker.chosen.emit(goal)
            rest(page)
            page.page.content.layout().activate()
            pickers = (page.options_bar.goal_picker, page.options_bar.channel_picker)
            seen.add(tuple((each.x(), each.width()) for each in pickers if each.isVisible()))
            assert page.options_bar.y() > page.page.title_label.y() + page.page.title_label.height()
        assert len(seen) == 1, seen


# As high as a screen allows, which Windows tells.
@pytest.mark.qt_log_ignore("Unable to set geometry", extend=True)
def test_cards_align_with_footer_buttons(page, qtbot):
    card = page.part_cards["torch"]
    for size, scrolls in (((1180, 560), True), ((1180, 1600), False)):
        page.window().resize(*size)
        qtbot.waitUntil(lambda scrolls=scrolls: page.page.verticalScrollBar().isVisible() is scrolls, timeout=10_000)

        def ends() -> None:
            right = card.mapTo(page, card.rect().topRight()).x()
            assert right == page.primary_button.mapTo(page, page.primary_button.rect().topRight()).x()

        qtbot.waitUntil(ends, timeout=10_000)


def test_customize_and_back(page, rest):
    assert page.part_cards["torch"].version_pickers is None
    page.options_bar.customize_button.click()
    rest(page)
    pickers = {
        name: picker
        for card in page.part_cards.values()
        if card.version_pickers
        for name, picker in card.version_pickers.pickers.items()
    }
    assert set(pickers) == {"driver", "cuda_toolkit", "cudnn", "pytorch", "variant", "python"}
    pickers["pytorch"].chosen.emit("2.13.0")
    rest(page)
    assert page.part_cards["torch"].planned_label.text() == "2.13.0"
    assert page.controller.flow.state.choice == Choice(pytorch="2.13.0")
    assert page.controller.flow.state.plan.recommendation.pytorch.version == "2.13.0"
    page.options_bar.recommended_button.click()
    rest(page)
    assert page.controller.flow.state.choice is None
    assert not page.part_cards["torch"].version_pickers.isVisible()
    assert page.part_cards["torch"].planned_label.text() == "2.15.0"


@BOTH
def test_impossible_version_is_refused_beside_the_part(page, rest, speak, code):
    page.options_bar.customize_button.click()
    rest(page)
    speak(code)
    version_pickers = page.part_cards["torch"].version_pickers
    refused = entry(version_pickers.pickers["python"], "3.8")
    assert refused.state == "refused"
    version_pickers.pickers["python"].choose(refused)
    assert "3.8" in version_pickers.refusal_line.text()
    assert refused.detail in version_pickers.refusal_line.text()
    assert page.controller.flow.state.choice is None
    assert not page.controller.is_recommending


def test_costly_choice_shows_warning(page, rest):
    page.options_bar.customize_button.click()
    rest(page)
    page.part_cards["torch"].version_pickers.pickers["variant"].chosen.emit("cpu")
    rest(page)
    assert "CPU only" in page.part_cards["torch"].version_pickers.warning_line.text()


@pytest.mark.qt_log_ignore("raise\\(\\)", "grabbing the keyboard", extend=True)
def test_focus_stays_on_picker(page, rest, qtbot):
    page.options_bar.customize_button.click()
    rest(page)
    picker = page.part_cards["torch"].version_pickers.pickers["pytorch"]
    qtbot.waitUntil(picker.isVisible, timeout=5000)
    picker.setFocus(Qt.FocusReason.TabFocusReason)
    picker.open_popup()
    popup = picker.popup
    qtbot.waitUntil(popup.isVisible, timeout=5000)
    qtbot.keyClick(popup.entry_list, Qt.Key.Key_End)
    last = popup.entry_list.currentRow()
    assert last == len(picker.entries) - 1
    qtbot.keyClick(popup.entry_list, Qt.Key.Key_Return)
    rest(page)
    assert page.controller.flow.state.choice == Choice(pytorch=picker.entries[last].value)
    assert page.focusWidget() is picker


def test_old_recommendation_stays_until_the_next(page, real):
    page.options_bar.goal_picker.chosen.emit("all")
    assert page.controller.is_recommending
    assert page.part_cards["torch"].isVisible()
    assert page.primary_button.busy


@pytest.mark.parametrize(
    ("code", "wanted"), [("en", "Dropped: the way “Keep my driver”"), ("zh_CN", "已取消：“保留现有驱动”的装法")]
)
def test_reset_way_is_named(page, rest, speak, code, wanted) -> None:
    page.controller.choose_way("works-now")
    rest(page)
    page.controller.reset_choices()
    rest(page)
    speak(code)
    assert page.hero.detail_label.text() == wanted
    assert page.way_cards.cards[0].isChecked()


@BOTH
def test_button_that_closes_the_lists_says_where_it_drops_a_way(page, rest, speak, code) -> None:
    speak(code)
    page.options_bar.customize_button.click()
    rest(page)
    button = page.options_bar.recommended_button
    assert button.text() == {"en": "Done", "zh_CN": "完成"}[code]
    page.controller.choose_way("works-now")
    rest(page)
    assert button.text() == {"en": "Reset to recommended", "zh_CN": "恢复推荐"}[code]


def test_way_survives_another_goal(page, rest) -> None:
    page.controller.choose_version("cuda_toolkit", "none")
    page.controller.choose_way("works-now")
    rest(page)
    page.options_bar.goal_picker.chosen.emit("cuda-dev")
    rest(page)
    assert page.controller.flow.state.choice == Choice(way="works-now")
    assert page.way_cards.cards[1].isChecked()


def test_way_survives_versions_that_exclude_each_other(real, page) -> None:
    """Reached by a goal with which a choice cannot be: the rest is tried one by one."""
    choice = Choice(pytorch="2.7.1", variant="cu118", tensorflow="2.21.0", python="3.14", way="works-now")
    undo = UndoState(part=None, choice=choice, recommendation=None, goal="pytorch", channel="studio", environment=None)
    state = WizardState(goal="all", choice=choice, undo_state=replace(undo, is_goal_change=True))
    retained = retained_choice(real, page.controller.flow.state.machine, state)
    assert retained is not None
    assert retained != choice
    assert retained.way == "works-now"
