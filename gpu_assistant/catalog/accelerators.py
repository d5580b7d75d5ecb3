"""Graphics processors that PyTorch uses without CUDA."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ..core.machine import SystemName
from .subject import Arch, Confidence, HttpsUrl, DottedVersion, PciId, CatalogFile, Variant

Gfx = Annotated[str, Meta(pattern=r"^gfx[0-9a-f]{3,4}$")]


class AmdWindowsSupport(Struct, frozen=True, kw_only=True):
    """AMD on Windows: whether PyTorch's own index has builds, AMD's preview, and the chips that ROCm serves in WSL."""

    builds: bool
    preview: bool
    preview_url: HttpsUrl
    wsl_chips: tuple[Gfx, ...]
    source: str
    sources: tuple[str, ...] = ()


class AmdChip(Struct, frozen=True, kw_only=True):
    """The ROCm builds of PyTorch that carry code for a chip, newest first, Linux."""

    gfx: Gfx
    variants: tuple[Variant, ...]
    source: str
    confidence: Confidence = "high"


class AmdDevice(Struct, frozen=True, kw_only=True):
    """One AMD device id and its chip."""

    pci_id: PciId
    name: str
    gfx: Gfx
    source: str
    confidence: Confidence = "high"


class IntelFamily(Struct, frozen=True, kw_only=True):
    """Intel processors that PyTorch names as validated, and where; `lowest_windows` is a release's name."""

    family: str
    systems: tuple[Literal["windows", "linux", "wsl"], ...]
    lowest_windows: str | None
    source: str
    confidence: Confidence = "high"


class IntelSupport(Struct, frozen=True, kw_only=True):
    """Which build serves Intel, from which PyTorch on; `other_chips`: whether chips of no family here may try."""

    variant: Variant
    from_release: DottedVersion
    families: tuple[IntelFamily, ...]
    other_chips: bool
    source: str


class IntelDevice(Struct, frozen=True, kw_only=True):
    """One Intel device id of a validated family."""

    pci_id: PciId
    name: str
    family: str
    source: str
    confidence: Confidence = "high"


class AppleSupport(Struct, frozen=True, kw_only=True):
    """PyTorch on Apple's own chips: part of every build for that system."""

    device: str
    arch: Arch
    system: SystemName
    source: str


class LinuxGpuGroups(Struct, frozen=True, kw_only=True):
    """The groups of users whom Linux lets compute on a maker's cards."""

    vendor: Literal["amd", "intel"]
    groups: tuple[str, ...]
    source: str


class AcceleratorCatalog(CatalogFile, frozen=True, kw_only=True):
    """`accelerators.json`; devices sorted by id."""

    amd_windows: AmdWindowsSupport
    amd_chips: tuple[AmdChip, ...]
    amd_devices: tuple[AmdDevice, ...]
    intel: IntelSupport
    intel_devices: tuple[IntelDevice, ...]
    apple: AppleSupport
    linux_groups: tuple[LinuxGpuGroups, ...] = ()
