"""Does our matrix product's figure agree with torch's own timer? Both measure in one process, by turns.

    python benchmarks/matmul_honesty.py ENVIRONMENT [--side 1024] [--rounds 60]

Runs itself in the environment's own Python. Prints one line of JSON: the medians in seconds and the median
ratio of neighbours (ours by torch.utils.benchmark's), to be within 3 % of 1 on a
computer that does nothing else.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

CHILD = Path(__file__).resolve().parent.parent / "gpu_assistant" / "bench" / "child.py"


def main() -> int:
    """Start the measurement in the environment, or do it where we are already there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environment", type=Path)
    parser.add_argument("--side", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        print(json.dumps(compare(given.side, given.rounds)))
        return 0
    interpreters = [given.environment / "bin" / "python", given.environment / "Scripts" / "python.exe"]
    interpreter = next((path for path in interpreters if path.is_file()), None)
    if interpreter is None:
        parser.error(f"no Python environment at {given.environment}")
    words = [interpreter, "-I", "-X", "utf8", __file__, given.environment, "--inside"]
    words += ["--side", str(given.side), "--rounds", str(given.rounds)]
    return subprocess.run(words, check=False).returncode


def compare(side: int, rounds: int) -> dict[str, Any]:
    """Alternate between our timing and torch's, so that a change of the machine's pace meets both."""
    import torch
    from torch.utils.benchmark import Timer

    spec = importlib.util.spec_from_file_location("child", CHILD)
    if spec is None or spec.loader is None:
        sys.exit(f"cannot load {CHILD}")
    child = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(child)
    device = child.Cpu(torch, None)
    left, right = torch.randn(side, side), torch.randn(side, side)
    product = torch.empty(side, side)

    def work() -> None:
        torch.mm(left, right, out=product)

    names = {"torch": torch, "left": left, "right": right, "product": product}
    timer = Timer("torch.mm(left, right, out=product)", globals=names, num_threads=torch.get_num_threads())
    child.warm_up(device, work, child.WARM_UP_S)
    ours: list[float] = []
    theirs: list[float] = []

    def measure_ours() -> None:
        # Timer.timeit runs the statement twice before it counts; so do we.
        work()
        work()
        ours.append(device.seconds(work))

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
    }


if __name__ == "__main__":
    sys.exit(main())
