"""Every word about offline folders has its Chinese, and every place in a sentence stays."""

from __future__ import annotations

import pytest

from gpu_assistant.core.paths import resources
from gpu_assistant.gui.language import read_ts
from tests.gui.words import GUI, places, words

FILES = sorted((GUI / "bundle").glob("*.py"))
TABLE = resources() / "translations" / "bundle_zh_CN.ts"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_word_has_its_chinese(path):
    table = read_ts([TABLE])
    for context, source in words(path):
        assert (context, source, "") in table, f"{context}: {source}"
        assert places(source) == places(table[context, source, ""]), source


def test_no_translation_is_left_over():
    assert {key[:2] for key in read_ts([TABLE])} == set().union(*(words(path) for path in FILES))
