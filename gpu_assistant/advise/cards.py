"""The machine's NVIDIA cards with what is known about their chips."""

from __future__ import annotations

from msgspec import Struct

from ..catalog.load import Catalog
from ..catalog.names import portable_name
from ..catalog.records import Segment
from ..catalog.versions import capability
from ..core.machine import Gpu, Machine, Vendor

_MAKERS: dict[Vendor, str] = {"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel", "apple": "Apple", "other": "GPU"}


class Card(Struct, frozen=True, kw_only=True):
    """One NVIDIA card. `capability` (8, 9) is None where neither the machine nor the catalog knows it."""

    name: str
    capability: tuple[int, int] | None
    memory_bytes: int
    segment: Segment

    @property
    def capability_text(self) -> str | None:
        """The compute capability as NVIDIA writes it: "8.9"."""
        return None if self.capability is None else f"{self.capability[0]}.{self.capability[1]}"


def said_name(gpu: Gpu) -> str:
    """The adapter's name for a sentence; a leading "@" would be taken for another text's code."""
    said = ((text or "").strip().lstrip("@").strip() for text in (gpu.name, gpu.pci_id))
    return next(filter(None, said), _MAKERS[gpu.vendor])


def nvidia_cards(machine: Machine, catalog: Catalog) -> tuple[Card, ...]:
    """The NVIDIA cards, strongest first: by compute capability, then by memory; unknown chips last."""
    cards = [_card(gpu, catalog) for gpu in machine.gpus if gpu.vendor == "nvidia"]
    if len(cards) > 1:
        cards.sort(key=lambda card: (card.capability or (0, 0), card.memory_bytes), reverse=True)
    return tuple(cards)


def _card(gpu: Gpu, catalog: Catalog) -> Card:
    # What the card says of itself wins; the catalog fills the gaps, by exact id before name.
    row = catalog.gpu(gpu.pci_id) if gpu.pci_id else None
    if row is None and gpu.name:
        row = catalog.gpu_named(gpu.name)
    known = capability(gpu.compute_capability)
    if known is None and row is not None:
        known = capability(row.compute_capability)
    segment: Segment = row.segment if row is not None else "desktop"
    if segment == "desktop" and gpu.laptop is None and row is not None and portable_name(gpu.name or ""):
        segment = "laptop"
    if segment in ("desktop", "laptop") and gpu.laptop is not None:
        segment = "laptop" if gpu.laptop else "desktop"
    return Card(
        name=said_name(gpu) if gpu.name or row is None else row.name,
        capability=known,
        memory_bytes=gpu.memory_bytes or (row.memory_bytes if row is not None else None) or 0,
        segment=segment,
    )
