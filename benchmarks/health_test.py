"""How fast the health test's memory test is, against writing and reading the same memory once; how soon Cancel ends it.

    python benchmarks/health_test.py --env DIR [--cancels N]

`--env` is an environment with PyTorch. The memory test runs on the processor with the environment's own Python; the
reference, in the same process, fills the same memory with one word and adds it up. Cancel is timed from the call
until the test's program and all that it started are gone.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psutil
from msgspec.structs import replace

from gpu_assistant.catalog.records.health import HealthRules
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.results import Sample
from gpu_assistant.health.child_protocol import HealthProgress
from gpu_assistant.health.job import HealthJob
from gpu_assistant.system import current_system

PACKAGE = Path(__file__).resolve().parent.parent / "gpu_assistant"
INSIDE = """
import sys, time
sys.path[:0] = [{verify!r}, {health!r}]
import torch, memory_patterns
from stress_devices import StressCpu
class Writer:
    def send(self, **line): pass
    def report(self, *_, **data): self.result = data
writer = Writer()
memory_patterns.run_memory_test(writer, torch, StressCpu(torch, None, 512 << 20), 1.0)
cells = writer.result["tested_memory_bytes"] // 8
memory = torch.empty(cells, dtype=torch.int64)
times = []
for _ in range(5):
    start = time.perf_counter()
    memory.fill_(7)
    assert int(memory.sum()) == 7 * cells
    times.append(time.perf_counter() - start)
print(writer.result["gb_s"], 2 * 8 * cells / sorted(times)[2] / 1e9)
"""


class NoCard:
    """A computer without one."""

    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:  # noqa: ARG002
        """Always the same."""
        return Sample(t=0.0, gpus=(), nvml="absent")


def cancel_seconds(environment: Path) -> float:
    """From Cancel in the midst of a product until nothing of it is left."""
    rules = load_catalog(resources_dir() / "catalog").read("health.json", HealthRules)
    rules = replace(rules, tests=replace(rules.tests, product_seconds=60.0))
    cancel, cancelled_at = threading.Event(), [0.0]

    def on_event(one: Any) -> None:  # noqa: ANN401
        if isinstance(one, HealthProgress) and one.check == "matmul-bits" and one.done and not cancel.is_set():
            cancelled_at[0] = time.perf_counter()
            cancel.set()

    try:
        HealthJob(environment, current_system(), rules, NoCard(), level=2).run(JobContext(on_event, cancel=cancel))
    except Cancelled:
        spent = time.perf_counter() - cancelled_at[0]
        assert not psutil.Process().children(recursive=True)
        return spent
    raise AssertionError("it ended by itself")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", type=Path, required=True)
    parser.add_argument("--cancels", type=int, default=5)
    given = parser.parse_args()
    inside = INSIDE.format(verify=str(PACKAGE / "verify"), health=str(PACKAGE / "health" / "child"))
    python = current_system().environment_python(given.env)
    done = subprocess.run([python, "-I", "-c", inside], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    tested, plain = map(float, done.stdout.split())
    print(f"memory test {tested:.2f} GB/s, plain write and read {plain:.2f} GB/s, ratio {tested / plain:.2f}")
    times = [cancel_seconds(given.env) for _ in range(given.cancels)]
    print(f"cancel: median {statistics.median(times):.2f} s, longest {max(times):.2f} s")


if __name__ == "__main__":
    main()
