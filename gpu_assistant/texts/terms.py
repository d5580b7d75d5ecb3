"""A clause for each term that a text uses and a beginner may not know."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from .sentences import Sentences, table

if TYPE_CHECKING:
    from ..core.names import Language

_NAME = re.compile(r"term\.(.+)\.name\Z")


def explained(texts: Sentences, *said: str) -> tuple[str, ...]:
    """A sentence for each term in what was said, in the order in which they stand there."""
    whole = "\n".join(said)
    found: list[tuple[int, str]] = []
    for pattern, sentence in _terms(texts.language):
        match = pattern.search(whole)
        if match is not None:
            found.append((match.start(), sentence))
    return tuple(sentence for _, sentence in sorted(found))


@lru_cache(maxsize=2)
def _terms(language: Language) -> tuple[tuple[re.Pattern[str], str], ...]:
    """How each term looks in a text, and its sentence: the window asks for every card it draws."""
    texts = Sentences(language)
    made = []
    for code in table():
        match = _NAME.match(code)
        if match is not None:
            name, meaning = texts.say(code), texts.say(f"term.{match[1]}.meaning")
            made.append((_pattern(name), texts.say("term.explained", {"name": name, "meaning": meaning})))
    return tuple(made)


def _pattern(name: str) -> re.Pattern[str]:
    """A whole word, in the plural too; Chinese has no gaps between words."""
    return re.compile(rf"(?<![A-Za-z_-]){re.escape(name)}(?:e?s|2)?(?![A-Za-z])" if name.isascii() else re.escape(name))
