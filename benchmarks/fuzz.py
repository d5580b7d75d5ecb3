"""Thousands of bad inputs from a seed: `python -m benchmarks.fuzz calls|files [COUNT [FIRST_SEED]]`.

`calls`: bad calls of the command line. `files`: mutated journals, plans, catalogs and bundles; Linux only. Prints each
one that breaks the contract or has an effect outside of the places that the program writes, with its seed, and how many
there were; ends with 1 if any did.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
from pathlib import Path

from tests.cli.bad_calls import check_call
from tests.install.mutated_files import check_file

CHECKS = {"calls": (check_call, 2_000), "files": (check_file, 10_000)}


def main() -> int:
    """Make the inputs; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=CHECKS)
    parser.add_argument("count", type=int, nargs="?")
    parser.add_argument("first_seed", type=int, nargs="?", default=0)
    options = parser.parse_args()
    check, default_count = CHECKS[options.kind]
    count = options.count or default_count
    logging.disable()
    started, problem_count = time.process_time(), 0
    for seed in range(options.first_seed, options.first_seed + count):
        # A call's threads may still write while its folder goes; the program's process would have ended with them.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            problem = check(seed, Path(folder))
        if problem is not None:
            problem_count += 1
            print(problem, flush=True)
    print(f"{count} {options.kind}, {problem_count} problems, {time.process_time() - started:.0f} s of the processor")
    return 1 if problem_count else 0


if __name__ == "__main__":
    sys.exit(main())
