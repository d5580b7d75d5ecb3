"""All figures in a table: complete words, in six columns or three."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.core.results import SkippedWorkload
from gpu_assistant.gui import theme
from gpu_assistant.gui.bench.result.table import ResultsTable
from gpu_assistant.gui.widgets.table import CELL_MARGIN
from gpu_assistant.gui.widgets.text import layout_text
from gpu_assistant.reports.result_messages import table_rows
from tests.fakes.benchmarks import card_benchmark
from tests.fakes.examples import cpu_benchmark

pytestmark = pytest.mark.gui


def test_results_table_expands(open_result):
    view = open_result(card_benchmark()).result_view
    view.results_table.toggle_button.click()
    table = view.results_table.table
    assert table.isVisible()
    assert table.rowCount() == len(card_benchmark().results)
    assert table.item(0, 3).text() == "121 images/s"


def drawn_lines(text, table, width):
    """The lines of a cell; the table draws "images/s" without a break after the slash."""
    text = text.replace("/", "/\u2060")
    layout, _ = layout_text(text, table.font(), width - 2 * CELL_MARGIN)
    lines = [layout.lineAt(number) for number in range(layout.lineCount())]
    return [text[line.textStart() : line.textStart() + line.textLength()].strip() for line in lines]


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_results_table_cuts_no_word(language, qapp, qtbot, scale):
    theme.set_text_scale(qapp, scale)
    omission = SkippedWorkload(
        id="resnet50", device="cpu", dtype="mixed-bfloat16", size=(3, 224, 224), why="bench.note.hardware"
    )
    batched = tuple(replace(each, batch=16) if each.id == "resnet50" else each for each in card_benchmark().results)
    card = ResultsTable()
    qtbot.addWidget(card)
    # Twice as large, six columns do not fit beside each other, whatever the system's font.
    narrow = scale > 1
    card.resize(660 if narrow else 840, 600)  # what a window of 880 pixels leaves for it then
    card.show()
    card.show_benchmark(replace(card_benchmark(), results=batched, left_out=(omission,)))
    card.toggle_button.click()
    table = card.table
    assert table.columnCount() == (3 if narrow else 6)
    assert table.horizontalHeader().length() <= table.viewport().width()
    assert table.item(0, 0 if narrow else 2).text().endswith("3 × 224 × 224, batch 16")
    last, median = table.rowCount() - 1, 1 if narrow else 3
    assert table.item(last, median).text().startswith("This CPU has no bfloat16 hardware")
    assert table.columnSpan(last, median) == table.columnCount() - median
    for row in range(table.rowCount()):
        for column in range(table.columnCount()):
            item = table.item(row, column)
            if item is None:
                continue
            width = sum(table.columnWidth(column + more) for more in range(table.columnSpan(row, column)))
            _, size = layout_text(item.text(), table.font(), width - 2 * CELL_MARGIN)
            assert size.height() <= table.rowHeight(row)
            assert not any(line.startswith("s") and len(line) < 3 for line in drawn_lines(item.text(), table, width))
            longest = max(table.fontMetrics().horizontalAdvance(word) for word in item.text().split())
            assert longest <= width - 2 * CELL_MARGIN
    assert table.viewport().height() >= table.verticalHeader().length()


def test_extrapolated_result_shows_bounds_and_note():
    measured = cpu_benchmark().results[0]
    guess = replace(measured, size=(10000,) * 3, runs=0, q1=0.1, median=0.141, q3=0.15, extrapolated=True)
    (row,) = table_rows(replace(cpu_benchmark(), results=(guess,)))
    assert row[3:] == ("≈ 141 GFLOP/s", "100 … 150 GFLOP/s", "estimated")


def test_omission_shows_time_needed_and_available():
    omission = SkippedWorkload(id="resnet50", device="cpu", dtype="float32", size=(3, 224, 224), why="bench.note.time")
    omission = replace(omission, wanted_s=21.0, had_s=6.0)
    row = table_rows(replace(cpu_benchmark(), left_out=(omission,)))[-1]
    assert row[-1] == "Takes about 21 seconds here; only 6 seconds remained"


def test_omission_of_ended_run_shows_size_and_reason():
    omission = SkippedWorkload(id="decode", device="cpu", dtype="float32", size=(64, 32), why="bench.note.killed")
    row = table_rows(replace(cpu_benchmark(), left_out=(omission,), notes=("bench.note.killed",)))[-1]
    assert row[-2:] == ("96 words", "Not measured: the test ended first")
