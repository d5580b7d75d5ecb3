"""Facts of the outside world stand in the catalog, not in code: no address, card's name or version number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gpu_assistant"
FILES = sorted(PACKAGE.rglob("*.py"))

ADDRESS = re.compile(r"https?://[a-z0-9]|\bwww\.|\b[a-z0-9-]+\.(?:com|org|net|cn|io|ms)/", re.IGNORECASE)
CARD = re.compile(r"\b(?:GeForce|Quadro|Tesla|TITAN|Radeon|(?:RTX|GTX|GT|MX) ?(?:PRO ?)?\d{3,4})", re.IGNORECASE)
VERSION = re.compile(r"(?<![\w.])\d{1,3}\.\d{1,3}(?:\.\d{1,4}){0,3}(?![\w.])", re.ASCII)

# What looks like a fact of the world and is none, or belongs to the code; each with its reason.
ALLOWED: dict[tuple[str, str], str] = {
    ("__init__.py", r"\d+\.\d+\.\d+"): "our own version",
    ("catalog/validation.py", r"https://json-schema\.org/.*"): "the name of the language that schemas are written in",
    ("catalog/gpu_names.py", r".*geforce.*"): "the maker's word in front of every name, taken off to compare",
    ("catalog/gpu_names.py", r".*radeon.*"): "AMD's word at the head of a card's name, where the name begins",
    ("catalog/records/peak_specs.py", r".*tesla.*"): "a maker's word that not every source writes, taken off",
    ("texts/format.py", r"GeForce "): "the maker's word in front of every name, taken off to save room",
    ("gui/messages.py", r"www\."): "taken off any address for its short form",
    ("gui/main/settings/page.py", r".*Apache-2\.0.*"): "our own licence",
    ("cli/monitor.py", r"127\.0\.0\.1"): "this computer",
    ("system/probes.py", r"192\.0\.2\.1"): "an address of nobody, kept for documents (RFC 5737)",
    ("fetch/http.py", r"https://www\.example\.com/"): "an address of nobody, kept for documents (RFC 2606)",
    ("fetch/proxy.py", r"127\.0\.0\.1"): "this computer",
    ("gui/main/settings/network.py", r"(.* )?http://proxy\.example:8080(, .*)?"): "an address of nobody (RFC 2606)",
    ("install/steps/base.py", r"127\.0\.0\.1"): "this computer",
    ("bench/child/parallel.py", r"127\.0\.0\.1"): "this computer",
    ("bench/training_snippet.py", r"torch\.optim\.SGD\(.*\)"): "how fast a model learns, in a program to copy",
    ("bench/training_snippet.py", r" +torch\.cuda\.set_per_process_memory_fraction\(.*\)"): "a share, to copy",
    ("detect/tools.py", r"14\.0"): "the registry's name for the Visual C++ runtime's family, the same since 2015",
    ("system/windows/parsing.py", r"127\.0\.0\.1"): "this computer",
    ("system/linux/desktop.py", r"\[Desktop Entry\][\s\S]*"): "the version of freedesktop.org's specification",
    ("system/windows/facts.py", r"SOFTWARE\\.*\\14\.0\\.*"): "the registry's name for that family",
}


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The text constants of a file that are not docstrings, with their lines."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    docstrings = {
        id(node.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def facts(path: Path) -> list[tuple[int, str]]:
    name = path.relative_to(PACKAGE).as_posix()
    return [
        (line, text)
        for line, text in texts(path)
        if any(pattern.search(text) for pattern in (ADDRESS, CARD, VERSION))
        and not any(name == file and re.fullmatch(allowed, text) for file, allowed in ALLOWED)
    ]


def test_code_contains_no_versions_urls_or_thresholds() -> None:
    assert {path.relative_to(PACKAGE).as_posix(): matches for path in FILES if (matches := facts(path))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/x",
        "http://example.org",
        "GeForce RTX 4060",
        "rtx 5090",
        "Tesla",
        "580.65.06",
        "2.15.0",
        "12.8",
    ],
)
def test_detector_finds_a_fact(text: str) -> None:
    assert any(pattern.search(text) for pattern in (ADDRESS, CARD, VERSION))


@pytest.mark.parametrize(("file", "allowed"), ALLOWED)
def test_allowed_exceptions_still_exist(file: str, allowed: str) -> None:
    assert any(re.fullmatch(allowed, text) for _, text in texts(PACKAGE / file))
