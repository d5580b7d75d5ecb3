"""Cards that are known by a driver's name alone."""

from __future__ import annotations

import pytest

from gpu_assistant.catalog.gpu_names import chip_name, normalize_name
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir

CATALOG = load_catalog(resources_dir() / "catalog")


@pytest.mark.parametrize(
    ("name", "capability", "laptop"),
    [
        ("NVIDIA GeForce GTX 1060 with Max-Q Design", "6.1", True),
        ("NVIDIA GeForce GTX 1650 with Max-Q Design", "7.5", True),
        ("NVIDIA GeForce RTX 2080 Super with Max-Q Design", "7.5", True),
        ("Quadro RTX 5000 with Max-Q Design", "7.5", True),
        ("NVIDIA GeForce RTX 4060 Laptop GPU", "8.9", True),
        ("NVIDIA GeForce RTX 3050 6GB Laptop GPU", "8.6", True),
        ("NVIDIA GeForce RTX 4060", "8.9", False),
        ("Tesla V100-SXM2-16GB", "7.0", False),
        ("Tesla P100-PCIE-16GB", "6.0", False),
        ("NVIDIA A100-SXM4-80GB", "8.0", False),
        ("NVIDIA A100 80GB PCIe", "8.0", False),
        ("NVIDIA H100 80GB HBM3", "9.0", False),
        ("NVIDIA GH200 480GB", "9.0", False),
        ("NVIDIA RTX 6000 Ada Generation", "8.9", False),
        ("Quadro RTX 6000", "7.5", False),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "12.0", False),
    ],
)
def test_driver_name_finds_the_chip(name: str, capability: str, laptop: bool) -> None:
    row = CATALOG.gpu_by_name(name)
    assert row is not None
    assert (str(row.compute_capability), row.is_laptop) == (capability, laptop)


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA GeForce RTX 6090",
        "GeForce GT 730",
        "GeForce GTX 860M",
        "NVIDIA Graphics Device",
        "NVIDIA GPU",
        "",
        "16GB",
    ],
)
def test_an_unknown_name_stays_unknown(name: str) -> None:
    assert CATALOG.gpu_by_name(name) is None


def test_chip_name_is_unique_where_full_name_is() -> None:
    chips: dict[str, set[str | None]] = {}
    whole: dict[str, set[str | None]] = {}
    for row in CATALOG.gpus.gpus:
        chips.setdefault(chip_name(row.name), set()).add(row.compute_capability)
        whole.setdefault(normalize_name(row.name), set()).add(row.compute_capability)
    sold_on_two = {name for name, matches in whole.items() if len(matches) > 1}
    assert {name for name, matches in chips.items() if name and len(matches) > 1} <= sold_on_two


@pytest.mark.parametrize(
    ("name", "gfx"),
    [
        ("AMD Radeon RX 7900 XTX", "gfx1100"),
        ("AMD Radeon RX 9070 XT", "gfx1201"),
        ("AMD Radeon RX 6800 XT", "gfx1030"),
        ("AMD Radeon PRO W7600", "gfx1102"),
        ("AMD Radeon(TM) 8060S Graphics", "gfx1151"),
        ("AMD Instinct MI300X", "gfx942"),
        ("AMD Radeon(TM) Graphics", None),
        ("AMD Radeon RX 580", "gfx803"),
        ("AMD Radeon R9 290", None),
        ("", None),
    ],
)
def test_radeon_name_finds_the_chip(name: str, gfx: str | None) -> None:
    device = CATALOG.amd_device_by_name(name)
    assert (device.gfx if device is not None else None) == gfx


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("Intel(R) Arc(TM) A770 Graphics", "Alchemist"),
        ("Intel Arc B580", "Battlemage"),
        ("Intel(R) Arc(TM) Pro B50 Graphics", "Battlemage"),
        ("Intel(R) Arc(TM) 140V GPU (16GB)", "Lunar Lake"),
        ("Intel(R) Iris(R) Xe Graphics", None),
        ("Intel(R) UHD Graphics 630", None),
    ],
)
def test_arc_name_finds_the_family(name: str, family: str | None) -> None:
    device = CATALOG.intel_device_by_name(name)
    assert (device.family if device is not None else None) == family
