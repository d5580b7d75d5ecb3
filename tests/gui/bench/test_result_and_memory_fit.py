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
        window.area.open(BENCHMARK)
        page = window.area.pages[BENCHMARK]
        qtbot.waitUntil(lambda: page._read, timeout=10_000)
        return page

    return opened


def test_headline_shows_ratio(shown, seen):
    page = shown(card_benchmark())
    assert page._views.current() == RESULT_VIEW
    assert page.result.figure.text() == "31×"
    assert page.result.text.text() == "Training ResNet-50: your RTX 4060 is 31 times as fast as your CPU"
    assert page.result.detail.text() == (
        "On the card mixed precision, on the CPU float32. "
        "What takes the CPU a night of 8 hours, the card does in 15 minutes."
    )
    assert page.result.pill.text == "Products and copies: as expected"
    assert "CUDA 13.0 · quick test, 58 seconds" in page.subtitle.text()
    assert page.again.toolTip().startswith(
        "About 1 minute for the CPU and 1 minute for each GPU; with several GPUs up to 2 minutes more"
    )


def test_unknown_gpu_reported_as_unknown(shown, seen):
    page = shown(replace(card_benchmark(), expected=None, verdict="bench.verdict.measured"))
    assert not page.result.pill.isVisible()
    assert not page.result.right.pill.isVisible()
    assert "no figures to check this card against" in seen(page.result.right)


def test_unfinished_run_shows_banner(shown, seen):
    page = shown(card_benchmark(), replace(card_benchmark(0.9), notes=("bench.note.killed",)))
    assert page.result.unmeasured.isVisible()
    assert "ended the benchmark before its end" in seen(page.result.head)
    assert not shown(card_benchmark()).result.unmeasured.isVisible()


def test_expected_range_shows_source(shown, seen):
    page = shown(card_benchmark())
    said = seen(page.result.right)
    assert "usual: 11.3 to 14.4 TFLOP/s" in said
    assert "our own rule of thumb" in said
    assert page.result.right.open_source.toolTip().startswith("https://")
    assert "What to do" not in said
    row = page.result._rows.itemAt(2).widget().accessibleName()
    assert "usual for this card: 11.3 TFLOP/s to 14.4 TFLOP/s" in row


@pytest.mark.parametrize("cause", ["battery", "heat", "power-plan", "slot", "busy", "power-supply"])
def test_below_range_shows_advice(shown, seen, language, cause):
    page = shown(slow_benchmark(cause))
    assert page.result.pill.text == "Products or copies: slower than usual"
    said = seen(page.result.right)
    assert "What to do" in said
    assert language.texts().say(f"bench.cause.{cause}") in said
    assert "stick" not in said


def test_value_above_range_is_not_usual(shown, seen):
    fast = card_benchmark()
    results = tuple(replace(r, median=29.5, q3=29.6) if r.dtype == "float16" else r for r in fast.results)
    page = shown(replace(fast, results=results, verdict="bench.verdict.above"))
    assert page.result.pill.text == "Products and copies: usual or faster"
    said = seen(page.result.right)
    assert "above the usual range: 22.7 to 28.7 TFLOP/s" in said
    assert "usual: 11.3 to 14.4 TFLOP/s" in said


def test_below_range_without_cause_lists_checks(shown, seen):
    said = seen(shown(slow_benchmark()).result.right)
    for place in ("Power plan", "Slot", "single stick", "plug it in", "fans"):
        assert place in said


def test_large_text_needs_no_horizontal_scroll(shown, qapp, qtbot):
    page = shown(card_benchmark())
    page.window().resize(1000, 700)
    theme.set_text_scale(qapp, 2.0)
    qtbot.waitUntil(lambda: page.actions_.geometry().top() > page.title.geometry().bottom() > 50, timeout=5000)
    qtbot.waitUntil(lambda: page.horizontalScrollBar().maximum() == 0, timeout=5000)


def test_rows_share_layout(shown, qapp, qtbot):
    page = shown(replace(cpu_benchmark(), results=tuple(r for r in card_benchmark().results if r.device == "cpu")))
    rows = [page.result._rows.itemAt(at).widget() for at in range(page.result._rows.count())]
    widths = range(200, 1000, 20)
    assert len(rows) == 3
    assert any(len({row._crowded(width) for row in rows}) == 2 for width in widths)
    assert all(len({row._places(width).above for row in rows}) == 1 for width in widths)


def test_history_shows_previous_and_current(shown):
    old = card_benchmark(0.89)
    old = replace(old, versions={**old.versions, "driver": "566.03"})
    page = shown(old, card_benchmark())
    change = page.result.past.change.text()
    assert change.startswith("12 % faster than ")
    assert change.endswith("Since then: driver 566.03 → 617.42.")
    page = page.result.past
    page.show_benchmark(card_benchmark(), (card_benchmark(), card_benchmark(1.001)))
    assert page.change.text().startswith("No difference")


def test_unreadable_results_are_counted(shown, app, seen):
    app.kept_left_out = 2
    page = shown(card_benchmark())
    assert "Not shown: 2 results, damaged or kept by another version of this program." in seen(page)
    page.tabs.buttons[MEMORY_TAB].click()
    assert not page.left_out.isVisible()


def test_results_table_expands(shown, seen):
    page = shown(card_benchmark())
    page.result.every.toggle.click()
    table = page.result.every.table
    assert table.isVisible()
    assert table.rowCount() == len(card_benchmark().results)
    assert table.item(0, 3).text() == "121 images/s"


@pytest.fixture
def memory(shown):
    page = shown()
    page.tabs.buttons[MEMORY_TAB].click()
    assert page._views.current() == MEMORY_VIEW
    return page.memory


def test_memory_fit_shows_bars(memory, app, qtbot, seen):
    memory.batch.setValue(32)
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert app.fitted == ("resnet50", 32, "cuda")
    rows = memory.findChildren(StackedBarRow)
    assert len(rows) == 5
    said = rows[1].accessibleName()
    assert said.startswith("Mixed precision: 1.1 GB (−34 %), fits; largest batch about 104, ")
    assert "Optimizer state 98 MB" in said
    assert rows[4].batch.text() == "fits; largest batch about 960"
    assert rows[4].batch.tone == "ok"
    assert "Free when it was measured: 8 GB. Planned with 7.2 GB: " in seen(memory)
    assert "dashed" not in seen(memory)
    assert "1 GB of memory is 1,024 MB" in seen(memory)


def test_memory_parts_have_values_and_focus(memory, qtbot):
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    row = memory.bars.rows["plain"]
    assert [words for words, _ in row.parts._parts] == [
        "Parameters 98 MB",
        "Gradients 98 MB",
        "Optimizer state 98 MB",
        "Activations 1.4 GB",
        "For a moment 12 MB",
        "Cache 54 MB",
    ]
    assert not row.toolTip()
    stops, at = [], memory.device.nextInFocusChain()
    while at is not memory.way:
        stops += [at] if at.focusPolicy() & Qt.FocusPolicy.TabFocus and at.isVisible() else []
        at = at.nextInFocusChain()
    assert stops == [memory.start, *memory.bars.rows.values()]


def test_options_fit_two_rows_in_smallest_window(memory, qtbot):
    memory.window().resize(880, 520)
    parts = (memory.model, memory.batch, memory.device, memory.start)
    qtbot.waitUntil(lambda: memory.start.geometry().right() < memory.ask.width(), timeout=5000)
    assert len({part.geometry().center().y() for part in parts}) <= 2


def test_not_fitting_variant_is_marked(memory, app, qtbot, seen):
    app.results["fit"] = memory_fits(GIB)
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "Planned with 922 MB (the dashed line): the rest stays for the display" in seen(memory)


def test_code_uses_fitting_variant_if_plain_does_not(memory, app, qtbot):
    app.results["fit"] = worked_out(256)
    memory.batch.setValue(256)
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    row = memory.bars.rows["plain"]
    assert row.batch.text().startswith("does not fit; largest batch about ")
    assert row.batch.tone == "error"
    assert memory.bars.answer.text() == "A batch of 256 does not fit as it is. It fits with: Accumulation."
    most = row.batch.text().rpartition(" ")[2]
    code = memory.snippet.text.toPlainText()
    assert code.splitlines()[0] == f"# A batch of 256 does not fit into the free memory: this takes {most}."
    assert f"torch.randn({most}, 3, 224, 224)" in code
    memory.batch.setValue(16)
    assert memory.bars.answer.text() == "A batch of 16 fits."
    memory.batch.setValue(4096)
    assert memory.bars.answer.text().startswith("A batch of 4,096 does not fit in any way")


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_cpu_note_mentions_libraries(memory, app, qtbot, device):
    found = memory_fits()
    app.results["fit"] = replace(found, fits=tuple(replace(each, device=device) for each in found.fits))
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert ("libraries take some hundred MB more" in memory.bars.notes.text()) == (device == "cpu")


def test_batch_norm_note_only_for_resnet():
    accumulated = memory_fits().fits[3]
    assert "BatchNorm" in variant_detail(accumulated)
    assert variant_detail(replace(accumulated, model="bert-base")) == "a batch in four parts, one update: slower"


def test_code_follows_selected_variant(memory, qtbot):
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "autocast" not in memory.snippet.text.toPlainText()
    memory.way.take(memory.way.entries[4])
    code = memory.snippet.text.toPlainText()
    compile(code, "snippet", "exec")
    for part in ("autocast", "checkpoint", "chunk(4)", 'device = "cuda:1"'):
        assert part in code


def test_code_names_missing_package_and_install_command(memory, app, qtbot, seen):
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert not memory.needs.isVisible()
    words = ("/e/bin/python", "-m", "pip", "install", "torchvision==0.28.0")
    for lacks in ({"torchvision": words}, {"torchvision": None}):
        app.lacks = lacks
        memory.set_environment(memory._installed)
        qtbot.waitUntil(lambda: not memory._reader.running, timeout=10_000)
        assert "torchvision" in memory.needs.text()
        assert memory.bring.isVisible() == (lacks["torchvision"] is not None)
        if memory.bring.isVisible():
            assert memory.bring.text.toPlainText() == " ".join(words)
        else:
            assert "not known here" in memory.needs.text()
    assert "pip" not in memory.snippet.text.toPlainText()


def test_code_only_for_measured_variants(memory, app, qtbot, seen):
    found = memory_fits()
    fits = tuple(each for each in found.fits if each.variant != "mixed")
    fits = (*fits[:-1], replace(fits[-1], dtype="float32"))
    app.results["fit"] = replace(found, fits=fits, left_out={"mixed": "bench.note.hardware"})
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert [each.value for each in memory.way.entries] == ["plain", "checkpointing", "accumulation", "together"]
    memory.way.take(memory.way.entries[3])
    assert "autocast" not in memory.snippet.text.toPlainText()
    qtbot.waitUntil(lambda: "Mixed precision: This CPU has no units" in seen(memory), timeout=5000)
    assert "mixed precision would not help here" in memory.bars.rows["together"].detail.text()


def test_other_batch_is_projected_without_run(memory, app, qtbot, seen):
    found = worked_out(16)
    app.results["fit"] = found
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert memory.start.text() == "Measure again"
    memory.batch.setValue(4)
    assert app.fitted == ("resnet50", 16, "cuda")  # nobody else was asked
    assert not memory.busy
    assert memory._fits == worked_out(4).fits
    assert "ResNet-50: one step with a batch of 4, on GPU 1 · RTX 3090" in seen(memory.bars)
    memory.model.take(memory.model.entries[1])
    assert not memory.bars.isVisible()  # of this one nothing is known
    assert memory.start.text() == "Work it out"
    memory.model.take(memory.model.entries[0])
    memory.device.take(memory.device.entries[2])  # the same card by its number
    assert memory._fits == worked_out(4).fits
    memory.set_environment(None)
    assert not memory.bars.isVisible()


def test_gpu_can_be_selected(memory, app, qtbot):
    """The one with the most memory, unless somebody says otherwise; which there are is known after the first run."""
    assert [each.value for each in memory.device.entries] == ["cuda", "cpu"]
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert [each.value for each in memory.device.entries] == ["cuda", "cuda:0", "cuda:1", "cpu"]
    first, *_ = memory.device.entries
    assert (first.text, first.detail) == ("GPU with the most memory", "GPU 1 · RTX 3090")
    memory.device.take(memory.device.entries[1])
    assert not memory.bars.isVisible()  # another question
    assert memory.device.text() == "GPU · RTX 4060"
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert app.fitted == ("resnet50", 16, "cuda:0")


def test_progress_shows_time_and_step(memory, app, qtbot):
    assert "How long that takes here is known after the first run." in memory.note.text()
    assert "After 10 minutes at the latest it ends." in memory.note.text()
    app.gate = threading.Event()
    app.news["fit"] = (MemoryFitProgress(index=2, total=5, variant="mixed"),)
    memory.start.setFocus()
    memory.start.click()
    qtbot.waitUntil(lambda: memory.running.what.text() == "Measuring small steps: Mixed precision", timeout=5000)
    memory.running._began -= 74
    memory.running._clock.timeout.emit()
    assert memory.running.count.text().startswith("2 of 5 · running for 7")
    assert memory.cancel.hasFocus()
    page = memory.window().area.pages[BENCHMARK]
    assert page.verticalScrollBar().value() == 0
    app.gate.set()
    qtbot.waitUntil(lambda: not memory.busy, timeout=5000)
    assert memory.bars.rows["plain"].hasFocus()  # read out, and no button that a late key would press
    assert page.verticalScrollBar().value() == 0
    assert memory.note.text().startswith("Measures steps with 1 to 3 examples")
    assert "Last time it took 75 seconds here." in memory.note.text()


def test_memory_fit_not_cut_with_large_text(memory, qapp, qtbot):
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    page = memory.window().area.pages[BENCHMARK]
    memory.window().resize(1000, 700)
    theme.set_text_scale(qapp, 2.0)
    qtbot.waitUntil(lambda: memory.start.geometry().top() > memory.model.geometry().bottom() > 20, timeout=5000)
    qtbot.waitUntil(lambda: page.horizontalScrollBar().maximum() == 0, timeout=5000)


def test_cancel_stops_and_benchmark_disabled_meanwhile(memory, app, qtbot):
    page = memory.window().area.pages[BENCHMARK]
    app.gate = threading.Event()
    memory.start.click()
    assert memory.cancel.isVisible()
    page.measure()
    assert not page.measuring
    memory.cancel.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=5000)
    assert memory.start.isVisible()
    assert memory.trouble.label.text() == "Stopped before anything was measured."
    assert not memory.start.hasFocus()


def test_cancel_by_key_keeps_focus_in_view(memory, app, qtbot):
    """A button that goes grey gives it to whatever comes next, where a late key would start something."""
    app.gate = threading.Event()
    memory.start.setFocus()
    memory.start.click()
    assert memory.cancel.hasFocus()
    memory.stop()
    assert memory.running.held
    assert not memory.cancel.isEnabled()
    qtbot.waitUntil(lambda: not memory.busy, timeout=5000)
    assert memory.hasFocus()


def test_escape_cancels_only_visible_job(memory, app, qtbot):
    page, window = memory.window().area.pages[BENCHMARK], memory.window()
    app.gate = threading.Event()
    memory.start.click()
    page.tabs.buttons[SPEED_TAB].click()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert memory.busy
    page.tabs.buttons[MEMORY_TAB].click()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not memory.busy, timeout=5000)


def test_omitted_variant_shows_own_reason(memory, app, qtbot, seen):
    found = memory_fits()
    app.results["fit"] = replace(found, fits=found.fits[:1], left_out={"mixed": "bench.note.memory"})
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    qtbot.waitUntil(lambda: "Mixed precision: Does not fit in the free memory" in seen(memory), timeout=5000)


def test_error_is_shown(memory, app, qtbot, seen):
    app.results["fit"] = AppError("bench-stopped", reason="@bench.note.memory")
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "free memory" in seen(memory)


def test_previous_bars_stay_until_new_results(memory, app, qtbot, seen):
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    known = memory.bars.rows["plain"].accessibleName()
    app.gate, app.results["fit"] = threading.Event(), AppError("bench-killed")
    memory.start.click()
    assert "The earlier result: ResNet-50: one step" in seen(memory.bars)
    app.gate.set()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert memory.trouble.isVisible()
    assert "The earlier result" in seen(memory.bars)
    assert memory.bars.rows["plain"].accessibleName() == known
    app.results["fit"] = replace(memory_fits(), fits=memory_fits().fits[:1])
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "The earlier result" not in seen(memory.bars)
    assert [*memory.bars.rows] == ["plain"]


def test_partial_gradients_are_explained(memory, app, qtbot, seen):
    found = memory_fits()
    app.results["fit"] = replace(found, fits=tuple(replace(fit, gradients=fit.gradients // 2) for fit in found.fits))
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "not all gradients are there by then" in seen(memory.bars)


def test_any_batch_size_can_be_typed(memory, app, qtbot):
    app.results["fit"] = worked_out(16)
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    memory.batch.setFocus()
    memory.batch.selectAll()
    qtbot.keyClicks(memory.batch, "104")
    assert memory._fits == worked_out(104).fits
    qtbot.keyClick(memory.batch, Qt.Key.Key_Up)
    assert memory.batch.value() == 128
    qtbot.keyClick(memory.batch, Qt.Key.Key_Down)
    assert memory._fits == worked_out(64).fits
    memory.batch.selectAll()
    qtbot.keyClicks(memory.batch, "9999")
    qtbot.keyClick(memory.batch, Qt.Key.Key_Return)
    assert 1 <= memory.batch.value() <= 4096
    assert memory._fits == worked_out(memory.batch.value()).fits
