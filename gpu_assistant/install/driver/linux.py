"""The driver on Linux: which of the distribution's packages, and what to type where we install none."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from ...catalog.versions import capability, numbers

if TYPE_CHECKING:
    from ...catalog.driver_ways import LinuxDriverInstall, ModuleKind
    from ...catalog.load import Catalog
    from ...core.machine import Machine

Commands = tuple[tuple[str, ...], ...]


class Packages(Struct, frozen=True, kw_only=True):
    """`names` in the order in which they are asked for; `signed` tells whether Secure Boot takes their modules."""

    names: tuple[str, ...]
    signed: bool


def packages(machine: Machine, wanted: str, minimum: str | None, catalog: Catalog) -> Packages | None:
    """The distribution's packages for a driver as new as `minimum`, best of the branch of `wanted`.

    None where the catalog knows none: another distribution, a branch that it does not carry, a card of which nobody
    knows which kernel modules serve it.
    """
    facts = next((ways for ways in catalog.drivers.linux_install if ways.distribution == machine.os.distro), None)
    kind = _modules(machine, catalog)
    if facts is None or kind is None:
        return None
    # Modules that the distribution signed are taken as they are; others need a key that a person enrols.
    signed_name = "signed_open_modules" if kind == "open" else "signed_modules"
    if not facts.series:
        names = [facts.packages["proprietary"], *_more(facts, "open" if kind == "open" else None, "firmware")]
        return Packages(names=tuple(names), signed=False)
    branch = _branch(facts, wanted, minimum)
    if branch is None:
        return None
    server = facts.packages.get("server_open" if kind == "open" else "server")
    # The catalog knows signed modules of the ordinary packages only: a key enrolled by hand is for who sits before it.
    if server is not None and machine.os.secure_boot is not True and _data_centre(machine, catalog):
        return Packages(names=(server.replace("{branch}", branch),), signed=False)
    chosen = [facts.packages[kind]]
    signed = signed_name in facts.packages
    if machine.os.secure_boot is not False and signed:
        chosen.append(facts.packages[signed_name])
    return Packages(names=tuple(name.replace("{branch}", branch) for name in chosen), signed=signed)


def by_hand(wanted: str, catalog: Catalog) -> Commands:
    """What to type where the catalog knows no packages: NVIDIA's own installer."""
    pattern = catalog.drivers.address_patterns.get("linux_run")
    if pattern is None:
        return ()
    url = pattern.url.replace("{version}", wanted)
    return (("curl", "-fLO", url), ("sudo", "sh", PurePosixPath(urlsplit(url).path).name))


def to_type(names: tuple[str, ...]) -> Commands:
    """The same packages by the user's own hand."""
    return (("sudo", "apt-get", "install", *names),)


def enrolment(catalog: Catalog) -> tuple[str, ...]:
    """What makes the next start ask whether our modules' key is trusted; empty where the catalog does not say."""
    facts = catalog.drivers.secure_boot
    return ("sudo", *(word.replace("{key}", facts.key) for word in facts.enrol)) if facts is not None else ()


def _data_centre(machine: Machine, catalog: Catalog) -> bool:
    """Whether all NVIDIA cards here are made for servers, which have packages of their own."""
    rows = [catalog.gpu(gpu.pci_id) if gpu.pci_id is not None else None for gpu in machine.gpus_of("nvidia")]
    return bool(rows) and all(row is not None and row.segment == "datacenter" for row in rows)


def _more(facts: LinuxDriverInstall, *purposes: str | None) -> list[str]:
    return [facts.packages[purpose] for purpose in purposes if purpose is not None and purpose in facts.packages]


def _modules(machine: Machine, catalog: Catalog) -> ModuleKind | None:
    """The kind that serves every NVIDIA card here; the better one where there is a choice."""
    sets: list[tuple[ModuleKind, ...]] = []
    for gpu in machine.gpus_of("nvidia"):
        known = gpu.compute_capability
        if known is None and gpu.pci_id is not None and (row := catalog.gpu(gpu.pci_id)) is not None:
            known = row.compute_capability
        level = capability(known)
        if level is None:
            return None
        sets.append(
            next(
                (
                    row.kinds
                    for row in catalog.drivers.linux_modules
                    if (capability(row.from_capability) or (0, 0)) <= level
                    and (row.below_capability is None or level < (capability(row.below_capability) or (0, 0)))
                ),
                (),
            )
        )
    return next((kind for kind in (sets[0] if sets else ()) if all(kind in kinds for kinds in sets)), None)


def _branch(facts: LinuxDriverInstall, wanted: str, minimum: str | None) -> str | None:
    """The newest branch that the distribution carries, not past the wanted one and not below the minimum's."""
    most, least = numbers(wanted), numbers(minimum) or (0,)
    if most is None:
        return None
    return next((branch for branch in facts.series if least[0] <= int(branch) <= most[0]), None)
