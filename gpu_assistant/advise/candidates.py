"""Chip × driver × system × release: the newest PyTorch that satisfies all of it.

Whether the operating system itself is new enough, and of a kind that published builds can be loaded on.

PyTorch on graphics that are not NVIDIA's: AMD's through ROCm on Linux, Intel's through XPU.

Why an NVIDIA card cannot be used: whether its chip is behind all builds, ahead of them, or among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from ..catalog.records.catalog import MinimumWindows
from ..catalog.records.hardware import IntelFamily
from ..catalog.records.software import EmbeddedBoards, GlibcMinimum, VendorIndex
from ..catalog.store import Catalog
from ..catalog.versions import parse_capability, parse_version
from ..core.errors import AppError
from ..core.machine import Gpu, Machine, SystemName
from ..core.types import Channel
from .builds import (
    Build,
    CodeKind,
    code_kind,
    cuda_builds,
    cudnn_support,
    excluded_devices,
    list_builds,
    unmet_glibc,
    widest_builds,
)
from .drivers import DriverState, MinimumDriver, build_minimum_driver, find_driver_state, is_reachable, native_cuda
from .gpus import NvidiaGpu, nvidia_gpus

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


def best_cuda_build(
    target: TargetSystem, accepts: BuildFilter | None = None, *, installed_driver_only: bool = False
) -> Candidate | None:
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
    cudnn_supported = best_cuda_build(
        target, lambda b: (accepts is None or accepts(b)) and not _is_cudnn_too_new(target, b)
    )
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
    return min(
        candidates,
        key=lambda p: (p.minimum_driver.version if p.minimum_driver is not None else (), p.build.rank),
        default=None,
    )


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


def _builds_for_all_chips(
    target: TargetSystem, builds: Iterable[tuple[Build, CodeKind]]
) -> Iterable[tuple[Build, CodeKind]]:
    """Those of the builds that have known code for every other chip too; portable code sets the stricter floor."""
    for build, code in builds:
        other_codes = [code_kind(target.catalog, build.record, chip) for chip in target.other_chips]
        if code != "unknown" and all(other_code in ("binary", "ptx") for other_code in other_codes):
            yield build, "ptx" if "ptx" in (code, *other_codes) else "binary"


def _rank_build(
    catalog: Catalog, state: DriverState, build: Build, minimum: MinimumDriver
) -> tuple[bool, bool, bool, int]:
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


def check_system_supported(machine: Machine, catalog: Catalog, arch: str) -> None:
    """Raises AppError("windows-too-old"), ("mac-too-old"), ("no-glibc"), ("glibc-too-old") or ("jetson") for a
    system on which nothing that is published can be installed.
    """
    minimum_windows = _unmet_windows_version(machine, catalog)
    if minimum_windows is not None:
        raise AppError("windows-too-old", needed=minimum_windows.name)
    if machine.os.system == "darwin":
        _check_macos_version(machine, catalog, arch)
    if machine.os.system != "linux":
        return
    embedded = catalog.pytorch.embedded
    if embedded is not None and arch == embedded.arch:
        for card in nvidia_gpus(machine, catalog):
            if _is_embedded_board(card, catalog, embedded):
                # The newest boards' chip is in the general builds; their driver still comes with JetPack alone.
                code = "jetson-driver" if _has_native_code(card, catalog, arch) else "jetson"
                raise AppError(code, gpu=card.name, url=embedded.url)
    distro = (machine.os.distro or "").casefold()
    unsupported = catalog.pytorch.without_glibc
    if unsupported is not None and distro in unsupported.distributions:
        raise AppError("no-glibc", distro=machine.os.name or distro)
    glibc = parse_version(machine.os.glibc)
    builds = list_builds(catalog, "linux", arch)
    if glibc is None or not builds or list_builds(catalog, "linux", arch, glibc):
        return
    unmet = (unmet_glibc(catalog, b.version, b.variant, arch, glibc) for b in builds)
    lowest = min(
        (minimum.lowest for minimum in unmet if minimum is not None), key=lambda text: parse_version(text) or ()
    )
    raise AppError("glibc-too-old", installed=machine.os.glibc, needed=lowest)


def _is_embedded_board(card: NvidiaGpu, catalog: Catalog, embedded: EmbeddedBoards) -> bool:
    """Whether this is one of the boards whose chip the general builds leave out."""
    if any(card.capability in chips for chips in excluded_devices(catalog).values()):
        return True
    name_parts = re.split(r"[^a-z0-9]+", card.name.casefold())
    return not set(name_parts).isdisjoint(embedded.names)


def _has_native_code(card: NvidiaGpu, catalog: Catalog, arch: str) -> bool:
    """Whether a general build for this kind of computer has code made for a card's chip."""
    codes = (text for build in list_builds(catalog, "linux", arch) for text in build.record.arch_list or ())
    return card.capability is not None and any(parse_capability(text) == card.capability for text in codes)


def _check_macos_version(machine: Machine, catalog: Catalog, arch: str) -> None:
    installed_version = parse_version(machine.os.version)
    builds = list_builds(catalog, "darwin", arch)
    minimum_versions = [build.record.lowest_system for build in builds]
    if (
        installed_version is None
        or not minimum_versions
        or any(text is None or installed_version >= (parse_version(text) or ()) for text in minimum_versions)
    ):
        return
    needed = min(filter(None, minimum_versions), key=lambda text: parse_version(text) or ())
    raise AppError("mac-too-old", installed=machine.os.version, needed=needed)


def unmet_glibc_of_newest(target: TargetSystem) -> GlibcMinimum | None:
    """The floor of the newest release that this Linux stays under; None where the newest fits."""
    newest = target.catalog.releases[0]
    if target.glibc is None:
        return None
    variant = next((v.variant for v in newest.variants if (v.system, v.arch) == ("linux", target.arch)), "cpu")
    return unmet_glibc(target.catalog, newest.version, variant, target.arch, target.glibc)


def _unmet_windows_version(machine: Machine, catalog: Catalog) -> MinimumWindows | None:
    """The oldest Windows that would do; None where this one does, is not known, or is no Windows."""
    system, minimum = machine.os, catalog.drivers.lowest_windows
    if system.system != "windows" or minimum is None:
        return None
    if system.build is not None:
        return minimum if system.build < minimum.build else None
    installed_version, minimum_version = parse_version(system.version), parse_version(minimum.version)
    return (
        minimum
        if installed_version is not None and minimum_version is not None and installed_version < minimum_version
        else None
    )


def amd_chip(catalog: Catalog, gpu: Gpu) -> str | None:
    """The chip of an AMD card, as "gfx1100": what it says of itself, else what its id says, else its name."""
    if gpu.gfx is not None:
        return gpu.gfx
    device = catalog.amd_device(gpu.pci_id or "") or catalog.amd_device_by_name(gpu.name or "")
    return device.gfx if device is not None else None


def best_non_nvidia_candidate(target: TargetSystem) -> tuple[Candidate, Gpu] | None:
    """The newest build for an AMD or Intel card of this machine, with the card; None where there is none."""
    for gpu in target.machine.gpus_of("amd"):
        candidate = _rocm_candidate(target, gpu)
        if candidate is not None:
            return candidate, gpu
    for gpu in target.machine.gpus_of("intel"):
        candidate = _xpu_candidate(target, gpu)
        if candidate is not None:
            return candidate, gpu
    return None


def lacks_rocm_code(catalog: Catalog, gpu: Gpu, build: Build) -> bool:
    """Whether a build for ROCm is known to have nothing for this AMD card; False where its chip is not known."""
    chip = amd_chip(catalog, gpu) if gpu.vendor == "amd" else None
    return chip is not None and build.variant not in catalog.rocm_variants(chip)


def find_unlisted_intel_gpu(target: TargetSystem) -> Gpu | None:
    """The Intel graphics of a machine that has none of those which PyTorch names for its build."""
    gpus = target.machine.gpus_of("intel")
    return gpus[0] if gpus and all(_xpu_candidate(target, gpu) is None for gpu in gpus) else None


def _rocm_candidate(target: TargetSystem, gpu: Gpu) -> Candidate | None:
    # Under WSL a Radeon needs AMD's own parts, which PyTorch's index does not carry.
    chip = amd_chip(target.catalog, gpu)
    if target.machine.os.system != "linux" or target.machine.os.wsl or chip is None:
        return None
    variants = target.catalog.rocm_variants(chip)
    builds = [b for b in target.builds if b.variant in variants]
    best = min(builds, key=lambda b: (b.rank, variants.index(b.variant)), default=None)
    return Candidate(build=best) if best is not None else None


def _xpu_candidate(target: TargetSystem, gpu: Gpu) -> Candidate | None:
    device = target.catalog.intel_device(gpu.pci_id or "") or target.catalog.intel_device_by_name(gpu.name or "")
    intel = target.catalog.accelerators.intel
    family = next((f for f in intel.families if device is not None and f.family == device.family), None)
    if family is None or not _supports_system(target.machine, family):
        return None
    return next((Candidate(build=b) for b in target.builds if b.variant == intel.variant), None)


def _supports_system(machine: Machine, family: IntelFamily) -> bool:
    system = "wsl" if machine.os.wsl else machine.os.system
    if system not in family.systems:
        return False
    name_parts = (machine.os.name or "").split()
    return system != "windows" or family.lowest_windows is None or not name_parts or family.lowest_windows in name_parts


UnsupportedReason = Literal["old", "new", "none"]


def unsupported_reason(target: TargetSystem, card: NvidiaGpu) -> UnsupportedReason:
    """ "new": newer than every chip that a build for this system has code for; "old": older; "none": neither, or
    nobody knows.
    """
    supported = _supported_chip_range(target.catalog, target.machine.os.system, target.arch)
    if card.capability is None or supported is None:
        return "none"
    oldest, newest = supported
    if card.capability > newest:
        return "new"
    return "old" if card.capability < oldest else "none"


@lru_cache(maxsize=32)
def _supported_chip_range(
    catalog: Catalog, system: SystemName, arch: str
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The oldest and the newest chip that any build for a system has code for; None where none is known."""
    # An old C library makes no chip older or newer.
    capabilities = (text for build in list_builds(catalog, system, arch) for text in build.record.arch_list or ())
    codes = [code for text in capabilities if (code := parse_capability(text)) is not None]
    return (min(codes), max(codes)) if codes else None


def find_vendor_index(target: TargetSystem) -> VendorIndex | None:
    """Where NVIDIA publishes PyTorch with CUDA for this kind of computer while PyTorch itself does not, if anywhere."""
    platform = (target.machine.os.system, target.arch)
    return next((index for index in target.catalog.pytorch.makers_own if (index.system, index.arch) == platform), None)
