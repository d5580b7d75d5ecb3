"""The guides' product, where the processor is too slow for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpu_assistant.bench.child import schedule
from gpu_assistant.bench.child.matmul import REFERENCE_SIDE, MatmulWorkload
from gpu_assistant.bench.child.workload import WorkloadSkipped


def measured(side: int, tflops: float, before: MatmulWorkload | None = None) -> MatmulWorkload:
    workload = MatmulWorkload(SimpleNamespace(kind="cpu", id="cpu", torch=None), "float32", side, 2.5, before)
    seconds = workload.amount / tflops
    figures: dict[str, Any] = {"median": tflops, "q1": 0.9 * tflops, "q3": 1.1 * tflops, "samples": [seconds] * 3}
    workload.stored_result = {**figures, "size": [side] * 3}
    return workload


def guides(before: MatmulWorkload) -> MatmulWorkload:
    return MatmulWorkload(SimpleNamespace(kind="cpu", id="cpu", torch=None), "float32", REFERENCE_SIDE, 2.5, before)


def test_one_size_is_not_extrapolated() -> None:
    with pytest.raises(WorkloadSkipped) as left:
        guides(measured(4096, 0.2)).measure()
    assert left.value.reason == "time"
    assert left.value.figures["wanted_s"] > left.value.figures["had_s"]


def test_large_size_uses_spare_time() -> None:
    large = guides(measured(4096, 0.2))
    large.spare_s = schedule.spare_seconds(40.0, [measured(4096, 0.2), measured(4096, 0.2)])
    with pytest.raises(WorkloadSkipped) as left:
        large.measure()  # it wants some 50 seconds
    assert left.value.figures["had_s"] == 40.0 - 2 * 2.5
    assert schedule.spare_seconds(3.0, [measured(4096, 0.2)] * 2) == 0.0


def test_extrapolation_within_two_largest_sizes() -> None:
    result = guides(measured(4096, 0.2, measured(2048, 0.3))).measure()
    assert (result["extrapolated"], result["q1"], result["q3"]) == (True, pytest.approx(0.18), pytest.approx(0.33))
