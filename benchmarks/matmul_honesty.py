"""Does our matrix product's figure agree with torch's own timer? Both measure in one process, by turns.

    python benchmarks/matmul_honesty.py ENVIRONMENT [--side 1024] [--rounds 60] [--threads N]

Runs itself in the environment's own Python. Prints one line of JSON: medians and minima in seconds, ours by
torch.utils.benchmark's, and the median ratio of neighbours. That ratio is to be within 3 % of 1; on a busy computer
a small side (256) with many rounds is disturbed least, since most runs are over before another program gets a turn.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

# Isolated from everything but this folder.
sys.path.insert(0, str(Path(__file__).resolve().parent))
from bench_child import again_inside, child


def main() -> int:
    """Start the measurement in the environment, or do it where we are already there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environment", type=Path)
    parser.add_argument("--side", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        print(json.dumps(compare(given.side, given.rounds, given.threads)))
        return 0
    words = ["--side", str(given.side), "--rounds", str(given.rounds)]
    words += ["--threads", str(given.threads)] if given.threads else []
    print(*again_inside(given.environment, __file__, words), end="")
    return 0


def compare(side: int, rounds: int, threads: int | None) -> dict[str, Any]:
    """Alternate between our timing and torch's, so that a change of the machine's pace meets both."""
    import torch
    from torch.utils.benchmark import Timer

    devices, timing, products = child("devices"), child("timing"), child("matmul")
    device = devices.CpuDevice(torch, threads)
    work = products.MatmulWorkload(device, "float32", side, 1.0, None)
    work.prepare()
    names = {"torch": torch, "left": work.left, "right": work.right, "product": work.product}
    timer = Timer("torch.mm(left, right, out=product)", globals=names, num_threads=torch.get_num_threads())
    timing.warm_up(device, work.run, timing.MAX_WARM_UP_S)
    ours: list[float] = []
    theirs: list[float] = []

    def measure_ours() -> None:
        # Timer.timeit runs the statement twice before it counts; so do we.
        work.run()
        work.run()
        ours.extend(device.time_runs(work.run))

    def measure_theirs() -> None:
        theirs.append(timer.timeit(1).median)

    for number in range(rounds):
        turns = (measure_ours, measure_theirs) if number % 2 else (measure_theirs, measure_ours)
        for turn in turns:
            turn()
    return {
        "side": side,
        "threads": torch.get_num_threads(),
        "rounds": rounds,
        "ours_s": statistics.median(ours),
        "torch_timer_s": statistics.median(theirs),
        "ratio": statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True)),
        "ours_least_s": min(ours),
        "torch_timer_least_s": min(theirs),
        "ratio_least": min(ours) / min(theirs),
    }


if __name__ == "__main__":
    sys.exit(main())
