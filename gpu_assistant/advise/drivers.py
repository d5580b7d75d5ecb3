"""What a build asks of the NVIDIA driver, and which drivers a card can get."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from ..catalog.load import Catalog
from ..catalog.records import DriverPackage, Generation, Segment
from ..catalog.versions import capability, numbers
from ..core.machine import Driver, Machine, SystemName
from ..core.recommendation import Channel
from .builds import Build, Code

Version = tuple[int, ...]


class Floor(Struct, frozen=True):
    """The lowest driver for a build, as NVIDIA writes it and as numbers."""

    text: str
    version: Version


class DriverState(Struct, frozen=True, kw_only=True):
    """The driver that is there and what this card could get. `system` is the one that the driver belongs to:
    Windows for Linux under WSL. `readable` is False where a driver answers with a version that says nothing.
    """

    system: SystemName
    installed: str | None
    version: Version | None
    readable: bool
    cuda: tuple[int, int] | None
    generation: Generation | None
    package: DriverPackage | None

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
) -> DriverState:
    """The driver side of a machine, for its deciding card."""
    driver = machine.driver
    version = numbers(driver.version) if driver is not None else None
    system = driver_system(machine)
    generation = generation_of(catalog, device) if device is not None else None
    if device is None and version is not None:
        generation = _modern_by_driver(catalog, version, system)
    return DriverState(
        system=system,
        installed=driver.version if driver is not None else None,
        version=version,
        readable=driver is None or version is not None,
        cuda=_native_cuda(catalog, driver, version),
        generation=generation,
        package=_package(catalog, system, generation.id, segment, channel) if generation else None,
    )


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


@lru_cache(maxsize=256)
def _package(
    catalog: Catalog, system: SystemName, generation: str, segment: Segment, channel: Channel
) -> DriverPackage | None:
    for package in catalog.drivers.packages:
        if (package.system, package.generation) != (system, generation):
            continue
        if package.segment in (None, segment) and package.channel in (None, channel):
            return package
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
    text: str | None = None
    if code == "ptx":
        for row in catalog.cuda.branches:
            known = capability(row.cuda)
            if known is not None and known >= cuda:
                text = row.branch
    else:
        for minimum in catalog.cuda.minimum_drivers:
            if minimum.major == cuda[0]:
                text = minimum.windows if system == "windows" else minimum.linux
    version = numbers(text)
    return Floor(text, version) if text is not None and version is not None else None


def reachable(state: DriverState, lowest: Floor) -> bool:
    """Whether this card gets a driver that is new enough: the one that is there, or one it can have."""
    if state.version is not None and state.version >= lowest.version:
        return True
    if state.generation is None:
        return True  # Nobody knows which drivers an unknown card gets: what is there is preferred elsewhere.
    if state.newest is not None:
        return state.newest >= lowest.version
    last = state.generation.last_branch
    return last is None or lowest.version[0] <= last


def build_floor(catalog: Catalog, state: DriverState, build: Build, code: Code) -> Floor | None:
    """The lowest driver for a build on this machine."""
    return floor(catalog, build.cuda, state.system, code)
