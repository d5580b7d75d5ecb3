"""Chip × driver × system × release: the newest PyTorch that satisfies all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from ..catalog.load import Catalog
from ..catalog.versions import numbers
from ..core.machine import Machine
from ..core.recommendation import Channel
from .builds import Build, Code, builds_for, code_for, cuda_builds, widest_builds
from .cards import Card
from .cudnn import cudnn_fit
from .drivers import DriverState, Floor, build_floor, driver_state, native_cuda, reachable

Keep = Callable[[Build], bool]


class Site(Struct, frozen=True, kw_only=True):
    """What decides about a machine: its catalog, processor type, deciding card (None: no NVIDIA card that can be
    used here) and driver. `others` are the chips of further cards that the build must serve too.
    """

    machine: Machine
    catalog: Catalog
    arch: str
    card: Card | None
    state: DriverState | None
    others: tuple[tuple[int, int], ...] = ()

    @property
    def glibc(self) -> tuple[int, ...] | None:
        """The version of this Linux's C library; None where it is not known or this is no Linux."""
        return numbers(self.machine.os.glibc) if self.machine.os.system == "linux" else None

    @property
    def builds(self) -> tuple[Build, ...]:
        """Every build that this system can load, newest release first."""
        return builds_for(self.catalog, self.machine.os.system, self.arch, self.glibc)


class Pick(Struct, frozen=True, kw_only=True):
    """A build with how it runs on the card and the driver that it needs (None for the CPU)."""

    build: Build
    code: Code | None = None
    floor: Floor | None = None


def site(
    machine: Machine,
    catalog: Catalog,
    arch: str,
    card: Card | None,
    channel: Channel,
    *,
    oldest: tuple[int, int] | None = None,
) -> Site:
    """The deciding facts of a machine; `oldest` is the chip of an older card that the driver shall know too."""
    state = None
    if card is not None:
        state = driver_state(machine, catalog, card.capability, card.segment, channel, oldest=oldest)
    return Site(machine=machine, catalog=catalog, arch=arch, card=card, state=state)


def cpu_pick(where: Site, keep: Keep | None = None) -> Pick | None:
    """The newest build without CUDA for this system."""
    for build in where.builds:
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
    best_order: tuple[bool, bool, bool, int] | None = None
    for build, code in with_code(where):
        if best is not None and build.rank > best.build.rank:
            break
        if keep is not None and not keep(build):
            continue
        lowest = build_floor(where.catalog, state, build, code)
        if lowest is None or not reachable(state, lowest):
            continue
        if with_driver_there and (state.usable is None or state.usable < lowest.version):
            continue
        order = _order(where.catalog, state, build, lowest)
        if best_order is None or order > best_order:
            best, best_order = Pick(build=build, code=code, floor=lowest), order
    return best


def best_pick(where: Site, keep: Keep | None = None) -> Pick | None:
    """The CUDA build to recommend. For an unknown card one that the present driver runs comes first, since
    nobody can say which newer driver such a card gets; then the one that asks for the smallest update.
    """
    if where.card is not None and where.card.capability is None:
        there = cuda_pick(where, keep, with_driver_there=True)
        if there is not None:
            return there
        if where.state is not None and where.state.version is not None:
            return _least_step(where, where.state, keep)
    best = cuda_pick(where, keep)
    if best is None or not _cudnn_too_new(where, best.build):
        return best
    # An older release whose cuDNN still serves the card is worth more than a newer one that fails at convolutions.
    whole = cuda_pick(where, lambda b: (keep is None or keep(b)) and not _cudnn_too_new(where, b))
    return whole if whole is not None else best


def _least_step(where: Site, state: DriverState, keep: Keep | None) -> Pick | None:
    """The build with the lowest demand on the driver, of these the newest."""
    found = (
        Pick(build=build, code=code, floor=lowest)
        for build, code in with_code(where)
        if (keep is None or keep(build))
        and (lowest := build_floor(where.catalog, state, build, code)) is not None
        and reachable(state, lowest)
    )
    return min(found, key=lambda p: (p.floor.version if p.floor is not None else (), p.build.rank), default=None)


def _cudnn_too_new(where: Site, build: Build) -> bool:
    chips = (where.card.capability if where.card is not None else None, *where.others)
    return any(cudnn_fit(where.catalog, build, chip) == "too-new" for chip in chips)


def with_code(where: Site) -> Iterable[tuple[Build, Code]]:
    """The CUDA builds with code for the deciding card; for an unknown card those that fit the most cards."""
    if where.card is None or where.state is None:
        return ()
    system = where.machine.os.system
    if where.card.capability is not None:
        found = cuda_builds(where.catalog, system, where.arch, where.card.capability, where.glibc)
        return _for_all(where, found) if where.others else found
    lowest = (0, 0)
    if where.state.generation is not None:
        major, minor = where.state.generation.from_capability.split(".")
        lowest = (int(major), int(minor))
    return widest_builds(where.catalog, system, where.arch, lowest, where.glibc)


def _for_all(where: Site, builds: Iterable[tuple[Build, Code]]) -> Iterable[tuple[Build, Code]]:
    """Those of the builds that have known code for every other chip too; portable code sets the stricter floor."""
    for build, code in builds:
        others = [code_for(where.catalog, build.record, chip) for chip in where.others]
        if code != "unknown" and all(other in ("binary", "ptx") for other in others):
            yield build, "ptx" if "ptx" in (code, *others) else "binary"


def _order(catalog: Catalog, state: DriverState, build: Build, lowest: Floor) -> tuple[bool, bool, bool, int]:
    """Among one release's builds: those that run on the driver that is there come first, then those whose CUDA the
    driver implements by itself, of these the release's own default, then the newest; where the driver implements
    none, the oldest is the surest.
    """
    there = state.usable is not None and state.usable >= lowest.version
    native = state.cuda if there else native_cuda(catalog, state.newest)
    cuda = build.cuda or (0, 0)
    number = cuda[0] * 100 + cuda[1]
    by_itself = native is not None and native >= cuda
    return there, by_itself, by_itself and is_default(build), number if by_itself else -number


def is_default(build: Build) -> bool:
    """Whether this is the CUDA build that the release's makers serve by default (on Linux; Windows gets none)."""
    return build.release.default_variant.get("linux") == build.variant
