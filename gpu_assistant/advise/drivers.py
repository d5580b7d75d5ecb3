"""What a build asks of the NVIDIA driver, and which drivers a card can get.

Where a driver's package lies.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.records.catalog import DriverPackage, GpuGeneration, Segment
from ..catalog.records.drivers import ModuleKind
from ..catalog.store import Catalog
from ..catalog.versions import parse_capability, parse_version
from ..core.machine import Driver, Machine, SystemName
from ..core.types import Channel
from .builds import Build, CodeKind


def with_server_url(catalog: Catalog, package: DriverPackage, machine: Machine) -> DriverPackage:
    """A package for data centres with the address of Windows Server's own where it is that; None where none is known
    for this very one.
    """
    pattern, name = catalog.drivers.address_patterns.get("data_center_server"), machine.os.name or ""
    if pattern is None or package.system != "windows" or package.segment != "datacenter" or machine.os.wsl:
        return package
    if any(name.startswith(prefix) for prefix in pattern.for_names):
        return replace(package, url=pattern.url.replace("{version}", package.version))
    families = {prefix.rpartition(" ")[0] for prefix in pattern.for_names}
    return replace(package, url=None) if any(name.startswith(family) for family in families) else package


def with_download_url(catalog: Catalog, package: DriverPackage, segment: Segment, channel: Channel) -> DriverPackage:
    """A package with its address: the one that was seen, else as addresses of its kind are built, if that is known."""
    if package.url is not None or package.system != "windows":
        return package
    package_channel = package.channel or ("game-ready" if segment == "laptop" else channel)
    names = {"laptop": f"{package_channel.replace('-', '_')}_notebook", "workstation": "rtx_quadro"}
    names["datacenter"] = "data_center_windows"
    pattern = catalog.drivers.address_patterns.get(names.get(segment, ""))
    return package if pattern is None else replace(package, url=pattern.url.replace("{version}", package.version))


DriverVersion = tuple[int, ...]


class MinimumDriver(Struct, frozen=True):
    """The lowest driver for a build, as NVIDIA writes it and as numbers."""

    text: str
    version: DriverVersion


class DriverState(Struct, frozen=True, kw_only=True):
    """The driver that is there and what this card could get. `system` is the one that the driver belongs to:
    Windows for Linux under WSL. `readable` is False where a driver answers with a version that says nothing.
    `refused` is the first driver without support for a card, where the one that is there is that or newer; `first`
    the first driver that knows the deciding card, where a source names it.
    `picked` is the driver that the user picked, which `version` is then; no other is reached for. `line` is the line
    of drivers that was asked for.
    """

    system: SystemName
    installed: str | None
    version: DriverVersion | None
    is_readable: bool
    cuda: tuple[int, int] | None
    generation: GpuGeneration | None
    package: DriverPackage | None
    dropped_from: str | None = None
    first_driver: MinimumDriver | None = None
    requested: str | None = None
    channel: Channel = "studio"

    @property
    def usable_version(self) -> DriverVersion | None:
        """The driver that is there, if it still supports the card."""
        return None if self.dropped_from is not None else self.version

    @property
    def newest_version(self) -> DriverVersion | None:
        """The newest driver known for this card."""
        return parse_version(self.package.version) if self.package is not None else None


def select_driver_system(machine: Machine) -> SystemName:
    """Whose driver serves this machine: under WSL it is Windows'."""
    return "windows" if machine.os.system == "linux" and machine.os.wsl else machine.os.system


def find_driver_state(
    machine: Machine,
    catalog: Catalog,
    device: tuple[int, int] | None,
    segment: Segment,
    channel: Channel,
    *,
    oldest: tuple[int, int] | None = None,
) -> DriverState:
    """The driver side of a machine, for its deciding card and for an older one (`oldest`) beside it: a computer
    has one NVIDIA driver, so the older card says which are possible.
    """
    driver = machine.driver
    version = parse_version(driver.version) if driver is not None else None
    system = select_driver_system(machine)
    limiting_chip = oldest if oldest is not None else device
    generation = find_generation(catalog, limiting_chip) if limiting_chip is not None else None
    if device is None and version is not None:
        generation = _generation_by_driver(catalog, version, system)
    package = _find_package(catalog, system, device, generation=generation, segment=segment, channel=channel)
    return DriverState(
        system=system,
        installed=driver.version if driver is not None else None,
        version=version,
        is_readable=driver is None or version is not None,
        cuda=_driver_cuda(catalog, driver, version),
        generation=generation,
        package=with_server_url(catalog, package, machine) if package is not None else None,
        dropped_from=dropping_driver(catalog, version, device, system)
        or dropping_driver(catalog, version, oldest, system),
        first_driver=_first_driver_for(catalog, device, system),
        channel=channel,
    )


def _first_driver_for(catalog: Catalog, device: tuple[int, int] | None, system: SystemName) -> MinimumDriver | None:
    """The first driver that knows a chip; None where no source names it."""
    rows = catalog.drivers.first_drivers if device is not None else ()
    for row in rows:
        if device is not None and _is_in_range(device, row.from_capability, row.below_capability):
            text = row.versions.get(system)
            return _parse_minimum_driver(text) if text is not None else None
    return None


def _find_package(
    catalog: Catalog,
    system: SystemName,
    device: tuple[int, int] | None,
    *,
    generation: GpuGeneration | None,
    segment: Segment,
    channel: Channel,
) -> DriverPackage | None:
    """The newest package for a generation that is known to serve the deciding card too."""
    if generation is None:
        return None
    own_generation = find_generation(catalog, device) if device is not None else generation
    if own_generation is None or own_generation == generation or system == "linux":
        return _newest_package(catalog, system, generation.id, segment, channel)
    # Windows' packages name the cards they serve; Linux's serve whatever their branch knows.
    versions = {p.version for p in catalog.drivers.packages if (p.system, p.generation) == (system, own_generation.id)}
    return _newest_package(catalog, system, generation.id, segment, channel, among=frozenset(versions))


@lru_cache(maxsize=256)
def find_generation(catalog: Catalog, device: tuple[int, int]) -> GpuGeneration | None:
    """Which drivers a chip gets."""
    for generation in catalog.drivers.generations:
        lowest, limit = parse_capability(generation.from_capability), parse_capability(generation.below_capability)
        if lowest is not None and device >= lowest and (limit is None or device < limit):
            return generation
    return None


def _generation_by_driver(catalog: Catalog, version: DriverVersion, system: SystemName) -> GpuGeneration | None:
    # A driver that refuses old cards runs here, so this card is none of them, whatever it is.
    modern = next((g for g in catalog.drivers.generations if g.last_branch is None), None)
    limits = (parse_version(g.first_without.get(system)) for g in catalog.drivers.generations)
    return modern if all(limit is None or version >= limit for limit in limits) else None


def supports_both(catalog: Catalog, newer: tuple[int, int], older: tuple[int, int], system: SystemName) -> bool:
    """Whether one driver serves two chips: the last branch that the older one gets compiles for the newer one, and
    on Linux one kind of kernel modules does for both.
    """
    if system == "linux" and has_no_common_modules(catalog, newer, older):
        return False
    generation = find_generation(catalog, older)
    if generation is None or generation == find_generation(catalog, newer):
        return generation is not None
    return branch_supports(catalog, generation, newer)


def branch_supports(catalog: Catalog, generation: GpuGeneration, chip: tuple[int, int]) -> bool:
    """Whether the last branch of an older generation knows a newer chip: its own CUDA compiles for it."""
    if generation.last_branch is None:
        return True
    cuda = native_cuda(catalog, (generation.last_branch,))
    highest_chips = (
        parse_capability(t.highest_capability) for t in catalog.cuda.toolkits if parse_series(t.version) == cuda
    )
    return cuda is not None and any(highest is not None and chip <= highest for highest in highest_chips)


def kernel_modules_for(catalog: Catalog, chips: tuple[tuple[int, int], ...]) -> tuple[ModuleKind, ...]:
    """The kinds of Linux kernel modules that serve all of the chips, the better kind first: one is loaded at a time."""
    kinds: tuple[ModuleKind, ...] | None = None
    for chip in chips:
        rows = catalog.drivers.linux_modules
        chip_kinds = next((r.kinds for r in rows if _is_in_range(chip, r.from_capability, r.below_capability)), ())
        kinds = chip_kinds if kinds is None else tuple(kind for kind in kinds if kind in chip_kinds)
    return kinds or ()


def has_no_common_modules(catalog: Catalog, newer: tuple[int, int], older: tuple[int, int]) -> bool:
    """Whether two chips are known to want different kernel modules of Linux."""
    both = kernel_modules_for(catalog, (newer,)), kernel_modules_for(catalog, (older,))
    return all(both) and not kernel_modules_for(catalog, (newer, older))


def _is_in_range(chip: tuple[int, int], lowest: str, limit: str | None) -> bool:
    lower, upper = parse_capability(lowest), parse_capability(limit)
    return lower is not None and chip >= lower and (upper is None or chip < upper)


def dropping_driver(
    catalog: Catalog, version: DriverVersion | None, device: tuple[int, int] | None, system: SystemName
) -> str | None:
    """The first driver that no longer knows a chip, where `version` is that or newer; None: it knows it."""
    generation = find_generation(catalog, device) if device is not None else None
    first_version = generation.first_without.get(system) if generation is not None else None
    limit = parse_version(first_version)
    return first_version if version is not None and limit is not None and version >= limit else None


@lru_cache(maxsize=256)
def parse_series(version: str) -> tuple[int, int] | None:
    """The (major, minor) of a version: "12.6.3" is (12, 6)."""
    parts = parse_version(version)
    return None if parts is None else (parts[0] if parts else 0, parts[1] if len(parts) > 1 else 0)


@lru_cache(maxsize=256)
def _newest_package(
    catalog: Catalog,
    system: SystemName,
    generation: str,
    segment: Segment,
    channel: Channel,
    *,
    among: frozenset[str] | None = None,
) -> DriverPackage | None:
    # Of several the first is the newest.
    for package in catalog.drivers.packages:
        if (package.system, package.generation) != (system, generation):
            continue
        if among is not None and package.version not in among:
            continue
        if package.segment in (None, segment) and package.channel in (None, channel):
            return with_download_url(catalog, package, segment, channel)
    return None


def _driver_cuda(catalog: Catalog, driver: Driver | None, version: DriverVersion | None) -> tuple[int, int] | None:
    if driver is None:
        return None
    reported = parse_capability(driver.cuda_max)
    return reported if reported is not None else native_cuda(catalog, version)


@lru_cache(maxsize=1024)
def native_cuda(catalog: Catalog, version: DriverVersion | None) -> tuple[int, int] | None:
    """The highest CUDA that a driver implements by itself, from its branch; None if older than all known."""
    if version is None:
        return None
    for row in catalog.cuda.branches:
        branch = parse_version(row.branch)
        if branch is not None and version >= branch:
            return parse_capability(row.cuda)
    return None


@lru_cache(maxsize=1024)
def find_minimum_driver(
    catalog: Catalog, cuda: tuple[int, int] | None, system: SystemName, code: CodeKind
) -> MinimumDriver | None:
    """The lowest driver for programs of a CUDA version; None if the catalog does not say.

    Compiled code runs from its CUDA major's first driver on. Portable code is translated by the driver,
    which must know that CUDA version itself.
    """
    if cuda is None:
        return None
    rows = (m for m in catalog.cuda.minimum_drivers if m.major == cuda[0])
    by_major = next((_parse_minimum_driver(m.windows if system == "windows" else m.linux) for m in rows), None)
    if code != "ptx":
        return by_major
    branches = (row.branch for row in catalog.cuda.branches if (parse_capability(row.cuda) or (0, 0)) >= cuda)
    by_branch = min(
        (driver for b in branches if (driver := _parse_minimum_driver(b)) is not None),
        key=lambda f: f.version,
        default=None,
    )
    if by_branch is None or by_major is None:
        return None
    return max(by_major, by_branch, key=lambda f: f.version)


def _parse_minimum_driver(text: str) -> MinimumDriver | None:
    version = parse_version(text)
    return MinimumDriver(text, version) if version is not None else None


def is_reachable(state: DriverState, minimum: MinimumDriver) -> bool:
    """Whether this card gets a driver that is new enough: the one that is there, or one it can have."""
    if state.usable_version is not None and state.usable_version >= minimum.version:
        return True
    if state.requested is not None:
        return False
    if state.generation is None:
        return True  # Nobody knows which drivers an unknown card gets: what is there is preferred elsewhere.
    if state.newest_version is not None:
        return state.newest_version >= minimum.version
    last_branch = state.generation.last_branch
    return last_branch is None or minimum.version[0] <= last_branch


def build_minimum_driver(catalog: Catalog, state: DriverState, build: Build, code: CodeKind) -> MinimumDriver | None:
    """The lowest driver for a build on this machine, which has to know the card, too."""
    minimum = find_minimum_driver(catalog, build.cuda, state.system, code)
    return stricter_minimum(minimum, state.first_driver) if minimum is not None else None


def stricter_minimum(first: MinimumDriver, second: MinimumDriver | None) -> MinimumDriver:
    """The stricter of two demands."""
    return first if second is None else max(first, second, key=lambda minimum: minimum.version)
