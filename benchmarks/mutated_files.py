"""Thousands of mutated journals, plans, catalogs and bundles, `python -m benchmarks.mutated_files [COUNT [SEED]]`.

Prints each file that had an effect outside of the places that the program writes, or broke it, with its seed, and how
many there were; ends with 1 if any did. Linux.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
from pathlib import Path

from tests.install.mutated_files import check_file

DEFAULT_COUNT = 10_000


def main(count: int = DEFAULT_COUNT, first_seed: int = 0) -> int:
    """Use the files; the exit code."""
    logging.disable()
    started, problem_count = time.process_time(), 0
    for seed in range(first_seed, first_seed + count):
        with tempfile.TemporaryDirectory() as folder:
            problem = check_file(seed, Path(folder))
        if problem is not None:
            problem_count += 1
            print(problem, flush=True)
    print(f"{count} files, {problem_count} problems, {time.process_time() - started:.0f} s of the processor")
    return 1 if problem_count else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
