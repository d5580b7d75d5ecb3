"""The machine's NVIDIA GPUs with what the catalog knows about their chips, and names of adapters for sentences."""

from __future__ import annotations

import re

from msgspec import Struct

from ..catalog.gpu_names import is_laptop_name
from ..catalog.records.gpus import GpuRecord, Segment
from ..catalog.store import Catalog
from ..core.machine import Gpu, Machine, Vendor, virtual_gpu_board, virtual_gpu_series
from ..core.versions import Capability

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
    """One NVIDIA GPU. `capability` is None where neither the machine nor the catalog knows it; `memory_bytes` 0 where
    it is unknown.

    `name` is for a sentence of its own and may be the code of a text; `label` is for a list of GPUs. `segment` decides
    which driver packages fit. Where the PCI id contradicts the GPU, `name_by_id` is the other chip's name, or
    `capability_by_id` the other capability.
    """

    name: str
    label: str
    capability: Capability | None
    memory_bytes: int
    segment: Segment
    name_by_id: str | None = None
    capability_by_id: Capability | None = None

    @property
    def capability_text(self) -> str | None:
        """The compute capability as NVIDIA writes it: "8.9"."""
        return None if self.capability is None else str(self.capability)


def nvidia_gpus(machine: Machine, catalog: Catalog) -> tuple[NvidiaGpu, ...]:
    """The NVIDIA GPUs that run CUDA, by compute capability, then by memory, highest first; unknown chips last."""
    gpus = [_describe_gpu(gpu, catalog) for gpu in machine.gpus_of("nvidia") if not lacks_cuda(gpu, catalog)]
    if len(gpus) > 1:
        gpus.sort(key=lambda gpu: (gpu.capability.parts if gpu.capability else (), gpu.memory_bytes), reverse=True)
    return tuple(gpus)


def lacks_cuda(gpu: Gpu, catalog: Catalog) -> bool:
    """Whether this is a virtual GPU of the series for desktops and applications, on which CUDA does not run."""
    series, virtual_gpus = virtual_gpu_series(gpu.name), catalog.drivers.virtual_gpus
    return series is not None and virtual_gpus is not None and series not in virtual_gpus.cuda_series


def is_embedded_gpu(name: str, catalog: Catalog) -> bool:
    """Whether a GPU is named as those of NVIDIA's embedded boards are."""
    embedded = catalog.pytorch.embedded
    return embedded is not None and not set(re.split(r"[^a-z0-9]+", name.casefold())).isdisjoint(embedded.names)


def _describe_gpu(gpu: Gpu, catalog: Catalog) -> NvidiaGpu:
    # What the GPU itself reports wins; the catalog fills the gaps, by PCI id before name.
    row = catalog.gpu(gpu.pci_id) if gpu.pci_id else None
    named_row = _row_by_name(gpu, catalog) if gpu.name and (row is None or row.name != gpu.name) else None
    capability = Capability.parse(gpu.compute_capability)
    if capability is None and gpu.pci_id:
        capability = catalog.gpu_capability(gpu.pci_id)
    if capability is None and row is None and named_row is not None:
        capability = named_row.compute_capability
    name_by_id = None
    if row is not None and named_row is not None and row.compute_capability != named_row.compute_capability:
        name_by_id = row.name
    # The memory of a part of a GPU is not that of the whole one.
    is_part = bool(gpu.vgpu or gpu.mig) or virtual_gpu_board(gpu.name) is not None
    row_capability = row.compute_capability if row is not None else None
    return NvidiaGpu(
        name=display_name(gpu, catalog),
        label=display_label(gpu, catalog),
        capability=capability,
        memory_bytes=gpu.memory_bytes or (0 if is_part else _row_memory(row or named_row)),
        segment=_driver_segment(gpu, row or named_row),
        name_by_id=name_by_id,
        capability_by_id=row_capability if capability is not None and row_capability != capability else None,
    )


def _row_by_name(gpu: Gpu, catalog: Catalog) -> GpuRecord | None:
    """The catalog's record for a name; a virtual GPU is a part of the board that it is named after."""
    return catalog.gpu_by_name(virtual_gpu_board(gpu.name) or gpu.name or "")


def _row_memory(row: GpuRecord | None) -> int:
    return (row.memory_bytes if row is not None else None) or 0


def _driver_segment(gpu: Gpu, row: GpuRecord | None) -> Segment:
    """The product line of driver packages; a laptop's professional GPU uses those of workstations."""
    segment: Segment = row.segment if row is not None else "desktop"
    if segment == "mobile-workstation":
        return "workstation"
    if segment == "desktop" and gpu.laptop is None and row is not None and is_laptop_name(gpu.name or ""):
        segment = "laptop"
    if segment in ("desktop", "laptop") and gpu.laptop is not None:
        segment = "laptop" if gpu.laptop else "desktop"
    return segment


def display_name(gpu: Gpu, catalog: Catalog) -> str:
    """An adapter's name for a sentence, else the catalog's for its id, else the code of a text ("this AMD card")."""
    return _product_name(gpu) or _catalog_name(gpu, catalog) or f"@gpu.nameless.{gpu.vendor}"


def display_label(gpu: Gpu, catalog: Catalog) -> str:
    """An adapter's name for a list, else its PCI id, else its vendor."""
    return (
        _product_name(gpu) or _catalog_name(gpu, catalog) or _strip_code_mark(gpu.pci_id) or _VENDOR_NAMES[gpu.vendor]
    )


def _product_name(gpu: Gpu) -> str:
    """The name under which it is sold. lspci writes "GP104 [GeForce GTX 1080]"; the name of Windows' own basic driver
    is no product's.
    """
    name = _strip_code_mark(gpu.name)
    if _GENERIC_NAME.match(name):
        return ""
    match = _DEVICE_LIST_NAME.match(name)
    return match["name"].strip() if match is not None else name


def _strip_code_mark(text: str | None) -> str:
    """A text from outside: a leading "@" would make it the code of one of our texts."""
    return (text or "").strip().lstrip("@").strip()


def _catalog_name(gpu: Gpu, catalog: Catalog) -> str | None:
    match gpu.vendor:
        case "nvidia":
            nvidia = catalog.gpu(gpu.pci_id or "")
            return nvidia.name if nvidia is not None else None
        case "amd":
            amd = catalog.amd_device(gpu.pci_id or "")
            return amd.name if amd is not None else None
        case "intel":
            intel = catalog.intel_device(gpu.pci_id or "")
            return intel.name if intel is not None else None
        case _:
            return None
