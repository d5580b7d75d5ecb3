"""The driver on Linux: what the catalog says of a distribution's packages, and what to type where we install none.

Which packages those are, the recommendation says.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...catalog import distributions

if TYPE_CHECKING:
    from ...catalog.driver_ways import LinuxDriverInstall
    from ...catalog.load import Catalog
    from ...core.machine import Machine, OperatingSystem
    from ...core.recommendation import DriverAdvice

Commands = tuple[tuple[str, ...], ...]
# The purposes of packages with modules that the distribution signed.
SIGNED_PURPOSES = ("signed_modules", "signed_open_modules")


def has_signed_modules(names: tuple[str, ...], machine: Machine, catalog: Catalog) -> bool:
    """Whether modules that the distribution signed are among its packages, so that Secure Boot takes them."""
    facts = _install_facts(machine, catalog)
    patterns = [facts.packages.get(purpose) for purpose in SIGNED_PURPOSES] if facts is not None else []
    stems = tuple(pattern.partition("{branch}")[0] for pattern in patterns if pattern is not None)
    return bool(stems) and any(name.startswith(stems) for name in names)


def secure_boot_text(names: tuple[str, ...], machine: Machine, catalog: Catalog) -> str:
    """The text that says why Secure Boot asks nothing about these packages at the restart, as far as that is known."""
    if machine.os.secure_boot is False:
        return "@driver.boot.off"
    return "@driver.boot.signed" if has_signed_modules(names, machine, catalog) else "@driver.boot.unknown"


def distribution_branch(machine: Machine, catalog: Catalog) -> str | None:
    """The one branch that this release's own packages bring; None where that is not known."""
    facts = _install_facts(machine, catalog)
    return distributions.package_branch(facts, machine.os) if facts is not None else None


def prerequisites(machine: Machine, catalog: Catalog) -> tuple[str, ...]:
    """The package sources and headers that have to be there before the driver's packages can be had."""
    facts = _install_facts(machine, catalog)
    return facts.needs if facts is not None else ()


def nvidia_repository_page(machine: Machine, catalog: Catalog) -> str | None:
    """The page that says how NVIDIA's own packages come to a distribution."""
    facts = _install_facts(machine, catalog)
    if facts is None or facts.nvidia_source is None:
        return None
    return catalog.source_url(catalog.drivers, facts.nvidia_source)


def run_file_commands(version: str, catalog: Catalog) -> Commands:
    """What to type where nothing is known of the distribution: NVIDIA's own installer."""
    segments = (package for package in catalog.drivers.packages if (package.system, package.version) == ("linux", version))
    is_datacenter = next((package.segment == "datacenter" for package in segments), False)
    pattern = catalog.drivers.address_patterns.get("linux_run_data_center" if is_datacenter else "linux_run")
    if pattern is None:
        return ()
    url = pattern.url.replace("{version}", version)
    return (("curl", "-fLO", url), ("sudo", "sh", PurePosixPath(urlsplit(url).path).name))


def policy_commands(name: str) -> Commands:
    """What shows which version of a package the distribution has."""
    return (("apt-cache", "policy", name),)


def install_commands(names: tuple[str, ...]) -> Commands:
    """The same packages by the user's own hand."""
    return (("sudo", "apt-get", "install", *names),)


def enrollment_command(system: OperatingSystem, catalog: Catalog) -> tuple[str, ...]:
    """What makes the next start ask whether our modules' key is trusted; empty where the catalog does not say."""
    return distributions.enroll_command(catalog.drivers, system)


def is_key_known(system: OperatingSystem, catalog: Catalog) -> bool:
    """Whether the catalog says where this very distribution keeps the key of its modules."""
    return distributions.signing_key_path(catalog.drivers, system) is not None


def is_signing_unknown(advice: DriverAdvice, system: OperatingSystem, catalog: Catalog) -> bool:
    """Whether Secure Boot may refuse the modules that a distribution's own commands bring: nothing is known of their
    signature, and no key is made known to it.
    """
    rows = catalog.drivers.linux_commands
    is_signed = any(row.signed and distributions.fill_commands(row.commands, system) == advice.commands for row in rows)
    return system.secure_boot is True and advice.way == "commands" and not advice.key and not is_signed


def signing_page(system: OperatingSystem, catalog: Catalog) -> str | None:
    """Where the distribution says how its modules are signed; None where no page of it is known."""
    source = distributions.secure_boot_page_source(catalog.drivers, system)
    return catalog.source_url(catalog.drivers, source) if source is not None else None


def _install_facts(machine: Machine, catalog: Catalog) -> LinuxDriverInstall | None:
    return distributions.find_install_method(catalog.drivers, machine.os)
