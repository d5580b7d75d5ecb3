"""What the page says of a result, and what fits in memory."""

from __future__ import annotations

import threading
import time

import pytest
from msgspec.structs import replace

from gpu_assistant.core.errors import AppError
from gpu_assistant.gui import theme
from gpu_assistant.gui.bench.page import MEMORY, MEMORY_TAB, RESULT
from gpu_assistant.gui.bench.stack_row import StackRow
from gpu_assistant.gui.main.area import BENCHMARK
from tests.fakes.benchmarks import GIB, card_benchmark, memory_fits, slow_benchmark
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


def test_one_headline_as_a_ratio(shown, seen):
    page = shown(card_benchmark())
    assert page._views.current() == RESULT
    assert page.result.figure.text() == "31×"
    assert page.result.text.text() == "Training ResNet-50: your RTX 4060 is 31 times as fast as your CPU"
    assert page.result.detail.text() == "What takes the CPU a night of 8 hours, the card does in 15 minutes."
    assert page.result.pill.text == "As expected for this card"
    assert "CUDA 13.0 · quick test, 58 seconds" in page.subtitle.text()
    assert page.again.toolTip().startswith("About 1 minute for the CPU and 1 minute for each GPU")


def test_a_card_that_nobody_knows_is_said_to_be_one(shown, seen):
    page = shown(replace(card_benchmark(), expected=None, verdict="bench.verdict.measured"))
    assert not page.result.pill.isVisible()
    assert not page.result.right.pill.isVisible()
    assert "no figures to check this card against" in seen(page.result.right)


def test_the_range_is_said_with_its_source(shown, seen):
    page = shown(card_benchmark())
    said = seen(page.result.right)
    assert "usual: 11.3 to 14.4 TFLOP/s" in said
    assert "our own rule of thumb" in said
    assert page.result.right.open_source.toolTip().startswith("https://")
    assert "What to do" not in said
    row = page.result._rows.itemAt(2).widget().accessibleName()
    assert "usual for this card: 11.3 TFLOP/s to 14.4 TFLOP/s" in row


@pytest.mark.parametrize("cause", ["battery", "heat", "power-plan", "slot", "busy", "power-supply"])
def test_below_says_what_to_do(shown, seen, language, cause):
    page = shown(slow_benchmark(cause))
    assert page.result.pill.text == "Slower than usual for this card"
    said = seen(page.result.right)
    assert "What to do" in said
    assert language.texts().say(f"bench.cause.{cause}") in said
    assert "stick" not in said


def test_below_without_a_cause_says_where_to_look(shown, seen):
    said = seen(shown(slow_benchmark()).result.right)
    for place in ("Power plan", "Slot", "single stick", "plug it in", "fans"):
        assert place in said


def test_twice_as_large_a_text_needs_no_scrolling_to_the_side(shown, qapp, qtbot):
    page = shown(card_benchmark())
    page.window().resize(1000, 700)
    theme.set_text_scale(qapp, 2.0)
    qtbot.waitUntil(lambda: page.again.geometry().top() > page.title.geometry().bottom() > 50, timeout=5000)
    qtbot.waitUntil(lambda: page.horizontalScrollBar().maximum() == 0, timeout=5000)


def test_before_and_after(shown):
    old = card_benchmark(0.89)
    old = replace(old, versions={**old.versions, "driver": "566.03"})
    page = shown(old, card_benchmark())
    change = page.result.past.change.text()
    assert change.startswith("12 % faster than ")
    assert change.endswith("Since then: driver 566.03 → 617.42.")
    page = page.result.past
    page.show_benchmark(card_benchmark(), (card_benchmark(), card_benchmark(1.001)))
    assert page.change.text().startswith("No difference")


def test_all_figures_unfold(shown, seen):
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
    assert page._views.current() == MEMORY
    return page.memory


def test_what_fits(memory, app, qtbot, seen):
    memory.batch.take(memory.batch.entries[5])
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert app.fitted == ("resnet50", 32, "cuda:0")
    rows = memory.findChildren(StackRow)
    assert len(rows) == 4
    said = rows[1].accessibleName()
    assert said.startswith("Mixed precision: 1.2 GB (−33 %), largest batch 104, ")
    assert "Optimizer state 0.2 GB" in said
    assert "Free just now: 8 GB" in seen(memory)
    assert "dashed" not in seen(memory)


def test_what_does_not_fit_is_marked(memory, app, qtbot, seen):
    app.results["fit"] = memory_fits(GIB)
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "Free just now: 1 GB, the dashed line" in seen(memory)


def test_the_code_follows_the_choice(memory, qtbot):
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "autocast" not in memory.snippet.text.toPlainText()
    memory.codes.buttons[4].click()
    code = memory.snippet.text.toPlainText()
    compile(code, "snippet", "exec")
    for part in ("autocast", "checkpoint", "chunk(4)", 'to("cuda:0")'):
        assert part in code


def test_it_stops_when_told_and_a_benchmark_waits_meanwhile(memory, app, qtbot):
    page = memory.window().area.pages[BENCHMARK]
    app.gate = threading.Event()
    memory.start.click()
    assert memory.cancel.isVisible()
    page.measure()
    assert not page.measuring
    memory.cancel.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=1000)
    assert memory.start.isVisible()


def test_trouble_is_said(memory, app, qtbot, seen):
    app.results["fit"] = AppError("bench-stopped", reason="@bench.note.memory")
    memory.start.click()
    qtbot.waitUntil(lambda: not memory.busy, timeout=10_000)
    assert "free memory" in seen(memory)
