"""How long does the quick benchmark take from its start to the end, and what does it leave out for lack of time?

    python benchmarks/quick_benchmark.py ENVIRONMENT

Prints one line of JSON; `seconds` is to be at most 60 on a computer without a graphics card. Keeps nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from gpu_assistant.bench.job import BenchmarkJob
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir
from gpu_assistant.system import current_system


def main() -> int:
    """One whole run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environment", type=Path)
    given = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        benchmark = BenchmarkJob(given.environment, current_system(), DataDir(Path(folder))).run(JobContext())
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - began,
                "devices": [device.id for device in benchmark.devices],
                "measured": [[r.id, r.dtype, r.size, r.median, r.unit, r.runs, r.seconds] for r in benchmark.results],
                "left_out": [[left.id, left.dtype, left.why] for left in benchmark.left_out],
                "notes": benchmark.notes,
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
