"""Data-centre cards: their own drivers by number, on Windows and Windows Server and on Linux."""

from __future__ import annotations

import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.machine import Machine, OperatingSystem
from gpu_assistant.core.recommendation import DriverAdvice

from .build import H100, catalog, check, nvidia


def card(name: str) -> str:
    return next(row.pci_id for row in catalog().gpus.gpus if row.name.startswith(name) and row.segment == "datacenter")


A100, L40S, T4, V100 = (card(name) for name in ("NVIDIA A100", "NVIDIA L40S", "Tesla T4", "Tesla V100"))
AT = "https://us.download.nvidia.com/tesla"


def driver(pci_id: str, system: OperatingSystem) -> DriverAdvice:
    box = Machine(schema="gpu-assistant/machine/1", os=system, gpus=(nvidia(pci_id),))
    advice = check(recommend(box, catalog()))
    return advice.driver


def windows(name: str, build: int) -> OperatingSystem:
    return OperatingSystem(system="windows", arch="x86_64", name=name, version=f"10.0.{build}", build=build)


@pytest.mark.parametrize("pci_id", [H100, A100, L40S, T4])
@pytest.mark.parametrize(
    ("name", "build", "file"),
    [
        ("Windows Server 2022 Datacenter", 20348, "winserver-2022-2025-dch"),
        ("Windows Server 2025 Standard", 26100, "winserver-2022-2025-dch"),
        ("Windows 11 Pro", 26100, "win10-win11-64bit-dch"),
    ],
)
def test_windows(pci_id: str, name: str, build: int, file: str) -> None:
    advice = driver(pci_id, windows(name, build))
    assert (advice.action, advice.recommended) == ("install", "596.86")
    assert advice.url == f"{AT}/596.86/596.86-data-center-tesla-desktop-{file}-international.exe"


def test_older_server_gets_no_package_made_for_newer_ones() -> None:
    advice = driver(T4, windows("Windows Server 2019 Datacenter", 17763))
    assert (advice.action, advice.recommended, advice.url) == ("none", None, None)


def test_legacy_data_center_gpus_get_last_branch() -> None:
    assert driver(V100, windows("Windows Server 2022 Datacenter", 20348)).recommended == "582.78"
    assert driver(V100, OperatingSystem(system="linux", arch="x86_64", distro="rocky", distro_version="9.6")).commands


@pytest.mark.parametrize("pci_id", [H100, A100, L40S, T4])
def test_linux(pci_id: str) -> None:
    ubuntu = OperatingSystem(
        system="linux", arch="x86_64", distro="ubuntu", distro_version="24.04", secure_boot=False, glibc="2.39"
    )
    advice = driver(pci_id, ubuntu)
    assert (advice.recommended, advice.packages) == ("595.112.07", ("nvidia-driver-595-server-open",))
    box = Machine(
        schema="gpu-assistant/machine/1",
        os=OperatingSystem(system="linux", arch="x86_64", distro="rocky", distro_version="9.6", glibc="2.34"),
        gpus=(nvidia(pci_id),),
    )
    rocky = check(recommend(box, catalog()))
    assert rocky.driver.way == "commands"
    # NVIDIA's own source brings the newest; the newest that is known is named.
    text = next(r for r in rocky.reasons if r.code == "driver-install-from-packages-production")
    assert text.data["newest"] == "595.112.07"
