"""What fits before anything is measured: a verdict for each format, the largest that fits, Windows' silent way out."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLabel

from gpu_assistant.bench.model_memory import estimate_models
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.gui import theme
from gpu_assistant.gui.bench.memory_fit.model_table import ModelFitCard, class_figures
from gpu_assistant.gui.widgets.cards import Pill

pytestmark = pytest.mark.gui
CATALOG = load_catalog(resources_dir() / "catalog")
GIB = 2**30


@pytest.fixture
def card(qtbot, language):
    made = ModelFitCard()
    made.resize(1000, 700)
    yield made
    made.deleteLater()


def show(card: ModelFitCard, system: str = "windows", memory: int | None = 8 * GIB) -> None:
    card.show_fits(estimate_models(CATALOG, memory=memory, system=system, device="NVIDIA GeForce RTX 4060"))


def cells(card: ModelFitCard, name: str) -> list[str]:
    return [each.accessibleName() for each in card.rows if isinstance(each, Pill) and name in each.accessibleName()]


def test_each_format_has_memory_and_verdict(card, seen):
    show(card)
    assert cells(card, "Llama 2 7B") == [
        "Llama 2 7B, 16-bit: 14.3 GB, does not fit",
        "Llama 2 7B, 8-bit: 8.3 GB, does not fit",
        "Llama 2 7B, 4-bit: 5.6 GB, fits",
    ]
    assert "Longest text (4-bit)" in seen(card)
    assert "model limit: 4,000" in seen(card)
    assert "9,400" in seen(card)
    assert "8 GB of memory, of which 6.8 GB" in seen(card)
    assert "Kind of model" in seen(card)  # above its choices
    assert "7B in a name stands for 7 billion of them" in seen(card)


@pytest.mark.parametrize(
    ("kind", "memory", "answer"),
    [
        (0, 8, "Your RTX 4060 runs language models with up to 7 billion parameters (4-bit)"),
        (0, 24, "Your RTX 4060 runs language models with up to 14 billion parameters (8-bit)"),
        (1, 8, "Your RTX 4060 runs image models up to Stable Diffusion 1.5 (16-bit)"),
        (0, 1, "None of these models fits on your RTX 4060"),
        (0, None, ""),
    ],
)
def test_answer_names_the_largest_class_or_model_that_fits(card, kind, memory, answer):
    show(card, memory=None if memory is None else memory * GIB)
    card.kinds.set_current(kind)
    card.retranslate()
    assert card.answer_label.text() == answer
    assert card.answer_label.isVisibleTo(card) == bool(answer)


def test_class_below_a_billion_has_a_decimal():
    assert class_figures(7_615_616_512) == {"billions": "7", "hundred_millions": "70"}
    assert class_figures(494_032_768) == {"billions": "0.4", "hundred_millions": "4"}


def test_models_that_do_not_fit_are_shown_on_demand(card, seen):
    show(card)
    assert card.more_button.text() == "Show 4 models that do not fit"
    assert cells(card, "Llama 3.1 70B") == []
    card.more_button.click()
    *formats, largest = cells(card, "Llama 3.1 70B")
    assert len(formats) == 3
    assert largest == "Llama 3.1 70B: does not fit"
    card.more_button.click()
    assert cells(card, "Llama 3.1 70B") == []
    show(card, memory=1 * GIB)
    assert len(cells(card, "Llama 3.1 70B")) == 4  # nothing fits: then all are shown
    assert not card.more_button.isVisibleTo(card)


def test_longest_text_is_that_of_the_format_with_the_most_room(card, seen):
    show(card)
    assert cells(card, "Llama 3.2 3B")[0] == "Llama 3.2 3B, 16-bit: 6.9 GB, probably does not fit"  # of 6.8 GB
    assert "23,000" in seen(card)
    assert "1,400" not in seen(card)


def test_sizes_of_a_column_have_the_same_form(card):
    show(card)
    card.more_button.click()
    assert cells(card, "Llama 3.2 1B")[0] == "Llama 3.2 1B, 16-bit: 3.0 GB, fits"
    assert cells(card, "Qwen2.5 14B")[2] == "Qwen2.5 14B, 4-bit: 11.0 GB, does not fit"
    assert cells(card, "Llama 3.1 70B")[0] == "Llama 3.1 70B, 16-bit: 133.0 GB, does not fit"


def test_what_does_not_fit_is_grey_and_a_key_says_what_each_sign_means(card, seen):
    show(card)
    kinds = {each.accessibleName().rpartition(", ")[2]: each.kind for each in card.rows if isinstance(each, Pill)}
    assert kinds == {
        "fits": "ok",
        "may just fit": "warn",
        "does not fit": "neutral",
        "probably does not fit": "neutral",
    }
    assert [(pill.kind, pill.text, pill.icon_name) for pill in card.key_pills.values()] == [
        ("ok", "Fits", "ok"),
        ("warn", "May just fit (up to 10% below the limit)", "warn"),
        ("neutral", "Does not fit", "cross"),
    ]
    assert "Longest text" in seen(card)
    card.kinds.set_current(2)
    card.retranslate()
    assert "Max. batch size" in seen(card)
    assert "up to 30% below the limit" in card.key_pills["tight"].text  # the error of this kind
    assert "30% more or less" in seen(card)
    assert card.spill_banner.label.kind == "small"  # a sentence, not a headline


def test_the_row_under_the_pointer_is_highlighted(card, qtbot):
    show(card)
    with qtbot.waitExposed(card):
        card.show()
    cell = next(each for each in card.rows if "Llama 2 7B" in each.accessibleName())

    def ground() -> str:
        picture = card.grab().toImage()
        beside = cell.mapTo(card, QPoint(-8, cell.height() // 2)) * picture.devicePixelRatio()
        return picture.pixelColor(beside).name()

    qtbot.waitUntil(lambda: ground() == theme.color("card").name())
    qtbot.mouseMove(cell)
    qtbot.waitUntil(lambda: ground() == theme.color("hover").name())
    qtbot.mouseMove(card.kinds)
    qtbot.waitUntil(lambda: ground() == theme.color("card").name())


def test_what_fits_at_no_size_is_said_with_icon_and_word(card):
    show(card)
    card.more_button.click()
    signs = {(each.icon_name, each.text) for each in card.rows if isinstance(each, Pill) and not each.text[0].isdigit()}
    assert signs == {("cross", "Does not fit")}


def test_the_figures_of_a_column_stand_below_one_another(card):
    show(card)
    column = [each for each in card.rows if isinstance(each, Pill) and ", 8-bit: " in each.accessibleName()]
    card.show()
    card.table.grid.activate()
    assert len({(each.x(), each.width()) for each in column}) == 1


def test_without_a_card_there_is_no_key(card):
    show(card, memory=None)
    assert not any(pill.isVisibleTo(card) for pill in card.key_pills.values())


def test_other_kinds_are_one_click_away(card, seen):
    show(card)
    card.kinds.chosen.emit(2)
    card.kinds.set_current(2)
    card.retranslate()
    assert "ResNet-50" in seen(card)
    assert "Llama 2 7B" not in seen(card)


@pytest.mark.parametrize(("system", "warned"), [("windows", True), ("linux", False)])
def test_shared_memory_is_warned_of_on_windows_alone(card, system, warned):
    show(card, system)
    assert card.spill_banner.isVisibleTo(card) == warned


def test_setting_against_shared_memory_is_shown_on_demand(card):
    show(card)
    assert "Sysmem" not in card.spill_banner.label.text()
    card.spill_banner.button.click()
    assert "Sysmem Fallback Policy" in card.spill_banner.label.text()
    card.spill_banner.button.click()
    assert "Sysmem" not in card.spill_banner.label.text()


def test_without_a_card_the_need_alone_is_shown(card, seen):
    show(card, memory=None)
    assert "No NVIDIA graphics card with a known amount of memory" in seen(card)
    assert "Longest text" not in seen(card)
    assert cells(card, "Llama 2 7B")[0].endswith("card memory unknown")


def test_chinese(card, language, seen):
    show(card)
    language.set("zh_CN")
    card.retranslate()
    assert "最长文本（4 位）" in seen(card)
    assert "模型上限 4,000" in seen(card)
    assert card.answer_label.text() == "你的 RTX 4060 能运行最多 70 亿参数的语言模型（4 位）"
    assert all(each.text() for each in card.findChildren(QLabel) if each.isVisibleTo(card))
