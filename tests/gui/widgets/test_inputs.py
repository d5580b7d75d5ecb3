"""Scroll bars, menus and number boxes follow theme and text size, and work by mouse and key."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QStyle, QStyleOptionSlider, QStyleOptionSpinBox, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import theme
from gpu_assistant.gui.theme.stylesheet import SCROLL_BAR_WIDTH
from gpu_assistant.gui.widgets.buttons import Button
from gpu_assistant.gui.widgets.cards import Card
from gpu_assistant.gui.widgets.inputs import CaptionedField, Dropdown, Menu, ScrollBar, SpinBox
from gpu_assistant.gui.widgets.page import Page
from tests.gui.geometry import layout_faults

# A screen that is none has no front and no keyboard to grab.
pytestmark = [
    pytest.mark.gui,
    pytest.mark.qt_log_ignore("does not support raise", "does not support grabbing", extend=True),
]


@pytest.fixture
def box(qtbot):
    made = SpinBox()
    made.setRange(1, 4096)
    made.setValue(16)
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_fields_are_level_below_latin_and_chinese_captions(qapp, qtbot, scale):
    """With some fonts, as those of `.ci/fonts/droid.conf`, the glyphs of the one script are higher."""
    row, fields = QWidget(), [CaptionedField(Dropdown()) for _ in range(2)]
    layout = QHBoxLayout(row)
    for field, caption in zip(fields, ("CUDA Toolkit", "驱动类型"), strict=True):
        field.field.setText("13.0")
        field.set_caption(caption)
        layout.addWidget(field)
    qtbot.addWidget(row)
    row.show()
    theme.set_text_scale(qapp, scale)
    qtbot.waitUntil(lambda: layout_faults(row) == [], timeout=5000)
    latin, chinese = (field.field.mapTo(row, QPoint()).y() for field in fields)
    assert latin == chinese


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_spin_box_has_button_height(box, qapp, qtbot, scale):
    theme.set_text_scale(qapp, scale)
    button = Button("16")
    qtbot.addWidget(button)
    button.show()
    assert box.sizeHint().height() == button.sizeHint().height()


@pytest.mark.parametrize("colours", ["light", "dark", "contrast"])
def test_spin_box_follows_theme_in_every_state(box, qapp, qtbot, colours):
    theme.set_theme(qapp, colours)
    box.resize(box.sizeHint())
    middle = box.height() // 2

    def edge_and_ground():
        image = box.grab().toImage()
        return image.pixelColor(0, middle).name(), image.pixelColor(box.width() // 2, box.height() - 4).name()

    box.clearFocus()
    assert edge_and_ground() == (theme.color("control").name(), theme.color("card").name())
    box.setFocus(Qt.FocusReason.MouseFocusReason)
    assert edge_and_ground() == (theme.color("accent").name(), theme.color("card").name())
    box.setFocus(Qt.FocusReason.OtherFocusReason)
    box.clearFocus()
    box.setFocus(Qt.FocusReason.TabFocusReason)
    assert edge_and_ground()[0] == theme.color("focus").name()
    assert box.shows_focus_ring
    box.setEnabled(False)
    assert edge_and_ground()[1] == theme.color("pressed").name()


def test_spin_box_arrows_step(box, qtbot):
    box.resize(box.sizeHint())
    option, sides = QStyleOptionSpinBox(), QStyle.SubControl
    box.initStyleOption(option)
    for side, wanted in ((sides.SC_SpinBoxUp, 17), (sides.SC_SpinBoxDown, 16)):
        place = box.style().subControlRect(QStyle.ComplexControl.CC_SpinBox, option, side, box)
        qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=place.center())
        assert box.value() == wanted


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
    scroll_bar = page.verticalScrollBar()
    assert isinstance(scroll_bar, ScrollBar)
    return scroll_bar


def handle(bar: ScrollBar) -> QRect:
    """Where the handle is, its margins included."""
    option = QStyleOptionSlider()
    bar.initStyleOption(option)
    return bar.style().subControlRect(
        QStyle.ComplexControl.CC_ScrollBar, option, QStyle.SubControl.SC_ScrollBarSlider, bar
    )


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
    assert handle(bar).height() == pytest.approx(max(seen * bar.height(), 42), abs=1)
    assert handle(bar).top() == 0
    bar.setValue(bar.maximum())
    assert handle(bar).bottom() == pytest.approx(bar.height(), abs=1)
    assert bar.width() == SCROLL_BAR_WIDTH


def test_handle_can_be_dragged(bar: ScrollBar) -> None:
    start = handle(bar).center()
    QTest.mousePress(bar, Qt.MouseButton.LeftButton, pos=start)
    move(bar, start + QPoint(0, 100))
    assert handle(bar).center().y() == pytest.approx(start.y() + 100, abs=2)
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
    qtbot.waitUntil(lambda: handle(bar).contains(end))
    value = bar.value()
    qtbot.wait(100)
    assert bar.value() == value, "paging stops below the mouse"
    QTest.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=end)


def test_middle_click_jumps(bar: ScrollBar) -> None:
    QTest.mouseClick(bar, Qt.MouseButton.MiddleButton, pos=QPoint(5, bar.height() // 2))
    assert handle(bar).center().y() == pytest.approx(bar.height() / 2, abs=2)


def test_the_wheel_and_the_keys_still_scroll(page: Page, bar: ScrollBar) -> None:
    QTest.keyClick(page, Qt.Key.Key_PageDown)
    assert bar.value() > 0


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_scroll_bar_follows_theme(bar: ScrollBar, page: Page, qapp: QApplication, name: str) -> None:
    theme.set_theme(qapp, name)
    picture = page.grab().toImage()
    assert picture.pixelColor(page.width() - 6, 20).name() == theme.color("control").name()
    assert picture.pixelColor(page.width() - 6, page.height() - 6).name() == theme.color("window").name()


@pytest.fixture
def menu(qtbot: QtBot) -> Iterator[Menu]:
    owner = QWidget()
    qtbot.addWidget(owner)
    owner.show()
    made = Menu(owner)
    for text in ("Light", "Dark"):
        made.addAction(text).setCheckable(True)
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
