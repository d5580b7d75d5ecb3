"""What of WSL2 a Windows has, by its registry."""

from __future__ import annotations

import pytest

from gpu_assistant.system.base import WslStatus
from gpu_assistant.system.windows.facts import WindowsFacts
from tests.fakes.recorded_machine import RegistryExport

SERVICES = r"HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services"
LXSS = r"SOFTWARE\Microsoft\Windows\CurrentVersion\Lxss"
BUILD = r"[HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows NT\CurrentVersion]" + '\n"CurrentBuild"="{build}"\n'
PROGRAM = rf"[HKEY_LOCAL_MACHINE\{LXSS}\MSI]" + '\n"InstallLocation"="C:\\\\Program Files\\\\WSL\\\\"\n'


def facts(build: int, services: tuple[str, ...], *more: str) -> WslStatus:
    keys = [f"[{SERVICES}\\{name}]\n" for name in services]
    text = "\n".join(["Windows Registry Editor Version 5.00\n", BUILD.format(build=build), *keys, *more])
    return WindowsFacts(RegistryExport(text), {}).wsl()


BIOS = r"HKEY_LOCAL_MACHINE\HARDWARE\DESCRIPTION\System\BIOS"
HYPER_V = f'[{BIOS}]\n"SystemManufacturer"="Microsoft Corporation"\n"SystemProductName"="Virtual Machine"\n'
AZURE_AGENT = r"[HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows Azure]" + "\n"


@pytest.mark.parametrize(
    ("text", "cloud"),
    [
        (f'[{BIOS}]\n"SystemManufacturer"="Amazon EC2"\n', "aws"),
        (HYPER_V + AZURE_AGENT, "azure"),
        (HYPER_V, None),
        (AZURE_AGENT, None),
    ],
)
def test_cloud(text: str, cloud: str | None) -> None:
    assert WindowsFacts(RegistryExport(text), {}).cloud() == cloud


def test_windows_container_has_a_type() -> None:
    control = r"[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control]"
    inside = WindowsFacts(RegistryExport(f'{control}\n"ContainerType"=dword:00000002\n'), {})
    outside = WindowsFacts(RegistryExport(f'{control}\n"CurrentUser"="USERNAME"\n'), {})
    assert (inside.container(), outside.container()) == ("other", None)


def linux(place: str, name: str, *, version: int = 2, state: int = 1) -> str:
    head = rf"[HKEY_CURRENT_USER\{LXSS}\{place}]"
    return f'{head}\n"DistributionName"="{name}"\n"Version"=dword:0000000{version}\n"State"=dword:0000000{state}\n'


@pytest.mark.parametrize(
    ("build", "services", "more", "ready"),
    [
        (26100, ("HNS", "vmcompute", "vfpext"), (PROGRAM,), True),
        # Hyper-V alone brings the first two.
        (26100, ("HNS", "vmcompute"), (PROGRAM,), False),
        (19045, ("HNS", "vmcompute", "LxssManager"), (), True),
        (19045, ("HNS", "vmcompute"), (), False),
        (19045, ("HNS", "LxssManager"), (PROGRAM,), False),
        (26100, (), (), False),
    ],
)
def test_ready_requires_services_and_program(
    build: int, services: tuple[str, ...], more: tuple[str, ...], ready: bool
) -> None:
    assert facts(build, services, *more).ready is ready


def test_only_user_distributions_of_version_2() -> None:
    result = facts(
        26100,
        ("HNS", "vmcompute", "vfpext"),
        PROGRAM,
        linux("{1}", "docker-desktop"),
        linux("{2}", "Old", version=1),
        linux("{3}", "Arriving", state=3),
        linux("{4}", "Ubuntu"),
    )
    assert result.distributions == ("Ubuntu",)


@pytest.mark.parametrize(("number", "state"), [(0, "off"), (1, "on"), (2, "evaluation"), (7, None), (None, None)])
def test_smart_app_control_is_read_as_microsoft_documents_it(number: int | None, state: str | None) -> None:
    key = r"[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\CI\Policy]"
    value = "" if number is None else f'"VerifiedAndReputablePolicyState"=dword:0000000{number}\n'
    export = RegistryExport(f"Windows Registry Editor Version 5.00\n\n{key}\n{value}")
    assert WindowsFacts(export, {}).smart_app_control() == state
