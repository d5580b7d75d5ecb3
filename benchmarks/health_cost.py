"""What it costs each second to know whether the cards are well, against taking the sample itself in the same process.

    python benchmarks/health_cost.py [--rounds N]

The samples come from the library in NVML's place (tests/nvml), through the sampler as the program uses it. Prints, for
1 and 8 GPUs, medians of processor time in microseconds, their ratio, and the share of one core at a sample a second;
then what a month of 8 GPUs' history takes to learn their usual temperatures.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from fake_cards import measured

from gpu_assistant.catalog.records.health import HealthRules
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.health.baselines import learn_baseline
from gpu_assistant.health.monitor import HealthMonitor
from gpu_assistant.monitor.sampler import Sampler
from gpu_assistant.system import current_system
from gpu_assistant.system.nvml.monitor import NvmlMonitor

MONTH_MIN = 30 * 24 * 60


def measure(rounds: int) -> dict[str, float]:
    """In a process of its own, which reads the library of LD_LIBRARY_PATH."""
    watch = HealthMonitor(load_catalog(resources_dir() / "catalog").read("health.json", HealthRules))
    second = [0.0]
    sampler = Sampler(NvmlMonitor(current_system()), lambda: second[0])
    took: dict[str, list[float]] = {"sample": [], "look": []}
    for _ in range(rounds):
        second[0] += 1.0
        start = time.process_time()
        sample = sampler.sample(detailed=False)
        middle = time.process_time()
        watch.update(sample)
        took["sample"].append((middle - start) * 1e6)
        took["look"].append((time.process_time() - middle) * 1e6)
    sampler.close()
    return {name: statistics.median(values[10:]) for name, values in took.items()}


def learning_ms(cards: int) -> float:
    """A month of minutes for each card, under a load that changes each hour."""
    settling = load_catalog(resources_dir() / "catalog").read("health.json", HealthRules).settling
    rng = np.random.default_rng(1)
    t = 60.0 * np.arange(MONTH_MIN, dtype=np.float64)
    load_ = np.repeat(rng.uniform(0.2, 1.0, MONTH_MIN // 60), 60).astype(np.float64)
    temp = (40 + 40 * load_ + rng.normal(0, 1, MONTH_MIN)).astype(np.float64)
    start = time.process_time()
    for _ in range(cards):
        assert learn_baseline(t, temp, load_, t[-1], settling)
    return (time.process_time() - start) * 1e3


def main() -> None:
    """Measure with 1 and 8 GPUs and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(measure(given.rounds)))
        return
    for cards, costs in measured(__file__, given.rounds):
        print(
            f"{cards} GPU: rules {costs['look']:.0f} us, sample {costs['sample']:.0f} us, "
            f"ratio {costs['look'] / costs['sample']:.2f}; {costs['look'] / 1e4:.3f} % of one core"
        )
    print(f"a month of 8 GPUs learned in {learning_ms(8):.0f} ms")


if __name__ == "__main__":
    main()
