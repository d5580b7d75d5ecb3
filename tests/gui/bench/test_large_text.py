"""Figures, cards and tables where the text is large or the window is small: nothing is cut."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QFontMetricsF

from gpu_assistant.bench import results
from gpu_assistant.core.results import SkippedWorkload
from gpu_assistant.gui import theme
from gpu_assistant.gui.bench.messages import pair_description
from gpu_assistant.gui.bench.result import view
from gpu_assistant.gui.bench.result.charts import ComparisonRow
from gpu_assistant.gui.bench.result.table import ResultsTable
from gpu_assistant.gui.bench.result.view import GpuLogCard
from gpu_assistant.gui.widgets.table import CELL_MARGIN, _without_slash_breaks
from gpu_assistant.gui.widgets.text import layout_text
from tests.fakes.benchmarks import card_benchmark, two_cards

pytestmark = pytest.mark.gui


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("width", [760, 520])
@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_bar_labels_fit_with_large_text(language, qapp, qtbot, scale, width, code):
    language.set(code)
    theme.set_text_scale(qapp, scale)
    benchmark = two_cards()
    for pair in results.device_comparisons(benchmark):
        row = ComparisonRow(pair, pair_description(pair, benchmark))
        qtbot.addWidget(row)
        row.resize(width, row.heightForWidth(width))
        places, strong = row._geometry(width), QFontMetricsF(theme.font("small-strong"))
        if not places.stacked:
            room = places.bars_right - places.bars_left
            assert all(strong.horizontalAdvance(row._bar_text(each)) <= room for each in pair.results)
        assert all(size.width() <= places.text_width for _, size in row._text_layouts(places.text_width))
        if places.stacked:
            words = sum(size.height() for _, size in row._text_layouts(places.text_width))
            assert words + row._bars_height(places) <= row.height()


def _lines(text, table, wide):
    text = _without_slash_breaks(text)
    layout, _ = layout_text(text, table.font(), wide - 2 * CELL_MARGIN)
    lines = [layout.lineAt(number) for number in range(layout.lineCount())]
    return [text[line.textStart() : line.textStart() + line.textLength()].strip() for line in lines]


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_results_table_cuts_no_word(language, qapp, qtbot, scale):
    theme.set_text_scale(qapp, scale)
    left = SkippedWorkload(
        id="resnet50", device="cpu", dtype="mixed-bfloat16", size=(3, 224, 224), why="bench.note.hardware"
    )
    batched = tuple(replace(each, batch=16) if each.id == "resnet50" else each for each in card_benchmark().results)
    every = ResultsTable()
    qtbot.addWidget(every)
    # Twice as large, six columns do not fit beside each other, whatever the system's font.
    narrow = scale > 1
    every.resize(640 if narrow else 840, 600)
    every.show()
    every.show_benchmark(replace(card_benchmark(), results=batched, left_out=(left,)))
    every.toggle_button.click()
    table = every.table
    assert table.columnCount() == (3 if narrow else 6)
    assert table.horizontalHeader().length() <= table.viewport().width()
    assert table.item(0, 0 if narrow else 2).text().endswith("3 × 224 × 224, batch 16")
    last, median = table.rowCount() - 1, 1 if narrow else 3
    assert table.item(last, median).text().startswith("This CPU has no units of its own")
    assert table.columnSpan(last, median) == table.columnCount() - median
    for row in range(table.rowCount()):
        for column in range(table.columnCount()):
            item = table.item(row, column)
            if item is None:
                continue
            wide = sum(table.columnWidth(column + more) for more in range(table.columnSpan(row, column)))
            _, size = layout_text(item.text(), table.font(), wide - 2 * CELL_MARGIN)
            assert size.height() <= table.rowHeight(row)
            assert not any(line.startswith("s") and len(line) < 3 for line in _lines(item.text(), table, wide))
            longest = max(table.fontMetrics().horizontalAdvance(word) for word in item.text().split())
            assert longest <= wide - 2 * CELL_MARGIN
    assert table.viewport().height() >= table.verticalHeader().length()


# Without a page around it Windows asks such a card for the height of its words at its least width.
@pytest.mark.qt_log_ignore("Unable to set geometry", extend=True)
def test_gpu_log_shows_dash_for_unreported_values(language, qtbot, seen):
    card = replace(card_benchmark().watched[0], clock_sm=2505, power_max_w=113.4, power_limit_w=115.0)
    hot = replace(card, index=1, throttle=("thermal", "power-cap"), temp_end=84, temp_max=88)
    shown = GpuLogCard()
    qtbot.addWidget(shown)
    shown.show()
    shown.show_benchmark(replace(two_cards(), watched=(card, hot)))
    qtbot.waitUntil(lambda: "GPU 0" in seen(shown), timeout=5000)
    said = seen(shown)
    for words in (
        "GPU 0 · RTX 4060",
        "GPU 1 · RTX 4060",
        "41 → 66 °C, at most 67 °C",
        "2,505 MHz",
        "113 W of 115 W",
        "nothing",
        "Slowed down by heat; At its power limit",
    ):
        assert words in said
    assert dict(view.gpu_log_rows(card))["Memory clock under load"] == "—"
    assert view.gpu_log_rows(hot)[view.THROTTLE_ROW][1].startswith("Slowed")
    shown.show_benchmark(replace(card_benchmark(), watched=()))
    assert shown.isHidden()
