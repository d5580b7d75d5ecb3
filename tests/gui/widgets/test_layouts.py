"""Layouts: what has no room in a line goes on below, and everything is seen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui.widgets.buttons import SegmentedControl
from gpu_assistant.gui.widgets.layouts import FlowLayout, ListLayout, WrappingRow
from gpu_assistant.gui.widgets.text import label

pytestmark = pytest.mark.gui


class Box(QWidget):
    """A widget that asks for so many pixels."""

    def __init__(self, width: int, height: int = 20, smallest: int | None = None) -> None:
        super().__init__()
        self._asked, self._smallest = QSize(width, height), QSize(smallest or width, height)

    def sizeHint(self) -> QSize:
        return self._asked

    def minimumSizeHint(self) -> QSize:
        return self._smallest


def shown(qtbot: QtBot, layout: ListLayout, width: int) -> QWidget:
    """A window of this width that has the layout alone, once it is laid out."""
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    column.setContentsMargins(0, 0, 0, 0)
    column.addLayout(layout)
    column.addStretch(1)
    window.resize(width, 400)
    window.show()
    qtbot.waitExposed(window)
    assert window.width() == width
    return window


def test_wrapping_row_has_others_at_right_where_there_is_room(qtbot):
    first, other = Box(200, smallest=80), Box(100, 40)
    _window = shown(qtbot, WrappingRow(first, other, spacing=10), 500)
    assert (first.x(), first.width()) == (0, 390)
    assert (other.x(), other.width()) == (400, 100)
    assert first.geometry().center().y() == other.geometry().center().y()


@pytest.mark.parametrize("smallest", [80, 200])
def test_wrapping_row_has_others_below_where_first_has_little(qtbot, smallest):
    first, other, last = Box(200, smallest=smallest), Box(150), Box(120)
    layout = WrappingRow(first, other, last, spacing=10, line_spacing=6)
    _window = shown(qtbot, layout, 290)
    assert (first.x(), first.y(), first.width()) == (0, 0, 290)
    assert (other.x(), other.y(), other.width()) == (0, 26, 150)
    assert (last.x(), last.y()) == (160, 26)
    assert layout.heightForWidth(290) == 46
    assert layout.minimumSize().width() == max(smallest, 150)


def test_wrapping_row_leaves_no_room_for_what_is_hidden(qtbot):
    first, other = Box(200, smallest=80), Box(100)
    layout = WrappingRow(first, other, spacing=10)
    other.hide()
    _window = shown(qtbot, layout, 500)
    assert first.width() == 500


def test_wrapping_row_gives_text_the_height_of_its_lines(qtbot):
    text, button = label("body", "Every file is checked against a checksum, wherever it comes from. " * 3), Box(120)
    window = shown(qtbot, WrappingRow(text, button), 400)
    qtbot.waitUntil(lambda: text.height() >= text.heightForWidth(text.width()))
    window.resize(300, 600)
    qtbot.waitUntil(lambda: text.height() >= text.heightForWidth(text.width()))


def test_even_flow_that_fills_has_columns_of_one_width(qtbot):
    flow = FlowLayout(spacing=10, line_spacing=5, even=True, fill=True)
    boxes = [Box(width, smallest=90) for width in (100, 120, 90, 110)]
    for box in boxes:
        flow.addWidget(box)
    window = shown(qtbot, flow, 300)
    assert [box.x() for box in boxes] == [0, 155, 0, 155]
    assert {box.width() for box in boxes} == {145}
    window.resize(400, 400)  # less than they ask for
    qtbot.waitUntil(lambda: len({box.y() for box in boxes}) == 1)
    assert {box.width() for box in boxes} == {92}


def test_even_flow_has_more_lines_where_an_even_one_would_be_too_wide(qtbot):
    flow = FlowLayout(spacing=2, even=True)
    boxes = [Box(width) for width in (250, 200, 60)]
    for box in boxes:
        flow.addWidget(box)
    _window = shown(qtbot, flow, 310)
    assert [box.x() for box in boxes] == [0, 0, 0]
    assert max(box.x() + box.width() for box in boxes) <= 310


def test_segments_without_room_are_in_two_lines_and_all_seen(qtbot):
    control = SegmentedControl(["Use system setting", "Light", "Dark", "High contrast"])
    width = control.sizeHint().width()
    window = shown(qtbot, WrappingRow(label("body", "Theme"), control), 3 * width)
    assert len({button.y() for button in control.buttons}) == 1
    window.resize(width - 40, 400)
    qtbot.waitUntil(lambda: len({button.y() for button in control.buttons}) == 2)
    assert all(control.rect().contains(button.geometry()) for button in control.buttons)
