"""An install, a removal and a download with a fault at every change that they make to the disk:
`python -m benchmarks.fault_points [--every N] [--work WORK] [--fault kill|ENOSPC|EIO] [--list FILE]`. Linux, with a C
compiler.

Prints how many changes of each kind there are, each fault whose outcome is not the undisturbed one, and how many there
were; ends with 1 if any is. `--every 7` takes every seventh change; `--list` writes all changes into a file.
"""

from __future__ import annotations

import argparse
import collections
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.fakes.fault_server import fault_server
from tests.install.fault_points import FAULTS, WORKS, FaultPoints, Work


def list_changes(points: FaultPoints, work: Work, log: Path) -> int:
    """Print how many changes of each kind the work makes; returns their number."""
    log.unlink(missing_ok=True)
    count = points.count(work, log)
    kinds = collections.Counter(line.split("\t")[1] for line in log.read_text(encoding="utf-8").splitlines())
    print(f"{work}: {count} changes ({', '.join(f'{number} {kind}' for kind, number in kinds.most_common())})")
    return count


def main() -> int:
    """Try all of them; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--work", choices=WORKS, action="append")
    parser.add_argument("--fault", choices=FAULTS, action="append")
    parser.add_argument("--list", type=Path, dest="log")
    arguments = parser.parse_args()
    os.environ["NO_PROXY"] = "127.0.0.1"
    started, problems = time.process_time(), 0
    with tempfile.TemporaryDirectory() as folder, fault_server() as server, FaultPoints(Path(folder), server) as points:
        for work in arguments.work or WORKS:
            log = Path(folder, f"{work}.txt")
            count = list_changes(points, work, log)
            if arguments.log is not None:
                arguments.log.with_name(f"{work}-{arguments.log.name}").write_bytes(log.read_bytes())
            for fault in arguments.fault or FAULTS:
                codes: collections.Counter[str] = collections.Counter()
                for number in range(1, count + 1, arguments.every):
                    try:
                        codes[points.check(work, fault, number).code or "done all the same"] += 1
                    except Exception as error:  # noqa: BLE001 - the next one is tried
                        problems += 1
                        where = traceback.extract_tb(error.__traceback__)[-1]
                        print(f"  {work} {fault} {number}: {type(error).__name__} line {where.lineno}: {error}"[:600])
                told = ", ".join(f"{times} {code}" for code, times in codes.most_common())
                print(f"  {fault}: {told}", flush=True)
    seconds = time.process_time() - started
    print(f"{problems} outcomes that are not those of an undisturbed run; {seconds:.0f} s of the processor")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
