"""Some of the bad calls that `benchmarks/fuzz.py calls` makes by the thousand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.bad_calls import check_call


@pytest.mark.parametrize("hundred", range(2))
def test_bad_calls_keep_the_contract(tmp_path: Path, hundred: int) -> None:
    problems = []
    for seed in range(100 * hundred, 100 * hundred + 60):
        folder = tmp_path / str(seed)
        folder.mkdir()
        problems.append(check_call(seed, folder))
    assert [problem for problem in problems if problem is not None] == []
