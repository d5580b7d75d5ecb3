"""Painted rows of the comparison: nothing is cut, aligned rows share layout and scale."""

from __future__ import annotations

from math import ceil

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QFontMetricsF

from gpu_assistant.bench.device_comparison import device_comparisons
from gpu_assistant.gui import theme
from gpu_assistant.gui.bench.result.comparison_row import ComparisonRow, RowAlignment
from gpu_assistant.reports import messages
from tests.fakes.benchmarks import card_benchmark, two_cards
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
        if not geometry.stacked:
            available = geometry.bars_right - geometry.bars_left
            assert all(strong.horizontalAdvance(row.bar_text(each)) <= available for each in pair.results)
        layouts = row.text_layouts(geometry.text_width)
        assert all(size.width() <= ceil(geometry.text_width) for _, size in layouts)
        if geometry.stacked:
            text_height = sum(size.height() for _, size in layouts)
            assert text_height + row.bars_height(geometry) <= row.height()


def test_rows_share_layout(open_result):
    cpu_results = tuple(result for result in card_benchmark().results if result.device == "cpu")
    rows = open_result(replace(cpu_benchmark(), results=cpu_results)).result_view.comparison_rows
    widths = range(200, 1000, 20)
    assert len(rows) == 3
    assert any(len({row.needs_stacking(width) for row in rows}) == 2 for width in widths)
    assert all(len({row.geometry_for(width).stacked for row in rows}) == 1 for width in widths)


def test_each_row_has_the_scale_of_its_own_results_and_range(language, qtbot):
    rows = [
        ComparisonRow(pair, "", messages.expected_range(pair, card_benchmark()))
        for pair in device_comparisons(card_benchmark())
    ]
    alignment = RowAlignment(rows)
    for row in rows:
        qtbot.addWidget(row)
        row.align_with(alignment)
    products = [row for row in rows if row.pair.fastest.id == "matmul"]
    assert [row.full_bar_value() for row in products] == [14.4, 28.7]
    assert len({row.full_bar_width(600) for row in rows}) == len({row.geometry_for(900) for row in rows}) == 1


def test_cpu_only_row_has_value_without_bar(language, qtbot):
    row = ComparisonRow(device_comparisons(cpu_benchmark())[0], "")
    qtbot.addWidget(row)
    row.resize(800, row.sizeHint().height())
    bar, image = theme.color("s5"), row.grab().toImage()
    assert all(image.pixelColor(x, image.height() // 2) != bar for x in range(500, 800))


def test_accessible_name_has_doubt_and_efficiency(language, qtbot):
    busy = replace(cpu_benchmark().results[0], notes=("busy-cpu",))
    for benchmark, text in (
        (replace(cpu_benchmark(), results=(busy,), notes=("bench.note.busy-cpu",)), "doubtful"),
        (two_cards(), "96% efficiency"),
    ):
        row = ComparisonRow(device_comparisons(benchmark)[0], "")
        qtbot.addWidget(row)
        assert text in row.accessibleName()
