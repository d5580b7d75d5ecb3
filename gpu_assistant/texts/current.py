"""The language that is spoken now: the table of sentences, and the window's own texts, without Qt.

The window's texts are Qt Linguist's `.ts` files, one for each room, read at run time: that needs no build step. The
window and the command line, which has no Qt, write reports (`reports/`) in these words.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.paths import resources_dir
from ..core.types import Language
from .localized import Texts

if TYPE_CHECKING:
    from .terminal import Terminal


TranslationTable = dict[tuple[str, str, str], str]


class _CurrentLanguage:
    code: Language = "en"
    elsewhere = False
    terminal: Terminal | None = None


def set_language(code: Language) -> None:
    """Speak this language from now on."""
    _CurrentLanguage.code = code


def set_machine_context(*, elsewhere: bool, terminal: Terminal | None = None) -> None:
    """`elsewhere`: texts are about another computer (a machine file); `terminal`: how commands are written here."""
    _CurrentLanguage.elsewhere, _CurrentLanguage.terminal = elsewhere, terminal


def texts() -> Texts:
    """The core's texts in the current language."""
    return Texts(_CurrentLanguage.code, other_computer=_CurrentLanguage.elsewhere, terminal=_CurrentLanguage.terminal)


def translate(context: str, source: str) -> str:
    """A text of the window in the current language; `source` itself where it has no translation."""
    if _CurrentLanguage.code == "en":
        return source
    return load_table(_CurrentLanguage.code).get((context, source, ""), source)


def read_ts(paths: Iterable[Path]) -> TranslationTable:
    """All finished translations by (context, source, comment); of plural forms the first, which is all that Chinese
    has.

    Raises `xml.etree.ElementTree.ParseError` for a malformed file.
    """
    from xml.etree import ElementTree

    table: TranslationTable = {}
    for path in paths:
        for context in ElementTree.parse(path).getroot().iter("context"):  # noqa: S314 - our own files
            name = context.findtext("name") or ""
            for message in context.iter("message"):
                translation = message.find("translation")
                if translation is None or translation.get("type") in ("unfinished", "vanished", "obsolete"):
                    continue
                plural_form = translation.find("numerusform")
                text = (translation if plural_form is None else plural_form).text
                if text:
                    key = (name, message.findtext("source") or "", message.findtext("comment") or "")
                    table[key] = text
    return table


@lru_cache(maxsize=2)
def load_table(code: Language) -> TranslationTable:
    """Read once: it takes longer than a change of language may."""
    return read_ts(sorted((resources_dir() / "translations").glob(f"*_{code}.ts")))
