"""What a build asks of the NVIDIA driver, and which drivers a card can get."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from ..catalog.driver_ways import ModuleKind
from ..catalog.load import Catalog
from ..catalog.records import DriverPackage, Generation, Segment
from ..catalog.versions import capability, numbers
from ..core.machine import Driver, Machine, SystemName
from ..core.recommendation import Channel
from .builds import Build, Code
from .driver_addresses import addressed, for_machine

Version = tuple[int, ...]


class Floor(Struct, frozen=True):
    """The lowest driver for a build, as NVIDIA writes it and as numbers."""

    text: str
    version: Version


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
    version: Version | None
    readable: bool
    cuda: tuple[int, int] | None
    generation: Generation | None
    package: DriverPackage | None
    refused: str | None = None
    first: Floor | None = None
    picked: str | None = None
    line: Channel = "studio"

    @property
    def usable(self) -> Version | None:
        """The driver that is there, if it still supports the card."""
        return None if self.refused is not None else self.version

    @property
    def newest(self) -> Version | None:
        """The newest driver known for this card."""
        return numbers(self.package.version) if self.package is not None else None


def driver_system(machine: Machine) -> SystemName:
    """Whose driver serves this machine: under WSL it is Windows'."""
    return "windows" if machine.os.system == "linux" and machine.os.wsl else machine.os.system


def driver_state(
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
    version = numbers(driver.version) if driver is not None else None
    system = driver_system(machine)
    bound = oldest if oldest is not None else device
    generation = generation_of(catalog, bound) if bound is not None else None
    if device is None and version is not None:
        generation = _modern_by_driver(catalog, version, system)
    package = _package_for(catalog, system, device, generation=generation, segment=segment, channel=channel)
    return DriverState(
        system=system,
        installed=driver.version if driver is not None else None,
        version=version,
        readable=driver is None or version is not None,
        cuda=_native_cuda(catalog, driver, version),
        generation=generation,
        package=for_machine(catalog, package, machine) if package is not None else None,
        refused=drops(catalog, version, device, system) or drops(catalog, version, oldest, system),
        first=_first_for(catalog, device, system),
        line=channel,
    )


def _first_for(catalog: Catalog, device: tuple[int, int] | None, system: SystemName) -> Floor | None:
    """The first driver that knows a chip; None where no source names it."""
    rows = catalog.drivers.first_drivers if device is not None else ()
    for row in rows:
        if device is not None and _within(device, row.from_capability, row.below_capability):
            text = row.versions.get(system)
            return _floor(text) if text is not None else None
    return None


def _package_for(
    catalog: Catalog,
    system: SystemName,
    device: tuple[int, int] | None,
    *,
    generation: Generation | None,
    segment: Segment,
    channel: Channel,
) -> DriverPackage | None:
    """The newest package for a generation that is known to serve the deciding card too."""
    if generation is None:
        return None
    own = generation_of(catalog, device) if device is not None else generation
    if own is None or own == generation or system == "linux":
        return _package(catalog, system, generation.id, segment, channel)
    # Windows' packages name the cards they serve; Linux's serve whatever their branch knows.
    versions = {p.version for p in catalog.drivers.packages if (p.system, p.generation) == (system, own.id)}
    return _package(catalog, system, generation.id, segment, channel, among=frozenset(versions))


@lru_cache(maxsize=256)
def generation_of(catalog: Catalog, device: tuple[int, int]) -> Generation | None:
    """Which drivers a chip gets."""
    for generation in catalog.drivers.generations:
        low, high = capability(generation.from_capability), capability(generation.below_capability)
        if low is not None and device >= low and (high is None or device < high):
            return generation
    return None


def _modern_by_driver(catalog: Catalog, version: Version, system: SystemName) -> Generation | None:
    # A driver that refuses old cards runs here, so this card is none of them, whatever it is.
    modern = next((g for g in catalog.drivers.generations if g.last_branch is None), None)
    limits = (numbers(g.first_without.get(system)) for g in catalog.drivers.generations)
    return modern if all(limit is None or version >= limit for limit in limits) else None


def serves_both(catalog: Catalog, newer: tuple[int, int], older: tuple[int, int], system: SystemName) -> bool:
    """Whether one driver serves two chips: the last branch that the older one gets compiles for the newer one, and
    on Linux one kind of kernel modules does for both.
    """
    if system == "linux" and no_common_modules(catalog, newer, older):
        return False
    generation = generation_of(catalog, older)
    if generation is None or generation == generation_of(catalog, newer):
        return generation is not None
    return branch_knows(catalog, generation, newer)


def branch_knows(catalog: Catalog, generation: Generation, chip: tuple[int, int]) -> bool:
    """Whether the last branch of an older generation knows a newer chip: its own CUDA compiles for it."""
    if generation.last_branch is None:
        return True
    cuda = native_cuda(catalog, (generation.last_branch,))
    tops = (capability(t.highest_capability) for t in catalog.cuda.toolkits if series_of(t.version) == cuda)
    return cuda is not None and any(top is not None and chip <= top for top in tops)


def modules_for(catalog: Catalog, chips: tuple[tuple[int, int], ...]) -> tuple[ModuleKind, ...]:
    """The kinds of Linux kernel modules that serve all of the chips, the better kind first: one is loaded at a time."""
    kinds: tuple[ModuleKind, ...] | None = None
    for chip in chips:
        rows = catalog.drivers.linux_modules
        own = next((r.kinds for r in rows if _within(chip, r.from_capability, r.below_capability)), ())
        kinds = own if kinds is None else tuple(kind for kind in kinds if kind in own)
    return kinds or ()


def no_common_modules(catalog: Catalog, newer: tuple[int, int], older: tuple[int, int]) -> bool:
    """Whether two chips are known to want different kernel modules of Linux."""
    both = modules_for(catalog, (newer,)), modules_for(catalog, (older,))
    return all(both) and not modules_for(catalog, (newer, older))


def _within(chip: tuple[int, int], low: str, high: str | None) -> bool:
    bottom, top = capability(low), capability(high)
    return bottom is not None and chip >= bottom and (top is None or chip < top)


def drops(catalog: Catalog, version: Version | None, device: tuple[int, int] | None, system: SystemName) -> str | None:
    """The first driver that no longer knows a chip, where `version` is that or newer; None: it knows it."""
    generation = generation_of(catalog, device) if device is not None else None
    first = generation.first_without.get(system) if generation is not None else None
    limit = numbers(first)
    return first if version is not None and limit is not None and version >= limit else None


@lru_cache(maxsize=256)
def series_of(version: str) -> tuple[int, int] | None:
    """The (major, minor) of a version: "12.6.3" is (12, 6)."""
    parts = numbers(version)
    return None if parts is None else (parts[0] if parts else 0, parts[1] if len(parts) > 1 else 0)


@lru_cache(maxsize=256)
def _package(
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
            return addressed(catalog, package, segment, channel)
    return None


def _native_cuda(catalog: Catalog, driver: Driver | None, version: Version | None) -> tuple[int, int] | None:
    if driver is None:
        return None
    said = capability(driver.cuda_max)
    return said if said is not None else native_cuda(catalog, version)


@lru_cache(maxsize=1024)
def native_cuda(catalog: Catalog, version: Version | None) -> tuple[int, int] | None:
    """The highest CUDA that a driver implements by itself, from its branch; None if older than all known."""
    if version is None:
        return None
    for row in catalog.cuda.branches:
        branch = numbers(row.branch)
        if branch is not None and version >= branch:
            return capability(row.cuda)
    return None


@lru_cache(maxsize=1024)
def floor(catalog: Catalog, cuda: tuple[int, int] | None, system: SystemName, code: Code) -> Floor | None:
    """The lowest driver for programs of a CUDA version; None if the catalog does not say.

    Compiled code runs from its CUDA major's first driver on. Portable code is translated by the driver,
    which must know that CUDA version itself.
    """
    if cuda is None:
        return None
    rows = (m for m in catalog.cuda.minimum_drivers if m.major == cuda[0])
    lowest = next((_floor(m.windows if system == "windows" else m.linux) for m in rows), None)
    if code != "ptx":
        return lowest
    branches = (row.branch for row in catalog.cuda.branches if (capability(row.cuda) or (0, 0)) >= cuda)
    oldest = min((f for b in branches if (f := _floor(b)) is not None), key=lambda f: f.version, default=None)
    if oldest is None or lowest is None:
        return None
    return max(lowest, oldest, key=lambda f: f.version)


def _floor(text: str) -> Floor | None:
    version = numbers(text)
    return Floor(text, version) if version is not None else None


def reachable(state: DriverState, lowest: Floor) -> bool:
    """Whether this card gets a driver that is new enough: the one that is there, or one it can have."""
    if state.usable is not None and state.usable >= lowest.version:
        return True
    if state.picked is not None:
        return False
    if state.generation is None:
        return True  # Nobody knows which drivers an unknown card gets: what is there is preferred elsewhere.
    if state.newest is not None:
        return state.newest >= lowest.version
    last = state.generation.last_branch
    return last is None or lowest.version[0] <= last


def build_floor(catalog: Catalog, state: DriverState, build: Build, code: Code) -> Floor | None:
    """The lowest driver for a build on this machine, which has to know the card, too."""
    lowest = floor(catalog, build.cuda, state.system, code)
    return higher(lowest, state.first) if lowest is not None else None


def higher(one: Floor, other: Floor | None) -> Floor:
    """The stricter of two demands."""
    return one if other is None else max(one, other, key=lambda floor: floor.version)
