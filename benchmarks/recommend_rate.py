"""How many machines a second of CPU time get their recommendation, in one process, for each goal.

    python benchmarks/recommend_rate.py

Goes over every eleventh machine of the grid that `tests/advise/test_grid.py` judges (systems × cards × drivers), each
decoded from its JSON as `recommend --machine` does. The reference, measured in the same run, is decoding the same
texts with `json.loads`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import get_args

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.types import Goal
from tests.advise.oracle.grid import grid
from tests.advise.oracle.published import PublishedFacts

REACH_PER_SECOND = 2000
SECONDS = 2.0
EVERY = 11  # which machine of the grid; no axis of it has a multiple of so many values


def rate(work: Callable[[bytes], object], files: list[bytes]) -> float:
    """Files a second of this process's CPU time, over whole rounds for at least `SECONDS`."""
    done = 0
    start = time.process_time()
    while (spent := time.process_time() - start) < SECONDS:
        for data in files:
            work(data)
        done += len(files)
    return done / spent


def main() -> None:
    """Measure, and print a line for each goal."""
    catalog = load_catalog(resources_dir() / "catalog")
    files = [json.dumps(case.machine).encode() for case in islice(grid(PublishedFacts()), 0, None, EVERY)]
    decoder = msgspec.json.Decoder(Machine)

    def work(goal: Goal) -> Callable[[bytes], None]:
        def answer(data: bytes) -> None:
            # A computer for which nothing is published is told so: that is an answer, too.
            with suppress(AppError):
                recommend(decoder.decode(data), catalog, goal=goal)

        return answer

    reference = rate(json.loads, files)
    for goal in get_args(Goal):
        per_second = rate(work(goal), files)
        print(
            f"recommend --goal {goal}: {per_second:,.0f} machines/s over {len(files):,} machines "
            f"(reach {REACH_PER_SECOND:,}); each costs {reference / per_second:.1f} x json.loads of its file "
            f"({reference:,.0f} files/s)"
        )


if __name__ == "__main__":
    main()
