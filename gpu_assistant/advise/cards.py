"""The machine's NVIDIA cards with what is known about their chips."""

from __future__ import annotations

import re

from msgspec import Struct

from ..catalog.load import Catalog
from ..catalog.names import portable_name
from ..catalog.records import GpuRow, Segment
from ..catalog.versions import capability
from ..core.machine import Gpu, Machine, Vendor

_LISTED = re.compile(r"\S+ \[(?P<name>[^\[\]]*\w[^\[\]]*)\]$")
_STAND_IN = re.compile(r"microsoft\b", re.IGNORECASE)
_MAKERS: dict[Vendor, str] = {"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel", "apple": "Apple", "other": "GPU"}


class Card(Struct, frozen=True, kw_only=True):
    """One NVIDIA card. `capability` (8, 9) is None where neither the machine nor the catalog knows it. `name` stands
    alone in a sentence and may be the code of a text; `listed` stands among others. `segment` is the line of drivers.
    `by_id` is what its id says where that is another chip's card than its name says; `listed_capability` is that of
    its id where the card claims another one.
    """

    name: str
    listed: str
    capability: tuple[int, int] | None
    memory_bytes: int
    segment: Segment
    by_id: str | None = None
    listed_capability: str | None = None

    @property
    def capability_text(self) -> str | None:
        """The compute capability as NVIDIA writes it: "8.9"."""
        return None if self.capability is None else f"{self.capability[0]}.{self.capability[1]}"


def said_name(gpu: Gpu, catalog: Catalog) -> str:
    """The adapter's name for a sentence, else what its id stands for, else "this AMD card" as the code of a text."""
    return _own_name(gpu) or _name_by_id(gpu, catalog) or f"@gpu.nameless.{gpu.vendor}"


def listed_name(gpu: Gpu, catalog: Catalog) -> str:
    """The adapter's name beside others, else its id, else its maker."""
    return _own_name(gpu) or _name_by_id(gpu, catalog) or _bare(gpu.pci_id) or _MAKERS[gpu.vendor]


def _own_name(gpu: Gpu) -> str:
    """What the card is sold as: a device list writes "GP104 [GeForce GTX 1080]", and what Windows calls its own driver
    is no card's name.
    """
    name = _bare(gpu.name)
    if _STAND_IN.match(name):
        return ""
    listed = _LISTED.match(name)
    return listed["name"].strip() if listed is not None else name


def _bare(text: str | None) -> str:
    """Somebody's own words; a leading "@" would be taken for another text's code."""
    return (text or "").strip().lstrip("@").strip()


def _name_by_id(gpu: Gpu, catalog: Catalog) -> str | None:
    match gpu.vendor:
        case "nvidia":
            card = catalog.gpu(gpu.pci_id or "")
            return card.name if card is not None else None
        case "amd":
            amd = catalog.amd_device(gpu.pci_id or "")
            return amd.name if amd is not None else None
        case "intel":
            intel = catalog.intel_device(gpu.pci_id or "")
            return intel.name if intel is not None else None
        case _:
            return None


def nvidia_cards(machine: Machine, catalog: Catalog) -> tuple[Card, ...]:
    """The NVIDIA cards, strongest first: by compute capability, then by memory; unknown chips last."""
    cards = [_card(gpu, catalog) for gpu in machine.gpus if gpu.vendor == "nvidia"]
    if len(cards) > 1:
        cards.sort(key=lambda card: (card.capability or (0, 0), card.memory_bytes), reverse=True)
    return tuple(cards)


def _card(gpu: Gpu, catalog: Catalog) -> Card:
    # What the card says of itself wins; the catalog fills the gaps, by id before name.
    row = catalog.gpu(gpu.pci_id) if gpu.pci_id else None
    named = catalog.gpu_named(gpu.name) if gpu.name and (row is None or row.name != gpu.name) else None
    known = capability(gpu.compute_capability)
    if known is None and gpu.pci_id:
        known = capability(catalog.gpu_capability(gpu.pci_id))
    if known is None and row is None and named is not None:
        known = capability(named.compute_capability)
    by_id = None
    if row is not None and named is not None and row.compute_capability != named.compute_capability:
        by_id = row.name
    listed = row.compute_capability if row is not None else None
    return Card(
        name=said_name(gpu, catalog),
        listed=listed_name(gpu, catalog),
        capability=known,
        memory_bytes=gpu.memory_bytes or _memory(row or named),
        segment=_segment(gpu, row or named),
        by_id=by_id,
        listed_capability=listed if known is not None and capability(listed) not in (None, known) else None,
    )


def _memory(row: GpuRow | None) -> int:
    return (row.memory_bytes if row is not None else None) or 0


def _segment(gpu: Gpu, row: GpuRow | None) -> Segment:
    """The line of drivers: a laptop's professional card has those of the desktop's."""
    segment: Segment = row.segment if row is not None else "desktop"
    if segment == "mobile-workstation":
        return "workstation"
    if segment == "desktop" and gpu.laptop is None and row is not None and portable_name(gpu.name or ""):
        segment = "laptop"
    if segment in ("desktop", "laptop") and gpu.laptop is not None:
        segment = "laptop" if gpu.laptop else "desktop"
    return segment
