"""How it is said: code and figures in, English or Chinese out."""

from __future__ import annotations

from typing import TYPE_CHECKING as TYPE_CHECKING

if TYPE_CHECKING:
    from .localized import Texts as Texts


def __getattr__(name: str) -> object:
    """`Texts` knows every struct; `--help` needs only `texts.sentences`, which loads none."""
    if name == "Texts":
        from .localized import Texts

        return Texts
    raise AttributeError(name)
