"""Is the memory that a training step needs what we project? Projected from two small steps, then measured.

    python benchmarks/memory_projection.py ENVIRONMENT [--model resnet50 …] [--variant plain …] [--batch 6]

Runs itself in the environment's own Python, on the processor's allocator. Prints one line of JSON for each model and
variant: bytes, and `ratio`, the projected highest point by the measured one; to be within 10 % of 1.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

# Isolated from everything but this folder.
sys.path.insert(0, str(Path(__file__).resolve().parent))
from bench_child import again_inside, child

MODELS = ("resnet50", "bert-base", "language-model")
VARIANTS = ("plain", "mixed", "checkpointing", "accumulation", "together")


def main() -> int:
    """Start the measurement in the environment, or do it where we are already there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environment", type=Path)
    parser.add_argument("--model", choices=MODELS, action="append")
    parser.add_argument("--variant", action="append", choices=VARIANTS)
    parser.add_argument("--batch", type=int, default=6)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not given.inside:
        for line in again_inside(given.environment, __file__, sys.argv[2:]):
            print(json.dumps(compared(json.loads(line), given.batch)), flush=True)
        return 0
    for model in given.model or MODELS:
        for variant in given.variant or ("plain",):
            print(json.dumps(measured(model, variant, given.batch, given.threads)), flush=True)
    return 0


def measured(model: str, variant: str, batch: int, threads: int | None) -> dict[str, Any]:
    """What small steps tell, and the highest point of a step that they were not; inside."""
    import torch

    memory_fit = child("memory_fit")
    measurement = memory_fit.MemoryMeasurement(child("devices").CpuDevice(torch, threads), model, variant)
    steps = measurement.to_message()
    once = -(-batch // steps["parts"])
    between = steps["parameters"] + steps["optimizer"] + once * steps["example"]
    between += steps["gradients"] if steps["parts"] > 1 else 0
    return {
        "small_batches": measurement.batches,
        "steps": {**steps, "variant": variant, "capacity": None, "spare": None},
        "measured": between + memory_fit.peak_bytes(measurement.record_events(once)),
    }


def compared(measured: dict[str, Any], batch: int) -> dict[str, Any]:
    """The highest point as it was projected, beside the one of a step that was run."""
    from gpu_assistant.bench.memory_fit import project_memory
    from gpu_assistant.core.json import convert
    from gpu_assistant.core.results import MemoryProfile

    fit = project_memory(convert(measured["steps"], MemoryProfile), batch)
    return {
        "model": fit.model,
        "variant": fit.variant,
        "batch": batch,
        "small_batches": measured["small_batches"],
        "exact": fit.exact,
        "projected": fit.peak,
        "measured": measured["measured"],
        "ratio": fit.peak / measured["measured"],
    }


if __name__ == "__main__":
    sys.exit(main())
