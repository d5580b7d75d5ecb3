"""Scroll bars, menus, tables: what Qt would draw by its style, drawn by us."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTableWidgetItem, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets.cards import Card
from gpu_assistant.gui.widgets.console import LogDrawer
from gpu_assistant.gui.widgets.inputs import BAR_WIDTH, Menu, ScrollBar
from gpu_assistant.gui.widgets.page import Page
from gpu_assistant.gui.widgets.table import DataTable

# A screen that is none has no front and no keyboard to grab.
pytestmark = pytest.mark.qt_log_ignore("does not support raise", "does not support grabbing", extend=True)


def colours(picture: QImage) -> set[str]:
    return {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}


@pytest.fixture
def page(qtbot: QtBot) -> Page:
    made = Page("Home")
    for number in range(30):
        made.column.addWidget(Card(f"card {number}"))
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    qtbot.waitExposed(made)
    return made


@pytest.fixture
def bar(page: Page) -> ScrollBar:
    found = page.verticalScrollBar()
    assert isinstance(found, ScrollBar)
    return found


def middle(bar: ScrollBar) -> QPoint:
    return bar.handle_rect().center().toPoint()


def move(bar: ScrollBar, to: QPoint) -> None:
    """`QTest.mouseMove` holds no button."""
    place = QPointF(to)
    left = Qt.MouseButton.LeftButton
    event = QMouseEvent(
        QEvent.Type.MouseMove, place, bar.mapToGlobal(place), left, left, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(bar, event)


def test_handle_length_follows_page_step(bar: ScrollBar) -> None:
    seen = bar.pageStep() / (bar.maximum() + bar.pageStep())
    assert bar.handle_rect().height() == pytest.approx(max(seen * bar.height(), 42), abs=1)
    assert bar.handle_rect().top() == 0
    bar.setValue(bar.maximum())
    assert bar.handle_rect().bottom() == pytest.approx(bar.height())
    assert bar.width() == BAR_WIDTH


def test_handle_can_be_dragged(bar: ScrollBar) -> None:
    start = middle(bar)
    QTest.mousePress(bar, Qt.MouseButton.LeftButton, pos=start)
    move(bar, start + QPoint(0, 100))
    assert bar.handle_rect().center().y() == pytest.approx(start.y() + 100, abs=2)
    move(bar, start + QPoint(0, 10_000))
    assert bar.value() == bar.maximum()
    QTest.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=start)
    move(bar, start)
    assert bar.value() == bar.maximum(), "let go"


def test_click_beside_handle_pages(bar: ScrollBar) -> None:
    end = QPoint(5, bar.height() - 2)
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=end)
    assert bar.value() == bar.pageStep()
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=QPoint(5, 1))
    assert bar.value() == 0


def test_held_click_pages_until_handle(bar: ScrollBar, qtbot: QtBot) -> None:
    end = QPoint(5, bar.height() - 60)
    QTest.mousePress(bar, Qt.MouseButton.LeftButton, pos=end)
    qtbot.waitUntil(lambda: bar.handle_rect().contains(QPointF(end)))
    assert bar.repeatAction() == ScrollBar.SliderAction.SliderNoAction
    QTest.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=end)


def test_middle_click_jumps(bar: ScrollBar) -> None:
    QTest.mouseClick(bar, Qt.MouseButton.MiddleButton, pos=QPoint(5, bar.height() // 2))
    assert bar.handle_rect().center().y() == pytest.approx(bar.height() / 2, abs=2)


def test_the_wheel_and_the_keys_still_scroll(page: Page, bar: ScrollBar) -> None:
    QTest.keyClick(page, Qt.Key.Key_PageDown)
    assert bar.value() > 0


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_scroll_bar_follows_theme(bar: ScrollBar, page: Page, qapp: QApplication, name: str) -> None:
    theme.set_theme(qapp, name)
    picture = page.grab().toImage()
    assert picture.pixelColor(page.width() - 6, 20).name() == theme.color("control").name()
    assert picture.pixelColor(page.width() - 6, page.height() - 6).name() == theme.color("window").name()


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


@pytest.fixture
def menu(qtbot: QtBot) -> Iterator[Menu]:
    owner = QWidget()
    qtbot.addWidget(owner)
    owner.show()
    made = Menu(owner)
    for words in ("Light", "Dark"):
        made.addAction(words).setCheckable(True)
    made.actions()[1].setChecked(True)
    made.popup(QPoint(0, 0))
    qtbot.waitExposed(made)
    yield made
    made.close()
    owner.close()


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_menu_follows_theme(menu: Menu, qapp: QApplication, name: str) -> None:
    theme.set_theme(qapp, name)
    menu.setActiveAction(menu.actions()[0])
    picture = menu.grab().toImage()
    assert {theme.color(token).name() for token in ("card", "control", "text", "hover")} <= colours(picture)


def test_menu_rows_grow_with_text(menu: Menu, qapp: QApplication) -> None:
    before = menu.actionGeometry(menu.actions()[0])
    assert before.height() >= 32
    theme.set_text_scale(qapp, 2.0)
    after = menu.actionGeometry(menu.actions()[0])
    assert after.height() > before.height()
    assert after.width() > before.width()


def test_menu_works_by_keyboard(menu: Menu, qtbot: QtBot) -> None:
    with qtbot.waitSignal(menu.actions()[0].triggered):
        QTest.keyClick(menu, Qt.Key.Key_Down)
        QTest.keyClick(menu, Qt.Key.Key_Return)


@pytest.fixture
def table(qtbot: QtBot) -> DataTable:
    made = DataTable()
    made.setColumnCount(2)
    made.setHorizontalHeaderLabels(["Time", "Load"])
    made.setRowCount(4)
    for row in range(4):
        for column in range(2):
            item = QTableWidgetItem(f"{row} {column}")
            item.setTextAlignment(Qt.AlignmentFlag.AlignVCenter)
            made.setItem(row, column, item)
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.show()
    qtbot.waitExposed(made)
    return made


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_table_follows_theme(table: DataTable, qapp: QApplication, name: str) -> None:
    theme.set_theme(qapp, name)
    table.selectRow(2)
    picture = table.grab().toImage()

    def ground(row: int) -> str:
        cell = table.visualItemRect(table.item(row, 0))
        place = table.viewport().mapTo(table, QPoint(cell.right() - 4, cell.center().y()))
        return picture.pixelColor(place).name()

    assert [ground(row) for row in range(3)] == [theme.color(t).name() for t in ("card", "sunken", "accent_soft")]
    assert {theme.color(token).name() for token in ("line", "text", "soft")} <= colours(picture)


def test_table_rows_grow_with_text(table: DataTable, qapp: QApplication) -> None:
    before = table.rowHeight(0), table.horizontalHeader().height()
    theme.set_text_scale(qapp, 2.0)
    qapp.processEvents()
    assert table.rowHeight(0) > before[0]
    assert table.horizontalHeader().height() > before[1]
    assert table.rowHeight(0) > table.fontMetrics().height()
