"""How much room a text has is the window's width by the text's size."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets.base import Breakpoints


def test_double_text_scale_halves_width(qtbot, qapp):
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(1300, 700)
    shape = Breakpoints(widget)
    assert (shape.is_narrow, shape.is_tight, shape.is_small) == (False, False, False)
    with qtbot.waitSignal(shape.changed, timeout=5000):
        theme.set_text_scale(qapp, 2.0)
    assert (shape.is_narrow, shape.is_tight, shape.is_small) == (True, True, True)
    widget.resize(2000, 700)
    assert (shape.is_narrow, shape.is_tight, shape.is_small) == (True, True, False)
