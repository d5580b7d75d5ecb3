"""A text without its words: a code and the values for its placeholders. `cli/` and `gui/` translate it."""

from __future__ import annotations

from msgspec import Struct

from .types import Value


class Message(Struct, frozen=True):
    """`code` is a key of `resources/texts/*.json`; `data` fills the text's {placeholders}."""

    code: str
    data: dict[str, Value] = {}
