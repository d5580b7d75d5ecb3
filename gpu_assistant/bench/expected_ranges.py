"""What a healthy card reaches: ranges by the maker's figures, and likely causes of a slow result; pure.

reference_gpus -> expected_ranges -> keys_below, keys_above -> slow_causes
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..core.results import (
    BenchDevice,
    BenchGpuLog,
    Benchmark,
    BenchResult,
)
from .gpu_log import ABNORMAL_THROTTLE_REASONS, BUSY_GPU_PERCENT, THERMAL_THROTTLE_REASONS

if TYPE_CHECKING:
    from ..catalog.records.peak_specs import DerivedRates, ReferenceCard
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


def is_best_size(result: BenchResult, benchmark: Benchmark) -> bool:
    """Whether no other size is faster: the expected range applies to the best size."""
    return all(result_key(each) != result_key(result) or each.median <= result.median for each in benchmark.results)
