"""Texts: from a code and its figures to a sentence in English or Simplified Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING as TYPE_CHECKING

if TYPE_CHECKING:
    from .localized import Texts as Texts


def __getattr__(name: str) -> object:
    """`Texts` imports every struct; `--help` needs only the module `translate`, which imports none."""
    if name == "Texts":
        from .localized import Texts

        return Texts
    raise AttributeError(name)
