"""The benchmark page: before, during and after a run; the full test; focus and keyboard."""

from __future__ import annotations

import threading
import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QLabel

from gpu_assistant.bench.child_protocol import TorchLoading
from gpu_assistant.core.errors import AppError
from gpu_assistant.gui import theme
from gpu_assistant.gui.bench.page import BUTTON_GAP, MEMORY_TAB, SPEED_TAB
from gpu_assistant.gui.main.main_area import BENCHMARK, HOME
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from tests.fakes.benchmarks import card_benchmark
from tests.fakes.examples import cpu_benchmark, rtx4060
from tests.fakes.main_window import FakeMain

pytestmark = pytest.mark.gui


@pytest.fixture
def page(open_page):
    return open_page()


def confirm_dialog(page) -> ConfirmDialog:
    return next(each for each in page.findChildren(ConfirmDialog) if each.isVisible())


def wait_for_end(page, qtbot):
    qtbot.waitUntil(lambda: not page.measuring, timeout=5000)


# Before a run


def test_empty_page_shows_duration_and_what_is_measured(page):
    assert [line.text().split(",")[0] for line in page.workloads_card.labels] == [
        "Training ResNet-50",
        "Training BERT-base",
        "Writing text with a small language model",
        "Matrix multiplication",
        "Copying data",
    ]
    assert page.workloads_card.isVisible()
    assert page.empty_state.detail_label.text() == "About 1 minute. The fan may get loud."
    # A CPU is promised no comparison with a card.
    assert page.answers_card.labels[0].text() == "How long your CPU takes to train on 1,000 images"
    assert not any("card is" in line.text() for line in page.answers_card.labels)
    assert page.empty_state.button.isEnabled()


def test_no_environment_leads_to_wizard(home, app, qtbot):
    app.known = ()
    window, _ = home(app)
    window.main_area.open_page(BENCHMARK)
    page = window.main_area.pages[BENCHMARK]
    qtbot.waitUntil(page.empty_state.isVisible, timeout=5000)
    assert page.workloads_card.isVisible()
    assert not page.first_full_test_button.isVisible()
    window.main_area.setup_requested.disconnect()
    with qtbot.waitSignal(page.setup_requested):
        page.empty_state.button.click()
    assert "bench" not in app.calls


def test_simulated_machine_disables_benchmark_with_reason(open_area, tmp_path, qtbot):
    area = open_area(FakeMain(tmp_path, rtx4060(), simulated=True))
    area.open_page(BENCHMARK)
    page = area.pages[BENCHMARK]
    qtbot.waitUntil(page.empty_state.isVisible, timeout=5000)
    assert not page.empty_state.button.isEnabled()
    assert "simulated" in page.empty_state.detail_label.text()
    assert not page.workloads_card.isVisible()


def test_page_shortcut_focuses_measure_button(home, app, qtbot):
    window, _ = home(app)
    app.gate = threading.Event()
    qtbot.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    page = window.main_area.pages[BENCHMARK]
    qtbot.waitUntil(page.empty_state.button.hasFocus, timeout=5000)
    qtbot.keyClick(page.empty_state.button, Qt.Key.Key_Return)
    assert page.measuring
    page.stop()
    wait_for_end(page, qtbot)


# A run


def test_benchmark_run_shows_result(page, app, qtbot):
    app.gate = threading.Event()
    page.empty_state.button.click()
    assert page.measuring
    assert page.cancel_button.isVisible()
    app.gate.set()
    qtbot.waitUntil(page.result_view.isVisible, timeout=5000)
    assert page.result_view.figure_label.text() == "141"
    assert (
        page.result_view.caption_label.text()
        == "billion operations per second (GFLOP/s)\nMatrix multiplication, float32"
    )
    assert page.result_view.headline_label.text() == "PyTorch runs on your CPU"
    assert page.result_view.comparison_rows[0].accessibleName() == "Matrix multiplication: CPU 141 GFLOP/s"
    assert page.measure_button.isVisible()


def test_cancel_stops_benchmark(page, app, qtbot):
    app.gate = threading.Event()
    page.empty_state.button.click()
    page.cancel_button.click()
    wait_for_end(page, qtbot)
    assert page.empty_state.isVisible()
    assert page.message_banner.label.text() == "Stopped. This run was not saved."


def test_loading_pytorch_shows_time_limit(page, app, qtbot):
    app.gate = threading.Event()
    app.events["bench"] = (TorchLoading(limit_s=180.0),)
    page.empty_state.button.click()
    count = page.running_view.count_label
    qtbot.waitUntil(lambda: "the first time takes up to 3 minutes" in count.text(), timeout=5000)
    assert page.running_view.title_label.text() == "PyTorch is loading…"
    page.cancel_button.click()
    wait_for_end(page, qtbot)


def test_elapsed_time_runs_while_visible(page, app, qtbot):
    app.gate = threading.Event()
    page.empty_state.button.click()
    clock = page.running_view.findChild(QTimer, "clockTimer")
    assert "Close other programs" in page.running_view.note_label.text()
    assert page.running_view.note_label.text().endswith("A cancelled run is not saved.")
    assert page.running_view.count_label.text().startswith("running for ")
    assert clock.isActive()
    page.running_view.hide()
    assert not clock.isActive()
    page.stop()
    wait_for_end(page, qtbot)


def test_failed_benchmark_shows_error_and_can_retry(page, app, qtbot):
    app.results["bench"] = AppError("internal", detail="child")
    page.empty_state.button.click()
    qtbot.waitUntil(page.message_banner.isVisible, timeout=5000)
    assert "child" in page.message_banner.label.text()
    app.results["bench"] = cpu_benchmark()
    page.empty_state.button.click()
    qtbot.waitUntil(page.result_view.isVisible, timeout=5000)
    assert not page.message_banner.isVisible()


def test_measure_again_scrolls_to_progress_and_outcome(open_page, app, qtbot):
    page = open_page(card_benchmark())
    page.window().resize(1000, 560)
    app.gate = threading.Event()
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


def test_cancel_message_shown_only_on_speed_tab(page, app, qtbot):
    app.gate = threading.Event()
    page.empty_state.button.click()
    page.cancel_button.click()
    qtbot.waitUntil(page.message_banner.isVisible, timeout=5000)
    page.tabs.buttons[MEMORY_TAB].click()
    assert not page.message_banner.isVisible()
    page.tabs.buttons[SPEED_TAB].click()
    assert page.message_banner.isVisible()


# Keyboard and focus


def test_escape_cancels_and_late_enter_is_ignored(open_page, app, qtbot):
    page = open_page(cpu_benchmark())
    app.gate = threading.Event()
    qtbot.mouseClick(page.measure_button, Qt.MouseButton.LeftButton)
    assert page.running_view.hasFocus()
    qtbot.keyClick(page.window(), Qt.Key.Key_Escape)
    wait_for_end(page, qtbot)
    assert page.measure_button.isVisible()
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Space):
        qtbot.keyClick(QApplication.focusWidget() or page.window(), key)
    assert not page.measuring
    assert app.calls.count("bench") == 1
    qtbot.waitUntil(page.measure_button.hasFocus, timeout=5000)  # once no key press can be meant for Cancel


@pytest.mark.parametrize("by", ["key", "button"])
def test_focus_on_tabs_after_cancel(open_page, app, qtbot, by):
    page = open_page(card_benchmark())
    app.gate = threading.Event()
    page.measure_button.click()
    assert page.running_view.hasFocus()
    if by == "key":
        page.cancel_button.setFocus()
        qtbot.keyClick(page.cancel_button, Qt.Key.Key_Space)
    else:
        qtbot.mouseClick(page.cancel_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.measuring and page.tabs.isVisible(), timeout=5000)
    assert QApplication.focusWidget() is page.tabs.buttons[SPEED_TAB]
    assert page.window().isAncestorOf(page.tabs)


def test_focus_on_saving_where_nothing_can_be_measured(home, app, qtbot):
    app.known, app.stored = (), [replace(card_benchmark(), started=time.time())]
    window, _ = home(app)
    window.main_area.open_page(BENCHMARK)
    page = window.main_area.pages[BENCHMARK]
    qtbot.waitUntil(page.result_view.isVisible, timeout=10_000)
    assert not page.measure_button.isEnabled()
    page.take_focus()
    assert page.result_actions.save_button.hasFocus()


def test_focus_elsewhere_is_not_moved(open_page, app, qtbot):
    page = open_page(card_benchmark())
    app.gate = threading.Event()
    page.measure_button.click()
    elsewhere = page.window().main_area.rail.buttons[BENCHMARK]
    elsewhere.setFocus()
    app.gate.set()
    wait_for_end(page, qtbot)
    assert page.window().focusWidget() is elsewhere


# After a run


def test_external_result_appears_on_return_to_page(page, app, qtbot):
    page.window().main_area.open_page(HOME)
    app.stored = [cpu_benchmark()]
    page.window().main_area.open_page(BENCHMARK)
    qtbot.waitUntil(page.result_view.isVisible, timeout=5000)


def test_saved_path_shown_until_page_left(open_page, tmp_path):
    page = open_page(cpu_benchmark())
    area = page.window().main_area
    for leave in (
        page.tabs.buttons[MEMORY_TAB].click,
        lambda: area.open_page(HOME),
        lambda: page.memory_view.busy_changed.emit(True),
    ):
        page.exporter.saved.emit(tmp_path / "report.html")
        assert "report.html" in page.message_banner.label.text()
        assert not page.message_banner.isHidden()
        leave()
        assert page.message_banner.isHidden()
        area.open_page(BENCHMARK)
        page.tabs.buttons[SPEED_TAB].click()


def test_saved_report_is_opened_by_the_button_beside_it(open_page, tmp_path, qtbot):
    page = open_page(cpu_benchmark())
    page.exporter.saved.emit(tmp_path / "report.html")
    assert page.message_banner.button.isVisible()
    page.message_banner.button.click()
    qtbot.waitUntil(lambda: ("file", tmp_path / "report.html") in page.window().app.system.opened)


def test_history_compares_only_same_measurement(open_page):
    other = replace(cpu_benchmark().results[0], size=(1024, 1024, 1024))
    page = open_page(cpu_benchmark(), replace(cpu_benchmark(), results=(other,)), cpu_benchmark())
    assert page.result_view.history_card.isVisible()
    assert page.result_view.history_card.chart.accessibleName().count(": 141 GFLOP/s") == 2


def test_unreadable_results_are_counted(open_result, app, seen):
    app.unreadable = 2
    page = open_result(card_benchmark())
    assert "Not shown: 2 results, damaged or saved by another version of this program." in seen(page)
    page.tabs.buttons[MEMORY_TAB].click()
    assert not page.unreadable_label.isVisible()


@pytest.mark.parametrize("tab", [SPEED_TAB, MEMORY_TAB])
def test_missing_environment_shows_setup_button(open_page, app, qtbot, tab):
    """The environment is removed while the page is open, which only a run notices."""
    page = open_page(cpu_benchmark())
    assert not page.environment_banner.isVisible()
    app.known = ()
    app.results["bench"] = app.results["fit"] = AppError("environment-missing", path="/home/mei/ai/pytorch")
    page.tabs.buttons[tab].click()
    (page.memory_view.measure_button if tab == MEMORY_TAB else page.measure_button).click()
    qtbot.waitUntil(page.environment_banner.isVisible, timeout=5000)
    text = page.environment_banner.label.text()
    assert text.startswith("The environment was removed or moved. Setting up a new one")
    assert not page.message_banner.isVisible()
    assert page.result_view.isVisible()
    assert not page.measure_button.isEnabled()
    with qtbot.waitSignal(page.setup_requested):
        page.window().main_area.setup_requested.disconnect()
        page.environment_banner.button.click()


def test_empty_page_reports_missing_environment(page, app, qtbot):
    app.known = ()
    app.results["bench"] = AppError("environment-missing", path="/home/mei/ai/pytorch")
    page.empty_state.button.click()
    qtbot.waitUntil(lambda: page.empty_state.button.text() == "Set up PyTorch", timeout=5000)
    assert page.empty_state.detail_label.text().startswith("The environment was removed")
    assert not page.environment_banner.isVisible()
    assert not page.message_banner.isVisible()


# The full test


def test_full_test_starts_after_confirmation(page, app, qtbot, seen):
    app.gate = threading.Event()
    assert page.first_full_test_button.text() == "Full test…"
    assert page.full_test_note.text() == "More accurate, up to 15 minutes"
    page.first_full_test_button.click()
    dialog = confirm_dialog(page)
    assert "Up to 15 minutes." in seen(dialog)
    assert dialog.reject_button.isDefault()
    dialog.reject_button.click()
    assert not page.measuring
    page.first_full_test_button.click()
    confirm_dialog(page).accept_button.click()
    assert page.measuring
    qtbot.waitUntil(lambda: app.bench_full, timeout=5000)
    assert "Close other programs" in page.running_view.note_label.text()
    assert page.running_view.note_label.text().endswith("A cancelled run keeps its results so far.")
    cancelled_at = time.monotonic()
    page.cancel_button.click()
    wait_for_end(page, qtbot)
    assert time.monotonic() - cancelled_at < 1 + 4  # a second is meant; a busy machine takes longer
    page.empty_state.button.click()
    qtbot.waitUntil(lambda: not app.bench_full, timeout=5000)
    page.stop()
    wait_for_end(page, qtbot)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_full_test_dialog_text_is_not_cut(open_result, qapp, qtbot, scale):
    theme.set_text_scale(qapp, scale)
    page = open_result(card_benchmark())
    page.confirm_full_test()
    dialog = confirm_dialog(page)
    labels = [each for each in dialog.findChildren(QLabel) if each.text()]
    assert len(labels) == 2
    qtbot.waitUntil(lambda: all(each.height() >= each.heightForWidth(each.width()) for each in labels), timeout=5000)
    dialog.reject()


def test_full_test_shown_next_to_quick_test(open_result, seen):
    page = open_result(card_benchmark())
    assert page.full_test_button.isVisible()
    assert page.full_test_button.toolTip().startswith(
        "Up to 15 minutes for the CPU and 15 minutes for each GPU; with several GPUs up to 10 minutes more"
    )
    page.full_test_button.click()
    assert "15 minutes for each GPU" in seen(confirm_dialog(page))
    confirm_dialog(page).reject()


def test_cancelled_full_test_shown_as_unfinished(open_page, seen):
    page = open_page(replace(card_benchmark(), scope="full", notes=("bench.note.cancelled",)))
    assert "You stopped this test early" in seen(page.result_view)


# Layout


@pytest.mark.parametrize(("width", "scale", "columns"), [(1366, 1.0, 3), (880, 1.0, 3), (1000, 2.0, 2)])
def test_action_buttons_fit_page_width(open_result, qapp, qtbot, width, scale, columns):
    page = open_result(card_benchmark())
    page.window().resize(width, 700)
    theme.set_text_scale(qapp, scale)
    qtbot.waitUntil(lambda: page.result_actions.columns == columns, timeout=5000)
    qtbot.waitUntil(lambda: page.horizontalScrollBar().maximum() == 0, timeout=5000)
    for button in page.result_actions.buttons:
        assert button.visibleRegion().boundingRect() == button.rect()


def test_tabs_and_buttons_stand_in_one_row_in_the_smallest_window(open_result, language, qtbot):
    page = open_result(card_benchmark())
    for code in ("en", "zh_CN"):
        language.set(code)
        parts = (page.tabs, *page.result_actions.buttons)
        # With wide fonts they take more than the smallest window has, also with less room around the texts of the
        # tabs: a window that has it.
        buttons_width = sum(button.sizeHint().width() + BUTTON_GAP for button in page.result_actions.buttons)
        needed = page.tabs.row_width(compact=True) + buttons_width
        page.window().resize(880, 520)
        available = page.maximumViewportSize().width() - 2 * page.breakpoints.margin
        page.window().resize(880 + max(0, needed - available), 520)

        def is_one_row(parts=parts) -> bool:
            # Their heights differ by a pixel or two with some fonts.
            centres = [each.mapTo(page, each.rect().center()).y() for each in parts]
            return max(centres) - min(centres) < 4

        qtbot.waitUntil(is_one_row, timeout=5000)
        assert "\n" not in page.subtitle_label.text()
        line_height = page.subtitle_label.fontMetrics().height()
        assert page.subtitle_label.height() < 2 * line_height


def test_result_is_saved_as_picture_or_report(open_result, monkeypatch):
    page = open_result(card_benchmark())
    asked: list[str] = []
    monkeypatch.setattr(page.exporter, "ask_picture", lambda *_: asked.append("picture"))
    monkeypatch.setattr(page.exporter, "ask_report", lambda *_: asked.append("report"))
    actions = page.result_actions.build_save_menu().actions()
    assert [action.text() for action in actions] == ["As a picture…", "As a report…"]
    for action in actions:
        action.trigger()
    assert asked == ["picture", "report"]


def test_large_text_needs_no_horizontal_scroll(open_result, qapp, qtbot):
    page = open_result(card_benchmark())
    page.window().resize(1000, 700)
    theme.set_text_scale(qapp, 2.0)
    tabs, buttons = page.tabs, page.result_actions.panel
    qtbot.waitUntil(lambda: buttons.geometry().top() > tabs.geometry().bottom() > 50, timeout=5000)
    qtbot.waitUntil(lambda: page.horizontalScrollBar().maximum() == 0, timeout=5000)
