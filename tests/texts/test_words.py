"""What the program says: no phrase that was retired, and one word for one thing in each language."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .dump import all_texts

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
RETIRED: dict[str, list[str]] = json.loads((HERE / "retired.json").read_text(encoding="utf-8"))
TERMS: dict[str, dict[str, str]] = json.loads((HERE / "terms.json").read_text(encoding="utf-8"))
# What a person types or reads as it is: commands, files, addresses, places.
LITERAL = re.compile(r"“gpu-assistant[^”]*”|gpu-assistant [a-z]+|--[a-z-]+|\{[a-z_0-9]+\}|[A-Z]+_[A-Z_]+")

TEXTS = all_texts()


@pytest.mark.parametrize("language", RETIRED)
def test_no_retired_phrase_is_used(language):
    pattern = re.compile("|".join(RETIRED[language]))
    found = {name: match.group() for name, text in TEXTS.items() if (match := pattern.search(text[language]))}
    assert found == {}


@pytest.mark.parametrize(
    ("language", "page"),
    [
        ("en", "README.md"),
        ("zh_CN", "README.zh-CN.md"),
        *(("en", f"resources/guide/en/{path.name}") for path in (ROOT / "resources/guide/en").glob("*.md")),
        *(("zh_CN", f"resources/guide/zh_CN/{path.name}") for path in (ROOT / "resources/guide/zh_CN").glob("*.md")),
    ],
)
def test_no_retired_phrase_is_in_a_page_for_users(language, page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert not (match := re.search("|".join(RETIRED[language]), text)), match


@pytest.mark.parametrize("phrases", RETIRED.values(), ids=RETIRED)
def test_every_retired_phrase_is_a_pattern(phrases):
    assert all(re.compile(phrase) for phrase in phrases)
    assert len(set(phrases)) == len(phrases)


@pytest.mark.parametrize("name", TERMS)
def test_a_term_is_the_same_word_everywhere(name):
    english, chinese = (re.compile(TERMS[name][language]) for language in ("en", "zh_CN"))
    used = [
        (code, text)
        for code, text in TEXTS.items()
        if english.search(LITERAL.sub(" ", text["en"])) and not code.startswith(("system.", "publisher."))
    ]
    assert used, "a term that nothing uses"
    assert {code: text["zh_CN"] for code, text in used if not chinese.search(text["zh_CN"])} == {}
