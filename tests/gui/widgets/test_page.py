"""Pages and footers in windows of any size."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui.widgets.buttons import Button
from gpu_assistant.gui.widgets.page import Footer, Page


def test_tab_goes_in_reading_order(show, qtbot: QtBot) -> None:
    footer = Footer()
    back, go = footer.add_button(Button("Back")), footer.add_button(Button("Install", "primary"))
    show(footer)
    back.setFocus()
    qtbot.waitUntil(back.hasFocus)
    qtbot.keyClick(back, Qt.Key.Key_Tab)
    assert go.hasFocus()


@pytest.mark.parametrize(
    ("width", "left", "column"), [(1180, 28, 1120), (1400, 40, 1120), (1700, 290, 1120), (900, 24, 852)]
)
def test_the_page_keeps_its_column(qtbot: QtBot, width: int, left: int, column: int) -> None:
    page = Page("Home", "A card")
    qtbot.addWidget(page)
    page.resize(width, 700)
    page.show()
    qtbot.waitExposed(page)
    if page.width() != width:
        pytest.skip(f"this screen lets no window be {width} px wide")
    assert page.title_label.parentWidget().layout().contentsMargins().left() == left
    assert min(page.content.contentsRect().width() - 2 * left, column) == page.header.geometry().width()


def test_width_is_the_same_while_the_scroll_bar_comes(qtbot: QtBot) -> None:
    page = Page("Home")
    card = QWidget()
    page.column.addWidget(card)
    qtbot.addWidget(page)
    page.resize(900, 520)
    page.show()
    qtbot.waitExposed(page)
    widths = {page.available_width()}
    page.verticalScrollBar().rangeChanged.connect(lambda *_: widths.add(page.available_width()))
    card.setMinimumHeight(2000)
    qtbot.waitUntil(page.verticalScrollBar().isVisible)
    qtbot.waitUntil(lambda: card.width() in widths)
    assert len(widths) == 1


def test_low_window_has_one_line_subtitle(qtbot: QtBot) -> None:
    page = Page("Home", "word " * 80)
    qtbot.addWidget(page)
    page.resize(900, 700)
    page.show()
    qtbot.waitExposed(page)
    tall = page.subtitle_label.height()
    page.resize(900, 520)
    qtbot.waitUntil(lambda: page.subtitle_label.height() < tall)


def test_the_page_scrolls_to_what_has_focus(qtbot: QtBot) -> None:
    page = Page("Home")
    buttons = [Button(f"Button {number}") for number in range(40)]
    for button in buttons:
        page.column.addWidget(button)
    qtbot.addWidget(page)
    page.resize(900, 520)
    page.show()
    qtbot.waitExposed(page)
    page.activateWindow()
    buttons[0].setFocus()
    qtbot.waitUntil(buttons[0].hasFocus)
    for _ in range(20):
        qtbot.keyClick(page.focusWidget(), Qt.Key.Key_Tab)
    assert page.verticalScrollBar().value() > 0
    assert buttons[20].hasFocus()


def test_long_hint_is_above_buttons(qtbot: QtBot) -> None:
    footer = Footer()
    go = footer.add_button(Button("Install the graphics driver", "primary"))
    footer.set_hint("A hint that needs quite a lot of room, far more than there is beside the buttons here.")
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    column.addStretch(1)
    column.addWidget(footer)
    window.resize(1200, 400)
    window.show()
    qtbot.waitExposed(window)
    hint = footer.hint_label.mapTo(footer, footer.hint_label.rect().topLeft())
    assert hint.x() < go.mapTo(footer, go.rect().topLeft()).x()
    window.resize(460, 400)
    qtbot.waitUntil(lambda: footer.hint_label.geometry().bottom() < go.geometry().top())
