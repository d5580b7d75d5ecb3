"""A percentage is written without a space, "94%", in both languages; other units have one, "65 °C"."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from gpu_assistant.core.paths import resources_dir
from gpu_assistant.texts.current import read_ts
from gpu_assistant.texts.format import format_percent, join_unit

ROOT = Path(__file__).resolve().parents[2]
SPACED = re.compile(r"[\d}][ \u00a0\u202f]%")


@pytest.mark.parametrize(
    ("figure", "unit", "text"),
    [("94", "%", "94%"), ("65", "°C", "65 °C"), ("1,785", "RPM", "1,785 RPM"), ("3", "", "3")],
)
def test_a_figure_with_its_unit(figure, unit, text):
    assert join_unit(figure, unit) == text


def test_a_percentage_is_rounded():
    assert format_percent(93.6) == "94%"


def test_texts_of_both_languages():
    texts: list[str] = []
    for path in (resources_dir() / "texts").glob("*.json"):
        entries = json.loads(path.read_text(encoding="utf-8"))
        texts += [
            each.get(code) or "" for each in entries.values() if isinstance(each, dict) for code in ("en", "zh_CN")
        ]
    for (_, english, _), chinese in read_ts(sorted((resources_dir() / "translations").glob("*_zh_CN.ts"))).items():
        texts += [english, chinese]
    assert any("%" in text for text in texts)
    assert [text for text in texts if SPACED.search(text)] == []


@pytest.mark.parametrize(
    "page",
    [
        *(ROOT / name for name in ("README.md", "README.zh-CN.md", "docs/download.md", "docs/download.zh-CN.md")),
        *sorted((ROOT / "resources/guide").rglob("*.md")),
    ],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_pages_for_users(page):
    assert not (match := SPACED.search(page.read_text(encoding="utf-8"))), match


def test_code_formats_percentages_with_the_function_for_it():
    """No f-string writes the sign itself, but for lengths in HTML."""
    found = []
    for path in (ROOT / "gpu_assistant").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                texts = [part.value for part in node.values[1:] if isinstance(part, ast.Constant)]
                found += [f"{path.name}:{node.lineno}" for text in texts if re.match(r" %|%(?!\")", str(text))]
    assert found == [], found
