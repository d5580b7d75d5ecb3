"""Nothing is line twice: one sentence above many versions, one warning at the pick, each word explained once."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gpu_assistant.advise.options import Option, PartOptions
from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.machine import Tools
from gpu_assistant.core.message import Message
from gpu_assistant.gui.widgets.inputs import Dropdown
from gpu_assistant.gui.widgets.text import TextLabel
from gpu_assistant.gui.wizard.pages.recommendation.version_pickers import build_entries
from gpu_assistant.gui.wizard.state import OptionNotes
from gpu_assistant.texts.localized import Texts

pytestmark = pytest.mark.gui

BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


def near(version: str) -> Option:
    data = {"toolkit": version, "cuda": "12.6"}
    return Option(value=version, state="warned", code="warning.toolkit-near.text", data=data)


def refused(version: str, cuda: int) -> Option:
    return Option(value=version, state="refused", code="choice.cudnn-cuda", data={"cuda": cuda})


def toolkits(*offered: Option) -> PartOptions:
    return PartOptions(name="cuda_toolkit", options=offered, recommended="none", selected=None)


@BOTH
def test_shared_reason_is_a_group_heading(qapp, code):
    texts = Texts(code)
    part = toolkits(near("12.9.1"), Option(value="12.6.3"), near("12.8.1"))
    entries = build_entries(part, OptionNotes(), texts)
    assert [entry.value for entry in entries] == [None, "12.6.3", "12.9.1", "12.8.1"]
    assert [entry.group == "" for entry in entries] == [True, True, False, False]
    assert entries[2].group == entries[3].group
    assert "12.6" in entries[2].group
    assert "12.9.1" not in entries[2].group
    assert "12.9.1" in entries[2].detail, "a screen reader hears it with the entry"


@BOTH
def test_single_option_has_its_own_reason(qapp, code):
    entries = build_entries(toolkits(Option(value="12.6.3"), near("12.9.1")), OptionNotes(), Texts(code))
    assert [entry.group for entry in entries] == ["", "", ""]
    assert "12.9.1" in entries[2].detail


@BOTH
def test_every_warning_of_an_option_is_shown(qapp, code):
    texts = Texts(code)
    missing = [
        Message("warning.msvc-missing.text", {"toolkit": version, "products": "Visual Studio 2022"})
        for version in ("12.9.1", "12.8.1", "11.8.0")
    ]
    two = [replace(near(each.data["toolkit"]), further_warnings=(each,)) for each in missing]
    entries = build_entries(
        toolkits(*two[:2], replace(two[2], data={"toolkit": "11.8.0", "cuda": "13"})), OptionNotes(), texts
    )
    assert [entry.value for entry in entries] == [None, "12.9.1", "12.8.1", "11.8.0"]
    for entry in entries[1:]:
        assert "Visual Studio 2022" in entry.detail
        assert "Visual Studio 2022" in entry.group
    assert entries[1].group == entries[2].group != entries[3].group
    assert "12.9.1" not in entries[1].group
    assert "11.8.0" in entries[3].group, "a single one below others' sentence has its own"


@BOTH
def test_refused_cudnn_names_its_cuda(qapp, code):
    part = PartOptions(
        name="cudnn", options=(refused("8.9", 13), refused("8.8", 13)), recommended="none", selected=None
    )
    entries = build_entries(part, OptionNotes(), Texts(code))
    assert "CUDA 13" in entries[1].group
    assert "CUDA 13" in entries[1].detail


def test_build_is_named_by_cuda_with_its_tag(qapp):
    part = PartOptions(
        name="variant", options=(Option(value="cu126"), Option(value="cpu")), recommended="cu132", selected=None
    )
    entries = [(entry.text, entry.hint) for entry in build_entries(part, OptionNotes(), Texts("en"))]
    assert entries == [("As recommended (CUDA 13.2)", "cu132"), ("CUDA 12.6", "cu126"), ("CPU", "cpu")]


@pytest.mark.qt_log_ignore("raise\\(\\)", "grabbing the keyboard", extend=True)
def test_group_heading_is_skipped_and_never_chosen(qtbot):
    picker = Dropdown()
    qtbot.addWidget(picker)
    entries = build_entries(toolkits(near("12.9.1"), near("12.8.1")), OptionNotes(), Texts("en"))
    picker.set_entries(entries, None, "None", "CUDA Toolkit")
    picker.show()
    chosen = []
    picker.chosen.connect(chosen.append)
    picker.open_popup()
    rows = picker.popup.entry_list
    assert rows.count() == 4
    head = rows.item(1)
    assert not head.flags() & Qt.ItemFlag.ItemIsEnabled
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=rows.visualItemRect(head).center())
    assert chosen == []
    qtbot.keyClick(rows, Qt.Key.Key_Down)
    assert rows.currentItem().text() == "12.9.1"
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    assert chosen == ["12.9.1"]


@pytest.fixture
def page(machine_566, simulated, at_recommendation, qtbot):
    """The recommendation of the real catalog for a recorded machine."""
    simulated.machine = machine_566

    def advise(machine, *, goal="pytorch", channel="studio", choice=None, sources=()):
        return recommend(machine, simulated.catalog, goal=goal, channel=channel, choice=choice)

    simulated.recommend = advise
    wizard = at_recommendation(simulated, (1366, 768))
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=60_000)
    return wizard.recommendation


def read(page) -> str:
    return "\n".join(text.text() for text in page.findChildren(TextLabel) if text.isVisible())


def pick(qtbot, page, card: str, part: str, value: str) -> None:
    page.part_cards[card].version_pickers.pickers[part].chosen.emit(value)
    qtbot.waitUntil(lambda: not page.controller.busy, timeout=60_000)


def test_warning_is_shown_once_at_its_card(page, qtbot):
    page.options_bar.customize_button.click()
    qtbot.waitUntil(
        lambda: not page.controller.busy and page.part_cards["cuda"].version_pickers is not None, timeout=60_000
    )
    pick(qtbot, page, "driver", "driver", "keep")
    pick(qtbot, page, "cuda", "cuda_toolkit", "12.9.1")
    assert read(page).count("12.9.1 is not from the same series") == 1
    assert "12.9.1" in page.part_cards["cuda"].version_pickers.warning_line.text()
    assert page.part_cards["driver"].version_pickers.warning_line.text() == ""
    # Where nothing of theirs can be picked any more, the drop-downs stay.
    pick(qtbot, page, "torch", "variant", "cpu")
    assert page.part_cards["driver"].version_pickers.pickers["driver"].isVisible()
    assert page.part_cards["cudnn"].version_pickers.pickers["cudnn"].isVisible()


def test_term_is_explained_once_in_first_reason(page, qtbot):
    page.options_bar.customize_button.click()
    qtbot.waitUntil(lambda: not page.controller.busy, timeout=10_000)
    explanation = "compute capability: "
    page.more_options.reasons_button.click()
    assert read(page).count(explanation) == 1
    sections = {each.title_label.text(): each.claims.text() for each in page.reasons_card.sections}
    assert list(sections).index("CUDA") < list(sections).index("PyTorch")
    assert explanation in sections["CUDA"]
    # What the card's own second line says is not line in its reason.
    assert "cuDNN: " not in sections["cuDNN"]


@BOTH
def test_driver_names_its_cuda_to_whoever_chooses_versions(page, speak, qtbot, code):
    speak(code)
    card = page.part_cards["driver"]
    assert card.installed_detail.text() == {"en": "too old for 2.15", "zh_CN": "不支持 2.15"}[code]
    assert "CUDA" not in card.planned_detail.text()
    page.options_bar.customize_button.click()
    qtbot.waitUntil(lambda: page.controller.flow.state.options is not None, timeout=10_000)
    qtbot.waitUntil(lambda: {"en": "CUDA up to 13", "zh_CN": "最高 CUDA 13"}[code] in card.planned_detail.text())
    assert {"en": "CUDA up to 12.7", "zh_CN": "最高 CUDA 12.7"}[code] in card.installed_detail.text()


def bottom(page, card) -> int:
    return card.mapTo(page.page.viewport(), card.rect().bottomLeft()).y()


def test_all_choices_are_visible_on_a_small_screen(page):
    assert page.page.header.direction() == page.page.header.Direction.LeftToRight
    assert page.way_cards.isVisible()
    assert bottom(page, page.part_cards["torch"]) <= page.page.viewport().height()


def test_all_controls_are_visible_on_a_small_screen_without_ways(machine_566, simulated, at_recommendation, qtbot):
    updated = replace(machine_566, driver=replace(machine_566.driver, version="617.42", cuda_max="13.4"))
    simulated.machine = simulated.results["detect"] = updated
    simulated.recommend = lambda machine, **options: recommend(machine, simulated.catalog, **options)
    wizard = at_recommendation(simulated, (1366, 768))
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=60_000)
    page = wizard.recommendation
    assert not page.way_cards.isVisible()
    assert bottom(page, page.folder_card) <= page.page.viewport().height()


def test_every_warning_of_a_choice_is_at_the_choice(page, qtbot):
    def rest() -> None:
        qtbot.waitUntil(lambda: not page.controller.busy, timeout=10_000)

    needed = "Compiling CUDA code on Windows needs"

    def cautions() -> str:
        return "\n".join(text.text() for text in page.warnings_card.findChildren(TextLabel) if text.isVisible())

    flow = page.controller.flow
    flow.state = replace(flow.state, machine=replace(flow.state.machine, tools=Tools(msvc=None)))
    page.options_bar.goal_picker.chosen.emit("cuda-dev")
    rest()
    page.options_bar.customize_button.click()
    rest()
    assert needed in cautions()
    page.controller.choose_version("cuda_toolkit", "12.6.3")
    rest()
    line = page.part_cards["cuda"].version_pickers.warning_line.text()
    assert line.count(needed) == 1
    assert needed not in cautions()
