"""The full test: said beforehand how long it takes, started, cancelled; and where the keyboard is afterwards."""

from __future__ import annotations

import threading
import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel

from gpu_assistant.gui import theme
from gpu_assistant.gui.bench.page import SPEED_TAB
from gpu_assistant.gui.main.main_area import BENCHMARK
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from tests.fakes.benchmarks import card_benchmark
from tests.fakes.main_window import ENVIRONMENT

pytestmark = pytest.mark.gui


@pytest.fixture
def opened(home, app, qtbot):
    def show(*kept, variant="cpu"):
        app.known, app.kept = (replace(ENVIRONMENT, variant=variant),), list(kept)
        window, _ = home(app)
        window.main_area.open_page(BENCHMARK)
        page = window.main_area.pages[BENCHMARK]
        qtbot.waitUntil(lambda: page._data_read, timeout=5000)
        return page

    return show


def _question(page) -> ConfirmDialog:
    return next(each for each in page.findChildren(ConfirmDialog) if each.isVisible())


def test_dialog_shows_duration_before_start(opened, app, qtbot, seen):
    page = opened()
    app.gate = threading.Event()
    assert page.first_full_test_button.text() == "Full test: up to 15 minutes…"
    page.first_full_test_button.click()
    question = _question(page)
    assert "Up to 15 minutes." in seen(question)
    assert question.reject_button.isDefault()
    question.reject_button.click()
    assert not page.measuring
    page.first_full_test_button.click()
    _question(page).accept_button.click()
    assert page.measuring
    qtbot.waitUntil(lambda: app.bench_full, timeout=5000)
    assert "Up to 15 minutes" in page.running_view.note_label.text()
    began = time.monotonic()
    page.cancel_button.click()
    qtbot.waitUntil(lambda: not page.measuring, timeout=5000)
    assert time.monotonic() - began < 1 + 4  # a second is meant; a busy machine takes longer
    page.empty_state.button.click()
    qtbot.waitUntil(lambda: not app.bench_full, timeout=5000)
    page.stop()
    qtbot.waitUntil(lambda: not page.measuring, timeout=5000)


def test_cancelled_full_test_shown_as_unfinished(opened, seen):
    page = opened(replace(card_benchmark(), scope="full", notes=("bench.note.cancelled",)))
    assert "You stopped this test before its end" in seen(page.result_view)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_dialog_text_is_not_cut(opened, qapp, qtbot, scale):
    theme.set_text_scale(qapp, scale)
    page = opened(card_benchmark(), variant="cu130")
    page.confirm_full_test()
    question = _question(page)
    words = [each for each in question.findChildren(QLabel) if each.text()]
    assert len(words) == 2
    qtbot.waitUntil(lambda: all(each.height() >= each.heightForWidth(each.width()) for each in words), timeout=5000)
    question.reject()


def test_full_test_kept_next_to_quick_test(opened, app, seen):
    page = opened(card_benchmark(), variant="cu130")
    assert page.full_test_button.isVisible()
    assert page.full_test_button.toolTip().startswith(
        "Up to 15 minutes for the CPU and 15 minutes for each GPU; with several GPUs up to 10 minutes more"
    )
    page.full_test_button.click()
    assert "15 minutes for each GPU" in seen(_question(page))
    _question(page).reject()


@pytest.mark.parametrize("by", ["key", "button"])
def test_focus_on_tabs_after_cancel(opened, app, qtbot, by):
    page = opened(card_benchmark())
    window = page.window()
    app.gate = threading.Event()
    page.measure_button.click()
    assert page.cancel_button.hasFocus()
    if by == "key":
        qtbot.keyClick(page.cancel_button, Qt.Key.Key_Space)
    else:
        qtbot.mouseClick(page.cancel_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.measuring and page.tabs.isVisible(), timeout=5000)
    assert QApplication.focusWidget() is page.tabs.buttons[SPEED_TAB]
    assert window.isAncestorOf(page.tabs)


def test_focus_elsewhere_is_not_moved(opened, app, qtbot):
    page = opened(card_benchmark())
    app.gate = threading.Event()
    page.measure_button.click()
    elsewhere = page.window().main_area.rail.buttons[BENCHMARK]
    elsewhere.setFocus()
    app.gate.set()
    qtbot.waitUntil(lambda: not page.measuring, timeout=5000)
    assert elsewhere.hasFocus()


@pytest.mark.parametrize(("width", "scale", "columns"), [(1366, 1.0, 4), (1000, 1.0, 4), (1000, 2.0, 2)])
def test_action_buttons_fit_page_width(opened, qapp, qtbot, width, scale, columns):
    page = opened(card_benchmark(), variant="cu130")
    page.window().resize(width, 700)
    theme.set_text_scale(qapp, scale)
    qtbot.waitUntil(lambda: page.result_actions._columns == columns, timeout=5000)
    qtbot.waitUntil(lambda: page.horizontalScrollBar().maximum() == 0, timeout=5000)
    for button in page.result_actions.buttons:
        assert button.visibleRegion().boundingRect() == button.rect()
