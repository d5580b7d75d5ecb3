"""How the driver gets onto distributions, by the os-release that each of them writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.distributions import fill_commands, find_commands
from gpu_assistant.core.machine import Driver, Machine, OperatingSystem
from gpu_assistant.core.recommendation import Recommendation
from gpu_assistant.install.elevation.packages import allowed_packages
from gpu_assistant.system.linux.parsing import distribution_codename, parse_os_release

from .build import GTX_1060, H100, RTX_4060, RTX_5090, catalog, check, codes, nvidia

RELEASES = Path(__file__).resolve().parents[1] / "machines" / "os-releases"
NAMES = sorted(path.name for path in RELEASES.iterdir())


def computer(
    name: str, *cards: str, kernel: str | None = None, driver: str | None = None, secure_boot: bool | None = None
) -> Machine:
    fields = parse_os_release((RELEASES / name).read_text(encoding="utf-8"))
    system = OperatingSystem(
        system="linux",
        arch="x86_64",
        name=fields.get("PRETTY_NAME"),
        distro=fields.get("ID"),
        distro_version=fields.get("VERSION_ID"),
        distro_like=tuple(fields.get("ID_LIKE", "").split()),
        distro_codename=distribution_codename(fields),
        distro_variant=fields.get("VARIANT_ID"),
        kernel=kernel,
        glibc="2.39",
        wsl=False,
        secure_boot=secure_boot,
    )
    return Machine(
        schema="gpu-assistant/machine/1",
        os=system,
        gpus=tuple(nvidia(card, index=n) for n, card in enumerate(cards)),
        driver=Driver(version=driver) if driver is not None else None,
    )


def advised(
    name: str, *cards: str, kernel: str | None = None, driver: str | None = None, secure_boot: bool | None = None
) -> Recommendation:
    return check(recommend(computer(name, *cards, kernel=kernel, driver=driver, secure_boot=secure_boot), catalog()))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("card", [RTX_4060, RTX_5090, GTX_1060, H100])
def test_run_installer_is_never_suggested(name: str, card: str) -> None:
    driver = advised(name, card).driver
    assert driver.way is not None
    assert bool(driver.commands) == (driver.way == "commands")
    assert driver.way not in ("commands", "page") or driver.page is not None


@pytest.mark.parametrize("name", ["ubuntu24", "linuxmint22", "zorin18", "elementary8"])
def test_ubuntu_derivatives_use_its_packages(name: str) -> None:
    advice = advised(name, RTX_4060, secure_boot=True, kernel="6.14.0-33-generic")
    names = ("nvidia-driver-595-open", "linux-modules-nvidia-595-open-generic-hwe-24.04")
    assert (advice.driver.way, advice.driver.packages) == ("packages", names)
    assert all(allowed_packages(computer(name).os, catalog()).match(each) for each in names)


def test_debian_derivatives_with_known_base_use_packages() -> None:
    assert advised("lmde6", GTX_1060).driver.recommended == "535"
    assert advised("debian13", GTX_1060).driver.recommended == "550"
    kali = advised("kali", GTX_1060).driver
    assert (kali.way, kali.recommended) == ("unsure", None)


@pytest.mark.parametrize(
    ("name", "card", "kernel", "last"),
    [
        ("fedora43", RTX_4060, None, "sudo akmods --force"),
        ("arch", RTX_4060, "6.17.8-arch1-1", "sudo pacman -Syu nvidia-open"),
        ("endeavouros", RTX_4060, "6.12.58-1-lts", "sudo pacman -Syu nvidia-lts-open"),
        ("manjaro", GTX_1060, None, "sudo mhwd -a pci nonfree 0300"),
        ("rocky9", H100, None, "sudo dnf install nvidia-open"),
        ("rocky9", GTX_1060, None, "sudo dnf module install nvidia-driver:580-dkms"),
        ("rhel9", RTX_5090, None, "sudo dnf install nvidia-open"),
        ("almalinux10", RTX_4060, None, "sudo dnf install nvidia-open"),
        ("opensuse-leap16", RTX_4060, None, "sudo zypper install nvidia-open-driver-G07-signed-kmp-meta"),
        ("opensuse-tumbleweed", GTX_1060, None, "sudo zypper install nvidia-driver-G06-kmp-meta"),
        ("pop24", RTX_4060, None, "sudo apt-get install system76-driver-nvidia"),
    ],
)
def test_documented_commands_of_the_distribution(name: str, card: str, kernel: str | None, last: str) -> None:
    driver = advised(name, card, kernel=kernel).driver
    assert (driver.way, " ".join(driver.commands[-1])) == ("commands", last)
    assert not any("{" in word for command in driver.commands for word in command)


def test_commands_contain_release_and_kernel() -> None:
    lines = typed("rocky", "9.6")
    assert any(line.endswith("/rhel9/x86_64/cuda-rhel9.repo") for line in lines)
    assert lines.index("sudo dnf install epel-release dnf-plugins-core") < lines.index("sudo crb enable")
    assert "sudo dnf install kernel-devel-matched kernel-headers dkms" in lines
    assert any(
        "rpmfusion-nonfree-release-43.noarch.rpm" in word for word in advised("fedora43", RTX_4060).driver.commands[0]
    )
    # The older release knows no matched ones: those of the running kernel, which a terminal knows if we do not.
    kernel = "4.18.0-553.el8_10.x86_64"
    assert f"sudo dnf install kernel-devel-{kernel} kernel-headers dkms" in typed("almalinux", "8.10", kernel)
    assert "sudo dnf install kernel-devel-$(uname -r) kernel-headers dkms" in typed("rhel", "8.10")


def typed(distro: str, release: str, kernel: str | None = None) -> list[str]:
    system = OperatingSystem(system="linux", arch="x86_64", distro=distro, distro_version=release, kernel=kernel)
    row = find_commands(catalog().drivers, system, "current")
    return [" ".join(command) for command in (fill_commands(row.commands, system) if row is not None else None) or ()]


@pytest.mark.parametrize(
    ("name", "card", "kernel"),
    [
        ("silverblue43", RTX_4060, None),  # nothing is installed with dnf there
        ("fedora43", GTX_1060, None),  # the older line stands beside the current one from Fedora 44 on
        ("arch", GTX_1060, None),  # a package of users
        ("arch", RTX_4060, "6.17.8-zen1-1-zen"),
        ("almalinux10", GTX_1060, None),
        ("pop24", GTX_1060, None),
    ],
)
def test_unknown_commands_give_the_distribution_page(name: str, card: str, kernel: str | None) -> None:
    advice = advised(name, card, kernel=kernel)
    assert (advice.driver.way, advice.driver.recommended) == ("page", None)
    assert advice.driver.page is not None
    text = next(r for r in advice.reasons if r.code == "driver-page")
    assert text.source == advice.driver.page


def test_secure_boot_adds_enroll_commands() -> None:
    fedora = advised("fedora43", RTX_4060, secure_boot=True)
    lines = [" ".join(command) for command in fedora.driver.commands]
    # The key comes first: the driver that is built afterwards is signed with it.
    assert lines.index("sudo kmodgenca -a") < lines.index("sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda")
    assert fedora.driver.key
    assert "secure-boot-commands" in codes(fedora.warnings)
    rocky = advised("rocky9", RTX_4060, secure_boot=True)
    assert " ".join(rocky.driver.commands[-1]) == "sudo mokutil --import /var/lib/dkms/mok.pub"
    # openSUSE signs its open modules itself; for Arch nobody here knows.
    suse = advised("opensuse-leap16", RTX_4060, secure_boot=True)
    assert not [code for code in codes(suse.warnings) if code.startswith("secure-boot")]
    assert "secure-boot-page" in codes(advised("arch", RTX_4060, secure_boot=True).warnings)
    assert not any("mokutil" in command for command in advised("fedora43", RTX_4060, secure_boot=False).driver.commands)


def test_sufficient_driver_is_kept() -> None:
    driver = advised("fedora43", RTX_4060, driver="590.48.01").driver
    assert (driver.action, driver.way, driver.commands) == ("keep", None, ())


def test_downgrade_uses_distribution_packages() -> None:
    driver = advised("rocky9", GTX_1060, driver="595.84").driver
    assert (driver.action, driver.recommended, driver.way) == ("back", "580.178.04", "commands")
