"""Which of the catalog's ways to the driver is a Linux distribution's: its own, or that of the one it is built from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .versions import numbers

if TYPE_CHECKING:
    from ..core.machine import OperatingSystem
    from .driver_ways import LinuxDriverCommands, LinuxDriverInstall, LinuxDriverPage
    from .records import Drivers

Commands = tuple[tuple[str, ...], ...]


def install_way(drivers: Drivers, system: OperatingSystem) -> LinuxDriverInstall | None:
    """The packages that bring the driver here; None where that is not known, or the distribution has a way of its
    own although it is built from one whose packages are known.
    """
    own = (system.distro or "").casefold()
    for way in drivers.linux_install:
        if way.distribution == own:
            return way
    if not system.distro_like or any(own in row.distributions for row in drivers.linux_commands):
        return None
    children = {way.distribution: way for way in drivers.linux_install if way.children}
    return next((children[name] for name in _family(system) if name in children), None)


def own_key(drivers: Drivers, system: OperatingSystem) -> str | None:
    """Where this distribution keeps the key of the modules that it builds, where that is not the usual place: nobody
    but the user makes that key known to Secure Boot.
    """
    way = install_way(drivers, system)
    return way.key if way is not None else None


def enrolment(drivers: Drivers, system: OperatingSystem) -> tuple[str, ...]:
    """What makes the next start ask whether our modules' key is trusted; empty where the catalog does not say."""
    facts = drivers.secure_boot
    if facts is None:
        return ()
    key = own_key(drivers, system) or facts.key
    return ("sudo", *(word.replace("{key}", key) for word in facts.enrol))


def release_of(way: LinuxDriverInstall, system: OperatingSystem) -> str | None:
    """The release of the distribution whose packages these are; None where it is not known."""
    if way.distribution == (system.distro or "").casefold():
        return system.distro_version
    return way.codenames.get((system.distro_codename or "").casefold())


def release_branch(way: LinuxDriverInstall, system: OperatingSystem) -> str | None:
    """The one branch that this release's own packages bring; None where packages are named after theirs."""
    return way.releases.get((release_of(way, system) or "").partition(".")[0])


def flavour(way: LinuxDriverInstall, system: OperatingSystem) -> str | None:
    """For which kernel modules that the distribution signed have to be; None where there are none for this kernel."""
    kernel, release = system.kernel, release_of(way, system)
    own = numbers(way.kernels.get(release or ""))
    if kernel is None or own is None:
        return "generic" if kernel is None or kernel.endswith("-generic") else None
    if not kernel.endswith("-generic"):
        return None
    here = numbers(kernel.partition("-")[0]) or own
    return "generic" if here[:2] <= own else f"generic-hwe-{release}"


def commands_for(drivers: Drivers, system: OperatingSystem, generation: str) -> LinuxDriverCommands | None:
    """What to type on this very distribution for a generation of cards, with its figures filled in."""
    own, release = (system.distro or "").casefold(), system.distro_version or ""
    for row in drivers.linux_commands:
        fits = own in row.distributions and generation in row.generations and system.arch == "x86_64"
        if not fits or (row.releases and not {release, release.partition(".")[0]} & set(row.releases)):
            continue
        if system.distro_variant in row.without_variants:
            continue
        if row.kernels and system.kernel is not None and not any(part in system.kernel for part in row.kernels):
            continue
        return row
    return None


def filled(commands: Commands, system: OperatingSystem) -> Commands | None:
    """Commands with this computer's release and kernel in them; None where they need one that is not known."""
    # Which kernel runs, a terminal knows in any case.
    release, kernel = system.distro_version or "", f"-{system.kernel or '$(uname -r)'}"
    if not release and any("{release}" in word or "{major}" in word for words in commands for word in words):
        return None
    figures = {"{release}": release, "{major}": release.partition(".")[0], "-{kernel}": kernel}
    return tuple(tuple(_filled(word, figures) for word in words) for words in commands)


def page_for(drivers: Drivers, system: OperatingSystem) -> str | None:
    """The source that says how the driver gets onto this distribution, its own before those it is built from."""
    page = _page_for(drivers, system)
    return page.source if page is not None else None


def signing_page_for(drivers: Drivers, system: OperatingSystem) -> str | None:
    """The source that says what Secure Boot asks of this distribution's modules, else the one about the driver."""
    page = _page_for(drivers, system)
    return (page.secure_boot_source or page.source) if page is not None else None


def _page_for(drivers: Drivers, system: OperatingSystem) -> LinuxDriverPage | None:
    for name in _family(system):
        for page in drivers.linux_pages:
            if name in page.distributions:
                return page
    return None


def _filled(word: str, figures: dict[str, str]) -> str:
    for sign, figure in figures.items():
        word = word.replace(sign, figure)
    return word


def _family(system: OperatingSystem) -> Iterator[str]:
    """The distribution's id and those of the ones it is built from, the nearest first."""
    yield from dict.fromkeys(name.casefold() for name in (system.distro or "", *(system.distro_like or ())) if name)
