"""One list of cards from what the system, the driver and the catalog say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from ..catalog.load import Catalog
from ..core.errors import AppError
from ..core.machine import Gpu


class GpuLookup(Protocol):
    """Who knows more of a card by its PCI id."""

    def complete(self, gpu: Gpu) -> Gpu:
        """The card with what was not known of it."""
        ...


class CatalogGpuLookup:
    """The catalog's cards: NVIDIA's with all that they can do, AMD's and Intel's by name and chip."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def complete(self, gpu: Gpu) -> Gpu:
        """What the catalog does not know stays unknown."""
        if gpu.pci_id is None:
            return gpu
        if gpu.vendor == "nvidia":
            return self._complete_nvidia(gpu, gpu.pci_id)
        try:
            if gpu.vendor == "amd" and (amd := self._catalog.amd_device(gpu.pci_id)) is not None:
                return replace(gpu, name=gpu.name or amd.name, gfx=gpu.gfx or amd.gfx)
            if gpu.vendor == "intel" and (intel := self._catalog.intel_device(gpu.pci_id)) is not None:
                return replace(gpu, name=gpu.name or intel.name)
        except AppError:
            pass  # a catalog without this file says nothing of other makers; NVIDIA's part counts all the same
        return gpu

    def _complete_nvidia(self, gpu: Gpu, pci_id: str) -> Gpu:
        row = self._catalog.gpu(pci_id)
        if row is None:
            return gpu
        return replace(
            gpu,
            name=gpu.name or row.name,
            compute_capability=gpu.compute_capability or row.compute_capability,
            memory_bytes=gpu.memory_bytes or row.memory_bytes,
            laptop=gpu.laptop if gpu.laptop is not None else row.is_laptop,
        )


def merge_gpus(adapters: Sequence[Gpu], driver_gpus: Sequence[Gpu], catalog: GpuLookup) -> tuple[Gpu, ...]:
    """The driver's cards first, in its own order (which is the order that CUDA counts them in by PCI), then
    NVIDIA adapters that it does not know, then other makers' adapters. `index` is the place in this list.

    Adapters and the driver's cards are the same thing where their PCI ids are; a card that the system does
    not list (WSL) is kept. What neither knows is filled from the catalog.
    """
    unmatched = list(adapters)
    gpus = []
    for driver_gpu in driver_gpus:
        adapter = next((adapter for adapter in unmatched if adapter.pci_id == driver_gpu.pci_id), None)
        if adapter is not None:
            unmatched.remove(adapter)
        gpus.append(_merge_gpu(driver_gpu, adapter))
    gpus += sorted(unmatched, key=lambda adapter: adapter.vendor != "nvidia")
    return tuple(replace(catalog.complete(gpu), index=index) for index, gpu in enumerate(gpus))


def _merge_gpu(driver_gpu: Gpu, adapter: Gpu | None) -> Gpu:
    if adapter is None:
        return driver_gpu
    return replace(
        driver_gpu,
        name=driver_gpu.name or adapter.name,
        memory_bytes=driver_gpu.memory_bytes or adapter.memory_bytes,
        laptop=driver_gpu.laptop if driver_gpu.laptop is not None else adapter.laptop,
    )
