"""How a Linux distribution installs the NVIDIA driver: its packages, its commands, or its page about it.

A derived distribution (`distro_like` of os-release) uses the packages and the page of the one that it is built from;
commands are for exactly the distribution that documents them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..core.versions import Version

if TYPE_CHECKING:
    from ..core.machine import OperatingSystem
    from .records.drivers import (
        DriverCatalog,
        LinuxDriverCommands,
        LinuxDriverInstall,
        LinuxDriverPage,
        ModuleBuildFailure,
    )

CommandLines = tuple[tuple[str, ...], ...]


def find_install_method(drivers: DriverCatalog, system: OperatingSystem) -> LinuxDriverInstall | None:
    """The packages that bring the driver; None where they are unknown, or the distribution has commands of its own
    although it is derived from one whose packages are known.
    """
    distribution = (system.distro or "").casefold()
    page = _find_page(drivers, system)
    if is_image_based(drivers, system) or (page is not None and page.own):
        return None
    for method in drivers.linux_install:
        if method.distribution == distribution:
            return method
    if not system.distro_like or any(distribution in row.distributions for row in drivers.linux_commands):
        return None
    parents = {method.distribution: method for method in drivers.linux_install if method.children}
    return next((parents[name] for name in _distribution_ids(system) if name in parents), None)


def package_release(method: LinuxDriverInstall, system: OperatingSystem) -> str | None:
    """The release of the distribution whose packages are used, as "24.04"; for a derived one by its codename."""
    if method.distribution == (system.distro or "").casefold():
        return system.distro_version
    return method.codenames.get((system.distro_codename or "").casefold())


def package_branch(method: LinuxDriverInstall, system: OperatingSystem) -> Version | None:
    """The only driver branch in this release's packages; None where each branch has packages of its own."""
    return method.releases.get((package_release(method, system) or "").partition(".")[0])


def module_build_failures(method: LinuxDriverInstall, system: OperatingSystem) -> tuple[ModuleBuildFailure, ...]:
    """What does not compile for this release's kernels; for a release of which nothing is known, what does not for any
    other's.
    """
    release = (package_release(method, system) or "").partition(".")[0]
    is_known = release in method.releases
    return tuple(failure for failure in method.build_failures if not is_known or failure.release == release)


def replaced_packages(method: LinuxDriverInstall, names: Sequence[str]) -> tuple[str, ...]:
    """The package with the kernel modules of the other kind, which would stay, and be compiled, beside these."""
    kinds = [method.packages.get("proprietary_modules"), method.packages.get("open")]
    if None in kinds or len(set(kinds) & set(names)) != 1:
        return ()
    return tuple(name for name in kinds if name is not None and name not in names)


def kernel_flavour(method: LinuxDriverInstall, system: OperatingSystem) -> str | None:
    """The kernel flavour in the name of the signed modules: "generic", or "generic-hwe-24.04" where a newer kernel than
    the release's own runs. None where there are none for this kernel.
    """
    kernel, release = system.kernel, package_release(method, system)
    cloud_flavour = (kernel or "").rpartition("-")[2]
    if cloud_flavour in method.cloud_flavours:
        return cloud_flavour
    release_kernel = method.kernels.get(release or "")
    if kernel is None or release_kernel is None:
        return "generic" if kernel is None or kernel.endswith("-generic") else None
    if not kernel.endswith("-generic"):
        return None
    running_kernel = Version.parse(kernel.partition("-")[0]) or release_kernel
    return "generic" if running_kernel.series <= release_kernel else f"generic-hwe-{release}"


def signing_key_path(drivers: DriverCatalog, system: OperatingSystem) -> str | None:
    """Where this distribution keeps the key that signs locally built modules, if not in the usual folder: then the
    user has to enroll it for Secure Boot by hand.
    """
    method = find_install_method(drivers, system)
    return method.key if method is not None else None


def enroll_command(drivers: DriverCatalog, system: OperatingSystem) -> tuple[str, ...]:
    """The command after which the firmware asks at the next start whether to trust that key; empty if unknown."""
    facts = drivers.secure_boot
    if facts is None:
        return ()
    key = signing_key_path(drivers, system) or facts.key
    return ("sudo", *(argument.replace("{key}", key) for argument in facts.enrol))


def find_commands(drivers: DriverCatalog, system: OperatingSystem, generation: str) -> LinuxDriverCommands | None:
    """The commands that this distribution documents for a generation of GPUs."""
    distribution, release = (system.distro or "").casefold(), system.distro_version or ""
    if is_image_based(drivers, system):
        return None
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
    """Commands with this computer's release and kernel filled in; None where they need a release that is unknown."""
    # The shell can fill in the running kernel.
    release, kernel = system.distro_version or "", f"-{system.kernel or '$(uname -r)'}"
    if not release and any(
        "{release}" in argument or "{major}" in argument for command in commands for argument in command
    ):
        return None
    values = {"{release}": release, "{major}": release.partition(".")[0], "-{kernel}": kernel}
    return tuple(tuple(_fill_placeholders(argument, values) for argument in command) for command in commands)


def _fill_placeholders(argument: str, values: dict[str, str]) -> str:
    for placeholder, value in values.items():
        argument = argument.replace(placeholder, value)
    return argument


def driver_page_source(drivers: DriverCatalog, system: OperatingSystem) -> str | None:
    """The key of the source that documents the driver on this distribution, or on one that it is derived from."""
    page = _find_page(drivers, system)
    return page.source if page is not None else None


def secure_boot_page_source(drivers: DriverCatalog, system: OperatingSystem) -> str | None:
    """The key of the source that documents the driver under Secure Boot, else the one about the driver."""
    page = _find_page(drivers, system)
    return (page.secure_boot_source or page.source) if page is not None else None


def driver_page_package(drivers: DriverCatalog, system: OperatingSystem, generation: str) -> str | None:
    """The package to look for on that page for cards of a generation; None where it is not known."""
    page = _find_page(drivers, system)
    return page.packages.get(generation) if page is not None else None


def is_image_based(drivers: DriverCatalog, system: OperatingSystem) -> bool:
    """Whether the system is replaced as a whole, so that its package manager installs nothing into it: as it was found,
    else by the edition that it calls itself.
    """
    if system.image_based is not None:
        return system.image_based
    edition = system.distro_variant
    return edition is not None and any(edition in row.without_variants for row in drivers.linux_commands)


def _find_page(drivers: DriverCatalog, system: OperatingSystem) -> LinuxDriverPage | None:
    is_image = is_image_based(drivers, system)
    for name in _distribution_ids(system):
        for page in drivers.linux_pages:
            if name in page.distributions and (is_image or not page.image_based):
                return page
    return None


def switch_stream(row: LinuxDriverCommands, system: OperatingSystem) -> CommandLines:
    """The commands of a row; where another stream of the driver's module is enabled, dnf has to switch to this one."""
    if row.stream is None or not row.switch or system.driver_stream in (None, row.stream):
        return row.commands
    return tuple(row.switch if any(row.stream in part for part in each) else each for each in row.commands)


def _distribution_ids(system: OperatingSystem) -> Iterator[str]:
    """The distribution's id, then those of the ones that it is derived from, the nearest first."""
    yield from dict.fromkeys(name.casefold() for name in (system.distro or "", *(system.distro_like or ())) if name)
