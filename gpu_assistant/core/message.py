"""A sentence without its words: a code and its figures. Faces turn it into English or Chinese."""

from __future__ import annotations

from msgspec import Struct

from .names import Value as Value


class Message(Struct, frozen=True):
    """`code` is a key of `resources/texts/*.json`; `data` fills the text's {places}."""

    code: str
    data: dict[str, Value] = {}
