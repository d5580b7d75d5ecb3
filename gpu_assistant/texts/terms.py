"""A clause for each term that a text uses and a beginner may not know."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .sentences import table

if TYPE_CHECKING:
    from .sentences import Sentences

_NAME = re.compile(r"term\.(.+)\.name\Z")


def explained(texts: Sentences, *said: str) -> tuple[str, ...]:
    """A sentence for each term in what was said, in the order in which they stand there."""
    whole = "\n".join(said)
    found: list[tuple[int, str]] = []
    for code in table():
        match = _NAME.match(code)
        name = texts.say(code) if match is not None else ""
        place = _place(name, whole) if name else None
        if match is not None and place is not None:
            meaning = texts.say(f"term.{match[1]}.meaning")
            found.append((place, texts.say("term.explained", {"name": name, "meaning": meaning})))
    return tuple(sentence for _, sentence in sorted(found))


def _place(name: str, text: str) -> int | None:
    """Where a term stands: a whole word, in the plural too; Chinese has no gaps between words."""
    pattern = rf"(?<![A-Za-z_-]){re.escape(name)}(?:e?s|2)?(?![A-Za-z])" if name.isascii() else re.escape(name)
    match = re.search(pattern, text)
    return match.start() if match is not None else None
