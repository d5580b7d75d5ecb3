"""The sentences: one table, keyed by code, each text in every language side by side.

`resources/texts/<subject>.json` holds `{"code": {"en": "…", "zh_CN": "…"}}`. Places in braces are filled
with a message's data. Core rooms never hold sentences; the faces (`cli/`, `gui/`) ask here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from ..core.names import Language, Value
from ..core.paths import resources
from .format import shown

if TYPE_CHECKING:
    from ..core.errors import AppError
    from ..core.message import Message

Table = dict[str, dict[str, str]]
NO_TEXT = {"en": "{}"}


@lru_cache(maxsize=1)
def table() -> Table:
    """All texts of all subjects; a code stands in one file only."""
    texts: Table = {}
    for path in sorted((resources() / "texts").glob("*.json")):
        for code, text in json.loads(path.read_bytes()).items():
            if code in texts:
                raise ValueError(f"text {code!r} stands twice, again in {path.name}")
            texts[code] = text
    return texts


class Sentences:
    """The sentences in one language."""

    def __init__(self, language: Language) -> None:
        self.language = language

    def has(self, code: str) -> bool:
        """Whether there is a text for this code."""
        return code in table()

    def say(self, code: str, data: Mapping[str, Value] | None = None) -> str:
        """The sentence for a code; raises KeyError on an unknown code (a test knows them all)."""
        template = table()[code][self.language]
        return template.format(**{name: self.value(name, value) for name, value in (data or {}).items()})

    def value(self, name: str, value: Value) -> str:
        """A figure as people read it: `…_bytes` as GB, `…_seconds` as minutes, unknown as a dash.

        A value that is itself the code of a text ("@source.wheelhouse") is said in the same language; whatever else
        begins so is somebody's own words.
        """
        if isinstance(value, str) and value.startswith("@") and "{" not in table().get(value[1:], NO_TEXT)["en"]:
            return self.say(value[1:])
        return shown(name, value, self.language)

    def message(self, message: Message) -> str:
        """The sentence of a message."""
        return self.say(message.code, message.data)

    def error(self, error: AppError) -> str:
        """What is wrong and what to do, in one plain sentence."""
        return self.message(error.message)
