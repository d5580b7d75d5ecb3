"""SECURITY.md: every line of its threat model names tests, and they exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py(?:::\w+)+)`", PAGE)))
THREATS = re.findall(r"^\| (?:A|F|N|O)[, AFNO]* \| .*$", PAGE, re.MULTILINE)


def test_every_threat_names_a_test() -> None:
    assert len(THREATS) > 20
    assert not [line for line in THREATS if "`tests/" not in line.rsplit(" | ", 1)[1]]
    assert PAGE.count("`tests/") == len(re.findall(r"`tests/[\w/]+\.py(?:::\w+)+`", PAGE))


@pytest.mark.parametrize("name", NAMED)
def test_named_test_exists(name: str) -> None:
    file, *names = name.split("::")
    body: list[ast.stmt] = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
    for each in names:
        kinds = (ast.FunctionDef, ast.ClassDef)
        (found,) = [node for node in _all(body) if isinstance(node, kinds) and node.name == each]
        body = found.body


def _all(body: list[ast.stmt]) -> list[ast.stmt]:
    """What stands in it, below an `if sys.platform` too."""
    return [inner for node in body for inner in (_all(node.body) if isinstance(node, ast.If) else [node])]


@pytest.mark.parametrize("file", ["README.md", "docs/architecture.md"])
def test_page_is_linked(file: str) -> None:
    assert "SECURITY.md" in (ROOT / file).read_text(encoding="utf-8")
