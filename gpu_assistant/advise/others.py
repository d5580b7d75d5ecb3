"""PyTorch on graphics that are not NVIDIA's: AMD's through ROCm on Linux, Intel's through XPU."""

from __future__ import annotations

from ..catalog.accelerators import IntelFamily
from ..catalog.load import Catalog
from ..core.machine import Gpu, Machine
from .builds import Build
from .pick import Candidate, TargetSystem


def amd_chip(catalog: Catalog, gpu: Gpu) -> str | None:
    """The chip of an AMD card, as "gfx1100": what it says of itself, else what its id says, else its name."""
    if gpu.gfx is not None:
        return gpu.gfx
    device = catalog.amd_device(gpu.pci_id or "") or catalog.amd_device_by_name(gpu.name or "")
    return device.gfx if device is not None else None


def best_non_nvidia_candidate(target: TargetSystem) -> tuple[Candidate, Gpu] | None:
    """The newest build for an AMD or Intel card of this machine, with the card; None where there is none."""
    for gpu in target.machine.gpus_of("amd"):
        candidate = _rocm_candidate(target, gpu)
        if candidate is not None:
            return candidate, gpu
    for gpu in target.machine.gpus_of("intel"):
        candidate = _xpu_candidate(target, gpu)
        if candidate is not None:
            return candidate, gpu
    return None


def lacks_rocm_code(catalog: Catalog, gpu: Gpu, build: Build) -> bool:
    """Whether a build for ROCm is known to have nothing for this AMD card; False where its chip is not known."""
    chip = amd_chip(catalog, gpu) if gpu.vendor == "amd" else None
    return chip is not None and build.variant not in catalog.rocm_variants(chip)


def find_unlisted_intel_gpu(target: TargetSystem) -> Gpu | None:
    """The Intel graphics of a machine that has none of those which PyTorch names for its build."""
    gpus = target.machine.gpus_of("intel")
    return gpus[0] if gpus and all(_xpu_candidate(target, gpu) is None for gpu in gpus) else None


def _rocm_candidate(target: TargetSystem, gpu: Gpu) -> Candidate | None:
    # Under WSL a Radeon needs AMD's own parts, which PyTorch's index does not carry.
    chip = amd_chip(target.catalog, gpu)
    if target.machine.os.system != "linux" or target.machine.os.wsl or chip is None:
        return None
    variants = target.catalog.rocm_variants(chip)
    builds = [b for b in target.builds if b.variant in variants]
    best = min(builds, key=lambda b: (b.rank, variants.index(b.variant)), default=None)
    return Candidate(build=best) if best is not None else None


def _xpu_candidate(target: TargetSystem, gpu: Gpu) -> Candidate | None:
    device = target.catalog.intel_device(gpu.pci_id or "") or target.catalog.intel_device_by_name(gpu.name or "")
    intel = target.catalog.accelerators.intel
    family = next((f for f in intel.families if device is not None and f.family == device.family), None)
    if family is None or not _supports_system(target.machine, family):
        return None
    return next((Candidate(build=b) for b in target.builds if b.variant == intel.variant), None)


def _supports_system(machine: Machine, family: IntelFamily) -> bool:
    system = "wsl" if machine.os.wsl else machine.os.system
    if system not in family.systems:
        return False
    name_parts = (machine.os.name or "").split()
    return system != "windows" or family.lowest_windows is None or not name_parts or family.lowest_windows in name_parts
