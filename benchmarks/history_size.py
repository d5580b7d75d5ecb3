"""How much the history of eight GPUs takes: weeks of samples, replayed.

    python benchmarks/history_size.py [--days N] [--every SECONDS] [--gpus N]

Prints memory and disk beside the same stretches as means alone in doubles (the reference, from the same run), the time
that one moment costs, and the growth of the process's memory over the second half of the replay, when all is full.
A week of seconds: `--days 7`. A full month in less time: `--days 31 --every 10`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpu_assistant.core.results import GpuSample, Sample
from gpu_assistant.monitor.history import RESOLUTIONS, History
from gpu_assistant.monitor.series import GPU_FIGURES, SeriesExtractor

MB = 1e6
REASONS = ("power-cap", "thermal")  # of eight cards at work, hot ones among them


def main() -> None:
    """Replay and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=float, default=7)
    parser.add_argument("--every", type=float, default=1)
    parser.add_argument("--gpus", type=int, default=8)
    given = parser.parse_args()
    known: dict[str, int] = dict.fromkeys(GPU_FIGURES, 1)
    gpus = tuple(GpuSample(index=gpu, uuid=f"GPU-{gpu}", throttle=REASONS, **known) for gpu in range(given.gpus))  # type: ignore[arg-type]
    names = list(SeriesExtractor().values(Sample(t=0.0, gpus=gpus, cpu=1.0, ram_used=1)))
    moments = int(given.days * 86_400 / given.every)
    with tempfile.TemporaryDirectory() as folder:
        now = 1_790_000_000.0
        history = History(Path(folder), clock=lambda: now)
        me = psutil.Process()
        halfway = 0
        began = time.process_time()
        for moment in range(moments):
            # Sawtooth figures: every value changes each time.
            history.add(now, {name: (moment + place) % 97 for place, name in enumerate(names)})
            history.write()
            now += given.every
            if moment == moments // 2:
                halfway = me.memory_info().rss
        took = time.process_time() - began
        grown = me.memory_info().rss - halfway
        history.close()
        disk = sum(path.stat().st_size for path in Path(folder).iterdir())
        doubles = len(names) * 8 * sum(shape.capacity for shape in RESOLUTIONS)
        print(f"{len(names)} series, {given.days:g} days replayed, a moment each {given.every:g} s")
        print(f"a moment: {took / moments * 1e6:.0f} us of processor time")
        print(
            f"memory: {history.memory_bytes / MB:.1f} MB; "
            f"ratio to means alone in doubles {history.memory_bytes / doubles:.2f}"
        )
        print(f"disk: {disk / MB:.1f} MB; ratio to the same {disk / doubles:.2f}")
        print(f"growth of the process in the second half: {grown / MB:+.1f} MB")


if __name__ == "__main__":
    main()
