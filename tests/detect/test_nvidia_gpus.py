"""One list of cards out of three sources."""

from __future__ import annotations

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.machine import Gpu
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.detect.nvidia import CatalogGpuLookup, merge_gpus

CATALOG = load_catalog(resources_dir() / "catalog")
NAMES = CatalogGpuLookup(CATALOG)
IGPU = Gpu(index=0, vendor="intel", pci_id="8086:46a6")
LAPTOP_4060 = Gpu(index=1, vendor="nvidia", pci_id="10de:28a0")


def h100(uuid: str) -> Gpu:
    return Gpu(
        vendor="nvidia", name="NVIDIA H100 80GB HBM3", pci_id="10de:2330", uuid=uuid, memory_bytes=85_520_809_984
    )


def test_no_adapters_give_no_gpus() -> None:
    assert merge_gpus((), (), NAMES) == ()


def test_nvidia_first_and_reindexed() -> None:
    found = merge_gpus((IGPU, LAPTOP_4060), (), NAMES)
    assert [(gpu.index, gpu.vendor) for gpu in found] == [(0, "nvidia"), (1, "intel")]
    row = CATALOG.gpu("10de:28a0")
    assert row is not None
    assert (found[0].name, found[0].compute_capability, found[0].laptop) == (row.name, row.compute_capability, True)
    assert found[1].name is None


def test_identical_gpus_keep_driver_order() -> None:
    adapters = tuple(Gpu(index=n, vendor="nvidia", pci_id="10de:2330") for n in range(2))
    found = merge_gpus(adapters, (h100("GPU-b"), h100("GPU-a")), NAMES)
    assert [(gpu.index, gpu.uuid) for gpu in found] == [(0, "GPU-b"), (1, "GPU-a")]


def test_gpu_unknown_to_driver_is_kept() -> None:
    adapters = tuple(Gpu(index=n, vendor="nvidia", pci_id="10de:2330") for n in range(2))
    found = merge_gpus(adapters, (h100("GPU-a"),), NAMES)
    assert [gpu.uuid for gpu in found] == ["GPU-a", None]


def test_gpu_unknown_to_system_is_kept() -> None:
    """WSL has no such PCI device."""
    assert [gpu.uuid for gpu in merge_gpus((), (h100("GPU-a"),), NAMES)] == ["GPU-a"]


def test_driver_values_precede_system_and_catalog() -> None:
    adapter = Gpu(vendor="nvidia", name="Microsoft's name", pci_id="10de:2882", memory_bytes=1, laptop=False)
    card = Gpu(vendor="nvidia", name="NVIDIA GeForce RTX 4060", pci_id="10de:2882", memory_bytes=2)
    (found,) = merge_gpus((adapter,), (card,), NAMES)
    assert (found.name, found.memory_bytes, found.laptop, found.compute_capability) == (card.name, 2, False, "8.9")
    (found,) = merge_gpus((adapter,), (Gpu(vendor="nvidia", pci_id="10de:2882"),), NAMES)
    assert (found.name, found.memory_bytes) == ("Microsoft's name", 1)


def test_unknown_gpu_stays_unknown() -> None:
    (found,) = merge_gpus((Gpu(vendor="nvidia", pci_id="10de:ffff"),), (), NAMES)
    assert (found.name, found.compute_capability, found.memory_bytes, found.laptop) == (None, None, None, None)
