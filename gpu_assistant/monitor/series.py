"""A sample as figures by name, for histories and graphs."""

from __future__ import annotations

from ..core.results import Sample

GPU_FIGURES = (
    "util",
    "mem_util",
    "mem_used",
    "mem_total",
    "temp",
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


def figures(sample: Sample) -> dict[str, float | None]:
    """Names like "cpu", "ram_used", "gpu0.util"; units as in `Sample` and `GpuSample`."""
    found: dict[str, float | None] = {"cpu": sample.cpu, "ram_used": sample.ram_used, "ram_total": sample.ram_total}
    for gpu in sample.gpus:
        for name in GPU_FIGURES:
            found[f"gpu{gpu.index}.{name}"] = getattr(gpu, name)
    return found
