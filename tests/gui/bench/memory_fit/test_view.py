"""The memory estimate: options, a run, projected batches, code."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from gpu_assistant.bench.child_protocol import MemoryFitProgress
from gpu_assistant.core.errors import AppError
from gpu_assistant.gui import theme
from gpu_assistant.gui.bench.page import MEMORY_TAB, SPEED_TAB
from tests.fakes.benchmarks import memory_fits, worked_out

pytestmark = pytest.mark.gui


def test_options_fit_two_rows_in_smallest_window(memory, qtbot):
    memory.window().resize(880, 520)
    parts = (memory.model_dropdown, memory.batch_box, memory.device_dropdown, memory.measure_button)
    qtbot.waitUntil(lambda: memory.measure_button.geometry().right() < memory.options_card.width(), timeout=5000)
    assert len({part.mapTo(memory, part.rect().bottomLeft()).y() for part in parts}) <= 2


def test_code_uses_fitting_variant_if_plain_does_not(memory, app, measure):
    app.results["fit"] = worked_out(256)
    memory.batch_box.setValue(256)
    measure()
    row = memory.bars.rows["plain"]
    assert row.answer_label.text() == "Does not fit"
    assert row.answer_label.tone == "error"
    assert memory.bars.refusal_banner.kind == "warn"
    largest = row.largest_label.text()
    assert memory.bars.refusal_banner.label.text() == (
        f"A batch of 256 does not fit. Use {largest}, or keep 256 with gradient accumulation."
    )
    code = memory.code_box.text_edit.toPlainText()
    assert code.splitlines()[0] == f"# A batch of 256 does not fit into the free memory: this takes {largest}."
    assert f"torch.randn({largest}, 3, 224, 224)" in code
    memory.batch_box.setValue(16)
    assert not memory.bars.refusal_banner.isVisible()
    memory.batch_box.setValue(4096)
    assert memory.bars.refusal_banner.label.text().startswith("A batch of 4,096 does not fit with any method")


def test_smaller_batch_is_taken_at_a_press(memory, app, measure):
    app.results["fit"] = worked_out(256)
    memory.batch_box.setValue(256)
    measure()
    smaller, code = memory.bars.remedy_buttons
    largest = memory.bars.rows["plain"].largest_label.text()
    assert (smaller.text(), code.text()) == (
        f"Set batch size to {largest}",
        "Show code: gradient accumulation",
    )
    # One filled button: the recommended way.
    assert (smaller.kind, code.kind, memory.measure_button.kind) == ("primary", "secondary", "secondary")
    smaller.setFocus(Qt.FocusReason.TabFocusReason)
    smaller.click()
    assert memory.batch_box.value() == int(largest)
    assert memory.bars.card_title.text().startswith(f"ResNet-50 fits with batch size {largest}")
    assert memory.bars.remedy_buttons == []
    assert memory.measure_button.kind == "secondary"  # it has been measured
    assert memory.window().focusWidget() is memory.bars.rows["plain"]
    assert app.fitted == ("resnet50", 256, "cuda")  # no second run
    memory.model_dropdown.choose(memory.model_dropdown.entries[1])
    assert memory.measure_button.kind == "primary"


def test_code_that_fits_is_shown_at_a_press(memory, app, qtbot, measure, page):
    memory.window().resize(880, 520)
    app.results["fit"] = worked_out(256)
    memory.batch_box.setValue(256)
    measure()
    page.verticalScrollBar().setValue(0)
    memory.bars.remedy_buttons[1].click()
    assert memory.variant_dropdown.text() == "Gradient accumulation"
    assert "chunk(4)" in memory.code_box.text_edit.toPlainText()
    assert memory.window().focusWidget() is memory.variant_dropdown
    dropdown = memory.variant_dropdown
    qtbot.waitUntil(lambda: dropdown.visibleRegion().boundingRect() == dropdown.rect(), timeout=5000)


def test_answer_to_own_choice_is_in_view_in_smallest_window(memory, app, qtbot, measure, page):
    memory.window().resize(880, 520)
    app.results["fit"] = worked_out(256)
    memory.batch_box.setValue(256)
    qtbot.waitUntil(memory.model_card.isVisible, timeout=10_000)
    assert memory.model_card.y() < memory.options_card.y()
    measure()
    qtbot.waitUntil(lambda: memory.bars.y() < memory.model_card.y(), timeout=5000)

    def is_whole_at_top(part):
        page.verticalScrollBar().setValue(0)  # whatever has the focus is scrolled into view later
        return part.visibleRegion().boundingRect() == part.rect()

    for part in (memory.bars.refusal_banner, memory.bars.rows["plain"].bar):
        qtbot.waitUntil(lambda part=part: is_whole_at_top(part), timeout=5000)


def test_code_follows_selected_variant(memory, measure):
    measure()
    assert "autocast" not in memory.code_box.text_edit.toPlainText()
    memory.variant_dropdown.choose(memory.variant_dropdown.entries[4])
    code = memory.code_box.text_edit.toPlainText()
    compile(code, "snippet", "exec")
    for part in ("autocast", "checkpoint", "chunk(4)", 'device = "cuda:1"'):
        assert part in code


def test_code_names_missing_package_and_install_command(memory, app, qtbot, measure):
    measure()
    assert not memory.package_label.isVisible()
    command = ("/e/bin/python", "-m", "pip", "install", "torchvision==0.28.0")
    for missing in ({"torchvision": command}, {"torchvision": None}):
        app.lacks = missing
        memory.set_environment(memory.installed)
        qtbot.waitUntil(lambda: not memory.is_reading, timeout=10_000)
        assert "torchvision" in memory.package_label.text()
        assert memory.install_command_box.isVisible() == (missing["torchvision"] is not None)
        if memory.install_command_box.isVisible():
            assert memory.install_command_box.text_edit.toPlainText() == " ".join(command)
        else:
            assert "do not know which release" in memory.package_label.text()
    assert "pip" not in memory.code_box.text_edit.toPlainText()


def test_code_only_for_measured_variants(memory, app, qtbot, seen, measure):
    result = memory_fits()
    fits = tuple(each for each in result.fits if each.variant != "mixed")
    fits = (*fits[:-1], replace(fits[-1], dtype="float32"))
    app.results["fit"] = replace(result, fits=fits, left_out={"mixed": "bench.note.hardware"})
    measure()
    assert [each.value for each in memory.variant_dropdown.entries] == [
        "plain",
        "checkpointing",
        "accumulation",
        "together",
    ]
    memory.variant_dropdown.choose(memory.variant_dropdown.entries[3])
    assert "autocast" not in memory.code_box.text_edit.toPlainText()
    qtbot.waitUntil(lambda: "Mixed precision: This CPU has no bfloat16 hardware" in seen(memory), timeout=5000)
    assert "mixed precision would not help here" in memory.bars.rows["together"].detail_label.text()


def test_other_batch_is_projected_without_run(memory, app, seen, measure):
    result = worked_out(16)
    app.results["fit"] = result
    measure()
    assert memory.measure_button.text() == "Measure again"
    memory.batch_box.setValue(4)
    assert app.fitted == ("resnet50", 16, "cuda")  # no second run
    assert not memory.busy
    assert memory.fits == worked_out(4).fits
    assert "ResNet-50 fits with batch size 4 (GPU 1\xa0·\xa0RTX 3090)" in seen(memory.bars)
    memory.model_dropdown.choose(memory.model_dropdown.entries[1])
    assert not memory.bars.isVisible()  # not measured
    assert memory.bars.remedy_buttons == []
    assert memory.measure_button.text() == "Measure"
    memory.model_dropdown.choose(memory.model_dropdown.entries[0])
    memory.device_dropdown.choose(memory.device_dropdown.entries[2])  # the same GPU by its index
    assert memory.fits == worked_out(4).fits
    memory.set_environment(None)
    assert not memory.bars.isVisible()


def test_gpu_can_be_selected(memory, app, measure):
    """Which GPUs there are is known after the first run; the one with the most memory is the default."""
    assert [each.value for each in memory.device_dropdown.entries] == ["cuda", "cpu"]
    measure()
    assert [each.value for each in memory.device_dropdown.entries] == ["cuda", "cuda:0", "cuda:1", "cpu"]
    first, *_ = memory.device_dropdown.entries
    assert (first.text, first.detail) == ("GPU with the most memory", "GPU 1\xa0·\xa0RTX 3090")
    memory.device_dropdown.choose(memory.device_dropdown.entries[1])
    assert not memory.bars.isVisible()  # not measured on this GPU
    assert memory.device_dropdown.text() == "GPU\xa0·\xa0RTX 4060"
    measure()
    assert app.fitted == ("resnet50", 16, "cuda:0")


def test_progress_shows_time_and_step(memory, app, qtbot, wait_for_end, page):
    assert "After the first run, you see how long it takes here." in memory.note_label.text()
    assert "Takes 10 minutes at most." in memory.note_label.text()
    app.gate = threading.Event()
    app.events["fit"] = (MemoryFitProgress(index=2, total=5, variant="mixed"),)
    memory.measure_button.setFocus()
    memory.measure_button.click()
    qtbot.waitUntil(
        lambda: memory.running_view.title_label.text() == "Measuring small steps: Mixed precision", timeout=5000
    )
    assert memory.running_view.count_label.text().startswith("2 of 5 · running for ")
    assert memory.running_view.hasFocus()
    assert page.verticalScrollBar().value() == 0
    app.gate.set()
    wait_for_end()
    assert memory.bars.rows[
        "plain"
    ].hasFocus()  # a screen reader reads it; it is no button that a late key press would start
    assert page.verticalScrollBar().value() == 0
    assert memory.note_label.text().startswith("Measures steps with 1 to 3 examples")
    assert "Last time it took 75 seconds here." in memory.note_label.text()


def test_memory_fit_not_cut_with_large_text(memory, qapp, qtbot, measure, page):
    measure()
    memory.window().resize(1000, 700)
    theme.set_text_scale(qapp, 2.0)
    qtbot.waitUntil(
        lambda: memory.measure_button.geometry().top() > memory.model_dropdown.parentWidget().geometry().bottom() > 20,
        timeout=5000,
    )
    qtbot.waitUntil(lambda: page.horizontalScrollBar().maximum() == 0, timeout=5000)


def test_cancel_stops_and_benchmark_disabled_meanwhile(memory, app, wait_for_end, page):
    app.gate = threading.Event()
    memory.measure_button.click()
    assert memory.cancel_button.isVisible()
    page.measure()
    assert not page.measuring
    memory.cancel_button.click()
    wait_for_end()
    assert memory.measure_button.isVisible()
    assert memory.message_banner.label.text() == "Stopped before anything was measured."
    assert not memory.measure_button.hasFocus()


def test_cancel_by_key_keeps_focus_in_view(memory, app, wait_for_end):
    """Qt moves the focus of a disabled button to the next one, where a late key press would start something."""
    app.gate = threading.Event()
    memory.measure_button.setFocus()
    memory.measure_button.click()
    assert memory.running_view.hasFocus()
    memory.stop()
    assert memory.running_view.has_focus_within
    assert not memory.cancel_button.isEnabled()
    wait_for_end()
    assert memory.hasFocus()


def test_escape_cancels_only_visible_job(memory, app, qtbot, wait_for_end, page):
    app.gate = threading.Event()
    memory.measure_button.click()
    page.tabs.buttons[SPEED_TAB].click()
    qtbot.keyClick(memory.window(), Qt.Key.Key_Escape)
    assert memory.busy
    page.tabs.buttons[MEMORY_TAB].click()
    qtbot.keyClick(memory.window(), Qt.Key.Key_Escape)
    wait_for_end()


def test_error_is_shown(memory, app, seen, measure):
    app.results["fit"] = AppError("bench-stopped", reason="@bench.note.memory")
    measure()
    assert "free memory" in seen(memory)


def test_any_batch_size_can_be_typed(memory, app, qtbot, measure):
    app.results["fit"] = worked_out(16)
    measure()
    memory.batch_box.setFocus()
    memory.batch_box.selectAll()
    qtbot.keyClicks(memory.batch_box, "104")
    assert memory.fits == worked_out(104).fits
    qtbot.keyClick(memory.batch_box, Qt.Key.Key_Up)
    assert memory.batch_box.value() == 128
    qtbot.keyClick(memory.batch_box, Qt.Key.Key_Down)
    assert memory.fits == worked_out(64).fits
    memory.batch_box.selectAll()
    qtbot.keyClicks(memory.batch_box, "9999")
    qtbot.keyClick(memory.batch_box, Qt.Key.Key_Return)
    assert 1 <= memory.batch_box.value() <= 4096
    assert memory.fits == worked_out(memory.batch_box.value()).fits
