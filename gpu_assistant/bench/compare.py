"""What measured figures say side by side; pure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..core.results import Benchmark, BenchResult


def what(result: BenchResult) -> Hashable:
    """What was measured but for its size. Two figures can be compared where this and the size are equal."""
    return result.id, result.version, result.device, result.dtype, result.batch, result.processes, result.extrapolated


def history(
    result: BenchResult, benchmark: Benchmark, kept: Sequence[Benchmark]
) -> list[tuple[Benchmark, BenchResult]]:
    """The same measurement in every benchmark that has it, on a device of the same name; in the order of `kept`."""
    here = _name(benchmark, result.device)
    return [
        (each, other)
        for each in kept
        for other in each.results
        if what(other) == what(result) and other.size == result.size and _name(each, other.device) == here
    ]


def change(before: BenchResult, after: BenchResult) -> float | None:
    """How many times as fast as before; None where the middle halves of their runs overlap: no change can be told."""
    if before.q1 <= after.q3 and after.q1 <= before.q3:
        return None
    return after.median / before.median


def speedup(results: Sequence[BenchResult]) -> dict[str, float]:
    """How many times faster the fastest GPU is than the processor, by "workload-dtype".

    Both did the same workload at the same size, the largest that both did. The processor's figure is always its
    float32, since that is what one would compute with there. Only what was measured counts.
    """
    found: dict[str, tuple[int, float]] = {}
    told = [r for r in results if r.processes == 1 and not r.extrapolated]
    on_cpu = {(r.id, r.version, r.size): r.median for r in told if r.device == "cpu" and r.dtype == "float32"}
    for result in told:
        here = on_cpu.get((result.id, result.version, result.size))
        if result.device == "cpu" or not here:
            continue
        key = f"{result.id}-{result.dtype}"
        found[key] = max(found.get(key, (0, 0.0)), (result.size[0], result.median / here))
    return {key: factor for key, (_, factor) in found.items()}


def _name(benchmark: Benchmark, device: str) -> str | None:
    return next((each.name for each in benchmark.devices if each.id == device), None)
