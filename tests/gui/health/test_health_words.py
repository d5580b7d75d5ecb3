"""Every word of the health test has its Chinese; the alarms that name the test have its button."""

from __future__ import annotations

import json

import pytest

from gpu_assistant.catalog.health import HealthRules
from gpu_assistant.catalog.load import load
from gpu_assistant.core.paths import resources
from gpu_assistant.gui.health.advised import ADVISED, ADVISED_LEVEL
from gpu_assistant.gui.language import read_ts
from tests.gui.words import GUI, places, words

FILES = sorted((GUI / "health").glob("*.py"))
TABLE = resources() / "translations" / "health_zh_CN.ts"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_word_has_its_chinese(path):
    table = read_ts([TABLE])
    for context, source in words(path):
        assert (context, source, "") in table, f"{context}: {source}"
        assert places(source) == places(table[context, source, ""]), source


def test_no_translation_is_left_over():
    assert {key[:2] for key in read_ts([TABLE])} == set().union(*(words(path) for path in FILES))


def test_the_alarms_that_name_the_test_are_those_with_its_button():
    rules = load(resources() / "catalog").read("health.json", HealthRules).rules
    texts = json.loads((resources() / "texts" / "health.json").read_text(encoding="utf-8"))
    named = {
        rule.id for rule in rules if f"health test of level {ADVISED_LEVEL}" in texts[f"health.{rule.id}.fix"]["en"]
    }
    assert named == ADVISED
