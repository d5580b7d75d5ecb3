"""One list of cards from what the system, the driver and the catalog say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ..catalog.records import GpuRow
from ..core.machine import Gpu

Lookup = Callable[[str], GpuRow | None]


def merged(adapters: Sequence[Gpu], cards: Sequence[Gpu], catalog: Lookup) -> tuple[Gpu, ...]:
    """The driver's cards first, in its own order (which is the order that CUDA counts them in by PCI), then
    NVIDIA adapters that it does not know, then other makers' adapters. `index` is the place in this list.

    Adapters and the driver's cards are the same thing where their PCI ids are; a card that the system does
    not list (WSL) is kept. What neither knows is filled from the catalog.
    """
    unknown = list(adapters)
    found = []
    for card in cards:
        adapter = next((adapter for adapter in unknown if adapter.pci_id == card.pci_id), None)
        if adapter is not None:
            unknown.remove(adapter)
        found.append(_joined(card, adapter))
    found += sorted(unknown, key=lambda adapter: adapter.vendor != "nvidia")
    return tuple(_completed(gpu, index, catalog) for index, gpu in enumerate(found))


def _joined(card: Gpu, adapter: Gpu | None) -> Gpu:
    if adapter is None:
        return card
    return replace(
        card,
        name=card.name or adapter.name,
        memory_bytes=card.memory_bytes or adapter.memory_bytes,
        laptop=card.laptop if card.laptop is not None else adapter.laptop,
    )


def _completed(gpu: Gpu, index: int, catalog: Lookup) -> Gpu:
    row = catalog(gpu.pci_id) if gpu.pci_id is not None else None
    if row is None:
        return replace(gpu, index=index)
    return replace(
        gpu,
        index=index,
        name=gpu.name or row.name,
        compute_capability=gpu.compute_capability or row.compute_capability,
        memory_bytes=gpu.memory_bytes or row.memory_bytes,
        laptop=gpu.laptop if gpu.laptop is not None else row.laptop,
    )
