"""The words in the wizard's source, as Qt's own tools would find them."""

from __future__ import annotations

import ast
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "gpu_assistant" / "gui" / "wizard"
FILES = sorted(FOLDER.glob("*.py"))


def words(path: Path) -> set[tuple[str, str]]:
    """(context, source) of every self.tr and translate."""
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for holder in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        for node in ast.walk(holder):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name == "tr" and isinstance(holder, ast.ClassDef):
                found.add((holder.name, ast.literal_eval(node.args[0])))
            elif name == "translate":
                found.add((ast.literal_eval(node.args[0]), ast.literal_eval(node.args[1])))
    return found
