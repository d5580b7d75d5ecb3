"""The guide: a Markdown page for each topic in `resources/guide/<language>/`, the same in the window and on the web.

The pictures of its pages are in `images/` beside them; `python -m tests.gui.screenshots --docs` draws them.

`README.md` is the contents page, and its links are the order of the topics; `words.md`, the glossary, is written by
`.ci/guide.py` from the terms of `resources/texts/terms.json`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from ..core.paths import resources_dir
from .translate import load_texts

if TYPE_CHECKING:
    from pathlib import Path

    from ..core.types import Language

CONTENTS, GLOSSARY = "README", "words"
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
_TERM = re.compile(r"(term|glossary)\.(.+)\.name\Z")
_MARKUP = re.compile(r"[*`#>|\\]|^\s*[-\d.]+ ", re.MULTILINE)
_SNIPPET_LENGTH = 160


class GuideLink(Struct, frozen=True):
    """A link of a page: its text, the topic that it leads to (its own if empty), and a heading's anchor there."""

    text: str
    topic: str
    anchor: str


class GuideTopic(Struct, frozen=True):
    """A page of the guide; `title` is its first heading."""

    name: str
    title: str
    markdown: str

    @property
    def links(self) -> tuple[GuideLink, ...]:
        return tuple(
            GuideLink(text, target.removesuffix(".md") or self.name, anchor)
            for text, target, anchor in _LINK.findall(self.markdown)
        )

    @property
    def anchors(self) -> tuple[str, ...]:
        """The anchors of its headings, as they are on the web."""
        return tuple(heading_anchor(text) for text in re.findall(r"^#+ (.+)$", self.markdown, re.MULTILINE))

    @property
    def pictures(self) -> tuple[tuple[str, str], ...]:
        """What each picture shows, and its path from the page's folder."""
        return tuple(_PICTURE.findall(self.markdown))

    @property
    def plain_text(self) -> str:
        """Its sentences without Markdown and pictures."""
        return _plain(self.markdown)

    def entry_with(self, word: str) -> str:
        """The first paragraph or list entry with a word (lower case), else all of its text; without Markdown."""
        entries = (_plain(line) for line in self.markdown.splitlines() if not line.startswith("#"))
        return next((entry for entry in entries if word in entry.casefold()), self.plain_text)


def _plain(markdown: str) -> str:
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", _PICTURE.sub("", markdown))).split())


class Term(Struct, frozen=True):
    """A word of the glossary."""

    name: str
    meaning: str

    @property
    def anchor(self) -> str:
        return heading_anchor(self.name)


class SearchHit(Struct, frozen=True):
    """A topic that holds all words of a query, with the paragraph or list entry around the first of them."""

    topic: GuideTopic
    snippet: str


def guide_dir(language: Language) -> Path:
    """The folder of a language's pages."""
    return resources_dir() / "guide" / language


@lru_cache(maxsize=2)
def load_guide(language: Language) -> dict[str, GuideTopic]:
    """All topics by name, in the order of the contents page, which comes first."""
    contents = _read_topic(language, CONTENTS)
    names = dict.fromkeys(link.topic for link in contents.links)
    return {CONTENTS: contents} | {name: _read_topic(language, name) for name in names}


def guide_sections(language: Language) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The names of the topics under each heading of the contents page, in its order."""
    sections = re.split(r"^## (.+)$", load_guide(language)[CONTENTS].markdown, flags=re.MULTILINE)[1:]
    return tuple(
        (heading.strip(), tuple(target.removesuffix(".md") for _, target, _ in _LINK.findall(text)))
        for heading, text in zip(sections[::2], sections[1::2], strict=True)
    )


def _read_topic(language: Language, name: str) -> GuideTopic:
    markdown = (guide_dir(language) / f"{name}.md").read_text(encoding="utf-8")
    return GuideTopic(name, markdown.partition("\n")[0].removeprefix("# "), markdown)


def heading_anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading: lower case, without punctuation, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@lru_cache(maxsize=2)
def load_glossary(language: Language) -> dict[str, Term]:
    """The terms by their anchor in the glossary."""
    texts = load_texts()
    terms = [
        Term(texts[code][language], texts[f"{match[1]}.{match[2]}.meaning"][language])
        for code in texts
        if (match := _TERM.match(code))
    ]
    return {term.anchor: term for term in sorted(terms, key=lambda term: term.name.casefold())}


def terms_of(topic: GuideTopic, language: Language) -> tuple[Term, ...]:
    """The terms of the glossary that a topic links to, in the order of their appearance."""
    glossary = load_glossary(language)
    anchors = dict.fromkeys(link.anchor for link in topic.links if link.topic == GLOSSARY and link.anchor)
    return tuple(glossary[anchor] for anchor in anchors)


def format_glossary(language: Language) -> str:
    """The page `words.md`."""
    texts = load_texts()
    head = f"# {texts['guide.words.title'][language]}\n\n{texts['guide.words.introduction'][language]}\n"
    period = "。" if language == "zh_CN" else "."
    entries = (
        f"\n## {term.name}\n\n{term.meaning[0].upper()}{term.meaning[1:].rstrip('.。')}{period}\n"
        for term in load_glossary(language).values()
    )
    return head + "".join(entries)


def search_guide(language: Language, query: str) -> tuple[SearchHit, ...]:
    """The topics that hold every word of a query; those that name one of them in their title come first."""
    words = query.casefold().split()
    if not words:
        return ()
    hits = []
    for topic in load_guide(language).values():
        text = topic.plain_text
        if topic.name != CONTENTS and all(word in text.casefold() for word in words):
            in_title = any(word in topic.title.casefold() for word in words)
            hits.append((not in_title, SearchHit(topic, _snippet(topic.entry_with(words[0]), words[0]))))
    return tuple(hit for _, hit in sorted(hits, key=lambda hit: hit[0]))


def _snippet(text: str, word: str) -> str:
    found = max(text.casefold().find(word), 0)
    start = max(found - _SNIPPET_LENGTH // 3, 0)
    start = text.find(" ", start) + 1 if start and " " in text[start:found] else start
    end = start + _SNIPPET_LENGTH
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"
