"""Which package or packages a driver comes in, and what exit codes mean."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import Gpu, Machine, OperatingSystem
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.install.elevation.helper import installer_call, signed_exit_code
from gpu_assistant.install.elevation.protocol import VcRedistRequest, WindowsDriverRequest
from gpu_assistant.install.steps import nvidia_driver, vc_redist
from gpu_assistant.install.steps.nvidia_driver import is_sufficient
from gpu_assistant.system.windows.facts import WindowsFacts
from tests.fakes.recorded_machine import RegistryExport

CATALOG = load_catalog(resources_dir() / "catalog")
NONCE, SHA = "0" * 32, "0" * 64


def machine(distro: str | None, *levels: str | None, secure_boot: bool | None = None) -> Machine:
    return Machine(
        schema="gpu-assistant/machine/1",
        os=OperatingSystem(system="linux", distro=distro, secure_boot=secure_boot),
        gpus=tuple(Gpu(vendor="nvidia", compute_capability=level) for level in levels),
    )


@pytest.mark.parametrize("release", ["12", "13"])
def test_branch_of_debian_is_known(release: str) -> None:
    seen = machine("debian", "12.0")
    seen = msgspec.structs.replace(seen, os=msgspec.structs.replace(seen.os, distro_version=release))
    assert nvidia_driver.distribution_branch(seen, CATALOG) == {"12": "535", "13": "550"}[release]
    assert nvidia_driver.distribution_branch(machine("debian", "12.0"), CATALOG) is None
    assert nvidia_driver.distribution_branch(machine("arch", "12.0"), CATALOG) is None


def test_signed_modules_are_known_by_name() -> None:
    seen = machine("ubuntu", "8.9")
    assert nvidia_driver.has_signed_modules(
        ("nvidia-driver-580-open", "linux-modules-nvidia-580-open-generic"), seen, CATALOG
    )
    assert not nvidia_driver.has_signed_modules(("nvidia-driver-595-server-open",), seen, CATALOG)
    assert not nvidia_driver.has_signed_modules(
        ("nvidia-driver", "nvidia-open-kernel-dkms"), machine("debian", "8.9"), CATALOG
    )


def test_manual_command_names_exact_version() -> None:
    fetch, run = nvidia_driver.run_file_commands("580.95.05", CATALOG)
    assert fetch[-1].endswith("/NVIDIA-Linux-x86_64-580.95.05.run")
    assert run == ("sudo", "sh", "NVIDIA-Linux-x86_64-580.95.05.run")
    keys = {"ubuntu": "/var/lib/shim-signed/mok/MOK.der", "debian": "/var/lib/dkms/mok.pub"}
    for distro, key in keys.items():
        enrol = nvidia_driver.enrollment_command(OperatingSystem(system="linux", distro=distro), CATALOG)
        assert enrol == ("sudo", "mokutil", "--import", key)


def test_datacenter_driver_has_other_url() -> None:
    fetch, _ = nvidia_driver.run_file_commands("595.112.07", CATALOG)
    assert fetch[-1] == "https://us.download.nvidia.com/tesla/595.112.07/NVIDIA-Linux-x86_64-595.112.07.run"


def test_installer_switches_exclude_nvidia_app() -> None:
    call = installer_call(WindowsDriverRequest(nonce=NONCE, file="a", sha256=SHA), CATALOG)
    assert call.arguments == ("-s", "-n", "Display.Driver", "HDAudio.Driver")
    assert call.signer == "NVIDIA Corporation"
    runtime = installer_call(VcRedistRequest(nonce=NONCE, file="a", sha256=SHA), CATALOG)
    assert (runtime.arguments, runtime.signer) == (("/install", "/quiet", "/norestart"), "Microsoft Corporation")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (0, False),
        (1, True),
        (3858759936, "driver-no-card"),
        (3827302400, "driver-wrong-kind"),
        (2, "driver-failed"),
        (-436207616, "driver-failed"),  # the NVIDIA App's, not the driver's
    ],
)
def test_nvidia_exit_codes(code: int, expected: Any) -> None:
    facts = CATALOG.drivers.windows_install
    assert facts is not None
    if isinstance(expected, bool):
        assert nvidia_driver.needs_restart(signed_exit_code(code), "617.42", facts) is expected
        return
    with pytest.raises(AppError) as caught:
        nvidia_driver.needs_restart(signed_exit_code(code), "617.42", facts)
    assert caught.value.code == expected


@pytest.mark.parametrize(("code", "restart"), [(0, False), (1638, False), (3010, True), (1603, None)])
def test_vc_redist_exit_codes(code: int, restart: bool | None) -> None:
    facts = CATALOG.vc_redist.package
    if restart is not None:
        assert vc_redist.needs_restart(code, facts) is restart
        return
    with pytest.raises(AppError) as caught:
        vc_redist.needs_restart(code, facts)
    assert (caught.value.code, caught.value.data) == ("vc-redist-failed", {"status": 1603})


LAPTOP = "https://us.download.nvidia.com/Windows/617.42/617.42-notebook-win10-win11-64bit-international-dch-whql.exe"


@pytest.mark.parametrize(
    ("url", "version", "is_installed"),
    [
        (LAPTOP, "617.42", True),
        (LAPTOP, "617.14", False),
        (LAPTOP.replace("https", "http"), "617.42", False),
        (LAPTOP.replace("us.download.nvidia.com", "download.nvidia.com.example"), "617.42", False),
        ("https://us.download.nvidia.com/evil.exe", "617.42", False),
        ("https://www.nvidia.com/Download/index.aspx", "617.42", False),
        (None, "617.42", False),
        (LAPTOP, None, False),
    ],
)
def test_package_without_checksum_has_to_be_named_on_nvidia_servers(url: Any, version: Any, is_installed: bool) -> None:
    assert CATALOG.is_driver_installer(url, version) is is_installed


def test_every_package_with_checksum_is_an_installer() -> None:
    for package in CATALOG.drivers.packages:
        if package.sha256 is not None:
            assert CATALOG.is_driver_installer(package.url, package.version.text)


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        ("566.03", "617.42", False),
        ("566.03", "617.43", False),
        ("566.03", "566.03", False),  # the entry may be written at the restart
        (None, None, False),
        ("566.03", "551.23", True),
        (None, "551.23", True),
        ("566.03", "a text", True),
    ],
)
def test_package_with_older_driver_is_told(before: str | None, after: str | None, refused: bool) -> None:
    if not refused:
        nvidia_driver.check_installed_version("617.42", before, after)
        return
    with pytest.raises(AppError) as caught:
        nvidia_driver.check_installed_version("617.42", before, after)
    assert (caught.value.code, caught.value.data["installed"]) == ("driver-older", after)


@pytest.mark.parametrize(
    ("here", "wanted", "is_enough"),
    [("617.42", "617.42", True), ("617.43", "617.42", True), ("580.9", "580.65.06", False), (None, "580", False)],
)
def test_driver_is_sufficient(here: str | None, wanted: str, is_enough: bool) -> None:
    assert is_sufficient(here, wanted) is is_enough


def test_driver_put_there_is_read_from_list_of_programs() -> None:
    facts = CATALOG.drivers.windows_install
    assert facts is not None
    key = rf"HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows\CurrentVersion\Uninstall\{facts.uninstall_key}"
    windows = WindowsFacts(RegistryExport(f'[{key}]\n"DisplayVersion"="617.42"\n'), {})
    assert windows.installed_program(facts.uninstall_key) == "617.42"
    assert windows.installed_program("another") is None
