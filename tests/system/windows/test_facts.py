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


SETTINGS = r"Software\Microsoft\Windows\CurrentVersion\Internet Settings"
POLICIES = r"SOFTWARE\Policies\Microsoft\Windows\CurrentVersion\Internet Settings"


def proxy_facts(
    *, per_user: int | None, user: str | None, machine: str | None, exceptions: str = "", **environ: str
) -> WindowsFacts:
    """A Windows with these proxies in the user's and the computer's settings, and the policy that says which counts."""
    lines = ["Windows Registry Editor Version 5.00", ""]
    if per_user is not None:
        lines += [rf"[HKEY_LOCAL_MACHINE\{POLICIES}]", f'"ProxySettingsPerUser"=dword:0000000{per_user}', ""]
    for root, server in (("HKEY_CURRENT_USER", user), ("HKEY_LOCAL_MACHINE", machine)):
        if server is not None:
            lines += [rf"[{root}\{SETTINGS}]", '"ProxyEnable"=dword:00000001', f'"ProxyServer"="{server}"']
            lines += [f'"ProxyOverride"="{exceptions}"', ""]
    return WindowsFacts(RegistryExport("\n".join(lines)), environ)


@pytest.mark.parametrize("per_user", [None, 1])
def test_proxy_of_each_user_counts_where_no_policy_says_otherwise(per_user: int | None) -> None:
    facts = proxy_facts(per_user=per_user, user="own.example:8080", machine="all.example:3128")
    assert facts.proxy() == "own.example:8080"
    assert facts.machine_proxy("https://files.example/") is None


def test_proxy_of_the_computer_counts_where_the_policy_says_so() -> None:
    facts = proxy_facts(per_user=0, user="own.example:8080", machine="all.example:3128")
    assert facts.proxy() == "all.example:3128"
    assert facts.machine_proxy("https://files.example/") == "http://all.example:3128"


def test_proxy_of_the_user_is_not_used_where_the_computer_has_none() -> None:
    facts = proxy_facts(per_user=0, user="own.example:8080", machine=None)
    assert facts.proxy() is None
    assert facts.machine_proxy("https://files.example/") == ""


@pytest.mark.parametrize(
    ("servers", "url", "proxy"),
    [
        ("http=one.example:80;https=two.example:81", "https://files.example/", "http://two.example:81"),
        ("http=one.example:80;https=two.example:81", "http://files.example/", "http://one.example:80"),
        ("http=one.example:80", "https://files.example/", "http://one.example:80"),
        ("https://one.example:443", "https://files.example/", "https://one.example:443"),
        ("socks=one.example:1080", "https://files.example/", "socks4://one.example:1080"),
        ("ftp=one.example:21", "https://files.example/", ""),
    ],
)
def test_proxy_of_the_computer_by_scheme(servers: str, url: str, proxy: str) -> None:
    assert proxy_facts(per_user=0, user=None, machine=servers).machine_proxy(url) == proxy


@pytest.mark.parametrize(
    ("exceptions", "url", "is_direct"),
    [
        ("*.inside.example;<local>", "https://files.inside.example/a", True),
        ("*.inside.example;<local>", "https://files/a", True),
        ("*.inside.example;<local>", "https://outside.example/a", False),
        ("files.example:8443", "https://files.example:8443/", True),
        ("files.example:8443", "https://files.example/", False),
        ("https://files.example", "https://FILES.example/", True),
        ("10.*", "http://10.1.2.3/", True),
        ("", "http://127.0.0.1:5000/", True),
        ("", "https://files.example/", False),
    ],
)
def test_exceptions_from_the_proxy_of_the_computer(exceptions: str, url: str, is_direct: bool) -> None:
    facts = proxy_facts(per_user=0, user=None, machine="all.example:3128", exceptions=exceptions)
    assert facts.machine_proxy(url) == ("" if is_direct else "http://all.example:3128")


def test_socks_proxy_alone_is_named() -> None:
    assert (
        proxy_facts(per_user=None, user="socks=own.example:1080", machine=None).proxy() == "socks4://own.example:1080"
    )
