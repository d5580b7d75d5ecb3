"""The reasons behind a choice, with their sources."""

from __future__ import annotations

from gpu_assistant.gui.widgets.claims import ClaimList, SourcedClaim


def test_claims_have_their_sources(show) -> None:
    why = ClaimList()
    notes = SourcedClaim(text="Because.", source=("Release notes", "https://example.invalid"))
    own = SourcedClaim(text="And because.", source=("A page", "https://example.invalid/page"))
    why.set_claims(notes, own, SourcedClaim(text="A word: what it means."))
    show(why)
    assert [source.text() for source in why.source_buttons] == ["Source: Release notes", "Source: A page"]
    assert [source.toolTip() for source in why.source_buttons] == [
        "https://example.invalid",
        "https://example.invalid/page",
    ]
    why.set_claims(SourcedClaim(text="Because."))
    assert why.text() == "Because."
    assert not why.source_buttons
