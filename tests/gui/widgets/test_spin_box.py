"""A number box is dressed like the buttons beside it, in every theme and state."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStyle, QStyleOptionSpinBox

from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets.buttons import Button
from gpu_assistant.gui.widgets.inputs import SpinBox

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
