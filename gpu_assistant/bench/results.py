"""What benchmark results say: expected ranges, stored results, comparison over time and between devices; pure.

read_benchmarks    -> StoredBenchmarks       files of other versions are left out
expected_ranges    -> keys_below, keys_above -> slow_causes
comparable_history -> speed_ratio            the same measurement in earlier benchmarks
device_comparisons -> headline_comparison    devices side by side
benchmark_history  -> BenchmarkHistory       all of it, for `bench --history`
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from ..core import json
from ..core.results import (
    WORKLOAD_UNITS,
    BenchDevice,
    BenchGpuLog,
    Benchmark,
    BenchmarkHistory,
    BenchmarkHistoryEntry,
    BenchResult,
    DType,
    SkippedWorkload,
)
from ..core.types import Value
from .child_protocol import (
    BENCHMARK_NOTES,
    CHILD_ENDINGS,
    NOTE_PREFIX,
    RESULT_NOTES,
    SKIP_NOTES,
    VERDICTS,
    is_plausible,
)
from .gpu_log import ABNORMAL_THROTTLE_REASONS, BUSY_GPU_PERCENT, THERMAL_THROTTLE_REASONS

if TYPE_CHECKING:
    from ..catalog.records.hardware import DerivedRates, ReferenceCard
    from ..catalog.store import Catalog


CAUSE_PREFIX = "bench.cause."
CAUSES = frozenset(
    CAUSE_PREFIX + name for name in ("battery", "heat", "power-supply", "power-plan", "busy", "slot", "unknown")
)


def reference_gpus(devices: Sequence[BenchDevice], catalog: Catalog) -> dict[str, ReferenceCard]:
    """The data sheets of the devices that the catalog knows, by device id."""
    gpus = {
        device.id: catalog.reference_card(device.name, device.memory_bytes)
        for device in devices
        if device.id != "cpu" and device.name is not None
    }
    return {device: gpu for device, gpu in gpus.items() if gpu is not None}


def expected_ranges(
    results: Iterable[BenchResult],
    gpus: Mapping[str, ReferenceCard],
    catalog: Catalog,
    gpu_logs: Sequence[BenchGpuLog] = (),
) -> dict[str, tuple[float, float]]:
    """The range that healthy GPUs reach, by "device/workload-dtype", for measured workloads with a known peak.

    Copies to and from a GPU are expected to use all of the GPU's own lanes, at the PCIe generation in `gpu_logs`: an
    older mainboard is no fault, a slot with too few lanes is one.
    """
    healthy, rates = catalog.reference.healthy, catalog.reference.rates
    shares = {"matmul": healthy.matmul_share, "copy-within": healthy.copy_share}
    ranges: dict[str, tuple[float, float]] = {}
    for result in results:
        gpu = gpus.get(result.device)
        if gpu is None:
            continue
        pcie_gb_s = _pcie_bandwidth(result.device, gpu, rates, gpu_logs)
        tf32 = gpu.bf16_tensor_tflops and gpu.bf16_tensor_tflops * rates.tf32_of_bf16
        peaks = {
            ("matmul", "tf32"): tf32,
            ("copy-to-device-pinned", "uint8"): pcie_gb_s,
            ("copy-to-host-pinned", "uint8"): pcie_gb_s,
            ("matmul", "float32"): gpu.fp32_tflops,
            ("matmul", "float16"): gpu.fp16_tensor_tflops,
            ("matmul", "bfloat16"): gpu.bf16_tensor_tflops,
            ("copy-within", "uint8"): gpu.bandwidth_gb_s,
        }.get((result.id, result.dtype))
        if peaks is not None:
            low, high = shares.get(result.id, healthy.pcie_share)
            ranges[result_key(result)] = (peaks * low, peaks * high)
    return ranges


def _pcie_bandwidth(
    device: str, gpu: ReferenceCard, rates: DerivedRates, gpu_logs: Sequence[BenchGpuLog]
) -> float | None:
    """GB/s (10^9 bytes) of the GPU's lanes in one direction."""
    index = int(device.partition(":")[2] or 0)
    logged_gen = next((gpu_log.pcie_gen for gpu_log in gpu_logs if gpu_log.index == index), None)
    lane_gb_s = rates.pcie_gb_s_per_lane.get(str(min(logged_gen or gpu.pcie_gen, gpu.pcie_gen)))
    return None if lane_gb_s is None else lane_gb_s * gpu.pcie_lanes


def result_key(result: BenchResult) -> str:
    """The key of a result in the expected ranges."""
    return f"{result.device}/{result.id}-{result.dtype}"


def keys_below(results: Iterable[BenchResult], ranges: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """The keys whose best result, of all sizes, is below its range."""
    best_values = _best_by_key(results)
    return tuple(name for name, (low, _) in ranges.items() if best_values.get(name, low) < low)


def keys_above(results: Iterable[BenchResult], ranges: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """The keys whose best result, of all sizes, is above its range."""
    best_values = _best_by_key(results)
    return tuple(name for name, (_, high) in ranges.items() if best_values.get(name, high) > high)


def _best_by_key(results: Iterable[BenchResult]) -> dict[str, float]:
    best: dict[str, float] = {}
    for result in results:
        best[result_key(result)] = max(best.get(result_key(result), 0.0), result.median)
    return best


def slow_causes(
    gpu_logs: Sequence[BenchGpuLog],
    gpus: Iterable[ReferenceCard],
    *,
    on_battery: bool | None,
    power_saving: bool | None,
) -> tuple[str, ...]:
    """Possible causes of a slow GPU by its log and the power status, the most certain first."""
    throttle = {reason for gpu in gpu_logs for reason in gpu.throttle}
    lanes = {(gpu.name.lower(), gpu.pcie_lanes) for gpu in gpus}
    conditions = {
        "battery": on_battery is True,
        "heat": bool(throttle & THERMAL_THROTTLE_REASONS),
        "power-supply": bool(throttle & (ABNORMAL_THROTTLE_REASONS - THERMAL_THROTTLE_REASONS)),
        "power-plan": power_saving is True,
        "busy": any(gpu.util_before is not None and gpu.util_before > BUSY_GPU_PERCENT for gpu in gpu_logs),
        "slot": any(
            gpu.pcie_width is not None
            and gpu.name is not None
            and gpu.name.lower().endswith(name)
            and gpu.pcie_width < max_lanes
            for gpu in gpu_logs
            for name, max_lanes in lanes
        ),
    }
    return tuple(CAUSE_PREFIX + code for code, is_present in conditions.items() if is_present)


# C0 and C1 control characters, and Unicode's line separators and marks of writing direction.
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
MAX_TIMESTAMP = 32_503_680_000.0  # the year 3000 in seconds since the epoch, which every system's calendar knows


class StoredBenchmarks(NamedTuple):
    """The benchmarks of a folder, oldest first, and the number of files that could not be read."""

    benchmarks: tuple[Benchmark, ...]
    unreadable: int


def read_benchmarks(folder: Path) -> StoredBenchmarks:
    """All benchmarks in a folder, which need not exist."""
    benchmarks = [read_benchmark(path) for path in folder.glob("*.json")]
    readable = [each for each in benchmarks if each is not None]
    return StoredBenchmarks(
        tuple(sorted(readable, key=lambda each: each.started or 0.0)), unreadable=len(benchmarks) - len(readable)
    )


def read_benchmark(path: Path) -> Benchmark | None:
    """The benchmark in a file, without control characters; None if it is malformed or has codes that this version does
    not know: another version wrote it, and its results may not be comparable.
    """
    try:
        benchmark = json.convert(_strip_control_characters(json.decode(path.read_bytes(), object)), Benchmark)
    # RecursionError: `_strip_control_characters` recurses less deep than `decode`.
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return benchmark if _is_known(benchmark) else None


def _is_known(benchmark: Benchmark) -> bool:
    return (
        (benchmark.verdict is None or benchmark.verdict in VERDICTS)
        and BENCHMARK_NOTES.issuperset(benchmark.notes)
        and CAUSES.issuperset(benchmark.causes)
        and all(skipped.why in SKIP_NOTES and skipped.id in WORKLOAD_UNITS for skipped in benchmark.left_out)
        and all(is_plausible(result) and RESULT_NOTES.issuperset(result.notes) for result in benchmark.results)
        and (benchmark.started is None or 0 <= benchmark.started < MAX_TIMESTAMP)
    )


def _strip_control_characters(value: object) -> object:
    if isinstance(value, str):
        return _CONTROL_CHARACTERS.sub("", value)
    if isinstance(value, list):
        return [_strip_control_characters(each) for each in value]
    if isinstance(value, dict):
        return {_strip_control_characters(key): _strip_control_characters(each) for key, each in value.items()}
    return value


# Notes of a doubtful result: other programs disturbed it, or it is wrong.
DOUBTFUL_NOTES = frozenset({"spread", "few", "busy-cpu", "wrong"})
# Settings that do not make results incomparable: OpenMP's wait policy (other programs have a note of their own),
# torch's name for full float32, and the throughput of one process alone.
_IGNORED_SETTINGS = frozenset({"omp_wait_policy", "float32_matmul_precision", "alone"})
# Notes of a benchmark that ended too soon or lost a device.
UNFINISHED_NOTES = frozenset(NOTE_PREFIX + ending for ending in (*CHILD_ENDINGS, "lost"))
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


def gpu_speedups(results: Sequence[BenchResult]) -> dict[str, float]:
    """The fastest GPU's median divided by the CPU's float32 median, by "workload-dtype".

    Both are of the same workload at the same size, the largest that both have undisturbed; batch sizes may differ.
    Extrapolated results are left out.
    """
    best_by_key: dict[str, tuple[bool, int, float]] = {}
    measured = [each for each in results if each.processes == 1 and not each.extrapolated]
    cpu_results = {
        (each.id, each.version, each.size): each
        for each in measured
        if each.device == "cpu" and each.dtype == "float32"
    }
    for result in measured:
        cpu_result = cpu_results.get((result.id, result.version, result.size))
        if result.device == "cpu" or cpu_result is None or cpu_result.median <= 0:
            continue
        key = f"{result.id}-{result.dtype}"
        undisturbed = not is_disturbed(cpu_result, measured) and not is_disturbed(result, measured)
        best_by_key[key] = max(
            best_by_key.get(key, (False, 0, 0.0)), (undisturbed, result.size[0], result.median / cpu_result.median)
        )
    return {key: ratio for key, (_, _, ratio) in best_by_key.items()}


def _series_key(result: BenchResult) -> tuple[Hashable, ...]:
    return result.id, result.version, result.device, result.dtype, result.processes, result.extrapolated


def _measured_key(result: BenchResult) -> Hashable:
    size = result.size if result.id == "matmul" else ()
    return result.id, result.device, result.dtype, size, result.processes


def _device_name(benchmark: Benchmark, device: str) -> str | None:
    return next((each.name for each in benchmark.devices if each.id == device), None)


MIXED_DTYPES: tuple[DType, ...] = ("mixed-bfloat16", "mixed-float16")
HALF_DTYPES: tuple[DType, ...] = ("float16", "bfloat16")
# Comparisons in order of importance: workload, formats of a GPU, formats of the CPU. Formats that are slow on a CPU
# are compared with its float32.
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
    """The logs of the GPUs; empty where no GPU was measured, for then they tell nothing about the results."""
    return benchmark.watched if any(result.device != "cpu" for result in benchmark.results) else ()


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


# Verdicts for a GPU that is present and was not measured.
UNMEASURED_VERDICTS = frozenset(f"bench.verdict.{reason}" for reason in ("cpu-build", "card-unseen", "card-failed"))


class DeviceComparison(NamedTuple):
    """One workload on each device at the same size.

    `gpus` are in the devices' order, `parallel` is the result on all of them together in the same format. `ratio` is
    the fastest GPU's median divided by the CPU's, None where they cannot be compared. Without a GPU, `mixed` is the
    CPU's result in mixed precision and `previous` that of an earlier benchmark, None where they were not measured.
    """

    gpus: tuple[BenchResult, ...]
    cpu: BenchResult | None
    parallel: BenchResult | None = None
    ratio: float | None = None
    mixed: BenchResult | None = None
    previous: BenchResult | None = None

    @property
    def results(self) -> tuple[BenchResult, ...]:
        """All results: GPUs, all GPUs together, CPU, CPU in mixed precision, earlier benchmark."""
        ordered = (*self.gpus, self.parallel, self.cpu, self.mixed, self.previous)
        return tuple(each for each in ordered if each is not None)

    @property
    def fastest(self) -> BenchResult:
        """The result of the fastest GPU, else of the CPU."""
        leader = max(self.gpus, key=lambda result: result.median, default=self.cpu)
        assert leader is not None  # noqa: S101 - a pair has one of them
        return leader


def device_comparisons(benchmark: Benchmark, previous: Benchmark | None = None) -> tuple[DeviceComparison, ...]:
    """The comparisons worth a bar, the most important first; extrapolated results are left out.

    Without a GPU, the results of the `previous` benchmark stand beside the CPU's.
    """
    measured = [result for result in benchmark.results if not result.extrapolated]
    comparisons = []
    for workload, gpu_dtypes, cpu_dtypes in COMPARED_WORKLOADS:
        results = [result for result in measured if result.id == workload and result.processes == 1]
        gpu_results = [
            device_results
            for device in _gpu_ids(benchmark)
            if (device_results := _results_in_first_dtype(results, device, gpu_dtypes))
        ]
        if not gpu_results and gpu_dtypes == HALF_DTYPES:
            continue  # the CPU's float32 has a comparison of its own
        comparison = _compare_devices(gpu_results, _results_in_first_dtype(results, "cpu", cpu_dtypes), measured)
        if comparison is not None:
            comparisons.append(
                comparison if comparison.gpus else _cpu_only_comparison(comparison, benchmark, previous, results)
            )
    return tuple(comparisons[:MAX_COMPARISONS])


def unit_maxima(comparisons: Sequence[DeviceComparison]) -> dict[str, float]:
    """The largest value of each unit among the comparisons: one scale for all bars of a unit."""
    maxima: dict[str, float] = {}
    for comparison in comparisons:
        if len(comparison.results) > 1:
            maxima[comparison.fastest.unit] = max(
                maxima.get(comparison.fastest.unit, 0.0), *(each.median for each in comparison.results)
            )
    return maxima


def headline_comparison(benchmark: Benchmark) -> DeviceComparison | None:
    """The main comparison: the first between GPU and CPU, else the first."""
    comparisons = device_comparisons(benchmark)
    return next(
        (comparison for comparison in comparisons if comparison.ratio is not None),
        comparisons[0] if comparisons else None,
    )


def find_comparable(
    benchmark: Benchmark, stored: Sequence[Benchmark]
) -> tuple[BenchResult, list[tuple[Benchmark, BenchResult]]]:
    """A result that can be compared with another benchmark in `stored`, and its history there.

    It is the headline's, else the most important one that another benchmark has too; the history includes this
    benchmark where it is in `stored`. The history is empty where no other benchmark has a comparable result (quick and
    full tests differ in sizes). Raises ValueError where nothing was measured.
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
    """The benchmark to compare with: the newest other one in `stored` with a comparable result."""
    if headline_comparison(benchmark) is None:
        return None
    return next((each for each, _ in reversed(find_comparable(benchmark, stored)[1]) if each is not benchmark), None)


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


def readable_figure(value: float, unit: str, *, reference: float | None = None) -> tuple[float, str]:
    """A figure and its unit, in GFLOP/s below 1 TFLOP/s; `reference` decides instead of `value` where several figures
    share a unit.
    """
    in_gflops = unit == "TFLOP/s" and (value if reference is None else reference) < 1
    return (value * 1e3, "GFLOP/s") if in_gflops else (value, unit)


def gpu_seconds_per_night(ratio: float) -> float:
    """Seconds that the GPU takes for what the CPU does in 8 hours."""
    return NIGHT_S / ratio


def is_best_size(result: BenchResult, benchmark: Benchmark) -> bool:
    """Whether no other size is faster: the expected range applies to the best size."""
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


def _compare_devices(
    gpu_results: Sequence[list[BenchResult]], cpu_results: list[BenchResult], measured: Sequence[BenchResult]
) -> DeviceComparison | None:
    all_results = [*gpu_results, *([cpu_results] if cpu_results else [])]
    if not all_results:
        return None
    common_sizes = set.intersection(*({result.size for result in each} for each in all_results))
    # A size at which a device was disturbed or not filled is used only where there is no other.
    disturbed = {result.size for each in all_results for result in each if is_disturbed(result, each)}
    common_sizes = (common_sizes - disturbed) or common_sizes
    largest_gpu_results = tuple(_largest_common(each, common_sizes) for each in gpu_results)
    cpu_result = _largest_common(cpu_results, common_sizes) if cpu_results else None
    fastest = max(largest_gpu_results, key=lambda result: result.median, default=None)
    ratio = None
    if (
        fastest is not None
        and cpu_result is not None
        and common_sizes
        and cpu_result.median > 0
        and cpu_result.version == fastest.version
    ):
        ratio = fastest.median / cpu_result.median if cpu_result.dtype in ("float32", fastest.dtype) else None
    parallel = None
    if fastest is not None:
        parallel_results = [
            r for r in measured if r.processes > 1 and r.id == f"{fastest.id}-parallel" and r.dtype == fastest.dtype
        ]
        parallel = max(parallel_results, key=lambda result: result.processes, default=None)
    return DeviceComparison(largest_gpu_results, cpu_result, parallel, ratio)


def _cpu_only_comparison(
    comparison: DeviceComparison, benchmark: Benchmark, previous: Benchmark | None, results: Sequence[BenchResult]
) -> DeviceComparison:
    """Add the CPU's result in mixed precision and that of the previous benchmark."""
    fastest = comparison.fastest
    mixed = next(
        (
            each
            for each in _results_in_first_dtype(results, "cpu", MIXED_DTYPES)
            if each.size == fastest.size and each.version == fastest.version
        ),
        None,
    )
    matches = comparable_history(fastest, benchmark, (previous,)) if previous is not None else []
    return comparison._replace(mixed=mixed, previous=matches[-1][1] if matches else None)


def _largest_common(results: Sequence[BenchResult], common_sizes: set[tuple[int, ...]]) -> BenchResult:
    return max([each for each in results if each.size in common_sizes] or results, key=lambda result: result.size)


def benchmark_history(stored: Sequence[Benchmark], left_out: int = 0) -> BenchmarkHistory:
    """All benchmarks, oldest first, each compared with an earlier one; `left_out` could not be read."""
    return BenchmarkHistory(
        schema="gpu-assistant/benchmarks/1",
        runs=tuple(_history_entry(benchmark, stored[:index]) for index, benchmark in enumerate(stored)),
        left_out=left_out,
    )


def _history_entry(benchmark: Benchmark, earlier: Sequence[Benchmark]) -> BenchmarkHistoryEntry:
    comparison = headline_comparison(benchmark)
    entry = BenchmarkHistoryEntry(
        started=benchmark.started,
        seconds=benchmark.seconds,
        scope=benchmark.scope,
        versions={"torch": benchmark.torch, **benchmark.versions},
        devices=benchmark.devices,
        finished=is_complete(benchmark),
        missing=tuple(dict.fromkeys(skipped.id for skipped in skipped_main_workloads(benchmark))),
    )
    if comparison is None:
        return entry
    result, matches = find_comparable(benchmark, earlier)
    entry = replace(entry, headline=comparison.fastest, ratio=comparison.ratio)
    if not matches:
        return entry
    previous, previous_result = matches[-1]
    ratio = speed_ratio(previous_result, result)
    notes = doubtful_notes(previous_result, result)
    return replace(entry, compared_with=previous.started, change=ratio, compared=result, doubts=notes)
