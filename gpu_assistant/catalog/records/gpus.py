"""GPUs with NVIDIA's CUDA by device id: chip, compute capability, kind of computer (`gpus.json`)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ...core.versions import Capability
from .base import (
    ByteCount,
    CatalogFile,
    PciId,
)

Segment = Literal["desktop", "laptop", "workstation", "mobile-workstation", "datacenter", "mining"]


class GpuRecord(Struct, frozen=True, kw_only=True):
    """One NVIDIA PCI device id; `memory_bytes` is None where GPUs with this id differ in it."""

    pci_id: PciId
    name: str
    chip: str
    architecture: str
    compute_capability: Capability | None
    memory_bytes: ByteCount | None
    segment: Segment

    @property
    def is_laptop(self) -> bool:
        """Whether GPUs with this id are built into laptops."""
        return self.segment in ("laptop", "mobile-workstation")


class GpuIdRange(Struct, frozen=True, kw_only=True):
    """A range of PCI device ids, both ends included, whose known ids all have this compute capability."""

    first: PciId
    last: PciId
    compute_capability: Capability


class CapabilityRange(Struct, frozen=True, kw_only=True):
    """The lowest and highest compute capability that NVIDIA has published."""

    lowest: Capability
    highest: Capability
    source: str


class SmallMemory(Struct, frozen=True, kw_only=True):
    """A card with no more memory than this computes, but has no room for the models of today."""

    bytes: ByteCount
    source: str


class GpuCatalog(CatalogFile, frozen=True, kw_only=True):
    """`gpus.json`; `ranges` are in ascending order; `capabilities` bounds those of all files."""

    capabilities: CapabilityRange | None = None
    small_memory: SmallMemory | None = None
    ranges: tuple[GpuIdRange, ...]
    gpus: tuple[GpuRecord, ...]
