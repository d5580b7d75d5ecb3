"""What measured figures say side by side; pure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..core.results import Benchmark, BenchResult
from .lines import CHILD_ENDINGS, NOTE_PREFIX

# Notes of a figure that is doubtful: it says more about other programs than about the device, or it is wrong.
DOUBTFUL_NOTES = frozenset({"spread", "few", "busy-cpu", "wrong"})
# Settings that nobody chose: how threads wait beside other programs (which has a note of its own), what torch calls
# full float32, and a figure.
_IGNORED_SETTINGS = frozenset({"omp_wait_policy", "float32_matmul_precision", "alone"})
# Notes of a benchmark that ended too soon or lost a device.
UNFINISHED_NOTES = frozenset(NOTE_PREFIX + ending for ending in (*CHILD_ENDINGS, "lost"))
# Of a device's best figure in other sizes: one below it was disturbed, or its size does not fill the device.
DISTURBED_SHARE = 0.7


def measurement_key(result: BenchResult) -> Hashable:
    """What was measured but for its size. Two figures can be compared where this and the size are equal."""
    settings = frozenset((name, value) for name, value in result.settings.items() if name not in _IGNORED_SETTINGS)
    return (*_series_key(result), result.batch, settings)


def is_complete(benchmark: Benchmark) -> bool:
    """Whether it came to its end, with all of its devices: only such a one is what others are compared with."""
    return not UNFINISHED_NOTES & set(benchmark.notes)


def comparable_history(
    result: BenchResult, benchmark: Benchmark, stored: Sequence[Benchmark]
) -> list[tuple[Benchmark, BenchResult]]:
    """The same measurement in every whole benchmark that has it (and in `benchmark` itself), on a device of the same
    name; in the order of `kept`.
    """
    device_name = _device_name(benchmark, result.device)
    return [
        (candidate, other)
        for candidate in stored
        if candidate is benchmark or is_complete(candidate)
        for other in candidate.results
        if measurement_key(other) == measurement_key(result) and other.size == result.size and _device_name(candidate, other.device) == device_name
    ]


def speed_ratio(earlier: BenchResult, later: BenchResult) -> float | None:
    """How many times as fast as before; None where no change can be told: one of them is doubtful, or the middle halves
    of their runs overlap.
    """
    if doubtful_notes(earlier, later):
        return None
    if earlier.q1 <= later.q3 and later.q1 <= earlier.q3:
        return None
    return later.median / earlier.median


def doubtful_notes(*results: BenchResult) -> tuple[str, ...]:
    """The notes of these results that speak against their figures, each once."""
    return tuple(sorted(DOUBTFUL_NOTES & {note for result in results for note in result.notes}))


def missing_measurements(benchmark: Benchmark, stored: Sequence[Benchmark]) -> list[BenchResult]:
    """What earlier runs as long as this one measured on these devices and this one did not, each once. Of products each
    size counts, which is named with them; another workload in another size is not missing.
    """
    device_names = {device.id: device.name for device in benchmark.devices}
    measured = {_measured_key(result) for result in benchmark.results}
    earlier = {
        _measured_key(result): result
        for stored_benchmark in stored
        if stored_benchmark.scope == benchmark.scope
        for result in stored_benchmark.results
        if not result.extrapolated
        and (result.device not in device_names or device_names[result.device] == _device_name(stored_benchmark, result.device))
    }
    return [result for key, result in earlier.items() if key not in measured]


def is_disturbed(result: BenchResult, results: Sequence[BenchResult]) -> bool:
    """Whether the same device does the same much faster in another size, or the runs of this one differ widely."""
    best = max((other.median for other in results if _series_key(other) == _series_key(result)), default=result.median)
    return "spread" in result.notes or result.median < DISTURBED_SHARE * best


def gpu_speedups(results: Sequence[BenchResult]) -> dict[str, float]:
    """How many times faster the fastest GPU is than the processor, by "workload-dtype".

    Both did the same workload at the same size, the largest that both did undisturbed; how many items are worked on at
    once is each device's own. The processor's figure is always its float32, since that is what one would compute with
    there. Only what was measured counts.
    """
    best_by_key: dict[str, tuple[bool, int, float]] = {}
    measured = [each for each in results if each.processes == 1 and not each.extrapolated]
    cpu_results = {(each.id, each.version, each.size): each for each in measured if each.device == "cpu" and each.dtype == "float32"}
    for result in measured:
        cpu_result = cpu_results.get((result.id, result.version, result.size))
        if result.device == "cpu" or cpu_result is None or cpu_result.median <= 0:
            continue
        key = f"{result.id}-{result.dtype}"
        undisturbed = not is_disturbed(cpu_result, measured) and not is_disturbed(result, measured)
        best_by_key[key] = max(best_by_key.get(key, (False, 0, 0.0)), (undisturbed, result.size[0], result.median / cpu_result.median))
    return {key: ratio for key, (_, _, ratio) in best_by_key.items()}


def _series_key(result: BenchResult) -> tuple[Hashable, ...]:
    return result.id, result.version, result.device, result.dtype, result.processes, result.extrapolated


def _measured_key(result: BenchResult) -> Hashable:
    size = result.size if result.id == "matmul" else ()
    return result.id, result.device, result.dtype, size, result.processes


def _device_name(benchmark: Benchmark, device: str) -> str | None:
    return next((each.name for each in benchmark.devices if each.id == device), None)
