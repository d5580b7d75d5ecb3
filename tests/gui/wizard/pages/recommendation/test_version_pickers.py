"""Picking versions by hand: nothing jumps, nothing changes unsaid, what is refused leaves a way out."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from gpu_assistant.advise.options import Option, PartOptions
from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.gui import theme
from gpu_assistant.gui.wizard.pages.recommendation.part_card import PartCard, column_widths
from gpu_assistant.gui.wizard.pages.recommendation.part_summary import REASON_SUBJECTS, part_summaries
from gpu_assistant.gui.wizard.pages.recommendation.version_pickers import (
    build_entries,
    nearest_version,
    recommendation_note,
)
from gpu_assistant.gui.wizard.state import OptionNotes, Release
from gpu_assistant.texts.localized import Texts

pytestmark = pytest.mark.gui

BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


@pytest.fixture
def page(simulated, at_recommendation, qtbot):
    """A page with the real catalog behind it, the user choosing by hand."""

    def advise(machine, *, goal="pytorch", channel="studio", choice=None, sources=()):
        return recommend(machine, simulated.catalog, goal=goal, channel=channel, choice=choice)

    simulated.recommend = advise
    wizard = at_recommendation(simulated, (1000, 700))
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=10_000)
    wizard.recommendation.options_bar.customize_button.click()
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=10_000)
    return wizard.recommendation


@pytest.fixture
def rest(qtbot):
    """Waits until the page has its answer and lies still."""

    def rested(page):
        qtbot.waitUntil(lambda: not page.controller.busy, timeout=10_000)
        for _ in range(5):
            QApplication.processEvents()

    return rested


def pickers(page):
    cards = [card for card in page.part_cards.values() if card.version_pickers is not None]
    return {name: picker for card in cards for name, picker in card.version_pickers.pickers.items()}


def height(page, widget) -> int:
    return widget.mapTo(page.page.viewport(), QPoint()).y()


def test_focus_scroll_and_open_reasons_survive_redraw(page, rest):
    page.more_options.reasons_button.click()
    picker = pickers(page)["variant"]
    picker.setFocus(Qt.FocusReason.TabFocusReason)
    rest(page)
    page.page.ensureWidgetVisible(picker)
    rest(page)
    before = height(page, picker)
    assert page.page.verticalScrollBar().value() > 0
    gone = []
    QApplication.instance().focusChanged.connect(lambda old, new: gone.append((old, new)))
    picker.chosen.emit("cu126")
    rest(page)
    assert page.controller.flow.state.choice == Choice(variant="cu126")
    assert page.window().focusWidget() is picker
    assert not gone
    assert abs(height(page, picker) - before) <= 1
    assert page.reasons_card.isVisible()


@BOTH
def test_side_effects_are_shown_beside_the_choice(page, rest, speak, code):
    speak(code)
    now = page.controller.flow.state.recommendation
    pickers(page)["pytorch"].chosen.emit("2.13.0")
    rest(page)
    line = page.part_cards["torch"].version_pickers.side_effects_line
    after = page.controller.flow.state.recommendation
    assert now.pytorch.variant != after.pytorch.variant
    assert line.isVisible()
    kinds = [Texts(code).variant_name(each.pytorch.variant) for each in (now, after)]
    assert f"{kinds[0]} → {kinds[1]}" in line.text()
    assert "2.13.0" not in line.text()
    assert not page.part_cards["cuda"].version_pickers.side_effects_line.isVisible()
    page.options_bar.recommended_button.click()
    rest(page)
    assert not line.isVisible()


def test_refused_version_offers_nearest_allowed(page, rest, qtbot):
    version_pickers = page.part_cards["torch"].version_pickers
    refused = next(each for each in version_pickers.pickers["python"].entries if each.state == "refused")
    version_pickers.pickers["python"].choose(refused)
    assert version_pickers.fallback_button.isVisible()
    version_pickers.fallback_button.click()
    rest(page)
    choice = page.controller.flow.state.choice
    assert choice.python
    assert choice.python != refused.value
    # The row names Python where it has room, which depends on the fonts.
    assert page.controller.flow.state.recommendation.python == choice.python


def test_version_excluded_by_other_choices_can_be_taken_alone(page, rest):
    version_pickers = page.part_cards["torch"].version_pickers
    newest = version_pickers.pickers["pytorch"].entries[0].text
    version_pickers.pickers["variant"].chosen.emit("cu118")
    rest(page)
    refused = next(e for e in version_pickers.pickers["pytorch"].entries if e.state == "refused" and e.value in newest)
    version_pickers.pickers["pytorch"].choose(refused)
    assert "the rest as recommended" in version_pickers.fallback_button.text()
    version_pickers.fallback_button.click()
    rest(page)
    assert page.controller.flow.state.choice == Choice(pytorch=refused.value)


@BOTH
def test_impossible_choice_can_be_undone(page, rest, speak, code):
    speak(code)
    app, works = page.controller.app, page.controller.app.setup.recommend

    def refuse(machine, *, goal="pytorch", channel="studio", choice=None, sources=()):
        if choice is not None and choice.python:
            raise UsageError("choice-impossible", choice="3.11", why="@choice.no-code", newest="3.12")
        return works(machine, goal=goal, channel=channel, choice=choice)

    pickers(page)["pytorch"].chosen.emit("2.13.0")
    rest(page)
    app.recommend = refuse
    pickers(page)["python"].setFocus(Qt.FocusReason.TabFocusReason)
    pickers(page)["python"].chosen.emit("3.11")
    rest(page)
    assert page.hero.isVisible()
    assert {"en": "Undo", "zh_CN": "撤销"}[code] == page.hero.button.text()
    assert page.default_button is page.hero.button
    assert page.window().focusWidget() is page.hero.button
    page.hero.button.click()
    rest(page)
    assert page.controller.flow.state.choice == Choice(pytorch="2.13.0")
    assert page.part_cards["torch"].planned_label.text() == "2.13.0"
    assert not page.hero.isVisible()


def test_versions_show_release_date_and_channel(page):
    first = {name: picker.entries[0] for name, picker in pickers(page).items()}
    assert first["driver"].hint.startswith("Studio")
    assert first["driver"].hint[-10:-6].isdigit()
    assert first["pytorch"].hint[:4].isdigit()


def test_recommended_version_is_listed_once():
    options = (Option(value="2.15.0"), Option(value="2.14.1"))
    part = PartOptions(name="pytorch", options=options, recommended="2.15.0", selected=None)
    notes = OptionNotes(releases={("pytorch", "2.15.0"): Release(date="2026-10-28")})
    texts = Texts("en")
    assert [(e.value, e.text, e.hint) for e in build_entries(part, notes, texts)] == [
        (None, "As recommended (2.15.0)", "2026-10-28"),
        ("2.14.1", "2.14.1", ""),
    ]
    picked = PartOptions(name="pytorch", options=options, recommended="2.15.0", selected="2.15.0")
    assert [entry.value for entry in build_entries(picked, notes, texts)] == [None, "2.15.0", "2.14.1"]


@pytest.mark.parametrize(
    ("value", "near"), [("3.8", "3.10"), ("3.15", "3.13"), ("3.12.5", "3.13"), ("none", "3.13"), ("3.11.5", None)]
)
def test_nearest_version_of_refused_one(value, near):
    offered = tuple(Option(value=each) for each in ("3.13", "3.12", "3.11", "3.10"))
    part = PartOptions(name="python", options=offered, recommended="3.12", selected=None)
    assert nearest_version(part, value) == near


def test_column_headings_for_every_goal(page, rest):
    page.window().resize(1366, 768)
    for goal in ("tensorflow", "all", "cuda-dev", "pytorch"):
        page.options_bar.goal_picker.chosen.emit(goal)
        rest(page)
        assert page.column_headings.isVisible(), goal
    page.window().resize(880, 640)
    rest(page)
    card, headings = page.part_cards["torch"], page.column_headings
    assert headings.isVisible()
    assert not any(head.isVisible() for head in card.column_labels)
    left = lambda widget: widget.mapTo(page, QPoint()).x()  # noqa: E731
    assert left(headings.installed_label) == left(card.installed_label)
    assert left(headings.planned_label) == left(card.planned_label)
    page.window().resize(880, 520)
    rest(page)
    assert headings.isVisible()
    assert left(headings.installed_label) == left(card.installed_label)
    assert left(headings.planned_label) == left(card.planned_label)


def test_source_link_has_publisher_and_address(page):
    page.more_options.reasons_button.click()
    [source, *_] = page.reasons_card.sections[0].claims.source_buttons
    assert source.text() == "Source: NVIDIA's documentation"
    assert source.toolTip().startswith("https://docs.nvidia.com/")


def test_each_claim_has_its_source_in_tab_order(page, qtbot):
    page.more_options.reasons_button.click()
    torch = next(each for each in page.reasons_card.sections if each.title_label.text() == "PyTorch")
    advice = page.controller.flow.state.recommendation
    about = REASON_SUBJECTS["torch"]
    sources = [
        reason.source for reason in advice.reasons if reason.about.split(".")[0] in about or reason.about in about
    ]
    assert list(dict.fromkeys(source.toolTip() for source in torch.claims.source_buttons)) == list(
        dict.fromkeys(filter(None, sources))
    )
    assert len(torch.claims.source_buttons) > 1
    page.more_options.toggle_button.setFocus(Qt.FocusReason.TabFocusReason)
    for source in page.reasons_card.source_buttons:
        qtbot.keyClick(page.window().focusWidget(), Qt.Key.Key_Tab)
        assert page.window().focusWidget() is source


def test_tab_order_starts_at_primary_and_ends_at_rail(page, qtbot):
    page.primary_button.setFocus(Qt.FocusReason.TabFocusReason)
    seen = []
    for _ in range(60):
        qtbot.keyClick(page.window().focusWidget(), Qt.Key.Key_Tab)
        seen.append(page.window().focusWidget())
        if seen[-1] is page.primary_button:
            break
    inside = [page.page.content.isAncestorOf(each) for each in seen]
    assert inside[0]
    assert inside == sorted(inside, reverse=True)
    assert seen[inside.index(False)] is page.back_button


def test_choices_survive_new_goal_and_channel(page, rest):
    pickers(page)["driver"].chosen.emit("keep")
    rest(page)
    page.options_bar.goal_picker.chosen.emit("cuda-dev")
    rest(page)
    assert page.controller.flow.state.choice == Choice(driver="keep")
    page.options_bar.channel_picker.chosen.emit("game-ready")
    rest(page)
    assert page.controller.flow.state.choice == Choice(driver="keep")
    assert not page.hero.isVisible()


@BOTH
def test_dropped_choices_are_named_and_can_be_restored(page, rest, speak, seen, code):
    speak(code)
    pickers(page)["pytorch"].chosen.emit("2.13.0")
    rest(page)
    pickers(page)["driver"].chosen.emit("keep")
    rest(page)
    before = page.controller.flow.state.choice
    page.options_bar.goal_picker.chosen.emit("tensorflow")
    rest(page)
    assert page.controller.flow.state.choice == Choice(driver="keep")
    assert "PyTorch 2.13.0" in seen(page.hero)
    assert {"en": "Dropped", "zh_CN": "已取消"}[code] in seen(page.hero)
    page.hero.button.click()
    rest(page)
    assert page.controller.flow.state.goal == "pytorch"
    assert page.controller.flow.state.choice == before
    assert not page.hero.isVisible()


def test_dependent_version_is_not_called_recommended(page, rest):
    first = {name: picker.entries[0].text for name, picker in pickers(page).items()}
    assert all(text.startswith("As recommended") for text in first.values())
    keep = next(entry for entry in pickers(page)["driver"].entries if entry.value == "keep")
    assert keep.text == "Keep 566.03"
    pickers(page)["driver"].chosen.emit("keep")
    rest(page)
    assert pickers(page)["variant"].entries[0].text == "What fits your other choices (CUDA 12.6)"
    assert pickers(page)["driver"].entries[0].text == first["driver"]


@BOTH
def test_reset_choices_can_be_restored(page, rest, speak, seen, code):
    speak(code)
    pickers(page)["pytorch"].chosen.emit("2.13.0")
    rest(page)
    pickers(page)["driver"].chosen.emit("keep")
    rest(page)
    before = page.controller.flow.state.choice
    page.options_bar.recommended_button.click()
    rest(page)
    assert page.controller.flow.state.choice is None
    assert "PyTorch 2.13.0" in seen(page.hero)
    assert {"en": "Recommendation restored", "zh_CN": "已恢复推荐方案"}[code] == page.hero.title_label.text()
    page.hero.button.click()
    rest(page)
    assert page.controller.flow.state.choice == before
    assert page.controller.flow.state.customizing
    assert pickers(page)["pytorch"].isVisible()
    assert not page.hero.isVisible()


def test_reset_without_choices_offers_no_undo(page, rest):
    page.options_bar.recommended_button.click()
    rest(page)
    assert not page.hero.isVisible()


def test_kept_driver_reads_well_on_the_button(page, rest):
    version_pickers = page.part_cards["driver"].version_pickers
    keep = next(entry for entry in version_pickers.pickers["driver"].entries if entry.value == "keep")
    state = page.controller.flow.state
    notes = replace(state.option_notes, excluded_by_choices=frozenset({("driver", "keep")}))
    version_pickers.set(tuple(part for part in state.options.parts if part.name == "driver"), notes, Texts("en"))
    version_pickers.pickers["driver"].refused_entry_chosen.emit(replace(keep, detail="it is too old"))
    assert version_pickers.fallback_button.text() == "Keep 566.03, the rest as recommended"
    assert version_pickers.refusal_line.text() == "“Keep 566.03” is not available: it is too old."


def test_lists_stand_in_place_of_the_planned_version(page, rest):
    page.window().resize(1180, 760)
    rest(page)
    for card in page.part_cards.values():
        if card.isHidden():
            continue
        assert not card.planned_label.isVisible()
        lists = list(card.version_pickers.pickers.values())
        column = page.column_headings.planned_label
        assert height(page, lists[0]) < height(page, card.planned_detail)
        for each in lists:
            left = each.mapTo(page, QPoint()).x()
            assert left >= column.mapTo(page, QPoint()).x()
            assert left + each.width() <= column.mapTo(page, QPoint()).x() + column.width()
    page.options_bar.recommended_button.click()
    rest(page)
    assert all(card.planned_label.isVisible() for card in page.part_cards.values() if card.isVisible())


def test_wide_window_shows_goal_and_every_list_at_once(page, qtbot):
    wizard = page.window()
    wizard.banner.hide()  # stands in no real window
    wizard.resize(1180, 760)
    last = page.part_cards["torch"].version_pickers.pickers["pytorch"]

    def seen() -> None:
        assert height(page, page.options_bar) >= 0
        assert height(page, last) + last.height() <= page.page.viewport().height()

    qtbot.waitUntil(seen, timeout=10_000)


def test_line_below_a_list_names_the_recommended_version(page, rest):
    driver = page.part_cards["driver"]
    assert driver.planned_detail.text().startswith("Recommended · ")
    keep = next(entry for entry in pickers(page)["driver"].entries if entry.value == "keep")
    recommended = page.controller.flow.state.recommendation.driver.recommended
    pickers(page)["driver"].chosen.emit(keep.value)
    rest(page)
    assert driver.planned_detail.text() == f"Recommended: {recommended}"
    torch = page.part_cards["torch"]
    assert torch.planned_detail.text() == "Fits your other choices"
    fitting = page.controller.flow.state.recommendation.python
    other = next(entry.value for entry in pickers(page)["python"].entries if entry.value and entry.state == "fine")
    pickers(page)["python"].chosen.emit(other)
    rest(page)
    assert torch.planned_detail.text() == f"Recommended with your other choices: Python {fitting}"


def test_line_below_a_list_quotes_words(page, rest):
    toolkit = next(
        entry.value for entry in pickers(page)["cuda_toolkit"].entries if entry.state == "fine" and entry.value
    )
    pickers(page)["cuda_toolkit"].chosen.emit(toolkit)
    rest(page)
    assert "Recommended: “Nothing extra”" in page.part_cards["cuda"].planned_detail.text()


@pytest.mark.parametrize("selected", ["3.11", None])
def test_nothing_is_called_recommended_beside_impossible_choices(qapp, selected):
    part = PartOptions(name="python", options=(Option(value="3.11"),), recommended=None, selected=selected)
    assert recommendation_note((part,), OptionNotes(chosen_parts=frozenset({"python"}))) == ""
    assert recommendation_note((part,), OptionNotes(chosen_parts=frozenset({"pytorch", "driver"}))) == ""


def test_line_below_lists_says_what_a_hidden_list_does_not(page, qtbot):
    state = page.controller.flow.state
    parts = part_summaries(state.machine, state.recommendation, Texts("en"), already_installed=False)
    shown = next(part for part in parts if part.id == "torch")
    version, build = (
        PartOptions(name=name, options=(), recommended=value, selected=None)
        for name, value in (("pytorch", shown.planned), ("variant", "cu132"))
    )
    card = PartCard("torch")
    qtbot.addWidget(card)
    card.set_part(shown)
    card.set_version_options((version, build), OptionNotes(), Texts("en"), "")
    assert card.planned_detail.text() == "Recommended"
    card.set_version_options((version,), OptionNotes(), Texts("en"), "")
    assert card.planned_detail.text() == f"Recommended · {shown.planned_detail}"


def test_accessible_names_of_lists_say_what_they_choose(page):
    names = {name: picker.accessibleName() for name, picker in pickers(page).items()}
    assert names["cuda_toolkit"] == "CUDA Toolkit: Nothing extra"
    assert names["driver"].startswith("Driver: ")
    assert names["python"].startswith("Python: 3.")
    assert names["variant"].startswith("Build: CUDA")


@BOTH
def test_cost_stays_in_sight_while_choosing(page, rest, speak, code):
    speak(code)
    page.window().resize(1180, 760)
    rest(page)
    summary, hint = page.cost_card.summary, page.footer.hint_label
    assert {"en": "Disk space: ", "zh_CN": "磁盘空间："}[code] in summary
    assert summary in hint.text()
    assert {"en": "Nothing is changed", "zh_CN": "不会改动"}[code] in hint.text()
    page.window().resize(880, 520)
    rest(page)
    assert hint.text() == summary
    page.options_bar.recommended_button.click()
    rest(page)
    assert summary not in hint.text()


def test_crossing_the_width_of_columns_updates_footer_and_keeps_focus(page, rest, qapp):
    theme.set_text_scale(qapp, 1.5)
    picker, hint = pickers(page)["variant"], page.footer.hint_label
    picker.setFocus(Qt.FocusReason.TabFocusReason)

    def has_columns(width: int) -> bool:
        """Whether there are columns in a window of this width, with what depends on it checked."""
        page.window().resize(width, 640)  # too low to show the figures of the cost themselves
        rest(page)
        page.page.verticalScrollBar().setValue(0)
        columns = column_widths(page.page.available_width()) is not None
        assert (page.cost_card.summary in hint.text()) == columns, width
        assert page.window().focusWidget() is picker, width
        return columns

    width = 1800
    while has_columns(width):
        width -= 20
    assert has_columns(width + 20)


def test_footer_repeats_the_cost_only_while_that_is_scrolled_away(page, rest, qtbot):
    hint, bar = page.footer.hint_label, page.page.verticalScrollBar()
    page.window().resize(1180, 560)
    rest(page)
    qtbot.waitUntil(lambda: page.cost_card.summary in hint.text(), timeout=5000)
    bar.setValue(bar.maximum())
    qtbot.waitUntil(lambda: page.cost_card.summary not in hint.text(), timeout=5000)
    bar.setValue(0)
    qtbot.waitUntil(lambda: page.cost_card.summary in hint.text(), timeout=5000)


@BOTH
def test_goal_and_kind_of_driver_are_explained_where_chosen(page, rest, speak, seen, code):
    speak(code)
    page.window().resize(1180, 760)
    rest(page)
    bar = page.options_bar
    assert bar.goal_texts()["pytorch"][1] in seen(bar)
    assert bar.channel_texts()["studio"][1] in seen(bar)
    bar.goal_picker.chosen.emit("all")
    rest(page)
    assert bar.goal_texts()["all"][1] in seen(bar)
