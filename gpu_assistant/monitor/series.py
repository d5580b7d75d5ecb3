"""A sample as figures by name, for the history and its graphs."""

from __future__ import annotations

from ..core.results import GpuSample, Sample

# Totals, limits and counts are not kept: they hardly change, and the newest sample has them.
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
    "pcie_gen",
    "pcie_width",
    "pcie_tx",
    "pcie_rx",
    "enc",
    "dec",
)
# What holds the clocks back: 1 or 0, so that a mean is the share of the time.
HELD = {
    "held_heat": frozenset({"thermal", "hardware-thermal"}),
    "held_power": frozenset({"power-cap"}),
    "held_supply": frozenset({"power-brake", "hardware-slowdown"}),
}
LOST = "lost"
MACHINE_FIGURES = ("cpu", "ram_used")


def card(gpu: GpuSample) -> str:
    """What a card's series begin with: a card keeps its past in another slot and beside other cards."""
    return gpu.uuid or f"gpu{gpu.index}"


def name(gpu: GpuSample, figure: str) -> str:
    """The series of a card's figure."""
    return f"{card(gpu)}.{figure}"


def figures(sample: Sample) -> dict[str, float | None]:
    """Names like "cpu", "ram_used", "GPU-….util"; units as in `Sample` and `GpuSample`.

    A card that sleeps or does not answer has gaps; one that is lost has "lost" 1.
    """
    found: dict[str, float | None] = {figure: getattr(sample, figure) for figure in MACHINE_FIGURES}
    for gpu in sample.gpus:
        if gpu.state == "lost":
            found[name(gpu, LOST)] = 1.0
        if gpu.state != "ready":
            continue
        prefix = name(gpu, "")
        for figure in GPU_FIGURES:
            found[prefix + figure] = getattr(gpu, figure)
        found[prefix + LOST] = 0.0
        if gpu.throttle is not None:
            for figure, reasons in HELD.items():
                found[prefix + figure] = float(not reasons.isdisjoint(gpu.throttle))
    return found
