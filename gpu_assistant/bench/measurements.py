"""When two results are of the same measurement, how they compare, and what makes one doubtful; pure.

measurement_key -> comparable_history -> speed_ratio
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from ..core.results import (
    Benchmark,
    BenchResult,
    SkippedWorkload,
)
from ..core.types import Value
from .child_protocol import (
    CHILD_ENDINGS,
    NOTE_PREFIX,
)

# Notes of a doubtful result: other programs disturbed it, or it is wrong.
DOUBTFUL_NOTES = frozenset({"spread", "few", "busy-cpu", "spilled", "wrong"})
# Settings that do not make results incomparable: OpenMP's wait policy (other programs have a note of their own),
# torch's name for full float32, and the throughput of one process alone.
_IGNORED_SETTINGS = frozenset({"omp_wait_policy", "float32_matmul_precision", "alone"})
# Notes of a benchmark that ended too soon or lost a device.
UNFINISHED_NOTES = frozenset(NOTE_PREFIX + ending for ending in (*CHILD_ENDINGS, "lost", "reset"))
# Share of a device's best result in other sizes; below it, a result was disturbed or its size too small.
DISTURBED_SHARE = 0.7


def measurement_key(result: BenchResult) -> Hashable:
    """What was measured, without its size. Results are comparable if this and the size are equal."""
    settings = frozenset((name, value) for name, value in result.settings.items() if name not in _IGNORED_SETTINGS)
    return (*_series_key(result), result.batch, settings)


def is_complete(benchmark: Benchmark) -> bool:
    """Whether it finished with all of its devices; only complete benchmarks serve for comparison."""
    return not UNFINISHED_NOTES & set(benchmark.notes)


def comparable_history(
    result: BenchResult, benchmark: Benchmark, stored: Sequence[Benchmark]
) -> list[tuple[Benchmark, BenchResult]]:
    """The same measurement on a device of the same name in all complete benchmarks of `stored` (and in `benchmark`
    itself, if it is one of them), in their order.
    """
    device_name = _device_name(benchmark, result.device)
    return [
        (candidate, other)
        for candidate in stored
        if candidate is benchmark or is_complete(candidate)
        for other in candidate.results
        if measurement_key(other) == measurement_key(result)
        and other.size == result.size
        and _device_name(candidate, other.device) == device_name
    ]


def speed_ratio(earlier: BenchResult, later: BenchResult) -> float | None:
    """The later median by the earlier one; None if a result is doubtful or their interquartile ranges overlap."""
    if doubtful_notes(earlier, later):
        return None
    if earlier.q1 <= later.q3 and later.q1 <= earlier.q3:
        return None
    return later.median / earlier.median


def doubtful_notes(*results: BenchResult) -> tuple[str, ...]:
    """The notes that make these results doubtful, each once."""
    return tuple(sorted(DOUBTFUL_NOTES & {note for result in results for note in result.notes}))


def missing_measurements(benchmark: Benchmark, stored: Sequence[Benchmark]) -> list[BenchResult]:
    """What earlier runs of the same scope measured on these devices and this one did not, each once.

    Each size of a matrix product counts; another workload is not missing if it was measured in another size.
    """
    device_names = {device.id: device.name for device in benchmark.devices}
    measured = {_measured_key(result) for result in benchmark.results}
    earlier = {
        _measured_key(result): result
        for stored_benchmark in stored
        if stored_benchmark.scope == benchmark.scope
        for result in stored_benchmark.results
        if not result.extrapolated
        and (
            result.device not in device_names
            or device_names[result.device] == _device_name(stored_benchmark, result.device)
        )
    }
    return [result for key, result in earlier.items() if key not in measured]


def is_disturbed(result: BenchResult, results: Sequence[BenchResult]) -> bool:
    """Whether the device is much faster in another size, or the runs of this result differ widely."""
    best = max((other.median for other in results if _series_key(other) == _series_key(result)), default=result.median)
    return "spread" in result.notes or result.median < DISTURBED_SHARE * best


def _series_key(result: BenchResult) -> tuple[Hashable, ...]:
    return result.id, result.version, result.device, result.dtype, result.processes, result.extrapolated


def _measured_key(result: BenchResult) -> Hashable:
    size = result.size if result.id == "matmul" else ()
    return result.id, result.device, result.dtype, size, result.processes


def _device_name(benchmark: Benchmark, device: str) -> str | None:
    return next((each.name for each in benchmark.devices if each.id == device), None)


# The workloads of the guides' table; a benchmark without one of them says so beside its headline.
MAIN_WORKLOADS = (
    "matmul",
    "resnet50",
    "bert-base",
    "decode",
    "copy-within",
    "copy-to-device-pinned",
    "copy-to-host-pinned",
)


def skipped_main_workloads(benchmark: Benchmark) -> tuple[SkippedWorkload, ...]:
    """The main workloads that were skipped and have no result in any format, each once."""
    measured = {(result.id, result.device) for result in benchmark.results if not result.extrapolated}
    skipped: dict[tuple[str, str], SkippedWorkload] = {}
    for skipped_workload in benchmark.left_out:
        if skipped_workload.id in MAIN_WORKLOADS:
            skipped.setdefault((skipped_workload.id, skipped_workload.device), skipped_workload)
    return tuple(skipped_workload for key, skipped_workload in skipped.items() if key not in measured)


def skip_details(skipped: SkippedWorkload) -> tuple[str, dict[str, Value]] | None:
    """(key of a text, its figures) for the memory or time that a workload required and had; None where unknown."""
    if skipped.wanted_bytes is not None and skipped.had_bytes is not None:
        return "bench.left.memory", {"wanted_memory_bytes": skipped.wanted_bytes, "had_memory_bytes": skipped.had_bytes}
    if skipped.wanted_s is not None and skipped.had_s is not None:
        # Rounded up and down: "4 s required, 4 s available" would be no reason.
        had_seconds, wanted_seconds = math.floor(skipped.had_s), math.ceil(skipped.wanted_s)
        return (
            ("bench.left.time", {"wanted_seconds": wanted_seconds, "had_seconds": had_seconds})
            if had_seconds
            else ("bench.left.no-time", {"wanted_seconds": wanted_seconds})
        )
    return None


def results_with_note(note: str, benchmark: Benchmark) -> tuple[tuple[BenchResult, ...], tuple[SkippedWorkload, ...]]:
    """The results with this note, and the workloads skipped for it."""
    code = note.removeprefix(NOTE_PREFIX)
    return (
        tuple(result for result in benchmark.results if code in result.notes),
        tuple(skipped for skipped in benchmark.left_out if skipped.why == note),
    )
