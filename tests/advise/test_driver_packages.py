"""Which packages of a Linux distribution bring the driver: the plan installs these, whatever the words say."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.records.base import Arch
from gpu_assistant.core.machine import Driver, Gpu, Machine, OperatingSystem
from gpu_assistant.core.recommendation import Choice, Recommendation
from gpu_assistant.install.elevation.packages import allowed_packages

from .build import GTX_1060, RTX_4060, RTX_5090, catalog, check, codes, nvidia

V100 = next(
    row.pci_id for row in catalog().gpus.gpus if str(row.compute_capability) == "7.0" and row.segment == "datacenter"
)
H100 = next(
    row.pci_id for row in catalog().gpus.gpus if str(row.compute_capability) == "9.0" and row.segment == "datacenter"
)
GH200 = next(row.pci_id for row in catalog().gpus.gpus if row.name == "NVIDIA GH200 120GB")
# Debian's packages with the proprietary modules, and with the open ones.
PROPRIETARY = ("nvidia-driver", "nvidia-kernel-dkms", "firmware-misc-nonfree")
OPEN = ("nvidia-driver", "nvidia-open-kernel-dkms", "firmware-misc-nonfree")


def advised(
    distro: str,
    release: str | None,
    *cards: str,
    driver: str | None = None,
    choice: Choice | None = None,
    arch: Arch = "x86_64",
    **more: Any,
) -> Recommendation:
    box = Machine(
        schema="gpu-assistant/machine/1",
        os=OperatingSystem(system="linux", arch=arch, distro=distro, distro_version=release, **more),
        gpus=tuple(nvidia(card, index=n) for n, card in enumerate(cards)),
        driver=Driver(version=driver) if driver is not None else None,
    )
    return check(recommend(box, catalog(), choice=choice))


@pytest.mark.parametrize(
    ("cards", "secure_boot", "names"),
    [
        ([RTX_4060], False, ("nvidia-driver-595-open",)),
        ([RTX_4060], True, ("nvidia-driver-595-open", "linux-modules-nvidia-595-open-generic")),
        ([RTX_5090], False, ("nvidia-driver-595-open",)),
        ([GTX_1060], False, ("nvidia-driver-580",)),
        ([RTX_4060, GTX_1060], None, ("nvidia-driver-580", "linux-modules-nvidia-580-generic")),
        # One kind of kernel modules is loaded: the deciding card's.
        ([RTX_5090, GTX_1060], False, ("nvidia-driver-595-open",)),
        ([H100], False, ("nvidia-driver-595-server-open",)),
        ([V100], False, ("nvidia-driver-580-server",)),
        # Modules that the distribution signed need no key, and no person before the screen.
        ([H100], True, ("nvidia-driver-595-open", "linux-modules-nvidia-595-open-generic")),
        ([H100, RTX_4060], False, ("nvidia-driver-595-open",)),
    ],
)
def test_ubuntu(cards: list[str], secure_boot: bool | None, names: tuple[str, ...]) -> None:
    advice = advised("ubuntu", "24.04", *cards, secure_boot=secure_boot)
    assert (advice.driver.way, advice.driver.packages) == ("packages", names)
    here = OperatingSystem(system="linux", distro="ubuntu")
    assert all(allowed_packages(here, catalog()).match(name) for name in names)
    text = next(r for r in advice.reasons if r.code == "driver-packages")
    assert text.data["package"] == " ".join(names)
    assert not secure_boot or "secure-boot-signed" in codes(advice.warnings)


def test_unavailable_branch_is_not_used() -> None:
    # 585 is none of its branches: the next older one, as long as that is enough, and its number is what is told.
    advice = advised("ubuntu", "24.04", RTX_4060, choice=Choice(driver="585.10"), secure_boot=False)
    assert advice.driver.packages == ("nvidia-driver-580-open",)
    assert advice.driver.recommended == "580"


@pytest.mark.parametrize(("release", "branch"), [("12", "535"), ("13", "550")])
def test_debian_release_names_its_branch(release: str, branch: str) -> None:
    advice = advised("debian", release, GTX_1060)
    assert (advice.driver.way, advice.driver.recommended) == ("packages", branch)
    assert "driver-install-from-packages" in codes(advice.reasons)
    assert next(r for r in advice.reasons if r.code == "driver-packages-branch").data["branch"] == branch
    here = OperatingSystem(system="linux", distro="debian")
    assert all(allowed_packages(here, catalog()).match(name) for name in advice.driver.packages)
    behind = advised("debian", release, RTX_5090)
    assert (behind.driver.way, behind.driver.recommended) == ("nvidia-source", "595.91.07")
    # No PyTorch for such a card runs on that branch.
    assert "driver-packages-behind-only" in codes(behind.reasons)


@pytest.mark.parametrize(
    ("release", "card", "arch", "pytorch", "names", "why"),
    [
        # The open modules of 535 want a module parameter before they drive a card outside a data centre.
        ("12", RTX_4060, "x86_64", "2.7.1+cu126", PROPRIETARY, "driver-modules-early"),
        ("12", H100, "x86_64", "2.7.1+cu126", OPEN, None),
        ("12", GH200, "arm64", "2.9.1+cu126", OPEN, None),
        # Those of Debian 13 compile for none of its kernels.
        ("13", RTX_4060, "x86_64", "2.7.1+cu126", PROPRIETARY, "driver-modules-not-compiling"),
        ("13", H100, "x86_64", "2.7.1+cu126", PROPRIETARY, "driver-modules-not-compiling"),
        # Where there is one kind, nothing was chosen.
        ("13", GTX_1060, "x86_64", "2.7.1+cu126", PROPRIETARY, None),
    ],
)
def test_debian_kernel_modules_that_serve_and_compile(
    release: str, card: str, arch: Arch, pytorch: str, names: tuple[str, ...], why: str | None
) -> None:
    version, _, variant = pytorch.partition("+")
    advice = advised("debian", release, card, arch=arch, choice=Choice(pytorch=version, variant=variant))
    assert (advice.driver.way, advice.driver.packages) == ("packages", names)
    assert [code for code in codes(advice.reasons) if code.startswith("driver-modules-")] == ([why] if why else [])


@pytest.mark.parametrize("pytorch", ["2.9.1+cu126", None])
def test_only_kind_of_modules_that_does_not_compile_leads_to_nvidias_source(pytorch: str | None) -> None:
    # Grace Hopper takes open modules alone, and PyTorch 2.9.1 needs no newer branch than Debian 13 has.
    version, _, variant = (pytorch or "").partition("+")
    choice = Choice(pytorch=version, variant=variant) if pytorch else None
    advice = advised("debian", "13", GH200, arch="arm64", choice=choice)
    assert advice.driver.way == "nvidia-source"
    assert "nvidia-kernel-dkms" not in advice.driver.packages
    found = codes(advice.reasons)
    assert ("driver-packages-not-compiling" if pytorch else "driver-packages-behind-only") in found
    assert "driver-modules-not-compiling" not in found
    # Nor is a PyTorch offered that runs on that branch.
    assert "distribution-driver" not in codes(advice.alternatives)


@pytest.mark.parametrize(
    ("distro", "release", "codename", "way", "branch"),
    [
        ("linuxmint", "7", "trixie", "packages", "550"),
        ("linuxmint", "6", "bookworm", "packages", "535"),
        ("devuan", "6", "excalibur", "packages", "550"),
        ("devuan", "5", "daedalus", "packages", "535"),
        ("debian", None, "forky", "unsure", None),
        ("debian", None, "sid", "unsure", None),
        ("kali", "2025.3", "kali-rolling", "unsure", None),
        ("debian", "11", "bullseye", "unsure", None),
    ],
)
def test_debians_children_and_unknown_releases_get_modules_that_were_seen_to_serve(
    distro: str, release: str | None, codename: str, way: str, branch: str | None
) -> None:
    like: dict[str, Any] = {"distro_like": ("debian",), "distro_codename": codename}
    choice = Choice(pytorch="2.7.1", variant="cu126")
    advice = advised(distro, release, RTX_4060, choice=choice, **like)
    assert (advice.driver.way, advice.driver.packages) == (way, PROPRIETARY)
    assert advice.driver.recommended == branch
    assert [code for code in codes(advice.reasons) if code.startswith("driver-modules-")] == [
        "driver-modules-early" if branch == "535" else "driver-modules-not-compiling"
    ]
    # A card that takes the open ones alone is never given others.
    for card, arch in ((RTX_5090, "x86_64"), (GH200, "arm64")):
        driver = advised(distro, release, card, arch=arch, **like).driver
        assert driver.packages == OPEN
        assert driver.way == ("nvidia-source" if way == "packages" else way)


@pytest.mark.parametrize(
    ("distro", "release"),
    [("debian", "11"), ("debian", "14"), ("debian", None), ("ubuntu", "16.04"), ("ubuntu", "20.04"), ("ubuntu", None)],
)
def test_unseen_release_is_unsure(distro: str, release: str | None) -> None:
    for card in (GTX_1060, RTX_4060):
        advice = advised(distro, release, card)
        assert (advice.driver.way, advice.driver.recommended) == ("unsure", None)
        assert advice.driver.packages
        text = codes(advice.reasons)
        assert "driver-packages-unsure" in text
        assert "driver-packages" not in text


def test_unknown_distribution_gets_no_packages() -> None:
    advice = advised("slackware", "15.0", RTX_4060)
    assert (advice.driver.way, advice.driver.packages, advice.driver.page) == (None, (), None)


@pytest.mark.parametrize(
    ("release", "kernel", "package"),
    [
        ("24.04", "6.8.0-85-generic", "linux-modules-nvidia-595-open-generic"),
        ("24.04", "6.14.0-33-generic", "linux-modules-nvidia-595-open-generic-hwe-24.04"),
        ("22.04", "6.8.0-60-generic", "linux-modules-nvidia-595-open-generic-hwe-22.04"),
        ("25.10", "6.17.0-6-generic", "linux-modules-nvidia-595-open-generic"),
        ("24.04", None, "linux-modules-nvidia-595-open-generic"),
        # A kernel of another line has no modules that Ubuntu signed under a name that is known.
        ("24.04", "6.14.0-1014-oem", None),
        ("24.04", "6.12.3-x64v3-xanmod1", None),
    ],
)
def test_signed_modules_match_running_kernel(release: str, kernel: str | None, package: str | None) -> None:
    advice = advised("ubuntu", release, RTX_4060, secure_boot=True, kernel=kernel)
    assert advice.driver.packages == ("nvidia-driver-595-open", *((package,) if package else ()))
    assert ("secure-boot-signed" if package else "secure-boot-key") in codes(advice.warnings)
    here = OperatingSystem(system="linux", distro="ubuntu")
    assert all(allowed_packages(here, catalog()).match(name) for name in advice.driver.packages)


def test_kept_driver_needs_no_packages() -> None:
    advice = advised("ubuntu", "24.04", RTX_4060, driver="595.84")
    assert (advice.driver.action, advice.driver.way, advice.driver.packages) == ("keep", None, ())


def test_windows_driver_under_wsl_comes_from_no_package() -> None:
    assert advised("ubuntu", "24.04", RTX_4060, wsl=True).driver.way is None


def test_gpu_without_kernel_modules_gets_no_package() -> None:
    box = Machine(
        schema="gpu-assistant/machine/1",
        os=OperatingSystem(system="linux", arch="x86_64", distro="ubuntu", distro_version="24.04"),
        gpus=(Gpu(vendor="nvidia", compute_capability="3.7"),),
    )
    assert recommend(box, catalog()).driver.way is None


def test_debian_secure_boot_key_is_enrolled_manually() -> None:
    for release, card in (("12", GTX_1060), ("13", RTX_5090)):
        advice = advised("debian", release, card, secure_boot=True)
        warning = next(each for each in advice.warnings if each.code == "secure-boot-enrol")
        assert warning.data["enrol"] == "sudo mokutil --import /var/lib/dkms/mok.pub"
        assert "secure-boot-enrol" not in codes(advised("debian", release, card, secure_boot=False).warnings)
