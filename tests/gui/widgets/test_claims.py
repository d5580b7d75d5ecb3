"""The reasons behind a choice: opened, with their sources."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gpu_assistant.gui.widgets.disclosure import Disclosure, SourcedClaim

from .samples import heard


def test_disclosure_opens_with_sources(show, qtbot: QtBot) -> None:
    why = Disclosure()
    notes = SourcedClaim(text="Because.", source=("Release notes", "https://example.invalid"))
    own = SourcedClaim(text="And because.", source=("A page", "https://example.invalid/page"))
    why.set_claims(notes, own, SourcedClaim(text="A word: what it means."))
    show(why)
    toggled = heard(why.toggled)
    assert not why.inset.isVisible()
    qtbot.keyClick(why.toggle_button, Qt.Key.Key_Space)
    assert toggled == [True]
    assert why.inset.isVisible()
    assert [source.text() for source in why.source_buttons] == ["Source: Release notes", "Source: A page"]
    assert [source.toolTip() for source in why.source_buttons] == [
        "https://example.invalid",
        "https://example.invalid/page",
    ]
    assert why.toggle_button.accessibleDescription() == "open"
    why.set_claims(SourcedClaim(text="Because."))
    assert why.text() == "Because."
    assert not why.source_buttons
