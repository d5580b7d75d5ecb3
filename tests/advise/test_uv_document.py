"""The page that compares our advice with uv's says what is true now."""

from __future__ import annotations

from .advice_and_uv import DOCUMENT, document


def test_the_page_is_up_to_date() -> None:
    """Where it is not: python -m tests.advise.advice_and_uv."""
    assert DOCUMENT.read_text(encoding="utf-8") == document()
