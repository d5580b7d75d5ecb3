"""What a build demands of the NVIDIA driver, and which drivers a GPU can have.

`find_driver_state` describes the driver of a machine and the newest package for its GPU; `build_minimum_driver` is the
lowest driver for a build, and `is_reachable` whether the machine has it or can get it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.records.drivers import DriverPackage, GpuGeneration, MinimumDriverWindows, ModuleKind
from ..catalog.records.gpus import Segment
from ..catalog.store import Catalog
from ..core.machine import Driver, Machine, SystemName, is_divided_gpu, is_virtual_gpu
from ..core.types import Channel
from ..core.versions import Capability, Version
from .builds import Build, CodeKind
from .gpus import display_name, is_embedded_gpu

# Why the driver is not changed from here: it is the host's of a container or of a virtual GPU, whoever divided a GPU
# into instances decides about it, it comes with the system of an embedded board, or this Windows takes none of today's
# packages.
DriverHost = Literal["container", "vgpu", "mig", "jetpack", "windows"]


class DriverState(Struct, frozen=True, kw_only=True):
    """The installed driver, and what the GPU could have. `system` is the one that the driver belongs to: Windows for
    Linux under WSL.

    `installed` is the version as reported, `version` the same as a number (None: no driver, or an unreadable version),
    or the driver that the user chose, which is `requested` then. `cuda` is the highest CUDA that it implements.
    `dropped_from` is the first driver without support for one of the GPUs, if `version` is that or newer;
    `first_driver` the first one that supports the deciding GPU, where a source names it. With a `host` the driver is
    never changed from here, and one that `is_kept` is not changed on the way that works with it.
    """

    system: SystemName
    installed: str | None
    version: Version | None
    cuda: Version | None
    generation: GpuGeneration | None
    package: DriverPackage | None
    dropped_from: Version | None = None
    first_driver: Version | None = None
    requested: str | None = None
    host: DriverHost | None = None
    is_kept: bool = False
    channel: Channel = "studio"

    @property
    def installed_version(self) -> Version | None:
        """The installed driver, whatever the user chose."""
        return Version.parse(self.installed)

    @property
    def is_readable(self) -> bool:
        """False where a driver answers with a version that is no number."""
        return self.installed is None or self.installed_version is not None

    @property
    def usable_version(self) -> Version | None:
        """`version`, if it still supports the GPUs."""
        return None if self.dropped_from is not None else self.version

    @property
    def newest_version(self) -> Version | None:
        """The newest driver known for the GPU."""
        return self.package.version if self.package is not None else None


def select_driver_system(machine: Machine) -> SystemName:
    """The system whose driver serves this machine: Windows for WSL."""
    return "windows" if machine.os.system == "linux" and machine.os.wsl else machine.os.system


def find_driver_host(machine: Machine, catalog: Catalog) -> DriverHost | None:
    """Who gives this machine's NVIDIA driver; None where this system has its own.

    A container uses the driver of its host. The driver of a virtual GPU belongs to the release of vGPU that the host
    runs, and another one does not load. A GPU that is divided into instances (MIG) serves others too.
    """
    if machine.container is not None:
        return "container"
    cards = machine.gpus_of("nvidia")
    if any(is_virtual_gpu(card) for card in cards):
        return "vgpu"
    if any(is_divided_gpu(card) for card in cards):
        return "mig"
    if _has_embedded_driver(machine, catalog):
        return "jetpack"
    lowest, build = find_minimum_windows(catalog, machine), machine.os.build
    return "windows" if lowest is not None and build is not None and build < lowest.build else None


def _has_embedded_driver(machine: Machine, catalog: Catalog) -> bool:
    """Whether the driver is that of an embedded board's own system, and says which CUDA it implements."""
    embedded, driver = catalog.pytorch.embedded, machine.driver
    if embedded is None or embedded.driver_source is None or machine.os.arch != embedded.arch:
        return False
    cards = machine.gpus_of("nvidia")
    is_embedded = any(is_embedded_gpu(display_name(card, catalog), catalog) for card in cards)
    return is_embedded and driver is not None and Version.parse(driver.cuda_max) is not None


def find_minimum_windows(catalog: Catalog, machine: Machine) -> MinimumDriverWindows | None:
    """The first Windows of this one's kind that takes NVIDIA's packages of today; None for another system."""
    if machine.os.system != "windows":
        return None
    name = machine.os.name or ""
    rows = catalog.drivers.packages_windows
    return next((row for row in rows if not row.for_names or name.startswith(row.for_names)), None)


def find_driver_state(
    machine: Machine,
    catalog: Catalog,
    device: Capability | None,
    segment: Segment,
    channel: Channel,
    *,
    oldest: Capability | None = None,
) -> DriverState:
    """The driver of a machine, for the chip that decides and for an older one beside it: a computer has one NVIDIA
    driver, so the older chip limits which are possible.
    """
    driver = machine.driver
    version = Version.parse(driver.version) if driver is not None else None
    system = select_driver_system(machine)
    limiting_chip = oldest if oldest is not None else device
    generation = find_generation(catalog, limiting_chip) if limiting_chip is not None else None
    if device is None and version is not None:
        generation = _generation_by_driver(catalog, version, system)
    host, package = find_driver_host(machine, catalog), None
    cuda = _driver_cuda(catalog, driver, version)
    if host == "jetpack":
        # Its versions are not those of other drivers: what counts is the CUDA that it implements.
        version = find_minimum_driver(catalog, cuda, system, "binary")
    if host is None:
        package = _find_package(catalog, system, device, generation=generation, segment=segment, channel=channel)
    return DriverState(
        system=system,
        installed=driver.version if driver is not None else None,
        version=version,
        cuda=cuda,
        generation=generation,
        package=with_server_url(catalog, package, machine) if package is not None else None,
        dropped_from=dropping_driver(catalog, version, device, system)
        or dropping_driver(catalog, version, oldest, system),
        first_driver=_first_driver_for(catalog, device, system),
        host=host,
        channel=channel,
    )


def _first_driver_for(catalog: Catalog, device: Capability | None, system: SystemName) -> Version | None:
    """The first driver that supports a chip; None where no source names it."""
    for row in catalog.drivers.first_drivers if device is not None else ():
        if device is not None and is_in_range(device, row.from_capability, row.below_capability):
            return row.versions.get(system)
    return None


def _driver_cuda(catalog: Catalog, driver: Driver | None, version: Version | None) -> Version | None:
    if driver is None:
        return None
    reported = Version.parse(driver.cuda_max)
    return reported.series if reported is not None else native_cuda(catalog, version)


def is_in_range(chip: Capability, lowest: Capability, limit: Capability | None) -> bool:
    """Whether a chip is in [lowest, limit); no limit where it is None."""
    return chip >= lowest and (limit is None or chip < limit)


@lru_cache(maxsize=256)
def find_generation(catalog: Catalog, device: Capability) -> GpuGeneration | None:
    """The generation of a chip, which decides which driver branches support it."""
    for generation in catalog.drivers.generations:
        if is_in_range(device, generation.from_capability, generation.below_capability):
            return generation
    return None


def _generation_by_driver(catalog: Catalog, version: Version, system: SystemName) -> GpuGeneration | None:
    """The newest generation, where the installed driver supports no older one: the GPU must be of it."""
    newest = next((g for g in catalog.drivers.generations if g.last_branch is None), None)
    limits = (generation.first_without.get(system) for generation in catalog.drivers.generations)
    return newest if all(limit is None or version >= limit for limit in limits) else None


def dropping_driver(
    catalog: Catalog, version: Version | None, device: Capability | None, system: SystemName
) -> Version | None:
    """The first driver without support for a chip, if `version` is that or newer."""
    generation = find_generation(catalog, device) if device is not None else None
    limit = generation.first_without.get(system) if generation is not None else None
    return limit if version is not None and limit is not None and version >= limit else None


def supports_both(catalog: Catalog, newer: Capability, older: Capability, system: SystemName, arch: str | None) -> bool:
    """Whether one driver serves two chips: the last branch of the older one compiles for the newer one, and on Linux
    they use the same kind of kernel modules.
    """
    if system == "linux" and has_no_common_modules(catalog, newer, older, arch):
        return False
    generation = find_generation(catalog, older)
    if generation is None or generation == find_generation(catalog, newer):
        return generation is not None
    return branch_supports(catalog, generation, newer)


def branch_supports(catalog: Catalog, generation: GpuGeneration, chip: Capability) -> bool:
    """Whether the last branch of an older generation supports a newer chip: its own CUDA compiles for it."""
    if generation.last_branch is None:
        return True
    cuda = native_cuda(catalog, Version(str(generation.last_branch)))
    highest_chips = (t.highest_capability for t in catalog.cuda.toolkits if t.version.series == cuda)
    return cuda is not None and any(highest is not None and chip <= highest for highest in highest_chips)


def kernel_modules_for(catalog: Catalog, chips: tuple[Capability, ...], arch: str | None) -> tuple[ModuleKind, ...]:
    """The kinds of Linux kernel modules that serve all of the chips in a computer, the preferred kind first."""
    rows = sorted(
        (row for row in catalog.drivers.linux_modules if row.arch in (None, arch)), key=lambda row: row.arch is None
    )
    kinds: tuple[ModuleKind, ...] | None = None
    for chip in chips:
        chip_kinds = next((r.kinds for r in rows if is_in_range(chip, r.from_capability, r.below_capability)), ())
        kinds = chip_kinds if kinds is None else tuple(kind for kind in kinds if kind in chip_kinds)
    return kinds or ()


def has_no_common_modules(catalog: Catalog, newer: Capability, older: Capability, arch: str | None) -> bool:
    """Whether two chips are known to need different kinds of Linux kernel modules, of which one can be loaded."""
    both = kernel_modules_for(catalog, (newer,), arch), kernel_modules_for(catalog, (older,), arch)
    return all(both) and not kernel_modules_for(catalog, (newer, older), arch)


@lru_cache(maxsize=1024)
def native_cuda(catalog: Catalog, version: Version | None) -> Version | None:
    """The highest CUDA that a driver implements by itself, from its branch; None if it is older than all known."""
    if version is None:
        return None
    return next((row.cuda for row in catalog.cuda.branches if version >= row.branch), None)


@lru_cache(maxsize=1024)
def find_minimum_driver(catalog: Catalog, cuda: Version | None, system: SystemName, code: CodeKind) -> Version | None:
    """The lowest driver for programs of a CUDA version; None if the catalog does not have it.

    Compiled code runs from the first driver of its CUDA major on. Portable code is translated by the driver, which has
    to implement that very CUDA version.
    """
    if cuda is None:
        return None
    rows = (row for row in catalog.cuda.minimum_drivers if row.major == cuda.major)
    by_major = next((row.windows if system == "windows" else row.linux for row in rows), None)
    if code != "ptx" or by_major is None:
        return by_major
    by_branch = min((row.branch for row in catalog.cuda.branches if row.cuda >= cuda), default=None)
    return max(by_major, by_branch) if by_branch is not None else None


def build_minimum_driver(catalog: Catalog, state: DriverState, build: Build, code: CodeKind) -> Version | None:
    """The lowest driver for a build on this machine, which has to support the GPU, too.

    A publisher that states the lowest CUDA of the driver goes before what follows from the build's own CUDA.
    """
    minimum = find_minimum_driver(catalog, build.cuda, state.system, code)
    if minimum is None:
        return None
    stated = build.record.lowest_cuda
    if stated is not None:
        implementing = find_minimum_driver(catalog, stated, state.system, "ptx")
        if implementing is None:
            return None
        minimum = max(minimum, implementing)
    return stricter_minimum(minimum, state.first_driver)


def stricter_minimum(first: Version, second: Version | None) -> Version:
    """The higher of two minimums."""
    return first if second is None else max(first, second)


def is_reachable(state: DriverState, minimum: Version) -> bool:
    """Whether the GPU gets a driver that is new enough: the installed one, or one that it can have."""
    if state.usable_version is not None and state.usable_version >= minimum:
        return True
    if state.requested is not None or state.host is not None or state.is_kept:
        return False
    if state.generation is None:
        return True  # An unknown chip may have any driver; callers prefer the installed one.
    if state.newest_version is not None:
        return state.newest_version >= minimum
    last_branch = state.generation.last_branch
    return last_branch is None or minimum.major <= last_branch


def _find_package(
    catalog: Catalog,
    system: SystemName,
    device: Capability | None,
    *,
    generation: GpuGeneration | None,
    segment: Segment,
    channel: Channel,
) -> DriverPackage | None:
    """The newest package for a generation that is known to serve the deciding chip too."""
    if generation is None:
        return None
    own_generation = find_generation(catalog, device) if device is not None else generation
    if own_generation is None or own_generation == generation or system == "linux":
        return _newest_package(catalog, system, generation.id, segment, channel)
    # A package for Windows lists the GPUs that it serves; one for Linux serves all that its branch supports.
    versions = {p.version for p in catalog.drivers.packages if (p.system, p.generation) == (system, own_generation.id)}
    return _newest_package(catalog, system, generation.id, segment, channel, among=frozenset(versions))


@lru_cache(maxsize=256)
def _newest_package(
    catalog: Catalog,
    system: SystemName,
    generation: str,
    segment: Segment,
    channel: Channel,
    *,
    among: frozenset[Version] | None = None,
) -> DriverPackage | None:
    """The first that fits: packages are listed newest first."""
    for package in catalog.drivers.packages:
        if (package.system, package.generation) != (system, generation) or package.line == "new-feature":
            continue
        if among is not None and package.version not in among:
            continue
        if package.segment in (None, segment) and package.channel in (None, channel):
            return with_download_url(catalog, package, segment, channel)
    return None


def with_download_url(catalog: Catalog, package: DriverPackage, segment: Segment, channel: Channel) -> DriverPackage:
    """A package with its address: the published one, else one built from the pattern for its kind, if there is one."""
    if package.url is not None or package.system != "windows":
        return package
    package_channel = package.channel or ("game-ready" if segment == "laptop" else channel)
    names = {"laptop": f"{package_channel.replace('-', '_')}_notebook", "workstation": "rtx_quadro"}
    names["datacenter"] = "data_center_windows"
    pattern = catalog.drivers.address_patterns.get(names.get(segment, ""))
    return package if pattern is None else replace(package, url=_fill_version(pattern.url, package.version))


def with_server_url(catalog: Catalog, package: DriverPackage, machine: Machine) -> DriverPackage:
    """On Windows Server, a data centre package with the address for this edition, or without any where none is known
    for it; elsewhere the package as it is.
    """
    pattern, name = catalog.drivers.address_patterns.get("data_center_server"), machine.os.name or ""
    if pattern is None or package.system != "windows" or package.segment != "datacenter" or machine.os.wsl:
        return package
    if any(name.startswith(prefix) for prefix in pattern.for_names):
        return replace(package, url=_fill_version(pattern.url, package.version))
    families = {prefix.rpartition(" ")[0] for prefix in pattern.for_names}
    return replace(package, url=None) if any(name.startswith(family) for family in families) else package


def _fill_version(pattern: str, version: Version) -> str:
    return pattern.replace("{version}", version.text)
