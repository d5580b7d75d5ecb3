"""A clause for each term that a text uses and a beginner may not know."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from .sentences import Translator, load_texts

if TYPE_CHECKING:
    from ..core.names import Language

_TERM_CODE = re.compile(r"term\.(.+)\.name\Z")


def explain_terms(texts: Translator, *shown_texts: str) -> tuple[str, ...]:
    """A sentence for each term in what was said, in the order in which they stand there."""
    text = "\n".join(shown_texts)
    positions: list[tuple[int, str]] = []
    for pattern, sentence in _term_patterns(texts.language):
        match = pattern.search(text)
        if match is not None:
            positions.append((match.start(), sentence))
    return tuple(sentence for _, sentence in sorted(positions))


@lru_cache(maxsize=2)
def _term_patterns(language: Language) -> tuple[tuple[re.Pattern[str], str], ...]:
    """How each term looks in a text, and its sentence: the window asks for every card it draws."""
    texts = Translator(language)
    terms = []
    for code in load_texts():
        match = _TERM_CODE.match(code)
        if match is not None:
            name, meaning = texts.translate(code), texts.translate(f"term.{match[1]}.meaning")
            terms.append((_term_pattern(name), texts.translate("term.explained", {"name": name, "meaning": meaning})))
    return tuple(terms)


def _term_pattern(name: str) -> re.Pattern[str]:
    """A whole word, in the plural too; Chinese has no gaps between words."""
    return re.compile(rf"(?<![A-Za-z_-]){re.escape(name)}(?:e?s|2)?(?![A-Za-z])" if name.isascii() else re.escape(name))
