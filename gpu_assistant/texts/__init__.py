"""How it is said: code and figures in, English or Chinese out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .filled import Texts as Texts


def __getattr__(name: str) -> object:
    """`Texts` knows every struct; `--help` needs only `texts.sentences`, which loads none."""
    if name == "Texts":
        from .filled import Texts

        return Texts
    raise AttributeError(name)
