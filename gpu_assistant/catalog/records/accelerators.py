"""Graphics processors that PyTorch uses without CUDA: AMD, Intel, Apple (`accelerators.json`)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ...core.machine import SystemName
from ...core.versions import Version
from .base import (
    Arch,
    CatalogFile,
    Fact,
    Gfx,
    HttpsUrl,
    PciId,
    Variant,
)


class AmdWindowsSupport(Struct, frozen=True, kw_only=True):
    """AMD on Windows: the `chips` that AMD supports there from the Windows of a name on ("11"), with the page that says
    how, and the chips that ROCm serves in WSL, with a page of their own.
    """

    chips: tuple[Gfx, ...]
    lowest_windows: str
    url: HttpsUrl
    wsl_url: HttpsUrl
    wsl_chips: tuple[Gfx, ...]
    source: str
    sources: tuple[str, ...] = ()


class AmdChip(Fact, frozen=True, kw_only=True):
    """The ROCm variants of PyTorch for Linux with code for a chip, newest first; None: not known whether they work."""

    gfx: Gfx
    variants: tuple[Variant, ...] | None


class AmdDevice(Fact, frozen=True, kw_only=True):
    """One AMD PCI device id and its chip."""

    pci_id: PciId
    name: str
    gfx: Gfx


class AmdOverride(Fact, frozen=True, kw_only=True):
    """Chips that run another one's code where an environment `variable` says so; their maker does not support it."""

    chips: tuple[Gfx, ...]
    runs_as: Gfx
    variable: str


class IntelFamily(Fact, frozen=True, kw_only=True):
    """A family of Intel GPUs that PyTorch lists as validated on `systems`; `lowest_windows` is a release's name."""

    family: str
    systems: tuple[Literal["windows", "linux", "wsl"], ...]
    lowest_windows: str | None


class IntelSupport(Struct, frozen=True, kw_only=True):
    """PyTorch's variant for Intel GPUs and its first release; `other_chips`: whether it may be tried on GPUs outside
    the families.
    """

    variant: Variant
    from_release: Version
    families: tuple[IntelFamily, ...]
    other_chips: bool
    source: str


class IntelDevice(Fact, frozen=True, kw_only=True):
    """One Intel PCI device id of a validated family."""

    pci_id: PciId
    name: str
    family: str


class AppleSupport(Struct, frozen=True, kw_only=True):
    """PyTorch on Apple silicon, supported by every build for macOS."""

    device: str
    arch: Arch
    system: SystemName
    source: str


class LinuxGpuGroups(Struct, frozen=True, kw_only=True):
    """The user groups that Linux requires for access to a vendor's GPUs."""

    vendor: Literal["amd", "intel"]
    groups: tuple[str, ...]
    source: str


class IntelRuntime(Fact, frozen=True, kw_only=True):
    """The command that installs Level Zero, Intel's compute runtime, from a distribution's own packages.

    Empty `releases` stand for all. `families` are those that its version knows, empty: all.
    """

    distribution: str
    releases: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    command: tuple[str, ...]


class AcceleratorCatalog(CatalogFile, frozen=True, kw_only=True):
    """`accelerators.json`; devices are sorted by id."""

    amd_windows: AmdWindowsSupport
    amd_chips: tuple[AmdChip, ...]
    amd_devices: tuple[AmdDevice, ...]
    amd_overrides: tuple[AmdOverride, ...] = ()
    intel: IntelSupport
    intel_devices: tuple[IntelDevice, ...]
    apple: AppleSupport
    linux_groups: tuple[LinuxGpuGroups, ...] = ()
    intel_runtimes: tuple[IntelRuntime, ...] = ()
