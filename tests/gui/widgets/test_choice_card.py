"""A choice as large as a card: the texts keep clear of its radio button."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets.choice_card import INDICATOR_SIZE, PADDING, ChoiceCard

pytestmark = pytest.mark.gui


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_texts_keep_clear_of_the_radio_button_at_every_text_size(qtbot, qapp: QApplication, scale: float) -> None:
    theme.set_text_scale(qapp, scale)
    card = ChoiceCard()
    qtbot.addWidget(card)
    card.set_texts("Newest", "PyTorch with a new driver", "1 prompt")
    card.resize(600, card.heightForWidth(600))
    card.show()
    qtbot.waitExposed(card)
    button_end = PADDING + theme.px(INDICATOR_SIZE)
    assert all(each.x() >= button_end + 8 for each in (card.title_label, card.line_label, card.cost_label))
