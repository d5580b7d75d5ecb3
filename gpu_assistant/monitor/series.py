"""A sample as series: figures by name, for the history and its plots."""

from __future__ import annotations

from ..core.results import GpuSample, Sample

# Counters, and the code of the driver's last error: their mean says nothing, the highest value does.
COUNTER_FIGURES = ("ecc_corrected", "ecc_uncorrected", "xid")
# Totals and limits are not in the history: they hardly change, and the newest sample has them.
GPU_FIGURES = (
    "util",
    "mem_util",
    "mem_used",
    "temp",
    "temp_memory",
    "power_w",
    "power_limit_w",
    "clock_sm",
    "clock_mem",
    "fan",
    "fan_rpm",
    "pcie_gen",
    "pcie_width",
    "pcie_tx",
    "pcie_rx",
    "enc",
    "dec",
    *COUNTER_FIGURES,
)
# 1 or 0 for each throttle reason of the driver, so that a mean is the share of the time. A series begins when its
# reason is first seen: few ever are, and each takes as much memory as a temperature.
THROTTLE_PREFIX = "throttle_"
LOST_SERIES = "lost"
GONE_SERIES = "gone"  # begins when a GPU is first removed
# 1 or 0 for each reason why the driver told nothing of any GPU; a series begins when its reason is first seen.
NVML_STATE_PREFIX = "nvml_"
NVML_FAILURE_STATES = ("version-mismatch", "hung")
MACHINE_FIGURES = ("cpu", "ram_used")
SHARED_MEMORY = "mem_shared"  # begins when a system counts it


def gpu_key(gpu: GpuSample) -> str:
    """What the names of a GPU's series begin with: its UUID, so that it keeps its history in another slot."""
    return gpu.uuid or f"gpu{gpu.index}"


def series_name(gpu: GpuSample, figure: str) -> str:
    """The name of the series of a GPU's figure."""
    return f"{gpu_key(gpu)}.{figure}"


def gpu_label(gpu: GpuSample) -> str:
    """A GPU in a heading: "GPU 0 NVIDIA GeForce RTX 4060"."""
    return f"GPU {gpu.index} {gpu.name}" if gpu.name else f"GPU {gpu.index}"


class SeriesExtractor:
    """Turns samples into values by series; remembers which series have begun."""

    def __init__(self) -> None:
        self._throttle_reasons: dict[str, set[str]] = {}
        self._seen_failures: set[str] = set()
        self._gone_gpus: set[str] = set()

    def register_series(self, names: tuple[str, ...]) -> None:
        """Series that the history has from earlier runs: they go on."""
        for series in names:
            if series.startswith(NVML_STATE_PREFIX):
                self._seen_failures.add(series.removeprefix(NVML_STATE_PREFIX))
            gpu_key, _, figure = series.rpartition(".")
            if figure == GONE_SERIES:
                self._gone_gpus.add(gpu_key)
            if figure.startswith(THROTTLE_PREFIX):
                self._throttle_reasons.setdefault(gpu_key, set()).add(figure.removeprefix(THROTTLE_PREFIX))

    def values(self, sample: Sample) -> dict[str, float | None]:
        """Names like "cpu", "ram_used", "GPU-….util"; units as in `Sample` and `GpuSample`.

        A GPU that is asleep or does not answer has gaps; a lost one has "lost" 1, a removed one "gone" 1.
        """
        result: dict[str, float | None] = {figure: getattr(sample, figure) for figure in MACHINE_FIGURES}
        if sample.nvml in NVML_FAILURE_STATES:
            self._seen_failures.add(sample.nvml)
        for state in self._seen_failures:
            result[NVML_STATE_PREFIX + state] = float(sample.nvml == state)
        for gpu in sample.gpus:
            if gpu.state == "lost":
                result[series_name(gpu, LOST_SERIES)] = 1.0
            if gpu.state == "gone":
                self._gone_gpus.add(gpu_key(gpu))
                result[series_name(gpu, GONE_SERIES)] = 1.0
            if gpu.state != "ready":
                continue
            prefix = series_name(gpu, "")
            for figure in GPU_FIGURES:
                result[prefix + figure] = getattr(gpu, figure)
            if gpu.mem_shared is not None:
                result[prefix + SHARED_MEMORY] = float(gpu.mem_shared)
            result[prefix + LOST_SERIES] = 0.0
            if gpu_key(gpu) in self._gone_gpus:
                result[prefix + GONE_SERIES] = 0.0
            if gpu.throttle is not None:
                known_reasons = self._throttle_reasons.setdefault(gpu_key(gpu), set())
                known_reasons.update(gpu.throttle)
                for reason in known_reasons:
                    result[f"{prefix}{THROTTLE_PREFIX}{reason}"] = float(reason in gpu.throttle)
        return result
