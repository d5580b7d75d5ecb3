"""The bars of the memory estimate: rows, parts, notes."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gpu_assistant.core.errors import AppError
from gpu_assistant.gui.bench.memory_fit.stacked_bars import StackedBarRow
from tests.fakes.benchmarks import GIB, memory_fits

pytestmark = pytest.mark.gui


def test_memory_fit_shows_bars(memory, app, seen, measure):
    memory.batch_box.setValue(32)
    measure()
    assert app.fitted == ("resnet50", 32, "cuda")
    rows = memory.findChildren(StackedBarRow)
    assert len(rows) == 5
    text = rows[1].accessibleName()
    assert text.startswith("Mixed precision: 1.1 GB (−34%), fits; largest batch about 104, ")
    assert "Optimizer state 98 MB" in text
    assert rows[4].batch_label.text() == "fits; largest batch about 960"
    assert rows[4].batch_label.tone == "ok"
    assert "Free when measured: 8 GB. Planned with 7.2 GB; " in seen(memory)
    assert "dashed" not in seen(memory)
    assert "1 GB of memory is 1,024 MB" in seen(memory)


def test_memory_parts_have_values_and_focus(memory, measure, qtbot):
    measure()
    row = memory.bars.rows["plain"]
    assert [text for text, _ in row.legend.parts] == [
        "Parameters 98 MB",
        "Gradients 98 MB",
        "Optimizer state 98 MB",
        "Activations 1.4 GB",
        "Temporary 12 MB",
        "Cache 54 MB",
    ]
    assert not row.toolTip()
    expected = [memory.measure_button, *memory.bars.rows.values(), memory.variant_dropdown]
    memory.device_dropdown.setFocus()
    stops = [memory.device_dropdown]
    while stops[-1] is not memory.variant_dropdown and len(stops) <= len(expected):
        qtbot.keyClick(stops[-1], Qt.Key.Key_Tab)
        stops.append(QApplication.focusWidget())
    assert stops[1:] == expected


def test_not_fitting_variant_is_marked(memory, app, seen, measure):
    app.results["fit"] = memory_fits(GIB)
    measure()
    assert "Planned with 922 MB (the dashed line); the rest is left for the display" in seen(memory)


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_cpu_note_mentions_libraries(memory, app, device, measure):
    result = memory_fits()
    app.results["fit"] = replace(result, fits=tuple(replace(each, device=device) for each in result.fits))
    measure()
    assert ("libraries take a few hundred MB more" in memory.bars.notes_label.text()) == (device == "cpu")


def test_omitted_variant_shows_own_reason(memory, app, qtbot, seen, measure):
    result = memory_fits()
    app.results["fit"] = replace(result, fits=result.fits[:1], left_out={"mixed": "bench.note.memory"})
    measure()
    qtbot.waitUntil(lambda: "Mixed precision: Does not fit in the free memory" in seen(memory), timeout=5000)


def test_previous_bars_stay_until_new_results(memory, app, seen, measure, wait_for_end):
    measure()
    known = memory.bars.rows["plain"].accessibleName()
    app.gate, app.results["fit"] = threading.Event(), AppError("bench-killed")
    memory.measure_button.click()
    assert "The earlier result: ResNet-50: one step" in seen(memory.bars)
    app.gate.set()
    wait_for_end()
    assert memory.message_banner.isVisible()
    assert "The earlier result" in seen(memory.bars)
    assert memory.bars.rows["plain"].accessibleName() == known
    app.results["fit"] = replace(memory_fits(), fits=memory_fits().fits[:1])
    measure()
    assert "The earlier result" not in seen(memory.bars)
    assert [*memory.bars.rows] == ["plain"]


def test_partial_gradients_are_explained(memory, app, seen, measure):
    result = memory_fits()
    app.results["fit"] = replace(result, fits=tuple(replace(fit, gradients=fit.gradients // 2) for fit in result.fits))
    measure()
    assert "not all gradients exist by then" in seen(memory.bars)
