"""How much the history of eight GPUs takes: a month of seconds, replayed.

    python benchmarks/history_size.py [--days N] [--gpus N]

Prints memory and disk of a full history beside the raw figures as doubles (the reference, from the same run), the time
that one moment costs, and the growth of the process's memory over the second half of the replay, when all is full.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import psutil

from gpu_assistant.monitor.history import MONTH_S, SHAPES, History
from gpu_assistant.monitor.series import GPU_FIGURES

MB = 1e6


def main() -> None:
    """Replay and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=float, default=7)
    parser.add_argument("--gpus", type=int, default=8)
    given = parser.parse_args()
    names = ["cpu", "ram_used", "ram_total", *(f"gpu{gpu}.{name}" for gpu in range(given.gpus) for name in GPU_FIGURES)]
    seconds = int(given.days * 86_400)
    with tempfile.TemporaryDirectory() as folder:
        now = 1_790_000_000.0
        history = History(Path(folder), clock=lambda: now)
        me = psutil.Process()
        halfway = 0
        began = time.perf_counter()
        for second in range(seconds):
            # Sawtooth figures: every value changes each second.
            history.add(now, {name: (second + place) % 97 for place, name in enumerate(names)})
            history.write()
            now += 1
            if second == seconds // 2:
                halfway = me.memory_info().rss
        took = time.perf_counter() - began
        grown = me.memory_info().rss - halfway
        history.close()
        disk = sum(path.stat().st_size for path in Path(folder).iterdir())
        raw = len(names) * 8 * sum(shape.capacity for shape in SHAPES)
        print(f"{len(names)} series, {given.days:g} days of seconds replayed in {took:.0f} s")
        print(f"a moment: {took / seconds * 1e6:.0f} us")
        print(f"memory, full: {history.bytes / MB:.1f} MB; ratio to means alone in doubles {history.bytes / raw:.2f}")
        print(f"disk: {disk / MB:.1f} MB so far; full in {MONTH_S // 86_400} days")
        print(f"growth of the process in the second half: {grown / MB:+.1f} MB")


if __name__ == "__main__":
    main()
