"""The switch of the settings."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from gpu_assistant.gui.widgets.switch import Switch

pytestmark = pytest.mark.gui


@pytest.fixture
def switch(qtbot, language):
    switch = Switch()
    qtbot.addWidget(switch)
    switch.show()
    return switch


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return])
def test_keys_switch_it_and_say_so(switch, qtbot, key):
    chosen = []
    switch.switched.connect(chosen.append)
    switch.set_on(False)
    switch.setFocus()
    qtbot.keyClick(switch, key)
    qtbot.keyClick(switch, key)
    assert chosen == [True, False]
    assert switch.accessibleDescription() == "Off"


def test_a_state_from_outside_is_no_choice_of_the_user(switch):
    chosen = []
    switch.switched.connect(chosen.append)
    switch.set_on(True)
    assert switch.is_on
    assert chosen == []


def test_an_unknown_state_has_no_word_and_cannot_be_changed(switch):
    chosen = []
    switch.switched.connect(chosen.append)
    switch.set_on(None)
    switch.click()
    assert (chosen, switch.is_on, switch.accessibleDescription()) == ([], False, "")


def test_both_words_fit(switch, language, qtbot):
    for code in ("en", "zh_CN"):
        language.set(code)
        width = switch.sizeHint().width()
        for is_on in (True, False):
            switch.set_on(is_on)
            assert switch.sizeHint().width() == width
