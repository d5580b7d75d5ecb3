"""A number box is dressed like the buttons beside it, in every theme and state."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStyle, QStyleOptionSpinBox

from gpu_assistant.gui import theme
from gpu_assistant.gui.components import Button, SpinBox

pytestmark = pytest.mark.gui


@pytest.fixture
def box(qtbot):
    made = SpinBox()
    made.setRange(1, 4096)
    made.setValue(16)
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_it_is_as_high_as_a_button(box, qapp, qtbot, scale):
    theme.set_text_scale(qapp, scale)
    button = Button("16")
    qtbot.addWidget(button)
    button.show()
    assert box.sizeHint().height() == button.sizeHint().height()


@pytest.mark.parametrize("colours", ["light", "dark", "contrast"])
def test_ground_and_edge_are_the_themes_in_every_state(box, qapp, qtbot, colours):
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
    assert box.ringed
    box.setEnabled(False)
    assert edge_and_ground()[1] == theme.color("pressed").name()


def test_arrows_step_where_the_style_has_them(box, qtbot):
    box.resize(box.sizeHint())
    option, sides = QStyleOptionSpinBox(), QStyle.SubControl
    box.initStyleOption(option)
    for side, wanted in ((sides.SC_SpinBoxUp, 17), (sides.SC_SpinBoxDown, 16)):
        place = box.style().subControlRect(QStyle.ComplexControl.CC_SpinBox, option, side, box)
        qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=place.center())
        assert box.value() == wanted
