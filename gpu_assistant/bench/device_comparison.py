"""The devices of a benchmark side by side: the comparisons worth a bar, the headline, what a GPU saves; pure.

device_comparisons -> headline_comparison, unit_maxima
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..core.results import (
    GRAPH_WORKLOADS,
    BenchGpuLog,
    Benchmark,
    BenchResult,
    DType,
)
from .measurements import comparable_history, is_disturbed

_WORKLOADS_OF_GRAPHS = {graph: workload for workload, graph in GRAPH_WORKLOADS.items()}


def gpu_speedups(results: Sequence[BenchResult]) -> dict[str, float]:
    """The fastest GPU's median divided by the CPU's in its fastest format, by "workload-dtype" of the GPU.

    Both are of the same workload at the same size, the largest that both have undisturbed; batch sizes may differ. A
    CUDA graph is compared with the CPU's way of the same workload.
    Extrapolated results are left out.
    """
    best_by_name: dict[str, tuple[bool, int, float]] = {}
    measured = [each for each in results if each.processes == 1 and not each.extrapolated]
    cpu_results: dict[tuple[str, int, tuple[int, ...]], BenchResult] = {}
    for each in measured:
        key = each.id, each.version, each.size
        if each.device == "cpu" and (key not in cpu_results or each.median > cpu_results[key].median):
            cpu_results[key] = each
    for result in measured:
        workload = _WORKLOADS_OF_GRAPHS.get(result.id, result.id)
        cpu_result = cpu_results.get((workload, result.version, result.size))
        if result.device == "cpu" or cpu_result is None or cpu_result.median <= 0:
            continue
        name = f"{result.id}-{result.dtype}"
        undisturbed = not is_disturbed(cpu_result, measured) and not is_disturbed(result, measured)
        best_by_name[name] = max(
            best_by_name.get(name, (False, 0, 0.0)), (undisturbed, result.size[0], result.median / cpu_result.median)
        )
    return {name: ratio for name, (_, _, ratio) in best_by_name.items()}


MIXED_DTYPES: tuple[DType, ...] = ("mixed-bfloat16", "mixed-float16")
HALF_DTYPES: tuple[DType, ...] = ("float16", "bfloat16")
TRAINING_DTYPES: tuple[DType, ...] = (*MIXED_DTYPES, "float32")
# Comparisons in order of importance: workload, formats of a GPU, formats of the CPU. Each device is shown in the
# format in which it is fastest.
COMPARED_WORKLOADS: tuple[tuple[str, tuple[DType, ...], tuple[DType, ...]], ...] = (
    ("resnet50", TRAINING_DTYPES, TRAINING_DTYPES),
    ("bert-base", TRAINING_DTYPES, TRAINING_DTYPES),
    ("matmul", ("float32",), ("float32",)),
    ("matmul", HALF_DTYPES, ("float32",)),
    ("decode", (*HALF_DTYPES, "float32"), (*HALF_DTYPES, "float32")),
    ("copy-to-device-pinned", ("uint8",), ()),
    ("copy-within", ("uint8",), ("uint8",)),
)
NIGHT_S = 8 * 3600.0


def relevant_gpu_logs(benchmark: Benchmark) -> tuple[BenchGpuLog, ...]:
    """The logs of the GPUs; empty where no GPU was measured, for then they tell nothing about the results."""
    return benchmark.watched if any(result.device != "cpu" for result in benchmark.results) else ()


# Verdicts for a GPU that is present and was not measured.
UNMEASURED_VERDICTS = frozenset(f"bench.verdict.{reason}" for reason in ("cpu-build", "card-unseen", "card-failed"))


class DeviceComparison(NamedTuple):
    """One workload on each device at the same size, in the format in which each device is fastest.

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
        names = {workload, GRAPH_WORKLOADS.get(workload, workload)}
        results = [result for result in measured if result.id in names and result.processes == 1]
        gpu_results = [
            device_results
            for device in _gpu_ids(benchmark)
            if (device_results := _results_in_best_dtype(results, device, gpu_dtypes))
        ]
        if not gpu_results and gpu_dtypes == HALF_DTYPES:
            continue  # the CPU's float32 has a comparison of its own
        # Without a GPU, mixed precision has a bar of its own beside float32.
        is_plain = not gpu_results and any(each.device == "cpu" and each.dtype == "float32" for each in results)
        cpu_results = _results_in_best_dtype(results, "cpu", ("float32",) if is_plain else cpu_dtypes)
        comparison = _compare_devices(gpu_results, cpu_results, measured)
        if comparison is not None:
            comparisons.append(
                comparison if comparison.gpus else _cpu_only_comparison(comparison, benchmark, previous, results)
            )
    return tuple(comparisons)


def result_without_graph(result: BenchResult, benchmark: Benchmark) -> BenchResult | None:
    """The same measurement with kernels started one by one, of a result with a CUDA graph; None where there is none."""
    workload = _WORKLOADS_OF_GRAPHS.get(result.id)
    return next(
        (
            each
            for each in benchmark.results
            if (each.id, each.device, each.dtype, each.size) == (workload, result.device, result.dtype, result.size)
        ),
        None,
    )


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


def readable_figure(value: float, unit: str, *, reference: float | None = None) -> tuple[float, str]:
    """A figure and its unit, in GFLOP/s below 1 TFLOP/s; `reference` decides instead of `value` where several figures
    share a unit.
    """
    in_gflops = unit == "TFLOP/s" and (value if reference is None else reference) < 1
    return (value * 1e3, "GFLOP/s") if in_gflops else (value, unit)


def gpu_seconds_per_night(ratio: float) -> float:
    """Seconds that the GPU takes for what the CPU does in 8 hours."""
    return NIGHT_S / ratio


def _gpu_ids(benchmark: Benchmark) -> list[str]:
    gpu_ids = [device.id for device in benchmark.devices if device.id != "cpu"]
    return gpu_ids or sorted({result.device for result in benchmark.results} - {"cpu"})


def _results_in_best_dtype(results: Sequence[BenchResult], device: str, dtypes: Sequence[DType]) -> list[BenchResult]:
    """A device's results in the format, of these, and in the way in which it is fastest."""
    device_results = [result for result in results if result.device == device and result.dtype in dtypes]
    best = max(device_results, key=lambda result: result.median, default=None)
    return [each for each in device_results if best is not None and (each.id, each.dtype) == (best.id, best.dtype)]


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
        ratio = fastest.median / cpu_result.median
    parallel = None
    if fastest is not None:
        parallel_results = [
            each
            for each in measured
            if each.processes > 1
            and each.id == f"{fastest.id}-parallel"
            and (each.dtype == fastest.dtype or "formats" in each.settings)  # unlike GPUs, each in its own format
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
            for each in _results_in_best_dtype(results, "cpu", MIXED_DTYPES)
            if each.size == fastest.size and each.version == fastest.version
        ),
        None,
    )
    matches = comparable_history(fastest, benchmark, (previous,)) if previous is not None else []
    return comparison._replace(mixed=mixed, previous=matches[-1][1] if matches else None)


def _largest_common(results: Sequence[BenchResult], common_sizes: set[tuple[int, ...]]) -> BenchResult:
    return max([each for each in results if each.size in common_sizes] or results, key=lambda result: result.size)
