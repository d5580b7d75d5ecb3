"""Goes through a window by the Tab key."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui.worker import JobRunner

REQUEST_AGAIN_S = 2.0


def wait_until_active(qtbot: QtBot, window: QWidget) -> None:
    """Make it the window that has the keyboard: on a busy machine the system gives it later than it shows the window.

    Shortcuts, `hasFocus` and `QApplication.focusWidget` know nothing of another window. Under Wine a request is seldom
    lost, one in some hundreds: it is made again.
    """
    requested = float("-inf")

    def is_active() -> bool:
        nonlocal requested
        # `isActiveWindow` is true on Windows before Qt knows of it.
        if QApplication.activeWindow() is window:
            return True
        if time.monotonic() - requested >= REQUEST_AGAIN_S:
            requested = time.monotonic()
            window.activateWindow()
        return False

    qtbot.waitUntil(is_active)


def wait_until_loaded(qtbot: QtBot, window: QWidget) -> None:
    """Wait for all that the window reads in threads: until then controls come and go."""
    for _ in range(2):  # what starts to read, and what was read
        QApplication.processEvents()
        qtbot.waitUntil(lambda: not any(runner.running for runner in window.findChildren(JobRunner)))


def tab_stops(qtbot: QtBot, window: QWidget, limit: int = 120) -> list[QWidget]:
    """What Tab reaches, from what has the keyboard in this window until it is there again."""
    stops: list[QWidget] = []
    while (here := window.focusWidget()) not in stops:
        assert here is not None
        assert len(stops) < limit, stops
        stops.append(here)
        qtbot.keyClick(here, Qt.Key.Key_Tab)
    return stops
