"""Some of the faults that `benchmarks/fault_points.py` makes at every change to the disk."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..fakes.fault_server import fault_server
from .fault_points import COMPILER, FAULTS, WORKS, Fault, FaultPoints, Work

pytestmark = pytest.mark.skipif(sys.platform != "linux" or COMPILER is None, reason="preloads a library on Linux")
STEPS: dict[Work, int] = {"install": 131, "removal": 37, "download": 5}  # primes: every sort of change has its turn


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultPoints]:
    with (
        pytest.MonkeyPatch.context() as patch,
        fault_server() as server,
    ):
        patch.setenv("NO_PROXY", "127.0.0.1")
        with FaultPoints(Path(tmp_path_factory.mktemp("faults")), server) as made:
            yield made


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("work", WORKS)
def test_fault_at_a_change_leaves_nothing_that_the_next_run_does_not_mend(
    points: FaultPoints, work: Work, fault: Fault
) -> None:
    count = points.count(work)
    assert count > 15
    # The three faults meet different changes.
    for number in range(2 + FAULTS.index(fault) * (STEPS[work] // 3), count + 1, STEPS[work]):
        points.check(work, fault, number)
