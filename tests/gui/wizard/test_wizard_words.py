"""Every word of the wizard has its Chinese, and every place in a sentence stays."""

from __future__ import annotations

import re

import pytest

from gpu_assistant.core.paths import resources
from gpu_assistant.gui.language import read_ts
from tests.gui.words import GUI, places, words

FILES = sorted((GUI / "wizard").glob("*.py"))

TABLE = read_ts([resources() / "translations" / "wizard_zh_CN.ts"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_word_has_its_chinese(path):
    for context, source in words(path):
        assert (context, source, "") in TABLE, f"{context}: {source}"
        assert places(source) == places(TABLE[context, source, ""]), source


def test_no_translation_is_left_over():
    assert {key[:2] for key in TABLE} == set().union(*(words(path) for path in FILES))


@pytest.mark.parametrize(("key", "chinese"), sorted(TABLE.items()), ids=lambda value: None)
def test_voice(key, chinese):
    english = key[1]
    assert not re.search(r"!|successfully|\boops\b|\bplease\b", english, re.IGNORECASE)
    assert not re.search(r"您|！|成功地", chinese)
    assert not re.search(r"[\u4e00-\u9fff][A-Za-z0-9{]|[A-Za-z0-9}][\u4e00-\u9fff]", chinese), chinese
    assert not re.search(r"[\u4e00-\u9fff][,;:?]", chinese), chinese
