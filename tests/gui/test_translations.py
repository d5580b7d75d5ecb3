"""Every word of the window has its Chinese, in the room's own table; every place in a sentence stays, and the voice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_assistant.core.paths import resources_dir
from gpu_assistant.texts.current import read_ts
from tests.gui.translation_sources import GUI, REPORTS, places, source_texts

TABLES = sorted((resources_dir() / "translations").glob("*_zh_CN.ts"))
# `qt_zh_CN.ts` holds Qt's own words.
ROOMS = [path.name.removesuffix("_zh_CN.ts") for path in TABLES if path.name != "qt_zh_CN.ts"]
# Places that are filled with Chinese words and so stand without spaces; all others hold figures or names.
CHINESE_PLACES = "{longest}", "{site}", "{state}", "{time}", "{way}"
FILES = sorted([*GUI.rglob("*.py"), *REPORTS.rglob("*.py")])


def room(path: Path) -> str:
    """Whose table has the words of a file."""
    if path.is_relative_to(REPORTS):
        return REPORTS.name
    parts = path.relative_to(GUI).parts
    return parts[0] if len(parts) > 1 else "window"


def texts_in(name: str) -> set[tuple[str, str]]:
    return set().union(*(source_texts(path) for path in FILES if room(path) == name))


def table(name: str) -> dict[tuple[str, str, str], str]:
    return read_ts([resources_dir() / "translations" / f"{name}_zh_CN.ts"])


@pytest.mark.parametrize("name", ROOMS)
def test_every_text_is_translated(name):
    known = table(name)
    for context, source in texts_in(name):
        assert (context, source, "") in known, f"{context}: {source}"
        assert places(source) == places(known[context, source, ""]), source


def test_every_room_has_a_table():
    assert {room(path) for path in FILES if source_texts(path)} == set(ROOMS)


@pytest.mark.parametrize("name", ROOMS)
def test_no_unused_translation(name):
    assert {key[:2] for key in table(name)} == texts_in(name)


@pytest.mark.parametrize("name", ROOMS)
def test_texts_follow_style_rules(name):
    for (_, english, _), chinese in table(name).items():
        assert not re.search(r"!|successfully|\boops\b|\bplease\b", english, re.IGNORECASE), english
        assert not re.search(r"您|！|成功地", chinese), chinese
        for place in CHINESE_PLACES:
            chinese = chinese.replace(place, "字")  # noqa: PLW2901 - the same sentence, filled
        assert not re.search(r"[\u4e00-\u9fff][A-Za-z0-9{]|[A-Za-z0-9}][\u4e00-\u9fff]", chinese), chinese
        assert not re.search(r"[\u4e00-\u9fff][,;:?]", chinese), chinese
