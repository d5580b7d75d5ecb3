"""The machines: systems × cards × drivers × goals × channels, as machine files hold them.

Every card meets every driver on Windows and on Linux, and every fourth under WSL; on the other systems, and for the
other goals and channels, the drivers take turns, so that each pair is there without each triple.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from .published import PublishedFacts, chip, version

GB = 2**30


class Case(NamedTuple):
    """One question: a machine, and what is wanted of it."""

    name: str
    machine: dict[str, Any]
    goal: str
    channel: str


SYSTEMS: dict[str, dict[str, Any]] = {
    "windows11": {"system": "windows", "name": "Windows 11 Pro", "version": "10.0.26100", "build": 26100},
    "windows10": {"system": "windows", "name": "Windows 10 Home", "version": "10.0.19045", "build": 19045},
    "windows10-old": {"system": "windows", "name": "Windows 10", "version": "10.0.17763", "build": 17763},
    "server2022": {
        "system": "windows",
        "name": "Windows Server 2022 Datacenter",
        "version": "10.0.20348",
        "build": 20348,
    },
    "mint22": {
        "system": "linux",
        "distro": "linuxmint",
        "distro_version": "22.2",
        "distro_like": ["ubuntu", "debian"],
        "distro_codename": "noble",
        "glibc": "2.39",
        "wsl": False,
    },
    "lmde6": {
        "system": "linux",
        "distro": "linuxmint",
        "distro_version": "6",
        "distro_like": ["debian"],
        "distro_codename": "bookworm",
        "glibc": "2.36",
        "wsl": False,
    },
    "fedora43": {"system": "linux", "distro": "fedora", "distro_version": "43", "glibc": "2.42", "wsl": False},
    "manjaro": {"system": "linux", "distro": "manjaro", "distro_like": ["arch"], "glibc": "2.42", "wsl": False},
    "leap16": {"system": "linux", "distro": "opensuse-leap", "distro_version": "16.0", "glibc": "2.40", "wsl": False},
    "centos7": {"system": "linux", "distro": "centos", "distro_version": "7", "glibc": "2.17", "wsl": False},
    "ubuntu18": {"system": "linux", "distro": "ubuntu", "distro_version": "18.04", "glibc": "2.27", "wsl": False},
    "ubuntu20": {"system": "linux", "distro": "ubuntu", "distro_version": "20.04", "glibc": "2.31", "wsl": False},
    "ubuntu22": {"system": "linux", "distro": "ubuntu", "distro_version": "22.04", "glibc": "2.35", "wsl": False},
    "ubuntu24": {"system": "linux", "distro": "ubuntu", "distro_version": "24.04", "glibc": "2.39", "wsl": False},
    "ubuntu26": {"system": "linux", "distro": "ubuntu", "distro_version": "26.04", "glibc": "2.43", "wsl": False},
    "debian12": {"system": "linux", "distro": "debian", "distro_version": "12", "glibc": "2.36", "wsl": False},
    "rocky8": {"system": "linux", "distro": "rocky", "distro_version": "8.10", "glibc": "2.28", "wsl": False},
    "rocky9": {"system": "linux", "distro": "rocky", "distro_version": "9.5", "glibc": "2.34", "wsl": False},
    "wsl2": {"system": "linux", "distro": "ubuntu", "distro_version": "24.04", "glibc": "2.39", "wsl": True},
    "windows-arm": {
        "system": "windows",
        "name": "Windows 11 Home",
        "version": "10.0.26100",
        "build": 26100,
        "arch": "arm64",
    },
    "raspberry": {"system": "linux", "distro": "debian", "distro_version": "12", "glibc": "2.36", "arch": "arm64"},
    "linux-arm-old": {
        "system": "linux",
        "distro": "ubuntu",
        "distro_version": "18.04",
        "glibc": "2.27",
        "arch": "arm64",
    },
    "linux-arm": {"system": "linux", "distro": "ubuntu", "distro_version": "24.04", "glibc": "2.39", "arch": "arm64"},
}
MACS: dict[str, dict[str, Any]] = {
    "mac-arm": {"system": "darwin", "name": "macOS 26", "version": "26.1", "arch": "arm64"},
    "mac-intel": {"system": "darwin", "name": "macOS 14", "version": "14.7", "arch": "x86_64"},
}
MAIN = ("windows11", "ubuntu24", "wsl2")

# Around every number at which something changes, and one of each branch in between.
DRIVERS: dict[str, tuple[str | None, ...]] = {
    "windows": (
        None, "391.35", "425.31", "441.22", "452.38", "452.39", "461.92", "471.96", "475.14", "497.29", "512.95",
        "520.06", "527.41", "528.32", "528.33", "537.13", "546.12", "551.61", "552.44", "555.85", "561.17", "566.03",
        "566.36", "570.65", "572.61", "576.57", "579.99", "580.00", "580.88", "581.57", "582.16", "582.78", "591.44",
        "595.97", "596.36", "610.47", "616.92", "617.41", "617.42", "617.43", "650.10",
    ),
    "linux": (
        None, "390.157", "418.226.00", "440.33.01", "450.80.01", "450.80.02", "460.106.00", "470.256.02", "495.46",
        "510.108.03", "515.105.01", "520.61.05", "525.60.12", "525.60.13", "530.30.02", "535.104.05", "535.183.01",
        "545.23.08", "550.54.15", "550.163.01", "555.42.01", "555.42.06", "560.35.05", "565.77", "570.26", "570.211.01",
        "575.57.08", "579.99", "580.65.05", "580.65.06", "580.126.20", "580.126.21", "590.48.01", "595.45.03",
        "595.71.05", "595.84", "595.85", "610.43.03", "616.10", "650.10",
    ),
}  # fmt: skip

OTHERS: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "server-screen": [{"vendor": "other", "name": "ASPEED Graphics Family"}],
    "rdna2": [{"vendor": "amd", "name": "AMD Radeon RX 6800 XT", "pci_id": "1002:73bf", "gfx": "gfx1030"}],
    "rdna3": [{"vendor": "amd", "name": "AMD Radeon RX 7900 XTX", "pci_id": "1002:744c", "gfx": "gfx1100"}],
    "rdna4": [{"vendor": "amd", "name": "AMD Radeon RX 9070 XT", "pci_id": "1002:7550", "gfx": "gfx1201"}],
    "cdna2": [{"vendor": "amd", "name": "AMD Instinct MI210", "pci_id": "1002:740f", "gfx": "gfx90a"}],
    "cdna3": [{"vendor": "amd", "name": "AMD Instinct MI300X", "pci_id": "1002:74a1", "gfx": "gfx942"}],
    "amd-igpu": [{"vendor": "amd", "name": "AMD Radeon Graphics", "pci_id": "1002:164e", "gfx": "gfx1036"}],
    "amd-old": [{"vendor": "amd", "name": "AMD Radeon RX 580", "pci_id": "1002:67df", "gfx": "gfx803"}],
    "arc-a770": [{"vendor": "intel", "name": "Intel(R) Arc(TM) A770 Graphics", "pci_id": "8086:56a0"}],
    "arc-b580": [{"vendor": "intel", "name": "Intel(R) Arc(TM) B580 Graphics", "pci_id": "8086:e20b"}],
    "adreno": [{"vendor": "other", "name": "Qualcomm Adreno X1-85 GPU"}],
    "intel-uhd": [{"vendor": "intel", "name": "Intel(R) UHD Graphics 630", "pci_id": "8086:3e92"}],
}
MAC_CARDS: dict[str, list[dict[str, Any]]] = {
    "mac-arm": [{"vendor": "apple", "name": "Apple M3"}],
    "mac-intel": [{"vendor": "amd", "name": "Radeon Pro 5500M"}],
}
ODD: dict[str, list[dict[str, Any]]] = {
    "kepler-3.5": [{"vendor": "nvidia", "name": "Tesla K40c", "compute_capability": "3.5"}],
    "kepler-3.7": [{"vendor": "nvidia", "name": "Tesla K80", "compute_capability": "3.7"}],
    "fermi": [{"vendor": "nvidia", "name": "GeForce GTX 580", "compute_capability": "2.0"}],
    "tegra-5.3": [{"vendor": "nvidia", "name": "Tegra X1", "compute_capability": "5.3"}],
    "xavier-7.2": [{"vendor": "nvidia", "name": "Xavier", "compute_capability": "7.2"}],
    "orin-8.7": [{"vendor": "nvidia", "name": "Orin", "compute_capability": "8.7"}],
    "rubin-10.7": [{"vendor": "nvidia", "name": "Rubin", "compute_capability": "10.7"}],
    "future-13.0": [{"vendor": "nvidia", "name": "NVIDIA GeForce RTX 7090", "compute_capability": "13.0"}],
    "unknown": [{"vendor": "nvidia", "name": "NVIDIA Graphics Device", "pci_id": "10de:ffff"}],
    "nameless": [{"vendor": "nvidia"}],
    "max-q-by-name": [{"vendor": "nvidia", "name": "NVIDIA GeForce GTX 1060 with Max-Q Design"}],
    "v100-by-name": [{"vendor": "nvidia", "name": "Tesla V100-SXM2-16GB"}],
    "p100-by-name": [{"vendor": "nvidia", "name": "Tesla P100-PCIE-16GB"}],
    "by-name": [{"vendor": "nvidia", "name": "NVIDIA GeForce RTX 3060"}],
}


@cache
def cards(published: PublishedFacts) -> dict[str, list[dict[str, Any]]]:
    """One card of each chip and way of being sold that the catalog knows, and every odd mixture."""
    result: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(published.cards.values(), key=lambda row: ("GeForce" not in row["name"], str(row["pci_id"]))):
        if chip(row["compute_capability"]) is None:
            continue
        gpu = {"vendor": "nvidia", "pci_id": row["pci_id"], "name": row["name"], "memory_bytes": row["memory_bytes"]}
        gpu["laptop"] = row["segment"] == "laptop"
        result.setdefault(f"{row['compute_capability']}-{row['segment']}", [gpu])
    new, old = result["12.0-desktop"][0], result["6.1-desktop"][0]
    mixed = {
        "old-and-new": [old, new],
        "new-and-old": [new, old],
        "volta-and-turing": [result["7.0-workstation"][0], result["7.5-desktop"][0]],
        "kepler-beside": [ODD["kepler-3.5"][0], result["8.9-desktop"][0]],
        "kepler-and-volta": [result["3.7-datacenter"][0], result["7.0-datacenter"][0]],
        "pascal-and-ada": [old, result["8.9-desktop"][0]],
        "two-of-one": [new, new],
        "amd-igpu-beside": [OTHERS["amd-igpu"][0], result["8.9-laptop"][0]],
        "amd-card-beside": [OTHERS["rdna3"][0], result["8.6-desktop"][0]],
        "arc-beside": [OTHERS["arc-a770"][0], result["8.9-desktop"][0]],
        "unknown-beside": [ODD["unknown"][0], result["8.9-desktop"][0]],
        "external": [{**result["8.6-desktop"][0], "laptop": True}],
    }
    return {**result, **ODD, **mixed}


def machine(system: dict[str, Any], gpus: list[dict[str, Any]], driver: str | None) -> dict[str, Any]:
    """A machine file's content."""
    return {
        "schema": "gpu-assistant/machine/1",
        "os": {"arch": "x86_64", **system},
        "gpus": [{"index": index, **gpu} for index, gpu in enumerate(gpus)],
        "driver": None if driver is None else {"version": driver},
        "pythons": [],
        "cuda_toolkits": [],
        "cudnn": [],
        "disks": [{"path": "/", "free_bytes": 500 * GB, "total_bytes": 1000 * GB}],
        "memory_bytes": 32 * GB,
    }


def host(system: dict[str, Any]) -> str:
    """Whose driver it is."""
    return "windows" if system["system"] == "windows" or system.get("wsl") else "linux"


def grid(published: PublishedFacts) -> Iterator[Case]:
    """Every case, always in the same order."""
    known = cards(published)
    for system, step in zip(MAIN, (1, 1, 4), strict=True):
        for (card, gpus), driver in itertools.product(known.items(), DRIVERS[host(SYSTEMS[system])][::step]):
            box = machine(SYSTEMS[system], gpus, driver)
            yield Case(f"{system}/{card}/{driver}", box, "pytorch", "studio")
    turn = itertools.count()
    for (system, what), (card, gpus) in itertools.product(SYSTEMS.items(), known.items()):
        drivers = DRIVERS[host(what)]
        for goal, channel in WISHES:
            driver = drivers[next(turn) * 7 % len(drivers)]
            yield Case(f"{system}/{card}/{driver}/{goal}/{channel}", machine(what, gpus, driver), goal, channel)
    for (system, what), (card, gpus), (goal, channel) in itertools.product(SYSTEMS.items(), OTHERS.items(), WISHES):
        yield Case(f"{system}/{card}/{goal}/{channel}", machine(what, gpus, None), goal, channel)
    for (system, what), (goal, channel) in itertools.product(MACS.items(), WISHES):
        yield Case(f"{system}/{goal}/{channel}", machine(what, MAC_CARDS[system], None), goal, channel)
        yield Case(f"{system}/none/{goal}/{channel}", machine(what, [], None), goal, channel)


WISHES = (
    ("pytorch", "game-ready"),
    ("tensorflow", "studio"),
    ("cuda-dev", "studio"),
    ("all", "game-ready"),
)

assert all(version(driver) for drivers in DRIVERS.values() for driver in drivers if driver)
