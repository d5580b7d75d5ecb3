"""What a full sample costs, against nvitop's API asked for the same figures on the same library in the same process.

    python benchmarks/sample_cost.py [--rounds N]

The library answers in NVML's place (tests/nvml), so both pay for Python alone. In each round all of our intervals have
run out, and the processor time of either is counted, in turns; limits and other things that do not change we have asked
before. GPU Assistant asks for more (errors, causes of throttling, energy); nvitop is asked only for what both know.
Prints, for 1 and 8 GPUs, medians in microseconds and their ratio; also what an ordinary second costs with the
processor's load and the memory, when most figures are not due, through the thread that the program asks in.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fake_cards import measured

from gpu_assistant.monitor.sampler import Sampler
from gpu_assistant.system import current_system
from gpu_assistant.system.nvml.monitor import NvmlMonitor

# nvitop's methods of the figures that both know.
FIGURES = (
    *("name", "uuid", "bus_id", "memory_info", "utilization_rates", "encoder_utilization", "decoder_utilization"),
    *("clock_infos", "max_clock_infos", "fan_speed", "temperature", "power_usage", "power_limit", "pcie_throughput"),
    *("performance_state", "total_volatile_uncorrected_ecc_errors", "processes"),
)
ALL_DUE_S = 1000.0


def measure(rounds: int) -> dict[str, float]:
    """In a process of its own: both read LD_LIBRARY_PATH's library."""
    from nvitop import Device

    now = [0.0]
    nvml = NvmlMonitor(current_system(), clock=lambda: now[0])
    sampler = Sampler(NvmlMonitor(current_system()))
    devices = Device.all()

    def assistant() -> None:
        assert all(gpu.util is not None for gpu in nvml.sample())

    def nvitop() -> None:
        for device in devices:
            with device.oneshot():
                for figure in FIGURES:
                    getattr(device, figure)()

    def second() -> None:
        sampler.sample(detailed=False)

    took: dict[str, list[float]] = {"assistant": [], "nvitop": [], "second": []}

    def count(name: str, work: Callable[[], None]) -> None:
        start = time.process_time()
        work()
        took[name].append((time.process_time() - start) * 1e6)

    pair = [("assistant", assistant), ("nvitop", nvitop)]
    for _ in range(rounds + 1):
        now[0] += ALL_DUE_S
        for name, work in pair:
            count(name, work)
        pair.reverse()  # who comes first finds the processor's caches cold
    for _ in range(rounds + 1):
        count("second", second)
    sampler.close()
    # The first round opens the library and learns what is not supported.
    return {name: statistics.median(values[1:]) for name, values in took.items()}


def main() -> None:
    """Measure with 1 and 8 GPUs and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(measure(given.rounds)))
        return
    for cards, costs in measured(__file__, given.rounds, compute="", graphics=""):
        print(
            f"{cards} GPU: full sample {costs['assistant']:.0f} us, nvitop {costs['nvitop']:.0f} us, "
            f"ratio {costs['assistant'] / costs['nvitop']:.2f}; an ordinary second {costs['second']:.0f} us"
        )


if __name__ == "__main__":
    main()
