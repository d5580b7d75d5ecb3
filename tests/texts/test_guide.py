"""The guide in both languages: the same topics, links that lead somewhere, explained words, buttons that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from gpu_assistant.core.types import Language
from gpu_assistant.texts.guide import (
    CONTENTS,
    GLOSSARY,
    format_glossary,
    guide_dir,
    guide_sections,
    heading_anchor,
    load_glossary,
    load_guide,
    search_guide,
    terms_of,
)
from gpu_assistant.texts.translate import load_texts

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES: tuple[Language, ...] = get_args(Language)
# What Windows' Device Manager has.
WORDS_OF_WINDOWS = {"Driver", "Roll Back Driver", "驱动程序", "回退驱动程序"}
BOLD = re.compile(r"\*\*(.+?)\*\*")


@pytest.mark.parametrize("language", LANGUAGES)
def test_contents_page_leads_to_every_page(language):
    files = {path.stem for path in guide_dir(language).glob("*.md")}
    assert set(load_guide(language)) == files
    assert len(files) > 15


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_picture_is_there_with_words_for_who_cannot_see_it(language):
    folder = guide_dir(language)
    pictures = [each for topic in load_guide(language).values() for each in topic.pictures]
    files = {path.relative_to(folder).as_posix() for path in (folder / "images").glob("*.png")}
    assert {path for _, path in pictures} == files
    assert len(files) > 10
    assert all(words for words, _ in pictures)
    assert not any(picture[0] in topic.plain_text for topic in load_guide(language).values() for picture in pictures)


def test_languages_have_the_same_topics_in_the_same_order():
    english, chinese = map(load_guide, LANGUAGES)
    assert list(english) == list(chinese)
    # The list of topics has the same rows, under the same headings.
    assert len({tuple(names for _, names in guide_sections(language)) for language in LANGUAGES}) == 1
    for name, topic in english.items():
        # The same shape, too: what is said in one language is said in the other.
        shapes = [re.findall(r"^(#+|-|\d\.|```)", each.markdown, re.MULTILINE) for each in (topic, chinese[name])]
        assert name == GLOSSARY or shapes[0] == shapes[1], name
        assert [path for _, path in topic.pictures] == [path for _, path in chinese[name].pictures], name
        assert sorted(link.topic for link in topic.links) == sorted(link.topic for link in chinese[name].links), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_link_leads_to_a_heading(language):
    guide = load_guide(language)
    wrong = [
        (topic.name, link)
        for topic in guide.values()
        for link in topic.links
        if link.topic not in guide or (link.anchor and link.anchor not in guide[link.topic].anchors)
    ]
    assert wrong == []
    assert sum(len(topic.links) for topic in guide.values()) > 100


@pytest.mark.parametrize("language", LANGUAGES)
def test_glossary_page_is_written_from_the_terms(language):
    # .venv/bin/python .ci/guide.py writes it.
    assert load_guide(language)[GLOSSARY].markdown == format_glossary(language)
    terms = load_glossary(language)
    codes = [code for code in load_texts() if re.fullmatch(r"(term|glossary)\..+\.name", code)]
    assert len(terms) == len(codes) > 40


@pytest.mark.parametrize("name", load_guide("en"))
def test_the_same_terms_are_explained_in_both_languages(name):
    by_code = {
        language: {
            heading_anchor(text[language]): code
            for code, text in load_texts().items()
            if re.fullmatch(r"(term|glossary)\..+\.name", code)
        }
        for language in LANGUAGES
    }
    used = [
        {by_code[language][term.anchor] for term in terms_of(load_guide(language)[name], language)}
        for language in LANGUAGES
    ]
    assert used[0] == used[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_bold_words_are_texts_of_the_program(language):
    sources = [*(ROOT / "resources/translations").glob("*.ts"), *(ROOT / "resources/texts").glob("*.json")]
    said = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    missing = set()
    for topic in load_guide(language).values():
        for words in BOLD.findall(re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", topic.markdown)):
            # A question or a sentence in bold is the guide's own.
            if words not in said and words not in WORDS_OF_WINDOWS and words[-1] not in "?？.。":
                missing.add((topic.name, words))
    assert missing == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_follow_the_voice(language):
    unsaid = {
        "en": r"!\s|successfully|\boops\b|\bplease\b",
        "zh_CN": r"！|您|[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]",
    }
    for topic in load_guide(language).values():
        assert not (found := re.search(unsaid[language], topic.plain_text, re.IGNORECASE)), (topic.name, found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_version_of_others_is_in_the_guide(language):
    # They are facts of the catalog and would be wrong here in a month.
    for topic in load_guide(language).values():
        assert not re.search(r"(CUDA|PyTorch|Python|cuDNN|driver|驱动) \d+\.\d+", topic.plain_text), topic.name


def test_search_finds_every_word_in_titles_first():
    hits = search_guide("en", "Driver restart")
    assert hits
    assert hits[0].topic.name == "which-driver"
    assert all("driver" in hit.topic.plain_text.lower() and "restart" in hit.topic.plain_text.lower() for hit in hits)
    assert all("driver" in hit.snippet.lower() for hit in hits)
    assert search_guide("en", "no-such-word-anywhere") == ()
    assert search_guide("en", "  ") == ()
    assert "words" in {hit.topic.name for hit in search_guide("zh_CN", "显存")}
    assert CONTENTS not in {hit.topic.name for hit in search_guide("en", "help")}


def test_docs_lead_to_the_guide():
    page = (ROOT / "docs/guide/README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert {ROOT.joinpath("docs/guide", link).resolve() for link in links} >= {
        guide_dir(language) / "README.md" for language in LANGUAGES
    }
