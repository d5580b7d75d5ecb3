"""How long the command line takes to be there.

Prints, from alternating runs of whole processes, the median of `gpu-assistant --help` as a ratio of
`python -c pass` with the same interpreter (goal: at most 6), and the median time of `detect --json`
(goal: at most 1.0 s), also as a ratio.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS = 15


def seconds(*arguments: str) -> float:
    """Wall time of one Python process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as data:
        commands = {
            "python -c pass": ("-c", "pass"),
            "--help": ("-m", "gpu_assistant", "--help"),
            "detect --json": ("-m", "gpu_assistant", "detect", "--json", "--data-dir", data),
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for command in commands.values():
            seconds(*command)
        for _ in range(RUNS):
            for name, command in commands.items():
                times[name].append(seconds(*command))
    base = statistics.median(times["python -c pass"])
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:16} {median * 1000:7.1f} ms   {median / base:5.2f} x python -c pass")


if __name__ == "__main__":
    main()
