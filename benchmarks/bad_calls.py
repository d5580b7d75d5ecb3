"""Thousands of bad calls of the command line: `python -m benchmarks.bad_calls [COUNT [FIRST_SEED]]`.

Prints each call whose answer breaks the contract, with its seed, and how many there were; ends with 1 if any did.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.cli.bad_calls import check_call

DEFAULT_COUNT = 2000


def main(count: int = DEFAULT_COUNT, first_seed: int = 0) -> int:
    """Make the calls; the exit code."""
    started, problem_count = time.process_time(), 0
    for seed in range(first_seed, first_seed + count):
        with tempfile.TemporaryDirectory() as folder:
            problem = check_call(seed, Path(folder))
        if problem is not None:
            problem_count += 1
            print(problem, flush=True)
    print(f"{count} calls, {problem_count} problems, {time.process_time() - started:.0f} s of the processor")
    return 1 if problem_count else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
