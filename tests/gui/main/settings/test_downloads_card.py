"""Settings: whether mirrors give files, and how fast, is one click, and kept."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.gui.main.main_area import SETTINGS

pytestmark = pytest.mark.gui


def test_mirror_use_changes_by_one_click(open_window, app):
    window = open_window(app)
    window.main_area.open_page(SETTINGS)
    card = window.main_area.pages[SETTINGS].downloads_card
    assert (card.mirror_segments.current(), app.settings.mirrors) == (0, "when-slow")
    for index, use in ((1, "first"), (2, "never"), (0, "when-slow")):
        card.mirror_segments.buttons[index].click()
        assert app.settings.mirrors == use
        assert card.mirror_segments.current() == index


def test_stored_mirror_use_is_shown(open_window, app):
    app.settings = replace(app.settings, mirrors="first")
    window = open_window(app)
    window.main_area.open_page(SETTINGS)
    assert window.main_area.pages[SETTINGS].downloads_card.mirror_segments.current() == 1
