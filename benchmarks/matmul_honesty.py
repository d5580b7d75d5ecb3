"""Does our matrix product's figure agree with torch's own timer? Both measure in one process, by turns.

    python benchmarks/matmul_honesty.py ENVIRONMENT [--side 1024] [--rounds 60] [--threads N]

Runs itself in the environment's own Python. Prints one line of JSON: medians and minima in seconds, of the workload and
of torch.utils.benchmark, and the median ratio of neighbours. That ratio is to be within 3 % of 1; on a busy computer
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
    arguments = ["--side", str(given.side), "--rounds", str(given.rounds)]
    arguments += ["--threads", str(given.threads)] if given.threads else []
    print(*again_inside(given.environment, __file__, arguments), end="")
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
    workload_s: list[float] = []
    torch_timer_s: list[float] = []

    def measure_workload() -> None:
        # Timer.timeit runs the statement twice before it counts; so do we.
        work.run()
        work.run()
        workload_s.extend(device.time_runs(work.run))

    def measure_torch_timer() -> None:
        torch_timer_s.append(timer.timeit(1).median)

    for number in range(rounds):
        turns = (measure_workload, measure_torch_timer) if number % 2 else (measure_torch_timer, measure_workload)
        for turn in turns:
            turn()
    return {
        "side": side,
        "threads": torch.get_num_threads(),
        "rounds": rounds,
        "workload_s": statistics.median(workload_s),
        "torch_timer_s": statistics.median(torch_timer_s),
        "ratio": statistics.median(own / other for own, other in zip(workload_s, torch_timer_s, strict=True)),
        "workload_least_s": min(workload_s),
        "torch_timer_least_s": min(torch_timer_s),
        "ratio_least": min(workload_s) / min(torch_timer_s),
    }


if __name__ == "__main__":
    sys.exit(main())
