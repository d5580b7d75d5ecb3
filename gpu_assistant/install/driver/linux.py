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
SIGNED = ("signed_modules", "signed_open_modules")


def signed(names: tuple[str, ...], machine: Machine, catalog: Catalog) -> bool:
    """Whether modules that the distribution signed are among its packages, so that Secure Boot takes them."""
    facts = _facts(machine, catalog)
    patterns = [facts.packages.get(purpose) for purpose in SIGNED] if facts is not None else []
    stems = tuple(pattern.partition("{branch}")[0] for pattern in patterns if pattern is not None)
    return bool(stems) and any(name.startswith(stems) for name in names)


def boot_words(names: tuple[str, ...], machine: Machine, catalog: Catalog) -> str:
    """The text that says why Secure Boot asks nothing about these packages at the restart, as far as that is known."""
    if machine.os.secure_boot is False:
        return "@driver.boot.off"
    return "@driver.boot.signed" if signed(names, machine, catalog) else "@driver.boot.unknown"


def release_branch(machine: Machine, catalog: Catalog) -> str | None:
    """The one branch that this release's own packages bring; None where that is not known."""
    facts = _facts(machine, catalog)
    return distributions.release_branch(facts, machine.os) if facts is not None else None


def first(machine: Machine, catalog: Catalog) -> tuple[str, ...]:
    """The package sources and headers that have to be there before the driver's packages can be had."""
    facts = _facts(machine, catalog)
    return facts.needs if facts is not None else ()


def nvidia_source(machine: Machine, catalog: Catalog) -> str | None:
    """The page that says how NVIDIA's own packages come to a distribution."""
    facts = _facts(machine, catalog)
    if facts is None or facts.nvidia_source is None:
        return None
    return catalog.source(catalog.drivers, facts.nvidia_source)


def by_hand(wanted: str, catalog: Catalog) -> Commands:
    """What to type where nothing is known of the distribution: NVIDIA's own installer."""
    rows = (p for p in catalog.drivers.packages if (p.system, p.version) == ("linux", wanted))
    server = next((p.segment == "datacenter" for p in rows), False)
    pattern = catalog.drivers.address_patterns.get("linux_run_data_center" if server else "linux_run")
    if pattern is None:
        return ()
    url = pattern.url.replace("{version}", wanted)
    return (("curl", "-fLO", url), ("sudo", "sh", PurePosixPath(urlsplit(url).path).name))


def to_ask(name: str) -> Commands:
    """What shows which version of a package the distribution has."""
    return (("apt-cache", "policy", name),)


def to_type(names: tuple[str, ...]) -> Commands:
    """The same packages by the user's own hand."""
    return (("sudo", "apt-get", "install", *names),)


def enrolment(system: OperatingSystem, catalog: Catalog) -> tuple[str, ...]:
    """What makes the next start ask whether our modules' key is trusted; empty where the catalog does not say."""
    return distributions.enrolment(catalog.drivers, system)


def key_known(system: OperatingSystem, catalog: Catalog) -> bool:
    """Whether the catalog says where this very distribution keeps the key of its modules."""
    return distributions.own_key(catalog.drivers, system) is not None


def signing_unknown(advice: DriverAdvice, system: OperatingSystem, catalog: Catalog) -> bool:
    """Whether Secure Boot may refuse the modules that a distribution's own commands bring: nothing is known of their
    signature, and no key is made known to it.
    """
    rows = catalog.drivers.linux_commands
    signed = any(row.signed and distributions.filled(row.commands, system) == advice.commands for row in rows)
    return system.secure_boot is True and advice.way == "commands" and not advice.key and not signed


def signing_page(system: OperatingSystem, catalog: Catalog) -> str | None:
    """Where the distribution says how its modules are signed; None where no page of it is known."""
    source = distributions.signing_page_for(catalog.drivers, system)
    return catalog.source(catalog.drivers, source) if source is not None else None


def _facts(machine: Machine, catalog: Catalog) -> LinuxDriverInstall | None:
    return distributions.install_way(catalog.drivers, machine.os)
