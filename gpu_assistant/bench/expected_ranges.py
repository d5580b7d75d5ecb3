"""What healthy GPUs reach: ranges by the makers' figures and public results, and likely causes of a slow one; pure.

    judge_benchmark -> reference_gpus, expected_ranges -> judgement of each result -> slow_causes -> verdict

The thresholds are in `reference.json`; `benchmarks/expected_ranges.py` computes its shares of matrix products.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core.results import (
    BenchDevice,
    BenchGpuLog,
    Benchmark,
    BenchResult,
    Judgement,
)
from .child_protocol import SPILLED_NOTE, VERDICT_PREFIX
from .gpu_log import ABNORMAL_THROTTLE_REASONS, BUSY_GPU_PERCENT, THERMAL_THROTTLE_REASONS

if TYPE_CHECKING:
    from ..catalog.records.peak_specs import CauseThresholds, DerivedRates, MatmulShares, ReferenceCard
    from ..catalog.store import Catalog

CAUSE_PREFIX, STEP_PREFIX = "bench.cause.", "bench.step."  # of the codes of texts
# What to do about each cause, in this order: codes of texts without their prefix.
STEPS_BY_CAUSE: Mapping[str, tuple[str, ...]] = {
    "spilled": ("close-programs",),
    "battery": ("plug-in",),
    "heat": ("cool",),
    "power-supply": ("power-cables",),
    "charger": ("charger",),
    "power-limit": ("power-limit",),
    "clocks": ("restart", "update-driver"),
    "power-plan": ("power-plan",),
    "busy": ("close-programs",),
    "slot": ("slot",),
    "link": ("memory-modules", "close-programs"),
    "unknown": ("power-plan", "update-driver"),
}
LAST_STEPS = ("measure-again", "health-test")  # after those of any cause
CAUSES = frozenset(CAUSE_PREFIX + name for name in STEPS_BY_CAUSE)
UNKNOWN_CAUSE, HEAT_CAUSE, BUSY_CAUSE = (CAUSE_PREFIX + name for name in ("unknown", "heat", "busy"))
LINK_CAUSE = CAUSE_PREFIX + "link"
LINK_WORKLOADS = frozenset({"copy-to-device-pinned", "copy-to-host-pinned"})


def judge_benchmark(benchmark: Benchmark, catalog: Catalog, *, power_saving: bool | None = None) -> Benchmark:
    """The benchmark with a judgement in every result, the ranges behind them, causes, and the verdict on its GPUs.

    A benchmark of the CPU alone keeps its verdict.
    """
    gpus = reference_gpus(benchmark.devices, catalog)
    ranges = expected_ranges(benchmark.results, gpus, catalog, benchmark.watched)
    smallest_side = catalog.reference.matmul.smallest_side
    results = tuple(
        replace(result, judgement=_judge(result, benchmark.results, ranges, smallest_side))
        for result in benchmark.results
    )
    judged = replace(benchmark, results=results, expected=ranges or None, causes=())
    if all(result.device == "cpu" for result in results):
        return judged
    judgements = {result.judgement for result in results}
    outcome = next((each for each in ("below", "above", "as-expected") if each in judgements), "measured")
    if outcome == "below":
        causes = slow_causes(judged, gpus, catalog.reference.causes, power_saving=power_saving)
        judged = replace(judged, causes=causes or (UNKNOWN_CAUSE,))
    return replace(judged, verdict=VERDICT_PREFIX + outcome)


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
    """The range that healthy GPUs reach, by "device/workload-dtype", for measured workloads with a known range.

    Copies to and from a GPU are expected to use all of the GPU's own lanes, at the PCIe generation in `gpu_logs`: an
    older mainboard is no fault, a slot with too few lanes is one. Without a logged generation there is no range.
    """
    ranges = {
        result_key(result): _expected_range(result, gpus[result.device], catalog, find_gpu_log(result.device, gpu_logs))
        for result in results
        if result.device in gpus and result.processes == 1
    }
    return {key: expected for key, expected in ranges.items() if expected is not None}


def _expected_range(
    result: BenchResult, gpu: ReferenceCard, catalog: Catalog, gpu_log: BenchGpuLog | None
) -> tuple[float, float] | None:
    reference = catalog.reference
    if result.id == "matmul":
        power_limit_w = gpu_log.power_limit_w if gpu_log is not None else None
        return matmul_range(gpu, result.dtype, reference.matmul, reference.rates, power_limit_w)
    if result.id == "copy-within":
        peak, (low, high) = gpu.bandwidth_gb_s, reference.healthy.copy_share
    elif result.id in LINK_WORKLOADS:
        generation = gpu_log.pcie_gen if gpu_log is not None else None
        peak, (low, high) = _link_bandwidth(gpu, reference.rates, generation), reference.healthy.pcie_share
    else:
        return None
    return None if peak is None else (peak * low, peak * high)


def matmul_range(
    gpu: ReferenceCard, dtype: str, rule: MatmulShares, rates: DerivedRates, power_limit_w: float | None = None
) -> tuple[float, float] | None:
    """TFLOP/s of a product in this format; None where too little is known, as of a laptop without its power limit."""
    peak = matmul_peak(gpu, dtype, rates)
    clock_share = _clock_share(gpu, power_limit_w)
    share = next(
        (
            each
            for each in rule.shares
            if each.compute_capability == gpu.compute_capability and gpu.kind in each.kinds and dtype in each.dtypes
        ),
        None,
    )
    if peak is None or clock_share is None or share is None or share.high > rule.max_width * share.low:
        return None
    return peak * clock_share * share.low, peak * clock_share * share.high


def matmul_peak(gpu: ReferenceCard, dtype: str, rates: DerivedRates) -> float | None:
    """The maker's TFLOP/s of products in this format; None: the chip has no units for it."""
    return {
        "float32": gpu.fp32_tflops,
        "float16": gpu.fp16_tensor_tflops,
        "bfloat16": gpu.bf16_tensor_tflops,
        "tf32": gpu.bf16_tensor_tflops and gpu.bf16_tensor_tflops * rates.tf32_of_bf16,
    }.get(dtype)


def _clock_share(gpu: ReferenceCard, power_limit_w: float | None) -> float | None:
    """The boost clock at a power limit, as a share of that of the peak figures: 1 for all but laptops' GPUs."""
    if gpu.power_clocks is None:
        return 1.0
    if power_limit_w is None or power_limit_w < gpu.power_clocks[0][0]:
        return None
    highest_mhz = gpu.power_clocks[-1][1]
    for (low_w, low_mhz), (high_w, high_mhz) in pairwise(gpu.power_clocks):
        if power_limit_w <= high_w:
            return (low_mhz + (high_mhz - low_mhz) * (power_limit_w - low_w) / (high_w - low_w)) / highest_mhz
    return 1.0


def _link_bandwidth(gpu: ReferenceCard, rates: DerivedRates, generation: int | None) -> float | None:
    """GB/s (10^9 bytes) of the GPU's lanes in one direction."""
    if gpu.pcie_gen is None or gpu.pcie_lanes is None or generation is None:
        return None
    lane_gb_s = rates.pcie_gb_s_per_lane.get(str(min(generation, gpu.pcie_gen)))
    return None if lane_gb_s is None else lane_gb_s * gpu.pcie_lanes


def find_gpu_log(device: str, gpu_logs: Sequence[BenchGpuLog]) -> BenchGpuLog | None:
    """What the driver reported of this device: by the id that its UUID gave, else by its number."""
    if any(each.device is not None for each in gpu_logs):
        return next((each for each in gpu_logs if each.device == device), None)
    return next((each for each in gpu_logs if device == f"cuda:{each.index}"), None)


def result_key(result: BenchResult) -> str:
    """The key of a result in the expected ranges."""
    return f"{result.device}/{result.id}-{result.dtype}"


def _judge(
    result: BenchResult,
    results: Sequence[BenchResult],
    ranges: Mapping[str, tuple[float, float]],
    smallest_side: int,
) -> Judgement:
    """The range applies to the best size; a product too small to fill a GPU is never called slow."""
    expected = ranges.get(result_key(result))
    if expected is None or result.extrapolated or result.processes > 1 or "wrong" in result.notes:
        return "unknown"
    low, high = expected
    if result.median > high:
        return "above"
    if result.median >= low:
        return "as-expected"
    is_too_small = result.id == "matmul" and min(result.size, default=0) < smallest_side
    return "below" if _is_best(result, results) and not is_too_small else "unknown"


def slow_causes(
    benchmark: Benchmark,
    gpus: Mapping[str, ReferenceCard],
    thresholds: CauseThresholds,
    *,
    power_saving: bool | None = None,
) -> tuple[str, ...]:
    """Possible causes of the results that are below their range, each with evidence, the most certain first.

    Slow products and copies within a GPU are explained by its power, temperature and clocks; slow copies over the link
    by its lanes. The link explains no slow product, and heat no slow link.
    """
    causes: dict[str, None] = {}
    below = [result for result in benchmark.results if result.judgement == "below"]
    for device in slow_devices(benchmark):
        gpu, gpu_log = gpus[device], find_gpu_log(device, benchmark.watched)
        ids = {result.id for result in below if result.device == device}
        if any(SPILLED_NOTE in result.notes for result in below if result.device == device):
            causes["spilled"] = None
        if ids - LINK_WORKLOADS:
            causes.update(dict.fromkeys(_clock_causes(benchmark, gpu, gpu_log, thresholds, power_saving=power_saving)))
        if ids & LINK_WORKLOADS:
            causes.update(dict.fromkeys(_link_causes(gpu, gpu_log)))
    return tuple(CAUSE_PREFIX + code for code in causes)


def _clock_causes(
    benchmark: Benchmark,
    gpu: ReferenceCard,
    gpu_log: BenchGpuLog | None,
    thresholds: CauseThresholds,
    *,
    power_saving: bool | None,
) -> list[str]:
    throttle = frozenset(gpu_log.throttle) if gpu_log is not None else frozenset()
    power_limit_w = gpu_log.power_limit_w if gpu_log is not None else None
    clock_mhz = gpu_log.clock_sm if gpu_log is not None else None
    util_before = gpu_log.util_before if gpu_log is not None else None
    clock_share = _clock_share(gpu, power_limit_w) or 1.0
    lacks_power = bool(throttle & (ABNORMAL_THROTTLE_REASONS - THERMAL_THROTTLE_REASONS))
    conditions = {
        "battery": benchmark.on_battery is True or "bench.note.battery" in benchmark.notes,
        "heat": bool(throttle & THERMAL_THROTTLE_REASONS),
        "power-supply": lacks_power and gpu.kind != "laptop",
        "charger": lacks_power and gpu.kind == "laptop",
        # A laptop's range is that of its power limit.
        "power-limit": gpu.power_clocks is None
        and power_limit_w is not None
        and power_limit_w < thresholds.low_power_share * gpu.tdp_w,
        "power-plan": power_saving is True or "bench.note.saving" in benchmark.notes,
        "busy": util_before is not None and util_before > BUSY_GPU_PERCENT,
    }
    causes = [code for code, is_present in conditions.items() if is_present]
    is_slow_clock = clock_mhz is not None and clock_mhz < thresholds.low_clock_share * clock_share * gpu.boost_mhz
    # Low clocks are the effect of the causes above; alone they are all that is known.
    return causes or (["clocks"] if is_slow_clock else [])


def _link_causes(gpu: ReferenceCard, gpu_log: BenchGpuLog | None) -> list[str]:
    width = gpu_log.pcie_width if gpu_log is not None else None
    has_few_lanes = width is not None and gpu.pcie_lanes is not None and width < gpu.pcie_lanes
    return ["slot" if has_few_lanes else "link"]


def is_best_size(result: BenchResult, benchmark: Benchmark) -> bool:
    """Whether no other size is faster: the expected range applies to the best size."""
    return _is_best(result, benchmark.results)


def judged_range(result: BenchResult, benchmark: Benchmark) -> tuple[float, float] | None:
    """(low, high) of healthy GPUs of this model in the unit of a result.

    None where the result was not judged by it: the range is unknown or of another size, or the result is wrong.
    """
    expected = (benchmark.expected or {}).get(result_key(result))
    is_judged = result.judgement not in (None, "unknown") and is_best_size(result, benchmark)
    return expected if is_judged else None


def shortfall_percent(median: float, expected: tuple[float, float]) -> int:
    """By how many percent a median is below the middle of its expected range; 0 where it is not below the range."""
    low, high = expected
    return max(round(100 * (1 - median / ((low + high) / 2))), 1) if median < low else 0


def _is_best(result: BenchResult, results: Iterable[BenchResult]) -> bool:
    return all(result_key(each) != result_key(result) or each.median <= result.median for each in results)


def repair_steps(benchmark: Benchmark) -> tuple[str, ...]:
    """The codes of the texts that say what to do about a result below its range, each once, in the order to do it.

    The last ones measure again, and test the GPU's health where that does not help. Where the cause is unknown, the
    first ones are about what the test did not measure.
    """
    steps = [
        step
        for cause in benchmark.causes
        for step in STEPS_BY_CAUSE[cause.removeprefix(CAUSE_PREFIX)]
        if not (cause == LINK_CAUSE and step == "close-programs" and _were_idle(benchmark))
    ]
    if UNKNOWN_CAUSE in benchmark.causes:
        steps = [*_unmeasured_steps(benchmark), *steps]
    return tuple(STEP_PREFIX + step for step in dict.fromkeys((*steps, *LAST_STEPS))) if steps else ()


def _were_idle(benchmark: Benchmark) -> bool:
    """Whether no other program used the slow GPUs before the test, so that there is nothing to close."""
    logs = [find_gpu_log(device, benchmark.watched) for device in slow_devices(benchmark)]
    loads = [log.util_before if log is not None else None for log in logs]
    return all(load is not None and load <= BUSY_GPU_PERCENT for load in loads)


def _unmeasured_steps(benchmark: Benchmark) -> list[str]:
    """What may slow a GPU down, and was not seen to be in order before and during the test.

    A result whose cause is unknown has fast copies to and from the GPU, so neither its slot nor the computer's memory
    is in doubt.
    """
    logs = [find_gpu_log(device, benchmark.watched) for device in slow_devices(benchmark)]
    conditions = {
        "close-programs": any(log is None or log.util_before is None for log in logs),
        "plug-in-laptop": benchmark.on_battery is None,
        "cool": any(log is None or log.temp_max is None for log in logs),
    }
    return [step for step, is_unmeasured in conditions.items() if is_unmeasured]


def slow_devices(benchmark: Benchmark) -> tuple[str, ...]:
    """The ids of the GPUs with a result below its range, each once."""
    return tuple(dict.fromkeys(result.device for result in benchmark.results if result.judgement == "below"))
