"""Chip × driver × system × release: the newest PyTorch that satisfies all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from ..catalog.load import Catalog
from ..catalog.versions import parse_version
from ..core.machine import Machine
from ..core.recommendation import Channel
from .builds import Build, CodeKind, list_builds, code_kind, cuda_builds, widest_builds
from .cards import NvidiaGpu
from .cudnn import cudnn_support
from .drivers import DriverState, MinimumDriver, build_minimum_driver, find_driver_state, native_cuda, is_reachable

BuildFilter = Callable[[Build], bool]


class TargetSystem(Struct, frozen=True, kw_only=True):
    """What decides about a machine: its catalog, processor type, deciding card (None: no NVIDIA card that can be
    used here) and driver. `others` are the chips of further cards that the build must serve too.
    """

    machine: Machine
    catalog: Catalog
    arch: str
    gpu: NvidiaGpu | None
    driver_state: DriverState | None
    other_chips: tuple[tuple[int, int], ...] = ()

    @property
    def glibc(self) -> tuple[int, ...] | None:
        """The version of this Linux's C library; None where it is not known or this is no Linux."""
        return parse_version(self.machine.os.glibc) if self.machine.os.system == "linux" else None

    @property
    def builds(self) -> tuple[Build, ...]:
        """Every build that this system can load, newest release first."""
        return list_builds(self.catalog, self.machine.os.system, self.arch, self.glibc)


class Candidate(Struct, frozen=True, kw_only=True):
    """A build with how it runs on the card and the driver that it needs (None for the CPU)."""

    build: Build
    code_kind: CodeKind | None = None
    minimum_driver: MinimumDriver | None = None


def make_target(
    machine: Machine,
    catalog: Catalog,
    arch: str,
    card: NvidiaGpu | None,
    channel: Channel,
    *,
    oldest_chip: tuple[int, int] | None = None,
) -> TargetSystem:
    """The deciding facts of a machine; `oldest` is the chip of an older card that the driver shall know too."""
    state = None
    if card is not None:
        state = find_driver_state(machine, catalog, card.capability, card.segment, channel, oldest=oldest_chip)
    return TargetSystem(machine=machine, catalog=catalog, arch=arch, gpu=card, driver_state=state)


def best_cpu_build(target: TargetSystem, accepts: BuildFilter | None = None) -> Candidate | None:
    """The newest build without CUDA for this system."""
    for build in target.builds:
        if build.variant == "cpu" and (accepts is None or accepts(build)):
            return Candidate(build=build)
    return None


def best_cuda_build(target: TargetSystem, accepts: BuildFilter | None = None, *, installed_driver_only: bool = False) -> Candidate | None:
    """The newest CUDA build that has code for the card and whose driver the card can get.

    `with_driver_there` counts only on the driver that is installed.
    """
    if target.gpu is None or target.driver_state is None:
        return None
    state = target.driver_state
    best: Candidate | None = None
    best_rank: tuple[bool, bool, bool, int] | None = None
    for build, code in list_runnable_builds(target):
        if best is not None and build.rank > best.build.rank:
            break
        if accepts is not None and not accepts(build):
            continue
        minimum = build_minimum_driver(target.catalog, state, build, code)
        if minimum is None or not is_reachable(state, minimum):
            continue
        if installed_driver_only and (state.usable_version is None or state.usable_version < minimum.version):
            continue
        rank = _rank_build(target.catalog, state, build, minimum)
        if best_rank is None or rank > best_rank:
            best, best_rank = Candidate(build=build, code_kind=code, minimum_driver=minimum), rank
    return best


def best_candidate(target: TargetSystem, accepts: BuildFilter | None = None) -> Candidate | None:
    """The CUDA build to recommend. For an unknown card one that the present driver runs comes first, since
    nobody can say which newer driver such a card gets; then the one that asks for the smallest update.
    """
    if target.gpu is not None and target.gpu.capability is None:
        current = best_cuda_build(target, accepts, installed_driver_only=True)
        if current is not None:
            return current
        if target.driver_state is not None and target.driver_state.version is not None:
            return _lowest_demand(target, target.driver_state, accepts)
    best = best_cuda_build(target, accepts)
    if best is None or not _is_cudnn_too_new(target, best.build):
        return best
    # An older release whose cuDNN still serves the card is worth more than a newer one that fails at convolutions.
    cudnn_supported = best_cuda_build(target, lambda b: (accepts is None or accepts(b)) and not _is_cudnn_too_new(target, b))
    return cudnn_supported if cudnn_supported is not None else best


def _lowest_demand(target: TargetSystem, state: DriverState, accepts: BuildFilter | None) -> Candidate | None:
    """The build with the lowest demand on the driver, of these the newest."""
    candidates = (
        Candidate(build=build, code_kind=code, minimum_driver=minimum)
        for build, code in list_runnable_builds(target)
        if (accepts is None or accepts(build))
        and (minimum := build_minimum_driver(target.catalog, state, build, code)) is not None
        and is_reachable(state, minimum)
    )
    return min(candidates, key=lambda p: (p.minimum_driver.version if p.minimum_driver is not None else (), p.build.rank), default=None)


def _is_cudnn_too_new(target: TargetSystem, build: Build) -> bool:
    chips = (target.gpu.capability if target.gpu is not None else None, *target.other_chips)
    return any(cudnn_support(target.catalog, build, chip) == "too-new" for chip in chips)


def list_runnable_builds(target: TargetSystem) -> Iterable[tuple[Build, CodeKind]]:
    """The CUDA builds with code for the deciding card; for an unknown card those that fit the most cards."""
    if target.gpu is None or target.driver_state is None:
        return ()
    system = target.machine.os.system
    if target.gpu.capability is not None:
        builds = cuda_builds(target.catalog, system, target.arch, target.gpu.capability, target.glibc)
        return _builds_for_all_chips(target, builds) if target.other_chips else builds
    lowest_chip = (0, 0)
    if target.driver_state.generation is not None:
        major, minor = target.driver_state.generation.from_capability.split(".")
        lowest_chip = (int(major), int(minor))
    return widest_builds(target.catalog, system, target.arch, lowest_chip, target.glibc)


def _builds_for_all_chips(target: TargetSystem, builds: Iterable[tuple[Build, CodeKind]]) -> Iterable[tuple[Build, CodeKind]]:
    """Those of the builds that have known code for every other chip too; portable code sets the stricter floor."""
    for build, code in builds:
        other_codes = [code_kind(target.catalog, build.record, chip) for chip in target.other_chips]
        if code != "unknown" and all(other_code in ("binary", "ptx") for other_code in other_codes):
            yield build, "ptx" if "ptx" in (code, *other_codes) else "binary"


def _rank_build(catalog: Catalog, state: DriverState, build: Build, minimum: MinimumDriver) -> tuple[bool, bool, bool, int]:
    """Among one release's builds: those that run on the driver that is there come first, then those whose CUDA the
    driver implements by itself, of these the release's own default, then the newest; where the driver implements
    none, the oldest is the surest.
    """
    runs_now = state.usable_version is not None and state.usable_version >= minimum.version
    native_version = state.cuda if runs_now else native_cuda(catalog, state.newest_version)
    cuda = build.cuda or (0, 0)
    number = cuda[0] * 100 + cuda[1]
    is_native = native_version is not None and native_version >= cuda
    return runs_now, is_native, is_native and is_default_build(build), number if is_native else -number


def is_default_build(build: Build) -> bool:
    """Whether this is the CUDA build that the release's makers serve by default (on Linux; Windows gets none)."""
    return build.release.default_variant.get("linux") == build.variant
