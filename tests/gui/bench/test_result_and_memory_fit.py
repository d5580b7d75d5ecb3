"""What the page says of a result, and what fits in memory."""

from __future__ import annotations

import threading
import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from gpu_assistant.bench.child_protocol import MemoryFitProgress
from gpu_assistant.core.errors import AppError
from gpu_assistant.gui import theme
from gpu_assistant.gui.bench.memory_fit.messages import variant_detail
from gpu_assistant.gui.bench.page import MEMORY_TAB, MEMORY_VIEW, RESULT_VIEW, SPEED_TAB
from gpu_assistant.gui.bench.result.charts import StackedBarRow
from gpu_assistant.gui.main.main_area import BENCHMARK
from tests.fakes.benchmarks import GIB, card_benchmark, memory_fits, slow_benchmark, worked_out
from tests.fakes.examples import cpu_benchmark
from tests.fakes.main_window import ENVIRONMENT

pytestmark = pytest.mark.gui


@pytest.fixture
def shown(home, app, qtbot):
    def opened(*kept):
        app.known = (replace(ENVIRONMENT, variant="cu130"),)
        now = time.time()
        app.kept = [replace(each, started=now - 86_400 * (len(kept) - at)) for at, each in enumerate(kept)]
        window, _ = home(app)
        window.main_area.open_page(BENCHMARK)
        page = window.main_area.pages[BENCHMARK]
        qtbot.waitUntil(lambda: page._data_read, timeout=10_000)
        return page

    return opened


def test_headline_shows_ratio(shown, seen):
    page = shown(card_benchmark())
    assert page._views.current() == RESULT_VIEW
    assert page.result_view.figure_label.text() == "31×"
    assert page.result_view.headline_label.text() == "Training ResNet-50: your RTX 4060 is 31 times as fast as your CPU"
    assert page.result_view.detail_label.text() == (
        "On the card mixed precision, on the CPU float32. "
        "What takes the CPU a night of 8 hours, the card does in 15 minutes."
    )
    assert page.result_view.verdict_pill.text == "Products and copies: as expected"
    assert "CUDA 13.0 · quick test, 58 seconds" in page.subtitle_label.text()
    assert page.measure_button.toolTip().startswith(
        "About 1 minute for the CPU and 1 minute for each GPU; with several GPUs up to 2 minutes more"
    )


def test_unknown_gpu_reported_as_unknown(shown, seen):
    page = shown(replace(card_benchmark(), expected=None, verdict="bench.verdict.measured"))
    assert not page.result_view.verdict_pill.isVisible()
    assert not page.result_view.expected_range_card.verdict_pill.isVisible()
    assert "no figures to check this card against" in seen(page.result_view.expected_range_card)


def test_unfinished_run_shows_banner(shown, seen):
    page = shown(card_benchmark(), replace(card_benchmark(0.9), notes=("bench.note.killed",)))
    assert page.result_view.unmeasured_banner.isVisible()
    assert "ended the benchmark before its end" in seen(page.result_view.headline_card)
    assert not shown(card_benchmark()).result_view.unmeasured_banner.isVisible()


def test_expected_range_shows_source(shown, seen):
    page = shown(card_benchmark())
    said = seen(page.result_view.expected_range_card)
    assert "usual: 11.3 to 14.4 TFLOP/s" in said
    assert "our own rule of thumb" in said
    assert page.result_view.expected_range_card.source_button.toolTip().startswith("https://")
    assert "What to do" not in said
    row = page.result_view._rows_layout.itemAt(2).widget().accessibleName()
    assert "usual for this card: 11.3 TFLOP/s to 14.4 TFLOP/s" in row


@pytest.mark.parametrize("cause", ["battery", "heat", "power-plan", "slot", "busy", "power-supply"])
def test_below_range_shows_advice(shown, seen, language, cause):
    page = shown(slow_benchmark(cause))
    assert page.result_view.verdict_pill.text == "Products or copies: slower than usual"
    said = seen(page.result_view.expected_range_card)
    assert "What to do" in said
    assert language.texts().translate(f"bench.cause.{cause}") in said
    assert "stick" not in said


def test_value_above_range_is_not_usual(shown, seen):
    fast = card_benchmark()
    results = tuple(replace(r, median=29.5, q3=29.6) if r.dtype == "float16" else r for r in fast.results)
    page = shown(replace(fast, results=results, verdict="bench.verdict.above"))
    assert page.result_view.verdict_pill.text == "Products and copies: usual or faster"
    said = seen(page.result_view.expected_range_card)
    assert "above the usual range: 22.7 to 28.7 TFLOP/s" in said
    assert "usual: 11.3 to 14.4 TFLOP/s" in said


def test_below_range_without_cause_lists_checks(shown, seen):
    said = seen(shown(slow_benchmark()).result_view.expected_range_card)
    for place in ("Power plan", "Slot", "single stick", "plug it in", "fans"):
        assert place in said


def test_large_text_needs_no_horizontal_scroll(shown, qapp, qtbot):
    page = shown(card_benchmark())
    page.window().resize(1000, 700)
    theme.set_text_scale(qapp, 2.0)
    qtbot.waitUntil(
        lambda: page.result_actions.geometry().top() > page.title_label.geometry().bottom() > 50, timeout=5000
    )
    qtbot.waitUntil(lambda: page.horizontalScrollBar().maximum() == 0, timeout=5000)


def test_rows_share_layout(shown, qapp, qtbot):
    page = shown(replace(cpu_benchmark(), results=tuple(r for r in card_benchmark().results if r.device == "cpu")))
    rows = [page.result_view._rows_layout.itemAt(at).widget() for at in range(page.result_view._rows_layout.count())]
    widths = range(200, 1000, 20)
    assert len(rows) == 3
    assert any(len({row._needs_stacking(width) for row in rows}) == 2 for width in widths)
    assert all(len({row._geometry(width).stacked for row in rows}) == 1 for width in widths)


def test_history_shows_previous_and_current(shown):
    old = card_benchmark(0.89)
    old = replace(old, versions={**old.versions, "driver": "566.03"})
    page = shown(old, card_benchmark())
    change = page.result_view.history_card.change_label.text()
    assert change.startswith("12 % faster than ")
    assert change.endswith("Since then: driver 566.03 → 617.42.")
    page = page.result_view.history_card
    page.show_benchmark(card_benchmark(), (card_benchmark(), card_benchmark(1.001)))
    assert page.change_label.text().startswith("No difference")


def test_unreadable_results_are_counted(shown, app, seen):
    app.kept_left_out = 2
    page = shown(card_benchmark())
    assert "Not shown: 2 results, damaged or kept by another version of this program." in seen(page)
    page.tabs.buttons[MEMORY_TAB].click()
    assert not page.unreadable_label.isVisible()


def test_results_table_expands(shown, seen):
    page = shown(card_benchmark())
    page.result_view.results_table.toggle_button.click()
    table = page.result_view.results_table.table
    assert table.isVisible()
    assert table.rowCount() == len(card_benchmark().results)
    assert table.item(0, 3).text() == "121 images/s"


@pytest.fixture
def memory(shown):
    page = shown()
    page.tabs.buttons[MEMORY_TAB].click()
    assert page._views.current() == MEMORY_VIEW
    return page.memory_view


def test_memory_fit_shows_bars(memory, app, qtbot, seen):
    memory.batch_box.setValue(32)
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert app.fitted == ("resnet50", 32, "cuda")
    rows = memory.findChildren(StackedBarRow)
    assert len(rows) == 5
    said = rows[1].accessibleName()
    assert said.startswith("Mixed precision: 1.1 GB (−34 %), fits; largest batch about 104, ")
    assert "Optimizer state 98 MB" in said
    assert rows[4].batch_label.text() == "fits; largest batch about 960"
    assert rows[4].batch_label.tone == "ok"
    assert "Free when it was measured: 8 GB. Planned with 7.2 GB: " in seen(memory)
    assert "dashed" not in seen(memory)
    assert "1 GB of memory is 1,024 MB" in seen(memory)


def test_memory_parts_have_values_and_focus(memory, qtbot):
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    row = memory.bars.rows["plain"]
    assert [words for words, _ in row.legend._parts] == [
        "Parameters 98 MB",
        "Gradients 98 MB",
        "Optimizer state 98 MB",
        "Activations 1.4 GB",
        "For a moment 12 MB",
        "Cache 54 MB",
    ]
    assert not row.toolTip()
    stops, at = [], memory.device_dropdown.nextInFocusChain()
    while at is not memory.variant_dropdown:
        stops += [at] if at.focusPolicy() & Qt.FocusPolicy.TabFocus and at.isVisible() else []
        at = at.nextInFocusChain()
    assert stops == [memory.measure_button, *memory.bars.rows.values()]


def test_options_fit_two_rows_in_smallest_window(memory, qtbot):
    memory.window().resize(880, 520)
    parts = (memory.model_dropdown, memory.batch_box, memory.device_dropdown, memory.measure_button)
    qtbot.waitUntil(lambda: memory.measure_button.geometry().right() < memory.options_card.width(), timeout=5000)
    assert len({part.geometry().center().y() for part in parts}) <= 2


def test_not_fitting_variant_is_marked(memory, app, qtbot, seen):
    app.results["fit"] = memory_fits(GIB)
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "Planned with 922 MB (the dashed line): the rest stays for the display" in seen(memory)


def test_code_uses_fitting_variant_if_plain_does_not(memory, app, qtbot):
    app.results["fit"] = worked_out(256)
    memory.batch_box.setValue(256)
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    row = memory.bars.rows["plain"]
    assert row.batch_label.text().startswith("does not fit; largest batch about ")
    assert row.batch_label.tone == "error"
    assert memory.bars.answer_label.text() == "A batch of 256 does not fit as it is. It fits with: Accumulation."
    most = row.batch_label.text().rpartition(" ")[2]
    code = memory.code_box.text_edit.toPlainText()
    assert code.splitlines()[0] == f"# A batch of 256 does not fit into the free memory: this takes {most}."
    assert f"torch.randn({most}, 3, 224, 224)" in code
    memory.batch_box.setValue(16)
    assert memory.bars.answer_label.text() == "A batch of 16 fits."
    memory.batch_box.setValue(4096)
    assert memory.bars.answer_label.text().startswith("A batch of 4,096 does not fit in any way")


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_cpu_note_mentions_libraries(memory, app, qtbot, device):
    found = memory_fits()
    app.results["fit"] = replace(found, fits=tuple(replace(each, device=device) for each in found.fits))
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert ("libraries take some hundred MB more" in memory.bars.notes_label.text()) == (device == "cpu")


def test_batch_norm_note_only_for_resnet():
    accumulated = memory_fits().fits[3]
    assert "BatchNorm" in variant_detail(accumulated)
    assert variant_detail(replace(accumulated, model="bert-base")) == "a batch in four parts, one update: slower"


def test_code_follows_selected_variant(memory, qtbot):
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "autocast" not in memory.code_box.text_edit.toPlainText()
    memory.variant_dropdown.choose(memory.variant_dropdown.entries[4])
    code = memory.code_box.text_edit.toPlainText()
    compile(code, "snippet", "exec")
    for part in ("autocast", "checkpoint", "chunk(4)", 'device = "cuda:1"'):
        assert part in code


def test_code_names_missing_package_and_install_command(memory, app, qtbot, seen):
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert not memory.package_label.isVisible()
    words = ("/e/bin/python", "-m", "pip", "install", "torchvision==0.28.0")
    for lacks in ({"torchvision": words}, {"torchvision": None}):
        app.lacks = lacks
        memory.set_environment(memory._installed)
        qtbot.waitUntil(lambda: not memory._inputs_runner.running, timeout=10_000)
        assert "torchvision" in memory.package_label.text()
        assert memory.install_command_box.isVisible() == (lacks["torchvision"] is not None)
        if memory.install_command_box.isVisible():
            assert memory.install_command_box.text_edit.toPlainText() == " ".join(words)
        else:
            assert "not known here" in memory.package_label.text()
    assert "pip" not in memory.code_box.text_edit.toPlainText()


def test_code_only_for_measured_variants(memory, app, qtbot, seen):
    found = memory_fits()
    fits = tuple(each for each in found.fits if each.variant != "mixed")
    fits = (*fits[:-1], replace(fits[-1], dtype="float32"))
    app.results["fit"] = replace(found, fits=fits, left_out={"mixed": "bench.note.hardware"})
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert [each.value for each in memory.variant_dropdown.entries] == [
        "plain",
        "checkpointing",
        "accumulation",
        "together",
    ]
    memory.variant_dropdown.choose(memory.variant_dropdown.entries[3])
    assert "autocast" not in memory.code_box.text_edit.toPlainText()
    qtbot.waitUntil(lambda: "Mixed precision: This CPU has no units" in seen(memory), timeout=5000)
    assert "mixed precision would not help here" in memory.bars.rows["together"].detail_label.text()


def test_other_batch_is_projected_without_run(memory, app, qtbot, seen):
    found = worked_out(16)
    app.results["fit"] = found
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert memory.measure_button.text() == "Measure again"
    memory.batch_box.setValue(4)
    assert app.fitted == ("resnet50", 16, "cuda")  # nobody else was asked
    assert not memory.busy
    assert memory._fits == worked_out(4).fits
    assert "ResNet-50: one step with a batch of 4, on GPU 1 · RTX 3090" in seen(memory.bars)
    memory.model_dropdown.choose(memory.model_dropdown.entries[1])
    assert not memory.bars.isVisible()  # of this one nothing is known
    assert memory.measure_button.text() == "Work it out"
    memory.model_dropdown.choose(memory.model_dropdown.entries[0])
    memory.device_dropdown.choose(memory.device_dropdown.entries[2])  # the same card by its number
    assert memory._fits == worked_out(4).fits
    memory.set_environment(None)
    assert not memory.bars.isVisible()


def test_gpu_can_be_selected(memory, app, qtbot):
    """The one with the most memory, unless somebody says otherwise; which there are is known after the first run."""
    assert [each.value for each in memory.device_dropdown.entries] == ["cuda", "cpu"]
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert [each.value for each in memory.device_dropdown.entries] == ["cuda", "cuda:0", "cuda:1", "cpu"]
    first, *_ = memory.device_dropdown.entries
    assert (first.text, first.detail) == ("GPU with the most memory", "GPU 1 · RTX 3090")
    memory.device_dropdown.choose(memory.device_dropdown.entries[1])
    assert not memory.bars.isVisible()  # another question
    assert memory.device_dropdown.text() == "GPU · RTX 4060"
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert app.fitted == ("resnet50", 16, "cuda:0")


def test_progress_shows_time_and_step(memory, app, qtbot):
    assert "How long that takes here is known after the first run." in memory.note_label.text()
    assert "After 10 minutes at the latest it ends." in memory.note_label.text()
    app.gate = threading.Event()
    app.news["fit"] = (MemoryFitProgress(index=2, total=5, variant="mixed"),)
    memory.measure_button.setFocus()
    memory.measure_button.click()
    qtbot.waitUntil(
        lambda: memory.running_view.title_label.text() == "Measuring small steps: Mixed precision", timeout=5000
    )
    memory.running_view._started -= 74
    memory.running_view._clock_timer.timeout.emit()
    assert memory.running_view.count_label.text().startswith("2 of 5 · running for 7")
    assert memory.cancel_button.hasFocus()
    page = memory.window().main_area.pages[BENCHMARK]
    assert page.verticalScrollBar().value() == 0
    app.gate.set()
    qtbot.waitUntil(lambda: not memory.busy, timeout=5000)
    assert memory.bars.rows["plain"].hasFocus()  # read out, and no button that a late key would press
    assert page.verticalScrollBar().value() == 0
    assert memory.note_label.text().startswith("Measures steps with 1 to 3 examples")
    assert "Last time it took 75 seconds here." in memory.note_label.text()


def test_memory_fit_not_cut_with_large_text(memory, qapp, qtbot):
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    page = memory.window().main_area.pages[BENCHMARK]
    memory.window().resize(1000, 700)
    theme.set_text_scale(qapp, 2.0)
    qtbot.waitUntil(
        lambda: memory.measure_button.geometry().top() > memory.model_dropdown.geometry().bottom() > 20, timeout=5000
    )
    qtbot.waitUntil(lambda: page.horizontalScrollBar().maximum() == 0, timeout=5000)


def test_cancel_stops_and_benchmark_disabled_meanwhile(memory, app, qtbot):
    page = memory.window().main_area.pages[BENCHMARK]
    app.gate = threading.Event()
    memory.measure_button.click()
    assert memory.cancel_button.isVisible()
    page.measure()
    assert not page.measuring
    memory.cancel_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=5000)
    assert memory.measure_button.isVisible()
    assert memory.message_banner.label.text() == "Stopped before anything was measured."
    assert not memory.measure_button.hasFocus()


def test_cancel_by_key_keeps_focus_in_view(memory, app, qtbot):
    """A button that goes grey gives it to whatever comes next, where a late key would start something."""
    app.gate = threading.Event()
    memory.measure_button.setFocus()
    memory.measure_button.click()
    assert memory.cancel_button.hasFocus()
    memory.stop()
    assert memory.running_view.has_focus_within
    assert not memory.cancel_button.isEnabled()
    qtbot.waitUntil(lambda: not memory.busy, timeout=5000)
    assert memory.hasFocus()


def test_escape_cancels_only_visible_job(memory, app, qtbot):
    page, window = memory.window().main_area.pages[BENCHMARK], memory.window()
    app.gate = threading.Event()
    memory.measure_button.click()
    page.tabs.buttons[SPEED_TAB].click()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert memory.busy
    page.tabs.buttons[MEMORY_TAB].click()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not memory.busy, timeout=5000)


def test_omitted_variant_shows_own_reason(memory, app, qtbot, seen):
    found = memory_fits()
    app.results["fit"] = replace(found, fits=found.fits[:1], left_out={"mixed": "bench.note.memory"})
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    qtbot.waitUntil(lambda: "Mixed precision: Does not fit in the free memory" in seen(memory), timeout=5000)


def test_error_is_shown(memory, app, qtbot, seen):
    app.results["fit"] = AppError("bench-stopped", reason="@bench.note.memory")
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "free memory" in seen(memory)


def test_previous_bars_stay_until_new_results(memory, app, qtbot, seen):
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    known = memory.bars.rows["plain"].accessibleName()
    app.gate, app.results["fit"] = threading.Event(), AppError("bench-killed")
    memory.measure_button.click()
    assert "The earlier result: ResNet-50: one step" in seen(memory.bars)
    app.gate.set()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert memory.message_banner.isVisible()
    assert "The earlier result" in seen(memory.bars)
    assert memory.bars.rows["plain"].accessibleName() == known
    app.results["fit"] = replace(memory_fits(), fits=memory_fits().fits[:1])
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "The earlier result" not in seen(memory.bars)
    assert [*memory.bars.rows] == ["plain"]


def test_partial_gradients_are_explained(memory, app, qtbot, seen):
    found = memory_fits()
    app.results["fit"] = replace(found, fits=tuple(replace(fit, gradients=fit.gradients // 2) for fit in found.fits))
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "not all gradients are there by then" in seen(memory.bars)


def test_any_batch_size_can_be_typed(memory, app, qtbot):
    app.results["fit"] = worked_out(16)
    memory.measure_button.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    memory.batch_box.setFocus()
    memory.batch_box.selectAll()
    qtbot.keyClicks(memory.batch_box, "104")
    assert memory._fits == worked_out(104).fits
    qtbot.keyClick(memory.batch_box, Qt.Key.Key_Up)
    assert memory.batch_box.value() == 128
    qtbot.keyClick(memory.batch_box, Qt.Key.Key_Down)
    assert memory._fits == worked_out(64).fits
    memory.batch_box.selectAll()
    qtbot.keyClicks(memory.batch_box, "9999")
    qtbot.keyClick(memory.batch_box, Qt.Key.Key_Return)
    assert 1 <= memory.batch_box.value() <= 4096
    assert memory._fits == worked_out(memory.batch_box.value()).fits
