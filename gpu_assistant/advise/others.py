"""PyTorch on graphics that are not NVIDIA's: AMD's through ROCm on Linux, Intel's through XPU."""

from __future__ import annotations

from ..catalog.accelerators import IntelFamily
from ..catalog.load import Catalog
from ..core.machine import Gpu, Machine
from .builds import Build
from .pick import Pick, Site


def amd_chip(catalog: Catalog, gpu: Gpu) -> str | None:
    """The chip of an AMD card, as "gfx1100": what it says of itself, else what its id says, else its name."""
    if gpu.gfx is not None:
        return gpu.gfx
    device = catalog.amd_device(gpu.pci_id or "") or catalog.amd_named(gpu.name or "")
    return device.gfx if device is not None else None


def other_pick(where: Site) -> tuple[Pick, Gpu] | None:
    """The newest build for an AMD or Intel card of this machine, with the card; None where there is none."""
    for gpu in where.machine.gpus_of("amd"):
        pick = _rocm(where, gpu)
        if pick is not None:
            return pick, gpu
    for gpu in where.machine.gpus_of("intel"):
        pick = _xpu(where, gpu)
        if pick is not None:
            return pick, gpu
    return None


def without_code(catalog: Catalog, gpu: Gpu, build: Build) -> bool:
    """Whether a build for ROCm is known to have nothing for this AMD card; False where its chip is not known."""
    chip = amd_chip(catalog, gpu) if gpu.vendor == "amd" else None
    return chip is not None and build.variant not in catalog.rocm_variants(chip)


def unlisted(where: Site) -> Gpu | None:
    """The Intel graphics of a machine that has none of those which PyTorch names for its build."""
    found = where.machine.gpus_of("intel")
    return found[0] if found and all(_xpu(where, gpu) is None for gpu in found) else None


def _rocm(where: Site, gpu: Gpu) -> Pick | None:
    # Under WSL a Radeon needs AMD's own parts, which PyTorch's index does not carry.
    chip = amd_chip(where.catalog, gpu)
    if where.machine.os.system != "linux" or where.machine.os.wsl or chip is None:
        return None
    variants = where.catalog.rocm_variants(chip)
    fitting = [b for b in where.builds if b.variant in variants]
    best = min(fitting, key=lambda b: (b.rank, variants.index(b.variant)), default=None)
    return Pick(build=best) if best is not None else None


def _xpu(where: Site, gpu: Gpu) -> Pick | None:
    device = where.catalog.intel_device(gpu.pci_id or "") or where.catalog.intel_named(gpu.name or "")
    intel = where.catalog.accelerators.intel
    family = next((f for f in intel.families if device is not None and f.family == device.family), None)
    if family is None or not _system_fits(where.machine, family):
        return None
    return next((Pick(build=b) for b in where.builds if b.variant == intel.variant), None)


def _system_fits(machine: Machine, family: IntelFamily) -> bool:
    system = "wsl" if machine.os.wsl else machine.os.system
    if system not in family.systems:
        return False
    named = (machine.os.name or "").split()
    return system != "windows" or family.lowest_windows is None or not named or family.lowest_windows in named
