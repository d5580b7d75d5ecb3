"""Two ways side by side where a driver update is needed: what each costs, and how one is chosen."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.app import App
from gpu_assistant.core.recommendation import Choice, Recommendation
from tests.advise.build import H100, catalog, machine, nvidia
from tests.fakes.examples import cpu_recommendation, rtx4060_recommendation
from tests.gui.rtx4060_run import RECORDED_MACHINE

pytestmark = pytest.mark.gui
BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


@BOTH
def test_both_ways_say_what_they_cost(simulated, at_recommendation, speak, seen, code) -> None:
    cards = at_recommendation(simulated).recommendation.way_cards
    speak(code)
    assert cards.isVisible()
    newest, works_now = cards.cards
    wanted = {
        "en": ("2.15.0", "3.6 GB", "980 MB", "1 administrator prompt", "1 restart", "Recommended"),
        "zh_CN": ("2.15.0", "3.6 GB", "980 MB", "需管理员确认 1 次", "重启 1 次", "推荐"),
    }[code]
    for text in wanted:
        assert text in newest.accessibleName()
    wanted = {
        "en": ("2.14.1", "2.6 GB", "No administrator prompt", "No restart"),
        "zh_CN": ("2.14.1", "2.6 GB", "无需管理员确认", "无需重启"),
    }[code]
    for text in wanted:
        assert text in works_now.accessibleName()
    for text in {
        "en": ("2.14.1", "Download: about 2.6 GB\nNo administrator prompt · No restart"),
        "zh_CN": ("2.14.1", "下载约 2.6 GB\n无需管理员确认 · 无需重启"),
    }[code]:
        assert text in seen(cards)
    assert (newest.isChecked(), works_now.isChecked()) == (True, False)


@BOTH
def test_narrow_cards_leave_out_no_cost(simulated, at_recommendation, speak, qtbot, code) -> None:
    cards = at_recommendation(simulated, (880, 520)).recommendation.way_cards
    speak(code)
    for card in cards.cards:
        assert {"en": "admin prompt", "zh_CN": "管理员确认"}[code] in card.cost_label.text()
        assert {"en": "restart", "zh_CN": "重启"}[code] in card.cost_label.text()
        cost = card.cost_label
        qtbot.waitUntil(lambda cost=cost: cost.height() >= cost.heightForWidth(cost.width()))


def test_lists_of_the_versions_replace_the_cards(simulated, at_recommendation, qtbot) -> None:
    page = at_recommendation(simulated).recommendation
    assert page.way_cards.isVisible()
    page.options_bar.customize_button.click()
    qtbot.waitUntil(lambda: not page.controller.busy and not page.way_cards.isVisible(), timeout=10_000)
    page.options_bar.recommended_button.click()
    qtbot.waitUntil(lambda: not page.controller.busy and page.way_cards.isVisible(), timeout=10_000)


def test_build_of_a_way_is_offered_on_its_card_alone(tmp_path, at_recommendation, seen) -> None:
    page = at_recommendation(App(data_dir=str(tmp_path / "data"), machine_file=str(RECORDED_MACHINE))).recommendation
    assert "2.14.1" in page.way_cards.cards[1].accessibleName()
    alternatives = page.controller.flow.state.recommendation.alternatives
    assert any(each.change.get("pytorch") == "2.14.1" for each in alternatives)
    assert "2.14.1" not in seen(page.alternatives_card)


@pytest.mark.parametrize("size", [(1180, 760), (880, 520)])
def test_costs_of_both_cards_are_line_by_line(simulated, at_recommendation, qtbot, size) -> None:
    cards = at_recommendation(simulated, size).recommendation.way_cards.cards
    assert len({card.cost_label.text().count("\n") for card in cards}) == 1
    qtbot.waitUntil(lambda: len({card.cost_label.y() for card in cards}) == 1, timeout=5000)


def test_cards_are_equally_wide(simulated, at_recommendation) -> None:
    wizard = at_recommendation(simulated)
    newest, works_now = wizard.recommendation.way_cards.cards
    assert abs(newest.width() - works_now.width()) <= 1
    assert newest.height() == works_now.height()


def test_chosen_way_is_planned_and_can_be_taken_back(simulated, at_recommendation, qtbot) -> None:
    wizard = at_recommendation(simulated)
    page = wizard.recommendation
    newest, works_now = page.way_cards.cards
    qtbot.mouseClick(works_now, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.part_cards["torch"].planned_label.text() == "2.14.1", timeout=5000)
    assert wizard.flow.state.choice == Choice(way="works-now")
    assert page.part_cards["driver"].pill.kind == "ok"
    assert works_now.isChecked()
    # Choosing the recommended one again is no choice any more.
    works_now.setFocus()
    qtbot.keyClick(works_now, Qt.Key.Key_Left)
    qtbot.waitUntil(lambda: page.part_cards["torch"].planned_label.text() == "2.15.0", timeout=5000)
    assert wizard.flow.state.choice is None
    assert newest.isChecked()


def test_one_way_shows_no_cards(app, simulated, at_recommendation) -> None:
    app.recommendation = cpu_recommendation
    assert not at_recommendation(app).recommendation.way_cards.isVisible()


@BOTH
def test_manual_driver_is_the_users_work(simulated, at_recommendation, speak, code) -> None:
    advice = rtx4060_recommendation()
    newest, works_now = advice.ways
    by_hand = replace(newest, cost=replace(newest.cost, manual_driver=True, admin_prompts=0, driver_bytes=None))
    simulated.recommendation = lambda _choice=None: replace(
        rtx4060_recommendation(Choice(way="works-now")), ways=(works_now, by_hand)
    )
    first, second = at_recommendation(simulated).recommendation.way_cards.cards
    speak(code)
    assert first.isChecked()
    assert {"en": "You install the driver yourself", "zh_CN": "驱动要你自己安装"}[code] in second.accessibleName()
    assert {"en": "plus the driver", "zh_CN": "另加驱动"}[code] in second.accessibleName()


@BOTH
def test_tensorflow_alone_has_both_ways_with_their_sizes(simulated, at_recommendation, speak, code) -> None:
    box = machine("linux", nvidia(H100), driver="535.104.05", glibc="2.35")

    def advise(choice: Choice | None = None) -> Recommendation:
        return recommend(box, catalog(), goal="tensorflow", choice=choice)

    simulated.recommendation = advise
    first, second = at_recommendation(simulated).recommendation.way_cards.cards
    speak(code)
    assert first.isChecked()
    for card, version in ((first, "2.15"), (second, "2.21.0")):
        assert f"TensorFlow {version}" in card.accessibleName()
        assert "3.4 GB" in card.accessibleName()


@BOTH
@pytest.mark.parametrize("size", [(1366, 697), (880, 520)])
def test_both_ways_are_seen_without_scrolling(simulated, at_recommendation, speak, size, code) -> None:
    page = at_recommendation(simulated, size).recommendation
    speak(code)
    viewport = page.page.viewport()
    for card in page.way_cards.cards:
        bottom = card.mapTo(viewport, card.rect().bottomRight()).y()
        assert 0 < bottom < viewport.height()
