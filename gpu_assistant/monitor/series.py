"""A sample as figures by name, for the history and its graphs."""

from __future__ import annotations

from ..core.results import GpuSample, Sample

# What is counted, and the number of the driver's last error: a mean of such says nothing, the highest does.
COUNTS = ("ecc_corrected", "ecc_uncorrected", "xid")
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
    *COUNTS,
)
# What holds the clocks back, as the driver names it, 1 or 0, so that a mean is the share of the time. A reason is
# kept from when it was first told: few are ever seen, and each takes as much room as a temperature.
THROTTLE = "throttle_"
LOST = "lost"
GONE = "gone"  # kept from when a card was first so
# Why the driver told nothing of any card, 1 or 0; kept from when it was first so, as reasons are.
SILENCE = "nvml_"
SILENCES = ("version-mismatch", "hung")
MACHINE_FIGURES = ("cpu", "ram_used")


def card(gpu: GpuSample) -> str:
    """What a card's series begin with: a card keeps its past in another slot and beside other cards."""
    return gpu.uuid or f"gpu{gpu.index}"


def name(gpu: GpuSample, figure: str) -> str:
    """The series of a card's figure."""
    return f"{card(gpu)}.{figure}"


class Figures:
    """Turns samples into figures; remembers which throttle reasons each card has told."""

    def __init__(self) -> None:
        self._told: dict[str, set[str]] = {}
        self._silences: set[str] = set()
        self._gone: set[str] = set()

    def know(self, names: tuple[str, ...]) -> None:
        """The series that are kept already, from runs before."""
        for series in names:
            if series.startswith(SILENCE):
                self._silences.add(series.removeprefix(SILENCE))
            owner, _, figure = series.rpartition(".")
            if figure == GONE:
                self._gone.add(owner)
            if figure.startswith(THROTTLE):
                self._told.setdefault(owner, set()).add(figure.removeprefix(THROTTLE))

    def of(self, sample: Sample) -> dict[str, float | None]:
        """Names like "cpu", "ram_used", "GPU-….util"; units as in `Sample` and `GpuSample`.

        A card that sleeps or does not answer has gaps; one that is lost has "lost" 1, one that is gone "gone" 1.
        """
        found: dict[str, float | None] = {figure: getattr(sample, figure) for figure in MACHINE_FIGURES}
        if sample.nvml in SILENCES:
            self._silences.add(sample.nvml)
        for state in self._silences:
            found[SILENCE + state] = float(sample.nvml == state)
        for gpu in sample.gpus:
            if gpu.state == "lost":
                found[name(gpu, LOST)] = 1.0
            if gpu.state == "gone":
                self._gone.add(card(gpu))
                found[name(gpu, GONE)] = 1.0
            if gpu.state != "ready":
                continue
            prefix = name(gpu, "")
            for figure in GPU_FIGURES:
                found[prefix + figure] = getattr(gpu, figure)
            found[prefix + LOST] = 0.0
            if card(gpu) in self._gone:
                found[prefix + GONE] = 0.0
            if gpu.throttle is not None:
                told = self._told.setdefault(card(gpu), set())
                told.update(gpu.throttle)
                for reason in told:
                    found[f"{prefix}{THROTTLE}{reason}"] = float(reason in gpu.throttle)
        return found
