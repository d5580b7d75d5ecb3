"""The machine's NVIDIA cards with what is known about their chips."""

from __future__ import annotations

import re

from msgspec import Struct

from ..catalog.records.catalog import GpuRecord, Segment
from ..catalog.records.hardware import is_laptop_name
from ..catalog.store import Catalog
from ..catalog.versions import parse_capability
from ..core.machine import Gpu, Machine, Vendor

_DEVICE_LIST_NAME = re.compile(r"\S+ \[(?P<name>[^\[\]]*\w[^\[\]]*)\]$")
_GENERIC_NAME = re.compile(r"microsoft\b", re.IGNORECASE)
_VENDOR_NAMES: dict[Vendor, str] = {
    "nvidia": "NVIDIA",
    "amd": "AMD",
    "intel": "Intel",
    "apple": "Apple",
    "other": "GPU",
}


class NvidiaGpu(Struct, frozen=True, kw_only=True):
    """One NVIDIA card. `capability` (8, 9) is None where neither the machine nor the catalog knows it. `name` stands
    alone in a sentence and may be the code of a text; `listed` stands among others. `segment` is the line of drivers.
    `by_id` is what its id says where that is another chip's card than its name says; `listed_capability` is that of
    its id where the card claims another one.
    """

    name: str
    label: str
    capability: tuple[int, int] | None
    memory_bytes: int
    segment: Segment
    name_by_id: str | None = None
    capability_by_id: str | None = None

    @property
    def capability_text(self) -> str | None:
        """The compute capability as NVIDIA writes it: "8.9"."""
        return None if self.capability is None else f"{self.capability[0]}.{self.capability[1]}"


def display_name(gpu: Gpu, catalog: Catalog) -> str:
    """The adapter's name for a sentence, else what its id stands for, else "this AMD card" as the code of a text."""
    return _product_name(gpu) or _catalog_name(gpu, catalog) or f"@gpu.nameless.{gpu.vendor}"


def display_label(gpu: Gpu, catalog: Catalog) -> str:
    """The adapter's name beside others, else its id, else its maker."""
    return (
        _product_name(gpu) or _catalog_name(gpu, catalog) or _strip_code_mark(gpu.pci_id) or _VENDOR_NAMES[gpu.vendor]
    )


def _product_name(gpu: Gpu) -> str:
    """What the card is sold as: a device list writes "GP104 [GeForce GTX 1080]", and what Windows calls its own driver
    is no card's name.
    """
    name = _strip_code_mark(gpu.name)
    if _GENERIC_NAME.match(name):
        return ""
    match = _DEVICE_LIST_NAME.match(name)
    return match["name"].strip() if match is not None else name


def _strip_code_mark(text: str | None) -> str:
    """Somebody's own words; a leading "@" would be taken for another text's code."""
    return (text or "").strip().lstrip("@").strip()


def _catalog_name(gpu: Gpu, catalog: Catalog) -> str | None:
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


def nvidia_gpus(machine: Machine, catalog: Catalog) -> tuple[NvidiaGpu, ...]:
    """The NVIDIA cards, strongest first: by compute capability, then by memory; unknown chips last."""
    cards = [_describe_gpu(gpu, catalog) for gpu in machine.gpus if gpu.vendor == "nvidia"]
    if len(cards) > 1:
        cards.sort(key=lambda card: (card.capability or (0, 0), card.memory_bytes), reverse=True)
    return tuple(cards)


def _describe_gpu(gpu: Gpu, catalog: Catalog) -> NvidiaGpu:
    # What the card says of itself wins; the catalog fills the gaps, by id before name.
    row = catalog.gpu(gpu.pci_id) if gpu.pci_id else None
    named_row = catalog.gpu_by_name(gpu.name) if gpu.name and (row is None or row.name != gpu.name) else None
    chip = parse_capability(gpu.compute_capability)
    if chip is None and gpu.pci_id:
        chip = parse_capability(catalog.gpu_capability(gpu.pci_id))
    if chip is None and row is None and named_row is not None:
        chip = parse_capability(named_row.compute_capability)
    name_by_id = None
    if row is not None and named_row is not None and row.compute_capability != named_row.compute_capability:
        name_by_id = row.name
    row_capability = row.compute_capability if row is not None else None
    return NvidiaGpu(
        name=display_name(gpu, catalog),
        label=display_label(gpu, catalog),
        capability=chip,
        memory_bytes=gpu.memory_bytes or _row_memory(row or named_row),
        segment=_driver_segment(gpu, row or named_row),
        name_by_id=name_by_id,
        capability_by_id=row_capability
        if chip is not None and parse_capability(row_capability) not in (None, chip)
        else None,
    )


def _row_memory(row: GpuRecord | None) -> int:
    return (row.memory_bytes if row is not None else None) or 0


def _driver_segment(gpu: Gpu, row: GpuRecord | None) -> Segment:
    """The line of drivers: a laptop's professional card has those of the desktop's."""
    segment: Segment = row.segment if row is not None else "desktop"
    if segment == "mobile-workstation":
        return "workstation"
    if segment == "desktop" and gpu.laptop is None and row is not None and is_laptop_name(gpu.name or ""):
        segment = "laptop"
    if segment in ("desktop", "laptop") and gpu.laptop is not None:
        segment = "laptop" if gpu.laptop else "desktop"
    return segment
