"""Settings: whether mirrors give files, and how fast, is one click, and kept."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.gui.main.main_area import SETTINGS

pytestmark = pytest.mark.gui


def test_mirror_use_changes_by_one_click(open_window, app):
    window = open_window(app)
    window.area.open(SETTINGS)
    card = window.area.pages[SETTINGS].downloads
    assert (card.choice.current(), app.settings.mirrors) == (0, "when-slow")
    for index, use in ((1, "first"), (2, "never"), (0, "when-slow")):
        card.choice.buttons[index].click()
        assert app.settings.mirrors == use
        assert card.choice.current() == index


def test_stored_mirror_use_is_shown(open_window, app):
    app.settings = replace(app.settings, mirrors="first")
    window = open_window(app)
    window.area.open(SETTINGS)
    assert window.area.pages[SETTINGS].downloads.choice.current() == 1
