"""Some of the mutated files that `benchmarks/fuzz.py files` makes by the thousand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .mutated_files import CHECKS, check_file


@pytest.mark.skipif(sys.platform == "win32", reason="paths and links of Unix")
@pytest.mark.parametrize("kind", range(len(CHECKS)))
def test_mutated_files_have_no_effect_elsewhere(tmp_path: Path, kind: int) -> None:
    problems = []
    for number in range(40):
        seed = number * len(CHECKS) + kind
        folder = tmp_path / str(seed)
        folder.mkdir()
        problems.append(check_file(seed, folder))
    assert [problem for problem in problems if problem is not None] == []
