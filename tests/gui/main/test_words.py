"""Every word of the main window has its Chinese, and every place in a sentence stays."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

from gpu_assistant.core.paths import resources
from gpu_assistant.gui.language import read_ts

GUI = Path(__file__).resolve().parents[3] / "gpu_assistant" / "gui"
FILES = [*sorted((GUI / "main").glob("*.py")), GUI / "run.py"]
EXTRA_PLACES = {"hundred_millions", "billions"}


def words(path: Path) -> set[tuple[str, str]]:
    """(context, source) of every self.tr, translate and QT_TRANSLATE_NOOP."""
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for holder in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        for node in ast.walk(holder):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name == "tr" and isinstance(holder, ast.ClassDef):
                found.add((holder.name, node.args[0].value))
            elif name in ("translate", "QT_TRANSLATE_NOOP") and all(isinstance(a, ast.Constant) for a in node.args):
                found.add((node.args[0].value, node.args[1].value))
    return found


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None} - EXTRA_PLACES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_word_has_its_chinese(path):
    table = read_ts([resources() / "translations" / "main_zh_CN.ts"])
    for context, source in words(path):
        assert (context, source, "") in table, f"{context}: {source}"
        assert places(source) == places(table[context, source, ""]), source


def test_no_translation_is_left_over():
    table = read_ts([resources() / "translations" / "main_zh_CN.ts"])
    assert {key[:2] for key in table} == set().union(*(words(path) for path in FILES))
