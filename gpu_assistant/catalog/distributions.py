"""Which of the catalog's ways to the driver is a Linux distribution's: its own, or that of the one it is built from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .versions import parse_version

if TYPE_CHECKING:
    from ..core.machine import OperatingSystem
    from .records.catalog import DriverCatalog
    from .records.drivers import LinuxDriverCommands, LinuxDriverInstall, LinuxDriverPage


CommandLines = tuple[tuple[str, ...], ...]


def find_install_method(drivers: DriverCatalog, system: OperatingSystem) -> LinuxDriverInstall | None:
    """The packages that bring the driver here; None where that is not known, or the distribution has a way of its
    own although it is built from one whose packages are known.
    """
    distribution = (system.distro or "").casefold()
    for method in drivers.linux_install:
        if method.distribution == distribution:
            return method
    if not system.distro_like or any(distribution in row.distributions for row in drivers.linux_commands):
        return None
    children = {method.distribution: method for method in drivers.linux_install if method.children}
    return next((children[name] for name in _distribution_ids(system) if name in children), None)


def signing_key_path(drivers: DriverCatalog, system: OperatingSystem) -> str | None:
    """Where this distribution keeps the key of the modules that it builds, where that is not the usual place: nobody
    but the user makes that key known to Secure Boot.
    """
    method = find_install_method(drivers, system)
    return method.key if method is not None else None


def enroll_command(drivers: DriverCatalog, system: OperatingSystem) -> tuple[str, ...]:
    """What makes the next start ask whether our modules' key is trusted; empty where the catalog does not say."""
    facts = drivers.secure_boot
    if facts is None:
        return ()
    key = signing_key_path(drivers, system) or facts.key
    return ("sudo", *(argument.replace("{key}", key) for argument in facts.enrol))


def package_release(method: LinuxDriverInstall, system: OperatingSystem) -> str | None:
    """The release of the distribution whose packages these are; None where it is not known."""
    if method.distribution == (system.distro or "").casefold():
        return system.distro_version
    return method.codenames.get((system.distro_codename or "").casefold())


def package_branch(method: LinuxDriverInstall, system: OperatingSystem) -> str | None:
    """The one branch that this release's own packages bring; None where packages are named after theirs."""
    return method.releases.get((package_release(method, system) or "").partition(".")[0])


def kernel_flavour(method: LinuxDriverInstall, system: OperatingSystem) -> str | None:
    """For which kernel modules that the distribution signed have to be; None where there are none for this kernel."""
    kernel, release = system.kernel, package_release(method, system)
    release_kernel = parse_version(method.kernels.get(release or ""))
    if kernel is None or release_kernel is None:
        return "generic" if kernel is None or kernel.endswith("-generic") else None
    if not kernel.endswith("-generic"):
        return None
    running_kernel = parse_version(kernel.partition("-")[0]) or release_kernel
    return "generic" if running_kernel[:2] <= release_kernel else f"generic-hwe-{release}"


def find_commands(drivers: DriverCatalog, system: OperatingSystem, generation: str) -> LinuxDriverCommands | None:
    """What to type on this very distribution for a generation of cards, with its figures filled in."""
    distribution, release = (system.distro or "").casefold(), system.distro_version or ""
    for row in drivers.linux_commands:
        matches = distribution in row.distributions and generation in row.generations and system.arch == "x86_64"
        if not matches or (row.releases and not {release, release.partition(".")[0]} & set(row.releases)):
            continue
        if system.distro_variant in row.without_variants:
            continue
        if row.kernels and system.kernel is not None and not any(part in system.kernel for part in row.kernels):
            continue
        return row
    return None


def fill_commands(commands: CommandLines, system: OperatingSystem) -> CommandLines | None:
    """Commands with this computer's release and kernel in them; None where they need one that is not known."""
    # Which kernel runs, a terminal knows in any case.
    release, kernel = system.distro_version or "", f"-{system.kernel or '$(uname -r)'}"
    if not release and any(
        "{release}" in argument or "{major}" in argument for command in commands for argument in command
    ):
        return None
    values = {"{release}": release, "{major}": release.partition(".")[0], "-{kernel}": kernel}
    return tuple(tuple(_fill_placeholders(argument, values) for argument in command) for command in commands)


def driver_page_source(drivers: DriverCatalog, system: OperatingSystem) -> str | None:
    """The source that says how the driver gets onto this distribution, its own before those it is built from."""
    page = _find_page(drivers, system)
    return page.source if page is not None else None


def secure_boot_page_source(drivers: DriverCatalog, system: OperatingSystem) -> str | None:
    """The source that says what Secure Boot asks of this distribution's modules, else the one about the driver."""
    page = _find_page(drivers, system)
    return (page.secure_boot_source or page.source) if page is not None else None


def _find_page(drivers: DriverCatalog, system: OperatingSystem) -> LinuxDriverPage | None:
    for name in _distribution_ids(system):
        for page in drivers.linux_pages:
            if name in page.distributions:
                return page
    return None


def _fill_placeholders(argument: str, values: dict[str, str]) -> str:
    for placeholder, value in values.items():
        argument = argument.replace(placeholder, value)
    return argument


def _distribution_ids(system: OperatingSystem) -> Iterator[str]:
    """The distribution's id and those of the ones it is built from, the nearest first."""
    yield from dict.fromkeys(name.casefold() for name in (system.distro or "", *(system.distro_like or ())) if name)
