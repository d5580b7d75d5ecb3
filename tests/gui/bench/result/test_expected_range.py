"""Is that normal for this card? Ranges with their source, and what to do below them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.fakes.benchmarks import card_benchmark, slow_benchmark

pytestmark = pytest.mark.gui


def test_unknown_gpu_reported_as_unknown(open_result, seen):
    view = open_result(replace(card_benchmark(), expected=None, verdict="bench.verdict.measured")).result_view
    assert not view.verdict_pill.isVisible()
    assert "no reference figures for this card" in seen(view.expected_range_card)


def test_expected_range_shows_source(open_result, seen):
    view = open_result(card_benchmark()).result_view
    text = seen(view.expected_range_card)
    assert "usual: 11.3 to 14.4 TFLOP/s" in text
    assert "we chose these limits ourselves" not in text
    view.expected_range_card.range_button.click()
    text = seen(view.expected_range_card)
    assert "we chose these limits ourselves" in text
    assert view.expected_range_card.source_button.toolTip().startswith("https://")
    assert "usual for this card: 11.3 TFLOP/s to 14.4 TFLOP/s" in view.comparison_rows[2].accessibleName()


@pytest.mark.parametrize("cause", ["battery", "heat", "power-plan", "slot", "busy", "power-supply"])
def test_below_range_shows_advice(open_result, seen, language, cause):
    view = open_result(slow_benchmark(cause)).result_view
    assert view.expected_range_card.card_title.text() == "Slower than usual: 3 of 3 measurements"
    assert not view.verdict_pill.isVisible()
    # Said once, above all figures.
    advice = language.texts().translate(f"bench.cause.{cause}")
    assert view.slow_hero.detail_label.text().splitlines()[0].removeprefix("1. ") == advice
    text = seen(view.expected_range_card)
    assert advice not in text
    assert "stick" not in text


def test_slow_rows_come_first_and_say_by_how_much(open_result):
    rows = open_result(slow_benchmark()).result_view.comparison_rows
    assert [row.pair.fastest.judgement == "below" for row in rows] == sorted(
        (row.pair.fastest.judgement == "below" for row in rows), reverse=True
    )
    assert next(iter(rows[0].texts.values())) == "7.1 TFLOP/s · 37% below usual"


def test_below_range_is_said_first_with_its_size_and_what_to_do(open_result, seen):
    view = open_result(slow_benchmark("heat")).result_view
    # float32 products: 7.08 TFLOP/s of at least 11.3 are 37 % too few, more than in the other two comparisons.
    assert view.slow_hero.title_label.text() == "Your RTX 4060 is slower than usual, by up to 37%"
    assert "Clean its fans" in view.slow_hero.detail_label.text()
    assert view.slow_hero.kind == "warn"
    assert view.slow_hero.mapTo(view, view.slow_hero.rect().topLeft()).y() < view.headline_card.y()
    assert not open_result(card_benchmark()).result_view.slow_hero.isVisible()


def test_below_range_without_cause_lists_only_checks_that_are_open(open_result, seen):
    slow = slow_benchmark()
    plugged = replace(slow, on_battery=False, watched=tuple(replace(log, temp_max=61) for log in slow.watched))
    text = open_result(plugged).result_view.slow_hero.detail_label.text()
    assert "Power plan" in text
    # On mains, without heat, and with fast copies to the card.
    for check in ("Laptop", "Heat", "Slot", "stick"):
        assert check not in text
    unknown = replace(slow, on_battery=None, watched=tuple(replace(log, temp_max=None) for log in slow.watched))
    text = open_result(unknown).result_view.slow_hero.detail_label.text()
    for check in ("Power plan", "plug it in", "fans"):
        assert check in text


def test_value_above_range_is_not_usual(open_result, seen):
    fast = card_benchmark()
    results = tuple(
        replace(r, median=29.5, q3=29.6, judgement="above") if r.dtype == "float16" else r for r in fast.results
    )
    view = open_result(replace(fast, results=results, verdict="bench.verdict.above")).result_view
    assert view.verdict_pill.text == "Normal for this card, or faster"
    text = seen(view.expected_range_card)
    assert "above the usual range: 22.7 to 28.7 TFLOP/s" in text
    assert "usual: 11.3 to 14.4 TFLOP/s" in text
