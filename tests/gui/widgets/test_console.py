"""The log keeps the newest lines while the window answers; commands are shown whole and copied."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets import console
from gpu_assistant.gui.widgets.console import LINES_PER_BATCH, MAX_LOG_LINES, CommandBox, LogDrawer


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
    lines = made.text().split("\n")
    assert len(lines) == MAX_LOG_LINES
    assert lines[0] == "line 10"
    made.clear()
    assert made.text() == ""


def colours(picture: QImage) -> set[str]:
    return {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}


def test_copy_button_text_resets(show, qtbot: QtBot, qapp: QApplication, monkeypatch) -> None:
    monkeypatch.setattr(console, "COPIED_MESSAGE_MS", 200)
    box = show(CommandBox("pip install torch"))
    qtbot.mouseClick(box.copy_button, Qt.MouseButton.LeftButton)
    assert qapp.clipboard().text() == "pip install torch"
    assert box.copy_button.text() == "Copied"
    qtbot.waitUntil(lambda: box.copy_button.text() == "Copy")


def test_long_command_wraps(show) -> None:
    box = CommandBox("python " + "x" * 300)
    assert box.text_edit.heightForWidth(300) > 4 * box.text_edit.fontMetrics().height()


def test_multiline_command_has_full_height(show, qapp: QApplication) -> None:
    box = show(CommandBox("\n".join(["import torch"] * 60)))
    for scale in (1.0, 2.0):
        theme.set_text_scale(qapp, scale)
        box.resize(700, box.heightForWidth(700))
        qapp.processEvents()
        text, real, block = box.text_edit, 0.0, box.text_edit.document().begin()
        while block.isValid():
            real += text.blockBoundingRect(block).height()
            block = block.next()
        assert real <= text.viewport().height() <= real + 10


def test_command_height_follows_text(show) -> None:
    box = show(CommandBox("one line"))
    one = box.heightForWidth(700)
    box.set_text("\n".join(["import torch"] * 60))
    assert box.heightForWidth(700) > 10 * one


def test_the_drawer_keeps_the_newest_lines(show, qtbot: QtBot, qapp: QApplication) -> None:
    drawer = show(LogDrawer())
    drawer.append([f"line {count}" for count in range(6000)])
    lines = drawer.text().splitlines()
    assert len(lines) == 5000
    assert lines[-1] == "line 5999"
    assert not drawer.is_open()
    qtbot.keyClick(drawer.header, Qt.Key.Key_Return)
    assert drawer.is_open()
    qtbot.mouseClick(drawer.copy_button, Qt.MouseButton.LeftButton)
    assert qapp.clipboard().text().endswith("line 5999")
    drawer.clear()
    assert drawer.text() == ""


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_log_has_sunken_background(qapp: QApplication, qtbot: QtBot, name: str) -> None:
    theme.set_theme(qapp, name)
    drawer = LogDrawer()
    qtbot.addWidget(drawer)
    drawer.append(["one"] * 300)
    drawer.set_open(True)
    drawer.resize(400, 300)
    drawer.show()
    qtbot.waitExposed(drawer)
    picture = drawer.text_edit.grab().toImage()
    assert theme.color("text").name() in colours(picture)
    ground = drawer.grab().toImage()
    at = drawer.text_edit.mapTo(drawer, QPoint(drawer.text_edit.width() // 2, drawer.text_edit.height() - 4))
    assert ground.pixelColor(at).name() == theme.color("sunken").name()
