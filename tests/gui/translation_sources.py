"""The words of a room of the window, read from its code."""

from __future__ import annotations

import ast
import string
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "gpu_assistant"
GUI = PACKAGE / "gui"
REPORTS = PACKAGE / "reports"  # they speak the words of the window
EXTRA_PLACES = {"hundred_millions", "billions"}


def source_texts(path: Path) -> set[tuple[str, str]]:
    """(context, source) of every self.tr, translate and QT_TRANSLATE_NOOP."""
    messages = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for holder in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        for node in ast.walk(holder):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name == "tr" and isinstance(holder, ast.ClassDef):
                messages.add((holder.name, node.args[0].value))
            elif (
                name in ("translate", "QT_TRANSLATE_NOOP")
                and len(node.args) > 1
                and all(isinstance(a, ast.Constant) for a in node.args)
            ):
                messages.add((node.args[0].value, node.args[1].value))
    return messages


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None} - EXTRA_PLACES
