"""Is that normal for this card? Ranges with their source, and what to do below them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.bench.expected_ranges import LAST_STEPS, STEPS_BY_CAUSE
from gpu_assistant.core.results import BenchDevice
from gpu_assistant.reports.expected_ranges import (
    compared_text,
    conditions_text,
    normal_text,
    slow_text,
    verdict_sentence,
)
from gpu_assistant.reports.messages import make_headline
from tests.fakes.benchmarks import GIB, card_benchmark, processor_benchmark, slow_benchmark, two_cards

pytestmark = pytest.mark.gui


def test_unknown_gpu_reported_as_unknown(open_result, seen):
    view = open_result(replace(card_benchmark(), expected=None, verdict="bench.verdict.measured")).result_view
    assert not view.normal_icon.isVisible()
    assert view.headline_label.text() == "Your RTX 4060 is faster than your CPU"
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
    assert "usual for this card: 11.3 TFLOP/s to 14.4 TFLOP/s" in view.comparison_rows[0].accessibleName()


def test_result_that_was_not_judged_has_no_range(open_result, seen):
    whole = card_benchmark()
    results = [replace(each, judgement="unknown") if each.dtype == "float16" else each for each in whole.results]
    view = open_result(replace(whole, results=tuple(results))).result_view
    assert "11.3 to 14.4 TFLOP/s" in seen(view.expected_range_card)
    assert "22.7 to 28.7 TFLOP/s" not in seen(view.expected_range_card)
    unjudged = tuple(replace(each, judgement="unknown") for each in whole.results)
    view = open_result(replace(whole, results=unjudged, verdict="bench.verdict.measured")).result_view
    assert not view.expected_range_card.isVisible()


@pytest.mark.parametrize("cause", ["battery", "heat", "power-plan", "slot", "busy", "power-supply"])
def test_below_range_shows_cause_and_numbered_steps(open_result, seen, language, cause):
    view = open_result(slow_benchmark(cause)).result_view
    assert view.expected_range_card.card_title.text() == "Slower than usual: 3 of 3 measurements"
    assert not view.normal_icon.isVisible()
    # Said once, above all figures.
    advice = language.texts().translate(f"bench.cause.{cause}")
    steps = [language.texts().translate(f"bench.step.{step}") for step in (*STEPS_BY_CAUSE[cause], *LAST_STEPS)]
    figures = {"heat": "Highest temperature: 88 °C.", "busy": "Highest load before the test: 1%."}
    said = ["Compared with the middle of the usual range.", advice]
    said += [figures[cause]] if cause in figures else []
    assert view.slow_hero.detail_label.text().splitlines() == said
    assert [(each.number, each.text) for each in view.repair_steps.steps] == [*enumerate(steps, 1)]
    assert advice not in seen(view.expected_range_card)


def test_slow_rows_come_first_and_say_by_how_much(open_result):
    rows = open_result(slow_benchmark()).result_view.comparison_rows
    assert [row.pair.fastest.judgement == "below" for row in rows] == sorted(
        (row.pair.fastest.judgement == "below" for row in rows), reverse=True
    )
    assert next(iter(rows[0].texts.values())) == "7.1 TFLOP/s · 45% slower"


def test_beside_slow_rows_a_row_without_range_has_no_bar_that_looks_like_the_best(open_result, seen):
    view = open_result(slow_benchmark()).result_view
    unknown = [row for row in view.comparison_rows if not row.expected_ranges]
    assert {row.pair.fastest.id for row in unknown} == {"resnet50", "bert-base", "copy-to-device-pinned"}
    assert not any(row.has_bars for row in unknown)
    assert all("not compared with other cards" in row.accessibleName() for row in unknown)
    assert view.comparison_rows[-len(unknown) :] == tuple(unknown)
    assert "Not compared with other cards" in seen(view.comparison_card)
    # No bar has the colour of a card that is as fast as others.
    assert not view.key.entries["gpu"].isVisible()
    normal = open_result(card_benchmark()).result_view
    assert next(row for row in normal.comparison_rows if row.pair.fastest.id == "resnet50").has_bars
    assert "Not compared with other cards" in seen(normal.comparison_card)


@pytest.mark.parametrize(("benchmark", "shown"), [(slow_benchmark(), True), (card_benchmark(), False)])
def test_key_names_the_colour_of_slow_bars(open_result, benchmark, shown):
    entry = open_result(benchmark).result_view.key.entries["below"]
    assert entry.text_label.text() == "Your RTX 4060, below its usual range"
    assert entry.isVisible() == shown


def test_below_range_is_said_first_with_its_size_and_what_to_do(open_result, seen):
    view = open_result(slow_benchmark("heat")).result_view
    # float32 products: 7.08 TFLOP/s are 45 % less than 12.85, the middle of 11.3 and 14.4; float16: 16.5 of 25.7.
    assert view.slow_hero.title_label.text() == "Your RTX 4060 is 36–45% slower than usual"
    assert seen(view).count("Compared with the middle of the usual range.") == 1
    assert view.headline_label.text() == "Training ResNet-50: your RTX 4060 is 19 times as fast as your CPU"
    assert not view.figure_label.isVisible()
    assert "Clean the fans" in seen(view.slow_hero)
    assert view.slow_hero.kind == "warn"
    assert view.slow_hero.mapTo(view, view.slow_hero.rect().topLeft()).y() < view.headline_card.y()
    assert not open_result(card_benchmark()).result_view.slow_hero.isVisible()


@pytest.mark.parametrize(
    ("code", "text"),
    [("en", "Your RTX 4060 is 45% slower than usual"), ("zh_CN", "你的 RTX 4060 比同型号显卡的正常水平慢 45%")],
)
def test_one_slow_measurement_is_said_with_one_figure(language, code, text):
    language.set(code)
    slow = slow_benchmark()
    results = tuple(
        each if each.dtype == "float32" and each.id == "matmul" else replace(each, judgement="as-expected")
        for each in slow.results
    )
    assert slow_text(replace(slow, results=results)) == text


def test_conditions_of_a_slow_card_without_cause_are_named(language):
    slow = slow_benchmark()
    text = "No reason was found. Highest temperature: 67 °C. Highest load before the test: 1%."
    assert conditions_text(slow) == text
    (log,) = slow.watched
    only_heat, only_load = replace(log, util_before=None), replace(log, temp_max=None)
    assert conditions_text(replace(slow, watched=(only_heat,))).endswith("found. Highest temperature: 67 °C.")
    assert conditions_text(replace(slow, watched=(only_load,))).endswith("found. Highest load before the test: 1%.")
    throttled = replace(log, throttle=("thermal",), temp_max=None, util_before=None)
    assert conditions_text(replace(slow, watched=(throttled,))) == ""
    assert conditions_text(replace(slow, watched=())) == ""
    assert conditions_text(slow_benchmark("power-plan")) == ""
    language.set("zh_CN")
    assert conditions_text(slow).endswith("最高温度 67 °C，测速前 GPU 占用最高 1%。")


def test_conditions_of_two_slow_cards_are_the_highest_of_both(language):
    slow = slow_benchmark()
    second = [replace(each, device="cuda:1") for each in slow.results if each.device == "cuda:0"]
    (log,) = slow.watched
    hotter = replace(log, index=1, temp_max=79, util_before=0)
    both = replace(slow, results=(*slow.results, *second), watched=(log, hotter))
    text = "No reason was found. Highest temperature: 79 °C. Highest load before the test: 1%."
    assert conditions_text(both) == text
    # The temperature of one of them is unknown, and may be higher.
    silent = replace(both, watched=(log, replace(hotter, temp_max=None)))
    assert conditions_text(silent) == "No reason was found. Highest load before the test: 1%."
    assert conditions_text(replace(both, watched=(log,))) == ""


def test_all_rows_with_a_range_have_the_plain_verdict(open_result):
    card = card_benchmark()
    ranged = tuple(each for each in card.results if each.judgement != "unknown")
    view = open_result(replace(card, results=ranged)).result_view
    assert view.headline_label.text() == "Your RTX 4060 runs at its usual speed"


def test_below_range_without_cause_lists_only_checks_that_are_open(open_result, seen):
    slow = slow_benchmark()
    plugged = replace(slow, on_battery=False, watched=tuple(replace(log, temp_max=61) for log in slow.watched))
    view = open_result(plugged).result_view
    assert "Highest temperature: 61 °C" in view.slow_hero.detail_label.text()
    begins = [each.text.split()[0] for each in view.repair_steps.steps]
    # On mains, idle before the test, without heat, and with fast copies to the card.
    assert begins == ["Choose", "An", "Measure", "If"]
    (log,) = slow.watched
    unknown = replace(slow, on_battery=None, watched=(replace(log, temp_max=None, util_before=None),))
    begins = [each.text.split()[0] for each in open_result(unknown).result_view.repair_steps.steps]
    # What nothing is known of comes first.
    assert begins[:4] == ["Close", "Plug", "Clean", "Choose"]


def test_of_two_unlike_cards_the_one_with_ranges_is_named(open_result):
    """The faster one is a card without known ranges."""
    card = card_benchmark()
    other = BenchDevice(id="cuda:1", name="NVIDIA GeForce RTX 9999", memory_bytes=16 * GIB)
    faster = [
        replace(each, device=other.id, judgement="unknown", median=2 * each.median)
        for each in card.results
        if each.device == "cuda:0"
    ]
    both = replace(card, devices=(*card.devices, other), results=(*card.results, *faster))
    view = open_result(both).result_view
    assert view.headline_label.text() == "Your RTX 4060 runs at its usual speed"
    assert view.caption_label.text() == "as fast as your CPU\nTraining ResNet-50\non the RTX 9999"


def test_verdict_of_two_known_cards_says_both(language):
    both = two_cards()
    assert normal_text(both) == "Your cards run at their usual speed"
    text = "Compared with healthy cards of the same model: matrix multiplication, GPU memory bandwidth."
    assert compared_text(both) == text
    language.set("zh_CN")
    assert compared_text(both) == "与同型号的正常显卡对照的项目：矩阵乘法、显存带宽。"


@pytest.mark.parametrize(
    ("code", "second", "text"),
    [
        ("en", "RTX 4060", "These cards run at their usual speed: 2 × RTX 4060"),
        ("en", "RTX 3090", "These cards run at their usual speed: RTX 4060, RTX 3090"),
        ("zh_CN", "RTX 3090", "这些显卡达到同型号的正常速度：RTX 4060、RTX 3090"),
    ],
)
def test_beside_an_unknown_card_the_verdict_names_the_known_ones(language, code, second, text):
    language.set(code)
    both = two_cards()
    cpu, first, other = both.devices
    unknown = BenchDevice(id="cuda:2", name="NVIDIA GeForce RTX 9999", memory_bytes=16 * GIB)
    three = replace(both, devices=(cpu, first, replace(other, name=f"NVIDIA GeForce {second}"), unknown))
    assert normal_text(three) == text


def test_a_measurement_judged_at_another_size_is_not_named_where_its_row_has_no_range(open_result, seen):
    card = card_benchmark()
    card = replace(card, results=tuple(each for each in card.results if each.dtype != "float16"))
    product = next(each for each in card.results if each.id == "matmul" and each.device == "cuda:0")
    # The CPU did not measure the size at which the card is fastest, so the row shows a smaller one.
    larger = replace(product, size=(8192, 8192, 8192), median=12.9)
    view = open_result(replace(card, results=(*card.results, larger))).result_view
    row = next(row for row in view.comparison_rows if row.pair.fastest == product)
    assert not row.expected_ranges
    assert "not compared with other cards" in row.accessibleName()
    assert "of the same model: GPU memory bandwidth.\n" in view.detail_label.text()


@pytest.mark.parametrize(
    ("cpu_speed", "text", "meaning"),
    [
        (
            1.0,
            "Your RTX 4060 is faster than your CPU",
            "What takes the CPU all night (8 hours) takes the card 15 minutes.",
        ),
        (31.2, "Your RTX 4060 is as fast as your CPU", ""),
        (40.0, "Your RTX 4060 is slower than your CPU", "The CPU is faster at this."),
        (1e4, "Your RTX 4060 is slower than your CPU", "The CPU is faster at this."),
    ],
)
def test_without_ranges_the_verdict_compares_card_and_cpu(language, cpu_speed, text, meaning):
    card = card_benchmark()
    results = tuple(
        replace(each, median=each.median * cpu_speed) if each.device == "cpu" else each for each in card.results
    )
    benchmark = replace(card, results=results, verdict="bench.verdict.measured")
    assert verdict_sentence(benchmark) == text
    remark = make_headline(benchmark).remark
    assert remark.startswith(meaning)
    assert bool(remark) == bool(meaning)


def test_verdict_of_one_device_alone_is_a_sentence(language):
    card = replace(card_benchmark(), verdict="bench.verdict.measured")
    alone = replace(card, results=tuple(each for each in card.results if each.device != "cpu"))
    assert verdict_sentence(alone) == "PyTorch runs on your RTX 4060"
    assert verdict_sentence(processor_benchmark()) == "Your CPU can train small models"
    assert verdict_sentence(replace(card, results=())) == ""


def test_graphics_card_is_suggested_only_to_whoever_has_none(open_result, seen):
    alone = processor_benchmark()
    assert "Large ones need a graphics card." in seen(open_result(alone).result_view)
    chosen = replace(alone, verdict="bench.verdict.cpu-chosen")
    assert "Large ones need a graphics card." not in seen(open_result(chosen).result_view)


def test_ranges_of_two_cards_are_told_apart(open_result, seen):
    text = seen(open_result(two_cards()).result_view.expected_range_card)
    assert "GPU 0: Matrix multiplication, float32" in text
    assert "GPU 1: Matrix multiplication, float32" in text


def test_value_above_range_is_not_usual(open_result, seen):
    fast = card_benchmark()
    results = tuple(
        replace(r, median=29.5, q3=29.6, judgement="above") if r.dtype == "float16" else r for r in fast.results
    )
    view = open_result(replace(fast, results=results, verdict="bench.verdict.above")).result_view
    assert view.headline_label.text() == "Your RTX 4060 runs at its usual speed, or faster"
    text = seen(view.expected_range_card)
    assert "above the usual range: 22.7 to 28.7 TFLOP/s" in text
    assert "usual: 11.3 to 14.4 TFLOP/s" in text
