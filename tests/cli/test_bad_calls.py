"""Some of the bad calls that `benchmarks/fuzz.py calls` makes by the thousand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.bad_calls import ENDING_FLAGS, FLAGS, LEFT_OUT, SAFE_ENDS, VALUE_OPTIONS, check_call, options_of


@pytest.mark.parametrize("hundred", range(2))
def test_bad_calls_keep_the_contract(tmp_path: Path, hundred: int) -> None:
    problems = []
    for seed in range(100 * hundred, 100 * hundred + 60):
        folder = tmp_path / str(seed)
        folder.mkdir()
        problems.append(check_call(seed, folder))
    assert [problem for problem in problems if problem is not None] == []


@pytest.mark.parametrize("command", SAFE_ENDS)
def test_every_option_takes_part_in_the_bad_calls(command: str) -> None:
    options = options_of(command)
    assert "--json" in options
    assert {*options} - {*FLAGS, *ENDING_FLAGS, *VALUE_OPTIONS, *LEFT_OUT, "-h", "-y"} == set()
