"""The page of the health test in its states, for `tests.gui.screenshots`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from PySide6.QtWidgets import QApplication

from gpu_assistant.gui.health.page import HealthPage
from gpu_assistant.gui.main.main_area import HEALTH
from gpu_assistant.gui.main.window import MainWindow
from tests.fakes.health_findings import health_checks, progress_reports

THOROUGH_LEVEL = 2
RUNNING_S, WHOLE_S = 94.0, 262.0


def before(window: MainWindow) -> None:
    """As it is opened: the quick check, not started."""
    _page(window)


def running(window: MainWindow) -> None:
    """A thorough test at the memory, for a minute and a half."""
    page = _page(window)
    window.app.gate = threading.Event()
    reports = progress_reports(THOROUGH_LEVEL)
    window.app.events["health"] = reports
    window.app.results["health"] = health_checks(THOROUGH_LEVEL)
    page.choose(THOROUGH_LEVEL, None)
    page.start_test()
    _wait_until(
        lambda: len(page.result_view.rows) == len(reports) - 1 and page.result_view.pending.current_row.isVisible()
    )
    page.monotonic = lambda: time.monotonic() + RUNNING_S
    page.update_state()


def done(window: MainWindow) -> None:
    """A thorough test with its verdict."""
    page = _page(window)
    window.app.results["health"] = health_checks(THOROUGH_LEVEL)
    page.choose(THOROUGH_LEVEL, None)
    page.start_test()
    page.monotonic = lambda: time.monotonic() + WHOLE_S
    _wait_until(lambda: not page.testing and page.result_view.verdict.isVisible())


def _page(window: MainWindow) -> HealthPage:
    page: HealthPage = window.main_area.pages[HEALTH]
    _wait_until(lambda: not page.environment_runner.running)
    return page


def _wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        QApplication.processEvents()
        time.sleep(0.005)
