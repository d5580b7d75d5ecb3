"""What measured figures say side by side; pure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..core.results import Benchmark, BenchResult
from .lines import ENDINGS, NOTE

# Notes of a figure that is doubtful: it says more about other programs than about the device, or it is wrong.
DOUBTFUL = frozenset({"spread", "few", "busy-cpu", "wrong"})
# Settings that nobody chose: how threads wait beside other programs (which has a note of its own), what torch calls
# full float32, and a figure.
_GIVEN = frozenset({"omp_wait_policy", "float32_matmul_precision", "alone"})
# Notes of a benchmark that ended too soon or lost a device.
UNFINISHED = frozenset(NOTE + how for how in (*ENDINGS, "lost"))
# Of a device's best figure in other sizes: one below it was disturbed, or its size does not fill the device.
FALLEN = 0.7


def what(result: BenchResult) -> Hashable:
    """What was measured but for its size. Two figures can be compared where this and the size are equal."""
    settings = frozenset((name, value) for name, value in result.settings.items() if name not in _GIVEN)
    return (*_series(result), result.batch, settings)


def whole(benchmark: Benchmark) -> bool:
    """Whether it came to its end, with all of its devices: only such a one is what others are compared with."""
    return not UNFINISHED & set(benchmark.notes)


def history(
    result: BenchResult, benchmark: Benchmark, kept: Sequence[Benchmark]
) -> list[tuple[Benchmark, BenchResult]]:
    """The same measurement in every whole benchmark that has it (and in `benchmark` itself), on a device of the same
    name; in the order of `kept`.
    """
    here = _name(benchmark, result.device)
    return [
        (each, other)
        for each in kept
        if each is benchmark or whole(each)
        for other in each.results
        if what(other) == what(result) and other.size == result.size and _name(each, other.device) == here
    ]


def change(before: BenchResult, after: BenchResult) -> float | None:
    """How many times as fast as before; None where no change can be told: one of them is doubtful, or the middle halves
    of their runs overlap.
    """
    if doubts(before, after):
        return None
    if before.q1 <= after.q3 and after.q1 <= before.q3:
        return None
    return after.median / before.median


def doubts(*results: BenchResult) -> tuple[str, ...]:
    """The notes of these results that speak against their figures, each once."""
    return tuple(sorted(DOUBTFUL & {note for result in results for note in result.notes}))


def missing(benchmark: Benchmark, kept: Sequence[Benchmark]) -> list[BenchResult]:
    """What earlier runs as long as this one measured on these devices and this one did not, each once. Of products each
    size counts, which is named with them; another workload in another size is not missing.
    """
    names = {device.id: device.name for device in benchmark.devices}
    here = {_measured(result) for result in benchmark.results}
    found = {
        _measured(result): result
        for each in kept
        if each.scope == benchmark.scope
        for result in each.results
        if not result.extrapolated
        and (result.device not in names or names[result.device] == _name(each, result.device))
    }
    return [result for which, result in found.items() if which not in here]


def fallen(result: BenchResult, results: Sequence[BenchResult]) -> bool:
    """Whether the same device does the same much faster in another size, or the runs of this one differ widely."""
    best = max((r.median for r in results if _series(r) == _series(result)), default=result.median)
    return "spread" in result.notes or result.median < FALLEN * best


def speedup(results: Sequence[BenchResult]) -> dict[str, float]:
    """How many times faster the fastest GPU is than the processor, by "workload-dtype".

    Both did the same workload at the same size, the largest that both did undisturbed; how many items are worked on at
    once is each device's own. The processor's figure is always its float32, since that is what one would compute with
    there. Only what was measured counts.
    """
    found: dict[str, tuple[bool, int, float]] = {}
    told = [r for r in results if r.processes == 1 and not r.extrapolated]
    on_cpu = {(r.id, r.version, r.size): r for r in told if r.device == "cpu" and r.dtype == "float32"}
    for result in told:
        here = on_cpu.get((result.id, result.version, result.size))
        if result.device == "cpu" or here is None or here.median <= 0:
            continue
        key = f"{result.id}-{result.dtype}"
        sure = not fallen(here, told) and not fallen(result, told)
        found[key] = max(found.get(key, (False, 0, 0.0)), (sure, result.size[0], result.median / here.median))
    return {key: factor for key, (_, _, factor) in found.items()}


def _series(result: BenchResult) -> tuple[Hashable, ...]:
    return result.id, result.version, result.device, result.dtype, result.processes, result.extrapolated


def _measured(result: BenchResult) -> Hashable:
    size = result.size if result.id == "matmul" else ()
    return result.id, result.device, result.dtype, size, result.processes


def _name(benchmark: Benchmark, device: str) -> str | None:
    return next((each.name for each in benchmark.devices if each.id == device), None)
