"""Which package or packages a driver comes in, and what exit codes mean."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpu_assistant.catalog.load import load
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import Gpu, Machine, OperatingSystem
from gpu_assistant.core.paths import resources
from gpu_assistant.install.door.packages import known
from gpu_assistant.install.door.programs import call_of, signed
from gpu_assistant.install.door.requests import VcRedist, WindowsDriver
from gpu_assistant.install.driver import linux, windows
from gpu_assistant.install.driver.installed import enough

CATALOG = load(resources() / "catalog")
NONCE, SHA = "0" * 32, "0" * 64


def machine(distro: str | None, *levels: str | None, secure_boot: bool | None = None) -> Machine:
    return Machine(
        schema="gpu-assistant/machine/1",
        os=OperatingSystem(system="linux", distro=distro, secure_boot=secure_boot),
        gpus=tuple(Gpu(vendor="nvidia", compute_capability=level) for level in levels),
    )


@pytest.mark.parametrize(
    ("levels", "secure_boot", "names"),
    [
        (["8.9"], False, ("nvidia-driver-580-open",)),
        (["8.9"], True, ("nvidia-driver-580-open", "linux-modules-nvidia-580-open-generic")),
        (["12.0"], False, ("nvidia-driver-580-open",)),
        (["6.1"], False, ("nvidia-driver-580",)),
        (["8.9", "6.1"], None, ("nvidia-driver-580", "linux-modules-nvidia-580-generic")),
    ],
)
def test_ubuntu(levels: list[str], secure_boot: bool | None, names: tuple[str, ...]) -> None:
    found = linux.packages(machine("ubuntu", *levels, secure_boot=secure_boot), "580.95.05", "580.65.06", CATALOG)
    assert found is not None
    assert (found.names, found.signed) == (names, True)
    assert all(known("ubuntu", CATALOG).match(name) for name in names)


def test_a_branch_that_ubuntu_lacks_is_not_asked_for() -> None:
    # 585 is none of its branches: the next older one, as long as that is enough.
    found = linux.packages(machine("ubuntu", "8.9", secure_boot=False), "585.10", "570.26", CATALOG)
    assert found is not None
    assert found.names == ("nvidia-driver-580-open",)
    assert linux.packages(machine("ubuntu", "8.9"), "585.10", "585.1", CATALOG) is None


def test_debian_has_one_branch_a_release() -> None:
    found = linux.packages(machine("debian", "8.9"), "580.95.05", "580.65.06", CATALOG)
    assert found is not None
    assert found.names[0] == "nvidia-driver"
    assert not found.signed
    assert all(known("debian", CATALOG).match(name) for name in found.names)


def test_a_card_for_servers_gets_the_servers_packages() -> None:
    row = next(row for row in CATALOG.gpus.gpus if row.segment == "datacenter" and row.compute_capability == "9.0")
    gpu = Gpu(vendor="nvidia", pci_id=row.pci_id, compute_capability=row.compute_capability)

    def names(*cards: Gpu, secure_boot: bool | None = None) -> tuple[str, ...]:
        seen = msgspec.structs.replace(machine("ubuntu", "9.0", secure_boot=secure_boot), gpus=cards)
        found = linux.packages(seen, "595.84", "580.65.06", CATALOG)
        assert found is not None
        return found.names

    assert names(gpu) == ("nvidia-driver-595-server-open",)
    # Modules that the distribution signed need no key, and no person before the screen.
    assert "nvidia-driver-595-open" in names(gpu, secure_boot=True)
    assert "nvidia-driver-595-open" in names(gpu, Gpu(vendor="nvidia", compute_capability="8.9"))


@pytest.mark.parametrize(
    "unknown", [machine("arch", "8.9"), machine(None, "8.9"), machine("ubuntu", None), machine("ubuntu", "12.0", "6.1")]
)
def test_where_nobody_knows_the_packages(unknown: Machine) -> None:
    assert linux.packages(unknown, "580.95.05", None, CATALOG) is None


def test_what_to_type_names_the_exact_version() -> None:
    fetch, run = linux.by_hand("580.95.05", CATALOG)
    assert fetch[-1].endswith("/NVIDIA-Linux-x86_64-580.95.05.run")
    assert run == ("sudo", "sh", "NVIDIA-Linux-x86_64-580.95.05.run")
    assert linux.enrolment(CATALOG)[:3] == ("sudo", "mokutil", "--import")


def test_the_switches_leave_the_nvidia_app_out() -> None:
    call = call_of(WindowsDriver(nonce=NONCE, file="a", sha256=SHA), CATALOG)
    assert call.arguments == ("-s", "-n", "Display.Driver", "HDAudio.Driver")
    assert call.signer == "NVIDIA Corporation"
    runtime = call_of(VcRedist(nonce=NONCE, file="a", sha256=SHA), CATALOG)
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
def test_nvidias_exit_codes(code: int, expected: Any) -> None:
    facts = CATALOG.drivers.windows_install
    assert facts is not None
    if isinstance(expected, bool):
        assert windows.driver_restart(signed(code), "617.42", facts) is expected
        return
    with pytest.raises(AppError) as said:
        windows.driver_restart(signed(code), "617.42", facts)
    assert said.value.code == expected


@pytest.mark.parametrize(("code", "restart"), [(0, False), (1638, False), (3010, True), (1603, None)])
def test_microsofts_exit_codes(code: int, restart: bool | None) -> None:
    facts = CATALOG.vc_redist.package
    if restart is not None:
        assert windows.runtime_restart(code, facts) is restart
        return
    with pytest.raises(AppError) as said:
        windows.runtime_restart(code, facts)
    assert (said.value.code, said.value.data) == ("vc-redist-failed", {"status": 1603})


def test_only_packages_with_a_published_hash_are_run() -> None:
    for package in CATALOG.drivers.packages:
        found = windows.package(package.url, CATALOG)
        ours = package.system == "windows" and package.sha256 is not None
        assert (found is not None) == (ours and package.url is not None)
    assert windows.package("https://us.download.nvidia.com/evil.exe", CATALOG) is None


@pytest.mark.parametrize(
    ("here", "wanted", "is_enough"),
    [("617.42", "617.42", True), ("617.43", "617.42", True), ("580.9", "580.65.06", False), (None, "580", False)],
)
def test_what_is_enough(here: str | None, wanted: str, is_enough: bool) -> None:
    assert enough(here, wanted) is is_enough
