"""A percentage is written in one way in each language: "94 %" in English, "94%" in Chinese."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from gpu_assistant.core.paths import resources_dir
from gpu_assistant.texts.current import read_ts
from gpu_assistant.texts.format import format_percent, join_unit

PACKAGE = Path(__file__).resolve().parents[2] / "gpu_assistant"
ENGLISH_JOINED = re.compile(r"[\d}]%")
CHINESE_SPACED = re.compile(r"[\d}][ \u00a0\u202f]%")


@pytest.mark.parametrize(("language", "text", "degrees"), [("en", "94 %", "65 °C"), ("zh_CN", "94%", "65 °C")])
def test_percentages_and_other_units(language, text, degrees):
    assert format_percent(93.6, language) == text
    assert join_unit("94", "%", language) == text
    assert join_unit("65", "°C", language) == degrees


def test_texts_of_both_languages():
    texts: list[tuple[str, str]] = []
    for path in (resources_dir() / "texts").glob("*.json"):
        entries = json.loads(path.read_text(encoding="utf-8"))
        texts += [
            (each.get("en") or "", each.get("zh_CN") or "") for each in entries.values() if isinstance(each, dict)
        ]
    for (_, english, _), chinese in read_ts(sorted((resources_dir() / "translations").glob("*_zh_CN.ts"))).items():
        texts.append((english, chinese))
    assert any("%" in english for english, _ in texts)
    assert [english for english, _ in texts if ENGLISH_JOINED.search(english)] == []
    assert [chinese for _, chinese in texts if CHINESE_SPACED.search(chinese)] == []


def test_code_formats_percentages_with_the_function_for_it():
    """No f-string writes the sign itself, but for lengths in HTML."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                texts = [part.value for part in node.values[1:] if isinstance(part, ast.Constant)]
                found += [f"{path.name}:{node.lineno}" for text in texts if re.match(r" %|%(?!\")", str(text))]
    assert found == [], found
