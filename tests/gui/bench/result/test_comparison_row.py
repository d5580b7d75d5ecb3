"""Painted rows of the comparison: nothing is cut, aligned rows share layout and scale."""

from __future__ import annotations

from itertools import pairwise
from math import ceil

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QFontMetricsF

from gpu_assistant.bench.device_comparison import device_comparisons
from gpu_assistant.gui import theme
from gpu_assistant.gui.bench.result.comparison_row import MIN_BAR_SHARE, ComparisonRow, RowAlignment
from gpu_assistant.reports import messages
from gpu_assistant.reports.expected_ranges import pair_ranges
from tests.fakes.benchmarks import card_benchmark, slow_benchmark, two_cards
from tests.fakes.examples import cpu_benchmark

pytestmark = pytest.mark.gui


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("width", [760, 520])
@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_bar_labels_fit_with_large_text(language, qapp, qtbot, scale, width, code):
    language.set(code)
    theme.set_text_scale(qapp, scale)
    benchmark = two_cards()
    for pair in device_comparisons(benchmark):
        row = ComparisonRow(pair, messages.pair_description(pair, benchmark))
        qtbot.addWidget(row)
        row.resize(width, row.heightForWidth(width))
        geometry, strong = row.geometry_for(width), QFontMetricsF(theme.font("small-strong"))
        if not geometry.is_value_above:
            available = geometry.bars_right - geometry.bars_left
            assert all(strong.horizontalAdvance(row.bar_text(each)) <= available for each in pair.results)
        layouts = row.text_layouts(geometry.text_width)
        assert all(size.width() <= ceil(geometry.text_width) for _, size in layouts)
        if geometry.is_text_above:
            text_height = sum(size.height() for _, size in layouts)
            assert text_height + row.bars_height(geometry) <= row.height()


def test_rows_share_layout(open_result):
    cpu_results = tuple(result for result in card_benchmark().results if result.device == "cpu")
    rows = open_result(replace(cpu_benchmark(), results=cpu_results)).result_view.comparison_rows
    widths = range(200, 1000, 20)
    assert len(rows) == 3
    assert any(len({row.fits_beside_text(width) for row in rows}) == 2 for width in widths)
    assert all(len({row.geometry_for(width) for row in rows}) == 1 for width in widths)


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_bars_keep_their_share_of_the_width_beside_long_labels(language, qtbot, code):
    language.set(code)
    benchmark = two_cards()
    rows = [
        ComparisonRow(pair, messages.pair_description(pair, benchmark), pair_ranges(pair, benchmark))
        for pair in device_comparisons(benchmark)
    ]
    alignment = RowAlignment(rows)
    for row in rows:
        qtbot.addWidget(row)
        row.align_with(alignment)
    places = set()
    for width in range(360, 1600, 20):
        geometry = rows[0].geometry_for(width)
        places.add((geometry.is_text_above, geometry.is_value_above))
        if not geometry.is_value_above:
            available = geometry.bars_right - geometry.bars_left
            assert all(row.full_bar_width(available) >= MIN_BAR_SHARE * width for row in rows)
    assert places == {(True, True), (True, False), (False, False)}


def test_each_row_has_the_scale_of_its_own_results_and_range(language, qtbot):
    rows = [
        ComparisonRow(pair, "", pair_ranges(pair, card_benchmark())) for pair in device_comparisons(card_benchmark())
    ]
    alignment = RowAlignment(rows)
    for row in rows:
        qtbot.addWidget(row)
        row.align_with(alignment)
    products = [row for row in rows if row.pair.fastest.id == "matmul"]
    assert [row.full_bar_value() for row in products] == [14.4, 28.7]
    assert len({row.full_bar_width(600) for row in rows}) == len({row.geometry_for(900) for row in rows}) == 1


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_a_slow_bar_has_its_value_above_it_and_the_usual_one_at_its_range(language, qapp, qtbot, scale, code):
    language.set(code)
    theme.set_text_scale(qapp, scale)
    benchmark, width = slow_benchmark(), round(1600 * scale)
    rows = [ComparisonRow(pair, "", pair_ranges(pair, benchmark)) for pair in device_comparisons(benchmark)]
    alignment = RowAlignment(rows)
    for row in rows:
        qtbot.addWidget(row)
        row.align_with(alignment)
    row = next(row for row in rows if row.is_below_range)
    (range_text,) = row.range_texts.values()
    assert range_text == {"en": "usual 11.3–14.4 TFLOP/s", "zh_CN": "正常 11.3–14.4 TFLOP/s"}[code]
    geometry = row.geometry_for(width)
    assert not geometry.is_text_above
    available = geometry.bars_right - geometry.bars_left
    range_end = row.full_bar_width(available) * row.expected_ranges["cuda:0"][1] / row.full_bar_value()
    assert range_end + 10 + theme.advance("small", range_text) <= available
    row.resize(width, row.heightForWidth(width))
    image, bar = row.grab().toImage(), theme.color("warn")
    bar_top = next(y for y in range(row.height()) if image.pixelColor(round(geometry.bars_left) + 20, y) == bar)
    ground, left = image.pixelColor(width - 1, 0), round(geometry.bars_left)
    assert any(image.pixelColor(x, y) != ground for x in range(left, left + 100) for y in range(bar_top))


def test_each_of_two_cards_is_drawn_with_its_own_range(language, qtbot):
    benchmark = two_cards()
    pair = next(pair for pair in device_comparisons(benchmark) if pair.fastest.id == "matmul")
    row = ComparisonRow(pair, "", pair_ranges(pair, benchmark))
    qtbot.addWidget(row)
    row.resize(900, row.heightForWidth(900))
    image, bracket = row.grab().toImage(), theme.color("ok")
    lines = [any(image.pixelColor(x, y) == bracket for x in range(row.width())) for y in range(row.height())]
    # One bracket begins where no line above it has one.
    assert sum(now and not before for before, now in pairwise([False, *lines])) == 2
    assert row.accessibleName().count("usual for this card") == 2


def test_a_slow_card_is_marked_beside_a_faster_one(language, qtbot):
    """The second card is slow while the first is as fast as others."""
    benchmark = two_cards()
    results = tuple(
        replace(each, median=each.median * 0.5, judgement="below") if each.device == "cuda:1" else each
        for each in benchmark.results
    )
    slow = replace(benchmark, results=results)
    pair = next(pair for pair in device_comparisons(slow) if pair.fastest.id == "matmul")
    row = ComparisonRow(pair, "", pair_ranges(pair, slow))
    qtbot.addWidget(row)
    assert row.is_below_range
    assert [("slower" in text) for text in row.texts.values()] == [False, True, False]


def test_cpu_only_row_has_value_without_bar(language, qtbot):
    row = ComparisonRow(device_comparisons(cpu_benchmark())[0], "")
    qtbot.addWidget(row)
    row.resize(800, row.sizeHint().height())
    bar, image = theme.color("s5"), row.grab().toImage()
    assert all(image.pixelColor(x, image.height() // 2) != bar for x in range(500, 800))


def aligned_rows(benchmark, qtbot):
    rows = [
        ComparisonRow(pair, messages.pair_description(pair, benchmark), pair_ranges(pair, benchmark))
        for pair in device_comparisons(benchmark)
    ]
    alignment = RowAlignment(rows)
    for row in rows:
        qtbot.addWidget(row)
        row.align_with(alignment)
    return rows


def test_each_gpu_has_its_own_ratio(language, qtbot):
    training, *_, copy = aligned_rows(two_cards(), qtbot)
    ratios = [training.ratio_texts.get(id(each), "") for each in training.pair.results]
    assert ratios == ["31×", "31×", "60×", ""]  # 262, 257 and 503 of 8.4 images/s
    assert training.accessibleName().count("times as fast as the CPU") == 3
    assert copy.ratio_texts == {}


def test_rows_compared_with_the_cpu_alone_share_its_scale(language, qtbot):
    rows = aligned_rows(card_benchmark(), qtbot)
    alone = [row for row in rows if row.is_compared_with_cpu_alone]
    assert [row.pair.fastest.id for row in alone] == ["resnet50", "bert-base"]
    shares = [row.pair.cpu.median / row.full_bar_value() for row in alone]
    assert shares == pytest.approx([5.1 / 168] * 2)  # BERT-base has the higher ratio, and a full bar
    assert all(row.full_bar_value() >= row.pair.fastest.median for row in rows)


def test_ends_of_the_range_are_seen_on_the_bar(language, qtbot):
    (row,) = (each for each in aligned_rows(card_benchmark(), qtbot) if each.pair.fastest.id == "copy-within")
    row.resize(900, row.heightForWidth(900))
    image, end = row.grab().toImage(), theme.color("ok")
    lengths = [sum(image.pixelColor(x, y) == end for y in range(row.height())) for x in range(row.width())]
    bar = max(sum(image.pixelColor(x, y) == theme.color("accent") for y in range(row.height())) for x in range(900))
    assert sum(length > bar for length in lengths) == 4  # two lines of two pixels, higher than the bar


def test_accessible_name_has_doubt_and_efficiency(language, qtbot):
    busy = replace(cpu_benchmark().results[0], notes=("busy-cpu",))
    for benchmark, text in (
        (replace(cpu_benchmark(), results=(busy,), notes=("bench.note.busy-cpu",)), "doubtful"),
        (two_cards(), "96% efficiency"),
    ):
        row = ComparisonRow(device_comparisons(benchmark)[0], "")
        qtbot.addWidget(row)
        assert text in row.accessibleName()
