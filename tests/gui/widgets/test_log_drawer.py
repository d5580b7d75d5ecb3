"""However much the tools say at once, the window answers, and the newest lines are there to be read."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpu_assistant.gui.widgets.console import LINES_PER_BATCH, MAX_LOG_LINES, LogDrawer


def drawer(qtbot: QtBot) -> LogDrawer:
    made = LogDrawer()
    qtbot.addWidget(made)
    made.resize(600, 400)
    made.show()
    qtbot.waitExposed(made)
    return made


def test_closed_drawer_keeps_lines_without_layout(qtbot: QtBot) -> None:
    made = drawer(qtbot)
    lines = [f"line {number}" for number in range(3 * LINES_PER_BATCH)]
    made.append(lines)
    assert made.text_edit.toPlainText() == ""
    assert made.text().split("\n") == lines


def test_open_drawer_appends_in_batches(qtbot: QtBot, qapp: QApplication) -> None:
    made = drawer(qtbot)
    made.set_open(True)
    lines = [f"line {number}" for number in range(4 * LINES_PER_BATCH)]
    made.append(lines)
    assert made.text_edit.blockCount() == LINES_PER_BATCH
    assert made.text().split("\n") == lines
    qtbot.waitUntil(lambda: made.text_edit.blockCount() == len(lines), timeout=5000)
    assert made.text().split("\n") == lines
    bar = made.text_edit.verticalScrollBar()
    assert bar.value() == bar.maximum(), "the newest line is in sight"


def test_oldest_lines_are_dropped_first(qtbot: QtBot) -> None:
    made = drawer(qtbot)
    made.append([f"line {number}" for number in range(MAX_LOG_LINES + 10)])
    kept = made.text().split("\n")
    assert len(kept) == MAX_LOG_LINES
    assert kept[0] == "line 10"
    made.clear()
    assert made.text() == ""
