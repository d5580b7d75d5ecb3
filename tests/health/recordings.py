"""What was recorded on a cloud computer with an H200 (driver 580.159.04, PyTorch 2.11.0+cu130, 2026-11-28): the
monitor's samples once a second, and a health test of level 2.

In `h200-benchmark.jsonl` a benchmark ran, in `h200-full-load.jsonl` products of matrices without a pause. A line holds
what differs from the line before; "gpu.…" are the figures of the one GPU.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from gpu_assistant.core.results import Checks, Sample

FOLDER = Path(__file__).parents[1] / "fixtures/monitor"


def recorded_samples(name: str) -> tuple[Sample, ...]:
    """All samples of a recording, oldest first."""
    samples = []
    values: dict[str, Any] = {}
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        values |= json.loads(line)
        gpu = {key.removeprefix("gpu."): value for key, value in values.items() if key.startswith("gpu.")}
        machine = {key: value for key, value in values.items() if not key.startswith("gpu.")}
        samples.append(msgspec.convert({**machine, "gpus": [gpu]}, Sample))
    return tuple(samples)


def recorded_health_test() -> Checks:
    """The test's answer, without its texts."""
    return msgspec.json.decode((FOLDER / "h200-health-test.json").read_bytes(), type=Checks)
