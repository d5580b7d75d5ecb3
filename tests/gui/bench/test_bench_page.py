from __future__ import annotations

import threading
import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gpu_assistant.bench.child_protocol import TorchLoading
from gpu_assistant.core.errors import AppError
from gpu_assistant.gui.bench.page import MEMORY_TAB, SPEED_TAB
from gpu_assistant.gui.main.main_area import BENCHMARK
from tests.fakes.benchmarks import card_benchmark
from tests.fakes.examples import cpu_benchmark, rtx4060
from tests.fakes.main_window import FakeMain

pytestmark = pytest.mark.gui


@pytest.fixture
def benchmark_page(home, app, qtbot):
    window, _ = home(app)
    window.main_area.open_page(BENCHMARK)
    page = window.main_area.pages[BENCHMARK]
    qtbot.waitUntil(lambda: page._data_read, timeout=5000)
    return window, page


def test_empty_page_shows_duration(benchmark_page):
    _, page = benchmark_page
    what, how_long = page.empty_state.message_label.text().split("\n")
    assert "ResNet-50" in what
    assert how_long == "About 1 minute. The fan may get loud."
    assert page.empty_state.button.isEnabled()


def test_benchmark_run_shows_result(benchmark_page, app, qtbot):
    _, page = benchmark_page
    app.gate = threading.Event()
    page.empty_state.button.click()
    assert page.measuring
    assert page.cancel_button.isVisible()
    app.gate.set()
    qtbot.waitUntil(page.result_view.isVisible, timeout=5000)
    assert page.result_view.figure_label.text() == "141"
    assert page.result_view.headline_label.text().startswith("GFLOP/s")
    assert "CPU" in page.result_view.headline_label.text()
    assert page.result_view._rows_layout.itemAt(0).widget().accessibleName() == "Matrix product: CPU 141 GFLOP/s"
    assert page.measure_button.isVisible()


def test_cancel_stops_benchmark(benchmark_page, app, qtbot):
    _, page = benchmark_page
    app.gate = threading.Event()
    page.empty_state.button.click()
    page.cancel_button.click()
    qtbot.waitUntil(lambda: not page.measuring, timeout=5000)
    assert page.empty_state.isVisible()
    assert page.message_banner.label.text() == "Stopped. Nothing of this run was kept."


def test_measure_again_scrolls_to_progress_and_outcome(benchmark_page, app, qtbot):
    window, page = benchmark_page
    window.resize(1000, 560)
    app.gate = threading.Event()
    app.kept = [card_benchmark()]
    page.reload()
    qtbot.waitUntil(page.measure_button.isVisible, timeout=5000)
    bar = page.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 100, timeout=5000)
    page.measure_button.setFocus()
    page.measure_button.click()
    qtbot.waitUntil(lambda: bar.maximum() == 0, timeout=5000)
    assert not page.cancel_button.visibleRegion().isEmpty()
    page.stop()
    qtbot.waitUntil(page.message_banner.isVisible, timeout=5000)
    qtbot.waitUntil(lambda: bar.maximum() > 100, timeout=5000)
    assert bar.value() == 0


def test_loading_pytorch_shows_time_limit(benchmark_page, app, qtbot):
    _, page = benchmark_page
    app.gate = threading.Event()
    app.news["bench"] = (TorchLoading(limit_s=180.0),)
    page.empty_state.button.click()
    qtbot.waitUntil(
        lambda: "the first time takes up to 3 minutes" in page.running_view.count_label.text(), timeout=5000
    )
    assert page.running_view.title_label.text() == "PyTorch is loading…"
    page.cancel_button.click()
    qtbot.waitUntil(lambda: not page.measuring, timeout=5000)


def test_elapsed_time_updates_without_reports(benchmark_page, app, qtbot):
    _, page = benchmark_page
    app.gate = threading.Event()
    page.empty_state.button.click()
    assert "About 1 minute" in page.running_view.note_label.text()
    assert page.running_view._clock_timer.isActive()
    page.running_view._started -= 46
    page.running_view._clock_timer.timeout.emit()
    assert page.running_view.count_label.text() == "running for 46 seconds"
    page.running_view.hide()
    assert not page.running_view._clock_timer.isActive()
    page.stop()
    qtbot.waitUntil(lambda: not page.measuring, timeout=5000)


def test_escape_cancels_and_late_enter_is_ignored(benchmark_page, app, qtbot):
    window, page = benchmark_page
    app.gate = threading.Event()
    app.kept = [cpu_benchmark()]
    page.reload()
    qtbot.waitUntil(page.measure_button.isVisible, timeout=5000)
    qtbot.mouseClick(page.measure_button, Qt.MouseButton.LeftButton)
    assert page.cancel_button.hasFocus()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not page.measuring, timeout=5000)
    assert page.measure_button.isVisible()
    asked = app.asked.count("bench")
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Space):
        qtbot.keyClick(QApplication.focusWidget() or window, key)
    assert not page.measuring
    assert app.asked.count("bench") == asked == 1
    qtbot.waitUntil(page.measure_button.hasFocus, timeout=5000)  # as soon as no key can be meant for Cancel any more


def test_cancel_message_shown_only_on_speed_tab(benchmark_page, app, qtbot):
    _, page = benchmark_page
    app.gate = threading.Event()
    page.empty_state.button.click()
    page.cancel_button.click()
    qtbot.waitUntil(page.message_banner.isVisible, timeout=5000)
    page.tabs.buttons[MEMORY_TAB].click()
    assert not page.message_banner.isVisible()
    page.tabs.buttons[SPEED_TAB].click()
    assert page.message_banner.isVisible()


def test_page_shortcut_focuses_measure_button(home, app, qtbot):
    window, _ = home(app)
    app.gate = threading.Event()
    qtbot.keyClick(window, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    page = window.main_area.pages[BENCHMARK]
    qtbot.waitUntil(page.empty_state.button.hasFocus, timeout=5000)
    qtbot.keyClick(page.empty_state.button, Qt.Key.Key_Return)
    assert page.measuring
    page.stop()
    qtbot.waitUntil(lambda: not page.measuring, timeout=5000)


def test_failed_benchmark_shows_error_and_can_retry(benchmark_page, app, qtbot):
    _, page = benchmark_page
    app.results["bench"] = AppError("internal", detail="child")
    page.empty_state.button.click()
    qtbot.waitUntil(page.message_banner.isVisible, timeout=5000)
    assert "child" in page.message_banner.label.text()
    app.results["bench"] = cpu_benchmark()
    page.empty_state.button.click()
    qtbot.waitUntil(page.result_view.isVisible, timeout=5000)
    assert not page.message_banner.isVisible()


def test_no_environment_leads_to_wizard(home, app, qtbot):
    app.known = ()
    window, _ = home(app)
    window.main_area.open_page(BENCHMARK)
    page = window.main_area.pages[BENCHMARK]
    qtbot.waitUntil(page.empty_state.isVisible, timeout=5000)
    window.main_area.setup_requested.disconnect()
    with qtbot.waitSignal(page.setup_requested):
        page.empty_state.button.click()
    assert "bench" not in app.asked


def test_simulated_machine_disables_benchmark_with_reason(open_area, tmp_path, qtbot):
    area = open_area(FakeMain(tmp_path, rtx4060(), simulated=True))
    area.open_page(BENCHMARK)
    page = area.pages[BENCHMARK]
    qtbot.waitUntil(page.empty_state.isVisible, timeout=5000)
    assert not page.empty_state.button.isEnabled()
    assert "simulated" in page.empty_state.message_label.text()


def test_external_result_appears_on_return_to_page(benchmark_page, app, qtbot):
    window, page = benchmark_page
    window.main_area.open_page(0)
    app.kept = [cpu_benchmark()]
    window.main_area.open_page(BENCHMARK)
    qtbot.waitUntil(page.result_view.isVisible, timeout=5000)


def test_saved_path_shown_until_page_left(benchmark_page, app, qtbot, tmp_path):
    window, page = benchmark_page
    app.kept = [cpu_benchmark()]
    page.reload()
    qtbot.waitUntil(page.result_view.isVisible, timeout=5000)
    for leave in (
        page.tabs.buttons[1].click,
        lambda: window.main_area.open_page(0),
        lambda: page.memory_view.busy_changed.emit(True),
    ):
        page._exporter.saved.emit(tmp_path / "rep.html")
        assert "rep.html" in page.message_banner.label.text()
        assert not page.message_banner.isHidden()
        leave()
        assert page.message_banner.isHidden()
        window.main_area.open_page(BENCHMARK)
        page.tabs.buttons[0].click()


def test_history_compares_only_same_measurement(benchmark_page, app, qtbot):
    _, page = benchmark_page
    now = time.time()
    other = replace(cpu_benchmark().results[0], size=(1024, 1024, 1024))
    app.kept = [
        replace(cpu_benchmark(), started=now - 90_000),
        replace(cpu_benchmark(), started=now - 80_000, results=(other,)),
        replace(cpu_benchmark(), started=now),
    ]
    page.reload()
    qtbot.waitUntil(page.result_view.history_card.isVisible, timeout=5000)
    assert len(page.result_view.history_card.chart._bars) == 2


@pytest.mark.parametrize("tab", [SPEED_TAB, MEMORY_TAB])
def test_missing_environment_shows_setup_button(benchmark_page, app, qtbot, tab):
    """It is removed while the page is open; only who measures finds out."""
    window, page = benchmark_page
    app.kept = [cpu_benchmark()]
    page.reload()
    qtbot.waitUntil(page.measure_button.isVisible, timeout=5000)
    assert not page.environment_banner.isVisible()
    app.known = ()
    app.results["bench"] = app.results["fit"] = AppError("environment-missing", path="/home/mei/ai/pytorch")
    page.tabs.buttons[tab].click()
    (page.memory_view.measure_button if tab == MEMORY_TAB else page.measure_button).click()
    qtbot.waitUntil(page.environment_banner.isVisible, timeout=5000)
    assert page.environment_banner.label.text().startswith(
        "The environment is gone: it was removed or moved. The setup makes"
    )
    assert not page.message_banner.isVisible()
    assert page.result_view.isVisible()
    assert not page.measure_button.isEnabled()
    with qtbot.waitSignal(page.setup_requested):
        window.main_area.setup_requested.disconnect()
        page.environment_banner.button.click()


def test_empty_page_reports_missing_environment(benchmark_page, app, qtbot):
    _, page = benchmark_page
    app.known = ()
    app.results["bench"] = AppError("environment-missing", path="/home/mei/ai/pytorch")
    page.empty_state.button.click()
    qtbot.waitUntil(lambda: page.empty_state.button.text() == "Set up PyTorch", timeout=5000)
    assert page.empty_state.message_label.text().startswith("The environment is gone")
    assert not page.environment_banner.isVisible()
    assert not page.message_banner.isVisible()
