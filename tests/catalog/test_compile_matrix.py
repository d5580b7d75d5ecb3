"""What toolkits, compilers and glibc were seen to do together (docs/real-parts.md), and what the catalog says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from benchmarks.compile_matrix import contradictions, read_result

PAGE = Path(__file__).parents[2] / "docs" / "real-parts.md"
STATES = {"yes": "compiles", "refused": "refused", "clash": "clash"}


def measured() -> Iterator[dict[str, Any]]:
    """The rows of the page's table: "yes: GCC 11 to 13; refused: GCC 14"."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    head = next(line for line in lines if line.startswith("| toolkit |"))
    glibcs = re.findall(r"glibc ([\d.]+)", head)
    for line in takewhile(lambda line: line.startswith("|"), lines[lines.index(head) + 2 :]):
        toolkit, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        for glibc, cell in zip(glibcs, cells, strict=True):
            for said, first, joint, last in re.findall(r"(\w+): GCC (\d+)(?: (to|and) (\d+))?", cell):
                majors = range(int(first), int(last or first) + 1) if joint != "and" else (int(first), int(last))
                for major in majors:
                    yield {"toolkit": toolkit, "glibc": glibc, "gcc": f"{major}.1.0", "state": STATES[said]}


def test_catalog_says_what_was_seen() -> None:
    rows = list(measured())
    assert len(rows) == 88
    assert list(contradictions(rows)) == []


def test_contradiction_of_the_catalog_is_named() -> None:
    row = {"toolkit": "12.9.1", "glibc": "2.41", "gcc": "14.2.0", "state": "compiles"}
    assert list(contradictions([row])) == [
        "12.9.1 with gcc 14.2.0 and glibc 2.41: compiles, and the catalog says clash"
    ]


@pytest.mark.parametrize(
    ("status", "output", "state"),
    [
        (0, "glibc 2.36\ngcc 12.2.0\nran 0 no error 2\n", "compiles"),
        (0, "glibc 2.36\ngcc 12.2.0\n", "fails"),
        (1, "glibc 2.36\ngcc 16.2.0\nx.h:1: error: #error -- unsupported GNU version! gcc\n", "refused"),
        (1, 'glibc 2.43\ngcc 15.3.0\nx.h(1): error: exception specification is incompatible with "rsqrt"\n', "clash"),
        (127, "glibc 2.43\ngcc 15.3.0\nsh: nvcc: not found\n", "fails"),
    ],
)
def test_output_of_a_compiler_is_read(status: int, output: str, state: str) -> None:
    assert read_result(status, output)["state"] == state
