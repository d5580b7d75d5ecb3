"""A sample as figures by name, for the history and its graphs."""

from __future__ import annotations

from ..core.results import GpuSample, Sample

# What is counted, and the number of the driver's last error: a mean of such says nothing, the highest does.
COUNTER_FIGURES = ("ecc_corrected", "ecc_uncorrected", "xid")
# Totals and limits are not kept: they hardly change, and the newest sample has them.
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
# What holds the clocks back, as the driver names it, 1 or 0, so that a mean is the share of the time. A reason is
# kept from when it was first told: few are ever seen, and each takes as much room as a temperature.
THROTTLE_PREFIX = "throttle_"
LOST_SERIES = "lost"
GONE_SERIES = "gone"  # kept from when a card was first so
# Why the driver told nothing of any card, 1 or 0; kept from when it was first so, as reasons are.
NVML_STATE_PREFIX = "nvml_"
NVML_FAILURE_STATES = ("version-mismatch", "hung")
MACHINE_FIGURES = ("cpu", "ram_used")


def gpu_key(gpu: GpuSample) -> str:
    """What a card's series begin with: a card keeps its past in another slot and beside other cards."""
    return gpu.uuid or f"gpu{gpu.index}"


def series_name(gpu: GpuSample, figure: str) -> str:
    """The series of a card's figure."""
    return f"{gpu_key(gpu)}.{figure}"


class SeriesExtractor:
    """Turns samples into figures; remembers which throttle reasons each card has told."""

    def __init__(self) -> None:
        self._throttle_reasons: dict[str, set[str]] = {}
        self._seen_failures: set[str] = set()
        self._gone_gpus: set[str] = set()

    def register_series(self, names: tuple[str, ...]) -> None:
        """The series that are kept already, from runs before."""
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

        A card that sleeps or does not answer has gaps; one that is lost has "lost" 1, one that is gone "gone" 1.
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
            result[prefix + LOST_SERIES] = 0.0
            if gpu_key(gpu) in self._gone_gpus:
                result[prefix + GONE_SERIES] = 0.0
            if gpu.throttle is not None:
                known_reasons = self._throttle_reasons.setdefault(gpu_key(gpu), set())
                known_reasons.update(gpu.throttle)
                for reason in known_reasons:
                    result[f"{prefix}{THROTTLE_PREFIX}{reason}"] = float(reason in gpu.throttle)
        return result
