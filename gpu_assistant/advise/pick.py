"""Chip × driver × system × release: the newest PyTorch that satisfies all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from ..catalog.load import Catalog
from ..core.machine import Machine
from ..core.recommendation import Channel
from .builds import Build, Code, builds_for, cuda_builds, widest_builds
from .cards import Card
from .drivers import DriverState, Floor, build_floor, driver_state, native_cuda, reachable

Keep = Callable[[Build], bool]


class Site(Struct, frozen=True, kw_only=True):
    """What decides about a machine: its catalog, processor type, deciding card (None: no NVIDIA card that can be
    used here) and driver.
    """

    machine: Machine
    catalog: Catalog
    arch: str
    card: Card | None
    state: DriverState | None


class Pick(Struct, frozen=True, kw_only=True):
    """A build with how it runs on the card and the driver that it needs (None for the CPU)."""

    build: Build
    code: Code | None = None
    floor: Floor | None = None


def site(machine: Machine, catalog: Catalog, arch: str, card: Card | None, channel: Channel) -> Site:
    """The deciding facts of a machine."""
    state = driver_state(machine, catalog, card.capability, card.segment, channel) if card is not None else None
    return Site(machine=machine, catalog=catalog, arch=arch, card=card, state=state)


def cpu_pick(where: Site, keep: Keep | None = None) -> Pick | None:
    """The newest build without CUDA for this system."""
    for build in builds_for(where.catalog, where.machine.os.system, where.arch):
        if build.variant == "cpu" and (keep is None or keep(build)):
            return Pick(build=build)
    return None


def cuda_pick(where: Site, keep: Keep | None = None, *, with_driver_there: bool = False) -> Pick | None:
    """The newest CUDA build that has code for the card and whose driver the card can get.

    `with_driver_there` counts only on the driver that is installed.
    """
    if where.card is None or where.state is None:
        return None
    state = where.state
    best: Pick | None = None
    best_order: tuple[bool, bool, int] | None = None
    for build, code in with_code(where):
        if best is not None and build.rank > best.build.rank:
            break
        if keep is not None and not keep(build):
            continue
        lowest = build_floor(where.catalog, state, build, code)
        if lowest is None or not reachable(state, lowest):
            continue
        if with_driver_there and (state.version is None or state.version < lowest.version):
            continue
        order = _order(where.catalog, state, build, lowest)
        if best_order is None or order > best_order:
            best, best_order = Pick(build=build, code=code, floor=lowest), order
    return best


def best_pick(where: Site, keep: Keep | None = None) -> Pick | None:
    """The CUDA build to recommend. For an unknown card one that the present driver runs comes first, since
    nobody can say which newer driver such a card gets.
    """
    if where.card is not None and where.card.capability is None:
        there = cuda_pick(where, keep, with_driver_there=True)
        if there is not None:
            return there
    return cuda_pick(where, keep)


def with_code(where: Site) -> Iterable[tuple[Build, Code]]:
    """The CUDA builds with code for the deciding card; for an unknown card those that fit the most cards."""
    if where.card is None or where.state is None:
        return ()
    system = where.machine.os.system
    if where.card.capability is not None:
        return cuda_builds(where.catalog, system, where.arch, where.card.capability)
    lowest = (0, 0)
    if where.state.generation is not None:
        major, minor = where.state.generation.from_capability.split(".")
        lowest = (int(major), int(minor))
    return widest_builds(where.catalog, system, where.arch, lowest)


def _order(catalog: Catalog, state: DriverState, build: Build, lowest: Floor) -> tuple[bool, bool, int]:
    """Among one release's builds: those whose CUDA the driver implements by itself come first, of these the
    release's own default, then the newest; where the driver implements none, the oldest is the surest.
    """
    there = state.version is not None and state.version >= lowest.version
    native = state.cuda if there else native_cuda(catalog, state.newest)
    cuda = build.cuda or (0, 0)
    number = cuda[0] * 100 + cuda[1]
    by_itself = native is not None and native >= cuda
    return by_itself, by_itself and is_default(build), number if by_itself else -number


def is_default(build: Build) -> bool:
    """Whether this is the CUDA build that the release's makers serve by default (on Linux; Windows gets none)."""
    return build.release.default_variant.get("linux") == build.variant
