"""A benchmark's many figures as the few that people compare: devices side by side; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..core.names import Value
from ..core.results import Benchmark, BenchResult, BenchGpuLog, DType, SkippedWorkload
from .compare import is_disturbed, comparable_history
from .expected import result_key
from .lines import NOTE_PREFIX

MIXED_DTYPES: tuple[DType, ...] = ("mixed-bfloat16", "mixed-float16")
HALF_DTYPES: tuple[DType, ...] = ("float16", "bfloat16")
# What stands beside each other, the most telling first: workload, formats of a card, formats of the processor. What
# one would not compute with on a processor is compared with its float32.
COMPARED_WORKLOADS: tuple[tuple[str, tuple[DType, ...], tuple[DType, ...]], ...] = (
    ("resnet50", (*MIXED_DTYPES, "float32"), ("float32",)),
    ("bert-base", (*MIXED_DTYPES, "float32"), ("float32",)),
    ("matmul", ("float32",), ("float32",)),
    ("matmul", HALF_DTYPES, ("float32",)),
    ("decode", (*HALF_DTYPES, "float32"), (*HALF_DTYPES, "float32")),
    ("copy-to-device-pinned", ("uint8",), ()),
    ("copy-within", ("uint8",), ("uint8",)),
)
MAX_COMPARISONS = 6
NIGHT_S = 8 * 3600.0


def relevant_gpu_logs(benchmark: Benchmark) -> tuple[BenchGpuLog, ...]:
    """The cards along the run, where one of them was measured; of others the driver's figures say nothing about it."""
    return benchmark.watched if any(result.device != "cpu" for result in benchmark.results) else ()


# What the guides' table has; a result without one of these says so beside its headline.
MAIN_WORKLOADS = ("matmul", "resnet50", "bert-base", "decode", "copy-within", "copy-to-device-pinned", "copy-to-host-pinned")


# Verdicts that say of a card which is there that it was not measured, and why.
UNMEASURED_VERDICTS = frozenset(f"bench.verdict.{reason}" for reason in ("cpu-build", "card-unseen", "card-failed"))


class DeviceComparison(NamedTuple):
    """One thing measured on every device at the same size: `gpus` in the devices' order, `together` on all of them in
    the same format.

    `ratio` is the fastest card over the processor, None where they cannot be compared. A processor that stands alone
    has its own `mixed` precision beside it, and what it reached `before`, as far as that was measured.
    """

    gpus: tuple[BenchResult, ...]
    cpu: BenchResult | None
    parallel: BenchResult | None = None
    ratio: float | None = None
    mixed: BenchResult | None = None
    previous: BenchResult | None = None

    @property
    def results(self) -> tuple[BenchResult, ...]:
        """All of it, cards first, what was before last."""
        ordered = (*self.gpus, self.parallel, self.cpu, self.mixed, self.previous)
        return tuple(each for each in ordered if each is not None)

    @property
    def fastest(self) -> BenchResult:
        """The fastest card, else the processor."""
        leader = max(self.gpus, key=lambda result: result.median, default=self.cpu)
        assert leader is not None  # noqa: S101 - a pair has one of them
        return leader


def device_comparisons(benchmark: Benchmark, previous: Benchmark | None = None) -> tuple[DeviceComparison, ...]:
    """The figures worth a bar, the most telling first. Only what was measured; a figure worked out stands for none.
    Where there is no card, those of the benchmark `before` stand beside them.
    """
    measured = [result for result in benchmark.results if not result.extrapolated]
    comparisons = []
    for workload, gpu_dtypes, cpu_dtypes in COMPARED_WORKLOADS:
        results = [result for result in measured if result.id == workload and result.processes == 1]
        gpu_results = [device_results for device in _gpu_ids(benchmark) if (device_results := _results_in_first_dtype(results, device, gpu_dtypes))]
        if not gpu_results and gpu_dtypes == HALF_DTYPES:
            continue  # the processor's float32 has its own row
        comparison = _compare_devices(gpu_results, _results_in_first_dtype(results, "cpu", cpu_dtypes), measured)
        if comparison is not None:
            comparisons.append(comparison if comparison.gpus else _cpu_only_comparison(comparison, benchmark, previous, results))
    return tuple(comparisons[:MAX_COMPARISONS])


def unit_maxima(comparisons: Sequence[DeviceComparison]) -> dict[str, float]:
    """The largest figure of each unit among what has a bar: one scale for all rows of a unit, to compare lengths."""
    maxima: dict[str, float] = {}
    for comparison in comparisons:
        if len(comparison.results) > 1:
            maxima[comparison.fastest.unit] = max(maxima.get(comparison.fastest.unit, 0.0), *(each.median for each in comparison.results))
    return maxima


def headline_comparison(benchmark: Benchmark) -> DeviceComparison | None:
    """The pair that stands for all: the first that compares card and processor, else the first at all."""
    comparisons = device_comparisons(benchmark)
    return next((comparison for comparison in comparisons if comparison.ratio is not None), comparisons[0] if comparisons else None)


def find_comparable(
    benchmark: Benchmark, stored: Sequence[Benchmark]
) -> tuple[BenchResult, list[tuple[Benchmark, BenchResult]]]:
    """What can be compared with another one that was `kept`, and its history there (this benchmark's own figure among
    it, where it is kept): the headline, else the most telling measurement that another one has too. Empty where none
    has; a quick and a full test differ in sizes. Raises ValueError where nothing was measured.
    """
    candidates = [pair.fastest for pair in device_comparisons(benchmark)]
    best_comparison = headline_comparison(benchmark)
    if best_comparison is None:
        raise ValueError("nothing was measured")
    measured = [result for result in benchmark.results if not result.extrapolated]
    for candidate in (best_comparison.fastest, *candidates, *measured):
        matches = comparable_history(candidate, benchmark, stored)
        if any(other is not benchmark for other, _ in matches):
            return candidate, matches
    return best_comparison.fastest, comparable_history(best_comparison.fastest, benchmark, stored)


def previous_benchmark(benchmark: Benchmark, stored: Sequence[Benchmark]) -> Benchmark | None:
    """The one that this benchmark is compared with: the newest of the others in `kept` that has what it has."""
    if headline_comparison(benchmark) is None:
        return None
    return next((each for each, _ in reversed(find_comparable(benchmark, stored)[1]) if each is not benchmark), None)


def skipped_main_workloads(benchmark: Benchmark) -> tuple[SkippedWorkload, ...]:
    """The main measurements that this one wanted to make and has in no format, each once."""
    measured = {(result.id, result.device) for result in benchmark.results if not result.extrapolated}
    skipped: dict[tuple[str, str], SkippedWorkload] = {}
    for skipped_workload in benchmark.left_out:
        if skipped_workload.id in MAIN_WORKLOADS:
            skipped.setdefault((skipped_workload.id, skipped_workload.device), skipped_workload)
    return tuple(skipped_workload for key, skipped_workload in skipped.items() if key not in measured)


def skip_details(skipped: SkippedWorkload) -> tuple[str, dict[str, Value]] | None:
    """How much it would have taken and how much there was: a text's key and its figures; None where nobody knows."""
    if skipped.wanted_bytes is not None and skipped.had_bytes is not None:
        return "bench.left.memory", {"wanted_memory_bytes": skipped.wanted_bytes, "had_memory_bytes": skipped.had_bytes}
    if skipped.wanted_s is not None and skipped.had_s is not None:
        # Rounded apart: 4 seconds wanted and 4 given would be no reason.
        had_seconds, wanted_seconds = math.floor(skipped.had_s), math.ceil(skipped.wanted_s)
        return (
            ("bench.left.time", {"wanted_seconds": wanted_seconds, "had_seconds": had_seconds})
            if had_seconds
            else ("bench.left.no-time", {"wanted_seconds": wanted_seconds})
        )
    return None


def results_with_note(note: str, benchmark: Benchmark) -> tuple[tuple[BenchResult, ...], tuple[SkippedWorkload, ...]]:
    """The figures that bear a note of a benchmark, and what was left out for it."""
    code = note.removeprefix(NOTE_PREFIX)
    return (
        tuple(result for result in benchmark.results if code in result.notes),
        tuple(skipped for skipped in benchmark.left_out if skipped.why == note),
    )


def readable_figure(value: float, unit: str, *, reference: float | None = None) -> tuple[float, str]:
    """A figure and its unit as people read them: below 1 TFLOP/s it is GFLOP/s; `like` decides where several stand
    beside each other.
    """
    in_gflops = unit == "TFLOP/s" and (value if reference is None else reference) < 1
    return (value * 1e3, "GFLOP/s") if in_gflops else (value, unit)


def gpu_seconds_per_night(ratio: float) -> float:
    """Seconds that the card takes for what the processor does in a night of 8 hours."""
    return NIGHT_S / ratio


def is_best_size(result: BenchResult, benchmark: Benchmark) -> bool:
    """Whether no other size came out faster: the range that is right for a card is one for its best size."""
    return all(result_key(each) != result_key(result) or each.median <= result.median for each in benchmark.results)


def _gpu_ids(benchmark: Benchmark) -> list[str]:
    gpu_ids = [device.id for device in benchmark.devices if device.id != "cpu"]
    return gpu_ids or sorted({result.device for result in benchmark.results} - {"cpu"})


def _results_in_first_dtype(results: Sequence[BenchResult], device: str, dtypes: Sequence[DType]) -> list[BenchResult]:
    """A device's results in the first of these formats that it has."""
    device_results = [result for result in results if result.device == device]
    for dtype in dtypes:
        if matches := [result for result in device_results if result.dtype == dtype]:
            return matches
    return []


def _compare_devices(gpu_results: Sequence[list[BenchResult]], cpu_results: list[BenchResult], measured: Sequence[BenchResult]) -> DeviceComparison | None:
    all_results = [*gpu_results, *([cpu_results] if cpu_results else [])]
    if not all_results:
        return None
    common_sizes = set.intersection(*({result.size for result in each} for each in all_results))
    # A size at which one of them was disturbed, or was not filled, stands only where there is no other.
    disturbed = {result.size for each in all_results for result in each if is_disturbed(result, each)}
    common_sizes = (common_sizes - disturbed) or common_sizes
    largest_gpu_results = tuple(_largest_common(each, common_sizes) for each in gpu_results)
    cpu_result = _largest_common(cpu_results, common_sizes) if cpu_results else None
    fastest = max(largest_gpu_results, key=lambda result: result.median, default=None)
    ratio = None
    if fastest is not None and cpu_result is not None and common_sizes and cpu_result.median > 0 and cpu_result.version == fastest.version:
        ratio = fastest.median / cpu_result.median if cpu_result.dtype in ("float32", fastest.dtype) else None
    parallel = None
    if fastest is not None:
        parallel_results = [
            r for r in measured if r.processes > 1 and r.id == f"{fastest.id}-parallel" and r.dtype == fastest.dtype
        ]
        parallel = max(parallel_results, key=lambda result: result.processes, default=None)
    return DeviceComparison(largest_gpu_results, cpu_result, parallel, ratio)


def _cpu_only_comparison(comparison: DeviceComparison, benchmark: Benchmark, previous: Benchmark | None, results: Sequence[BenchResult]) -> DeviceComparison:
    """A processor's figure beside what else it did with the same: in mixed precision, and in the benchmark before."""
    fastest = comparison.fastest
    mixed = next((each for each in _results_in_first_dtype(results, "cpu", MIXED_DTYPES) if each.size == fastest.size and each.version == fastest.version), None)
    matches = comparable_history(fastest, benchmark, (previous,)) if previous is not None else []
    return comparison._replace(mixed=mixed, previous=matches[-1][1] if matches else None)


def _largest_common(results: Sequence[BenchResult], common_sizes: set[tuple[int, ...]]) -> BenchResult:
    return max([each for each in results if each.size in common_sizes] or results, key=lambda result: result.size)
