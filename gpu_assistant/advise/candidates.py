"""The newest PyTorch build that fits GPU, driver and system: `Candidate`s for a `TargetSystem`.

    Machine ─ check_system_supported ─ make_target ─→ TargetSystem ─┬─ best_candidate             NVIDIA: CUDA
                                       (gpus, drivers)    (builds)  ├─ best_non_nvidia_candidate  AMD: ROCm; Intel: XPU
                                                                    └─ best_cpu_build             the processor

`unsupported_reason` tells why an NVIDIA GPU gets none of the CUDA builds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from ..catalog.records.accelerators import IntelFamily
from ..catalog.records.drivers import MinimumWindows
from ..catalog.records.pytorch import GlibcMinimum, VendorIndex
from ..catalog.store import Catalog
from ..core.errors import AppError
from ..core.machine import Gpu, Machine, SystemName
from ..core.types import Channel
from ..core.versions import Capability, Version, version_key
from .builds import (
    Build,
    CodeKind,
    code_kind,
    cuda_builds,
    cudnn_support,
    excluded_devices,
    has_rocm_code,
    list_builds,
    list_labelled_builds,
    unmet_glibc,
    widest_builds,
)
from .drivers import (
    DriverState,
    build_minimum_driver,
    find_driver_host,
    find_driver_state,
    is_reachable,
    native_cuda,
)
from .gpus import NvidiaGpu, is_embedded_gpu, nvidia_gpus

BuildFilter = Callable[[Build], bool]
UnsupportedReason = Literal["old", "new", "none"]


class TargetSystem(Struct, frozen=True, kw_only=True):
    """What decides about a machine: its catalog, processor type, the deciding NVIDIA GPU (None: there is none) and its
    driver. `other_chips` are those of further GPUs that the build has to serve too. `newest_tensorflow` is the newest
    that the general index has, where that lacks newer ones.
    """

    machine: Machine
    catalog: Catalog
    arch: str
    gpu: NvidiaGpu | None
    driver_state: DriverState | None
    other_chips: tuple[Capability, ...] = ()
    newest_tensorflow: Version | None = None

    @property
    def glibc(self) -> Version | None:
        """The version of glibc; None where it is unknown, and on other systems than Linux."""
        return Version.parse(self.machine.os.glibc) if self.machine.os.system == "linux" else None

    @property
    def builds(self) -> tuple[Build, ...]:
        """Every build that this system can load, newest release first."""
        builds = list_builds(self.catalog, self.machine.os.system, self.arch, self.glibc)
        installed = Version.parse(self.machine.os.version) if self.machine.os.system == "darwin" else None
        if installed is None:
            return builds
        return tuple(b for b in builds if b.record.lowest_system is None or installed >= b.record.lowest_system)


class Candidate(Struct, frozen=True, kw_only=True):
    """A build, how it runs on the GPU, and the driver that it needs (None: no NVIDIA driver). `on_cpu`: it is one for
    NVIDIA GPUs, and computes on the CPU.
    """

    build: Build
    code_kind: CodeKind | None = None
    minimum_driver: Version | None = None
    on_cpu: bool = False


def make_target(
    machine: Machine,
    catalog: Catalog,
    arch: str,
    card: NvidiaGpu | None,
    channel: Channel,
    *,
    oldest_chip: Capability | None = None,
) -> TargetSystem:
    """The machine with `card` deciding; `oldest_chip` is that of an older GPU which the driver has to support too."""
    state = None
    if card is not None:
        state = find_driver_state(machine, catalog, card.capability, card.segment, channel, oldest=oldest_chip)
    return TargetSystem(machine=machine, catalog=catalog, arch=arch, gpu=card, driver_state=state)


def best_candidate(target: TargetSystem, accepts: BuildFilter | None = None) -> Candidate | None:
    """The CUDA build to recommend.

    For an unknown chip the newest that the installed driver runs comes first, because nobody knows which newer driver
    such a GPU gets; then the one with the lowest driver.
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
    # An older release whose cuDNN supports the chip is worth more than a newer one whose convolutions fail.
    cudnn_supported = best_cuda_build(
        target, lambda b: (accepts is None or accepts(b)) and not _is_cudnn_too_new(target, b)
    )
    return cudnn_supported if cudnn_supported is not None else best


def best_cuda_build(
    target: TargetSystem, accepts: BuildFilter | None = None, *, installed_driver_only: bool = False
) -> Candidate | None:
    """The newest CUDA build with code for the GPU, on a driver that the GPU can get or (`installed_driver_only`) on the
    installed one.
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
        if installed_driver_only and (state.usable_version is None or state.usable_version < minimum):
            continue
        rank = _rank_build(target.catalog, state, build, minimum)
        if best_rank is None or rank > best_rank:
            best, best_rank = Candidate(build=build, code_kind=code, minimum_driver=minimum), rank
    return best


def best_cpu_build(target: TargetSystem, accepts: BuildFilter | None = None) -> Candidate | None:
    """The newest CPU build for this system."""
    for build in target.builds:
        if build.variant == "cpu" and (accepts is None or accepts(build)):
            return Candidate(build=build)
    return None


def computes_without_gpu(target: TargetSystem) -> bool:
    """Whether builds for CUDA compute on the CPU of this system."""
    platform = (target.machine.os.system, target.arch)
    return any((p.system, p.arch) == platform for p in target.catalog.pytorch.cuda_builds_on_cpu)


def _lowest_demand(target: TargetSystem, state: DriverState, accepts: BuildFilter | None) -> Candidate | None:
    """The build with the lowest driver; of several the newest."""
    candidates = (
        (minimum, build.rank, Candidate(build=build, code_kind=code, minimum_driver=minimum))
        for build, code in list_runnable_builds(target)
        if (accepts is None or accepts(build))
        and (minimum := build_minimum_driver(target.catalog, state, build, code)) is not None
        and is_reachable(state, minimum)
    )
    lowest = min(candidates, key=lambda candidate: candidate[:2], default=None)
    return lowest[2] if lowest is not None else None


def _is_cudnn_too_new(target: TargetSystem, build: Build) -> bool:
    chips = (target.gpu.capability if target.gpu is not None else None, *target.other_chips)
    return any(cudnn_support(target.catalog, build, chip) == "too-new" for chip in chips)


def list_runnable_builds(target: TargetSystem) -> Iterable[tuple[Build, CodeKind]]:
    """The CUDA builds with code for all chips; for an unknown chip those that fit the most chips."""
    if target.gpu is None or target.driver_state is None:
        return ()
    system = target.machine.os.system
    if target.gpu.capability is not None:
        builds = cuda_builds(target.catalog, system, target.arch, target.gpu.capability, target.glibc)
        return _builds_for_all_chips(target, builds) if target.other_chips else builds
    generation = target.driver_state.generation
    lowest_chip = generation.from_capability if generation is not None else None
    return widest_builds(target.catalog, system, target.arch, lowest_chip, target.glibc)


def _builds_for_all_chips(
    target: TargetSystem, builds: Iterable[tuple[Build, CodeKind]]
) -> Iterable[tuple[Build, CodeKind]]:
    """The builds with known code for every other chip too. Portable code for one of them needs the higher driver."""
    for build, code in builds:
        other_codes = [code_kind(target.catalog, build.record, chip) for chip in target.other_chips]
        if code != "unknown" and all(other_code in ("binary", "ptx") for other_code in other_codes):
            yield build, "ptx" if "ptx" in (code, *other_codes) else "binary"


def _rank_build(catalog: Catalog, state: DriverState, build: Build, minimum: Version) -> tuple[bool, bool, bool, int]:
    """The order among builds of one release, the highest first: those that run on the installed driver; those whose
    CUDA the driver implements by itself, of these the release's default, then the newest CUDA. Where the driver
    implements none by itself, the oldest CUDA is the safest.
    """
    runs_now = state.usable_version is not None and state.usable_version >= minimum
    native_version = state.cuda if runs_now else native_cuda(catalog, state.newest_version)
    is_native = native_version is not None and build.cuda is not None and native_version >= build.cuda
    number = build.cuda.major * 100 + build.cuda.minor if build.cuda is not None else 0
    return runs_now, is_native, is_native and is_default_build(build), number if is_native else -number


def is_default_build(build: Build) -> bool:
    """Whether this is the CUDA build that PyPI serves for Linux (for Windows it serves the CPU build)."""
    return build.release.default_variant.get("linux") == build.variant


def check_system_supported(machine: Machine, catalog: Catalog, arch: str) -> None:
    """Raise AppError for a system on which no published build can be installed: "windows-too-old", "mac-too-old",
    "no-glibc", "glibc-too-old", "jetson", "jetson-driver".
    """
    minimum_windows = _unmet_windows_version(machine, catalog)
    if minimum_windows is not None:
        raise AppError("windows-too-old", needed=minimum_windows.name)
    if machine.os.system == "darwin":
        _check_macos_version(machine, catalog, arch)
    if machine.os.system == "linux":
        _check_jetson(machine, catalog, arch)
        _check_glibc(machine, catalog, arch)


def _unmet_windows_version(machine: Machine, catalog: Catalog) -> MinimumWindows | None:
    """The oldest supported Windows, where this one is older."""
    system, minimum = machine.os, catalog.drivers.lowest_windows
    if system.system != "windows" or minimum is None:
        return None
    if system.build is not None:
        return minimum if system.build < minimum.build else None
    installed_version = Version.parse(system.version)
    return minimum if installed_version is not None and installed_version < minimum.version else None


def _check_macos_version(machine: Machine, catalog: Catalog, arch: str) -> None:
    installed_version = Version.parse(machine.os.version)
    minimums = [build.record.lowest_system for build in list_builds(catalog, "darwin", arch)]
    known_minimums = [minimum for minimum in minimums if minimum is not None]
    if installed_version is None or not known_minimums or len(known_minimums) < len(minimums):
        return
    if all(installed_version < minimum for minimum in known_minimums):
        raise AppError("mac-too-old", installed=machine.os.version, needed=str(min(known_minimums)))


def _check_jetson(machine: Machine, catalog: Catalog, arch: str) -> None:
    embedded = catalog.pytorch.embedded
    if embedded is None or arch != embedded.arch:
        return
    for card in nvidia_gpus(machine, catalog):
        is_left_out = any(card.capability in chips for chips in excluded_devices(catalog).values())
        if not is_left_out and not is_embedded_gpu(card.name, catalog):
            continue
        # General builds have code for the newest boards, but their driver comes with JetPack only.
        if not _has_native_code(card, catalog, arch):
            raise AppError("jetson", gpu=card.name, url=embedded.url)
        if find_driver_host(machine, catalog) != "jetpack":
            raise AppError("jetson-driver", gpu=card.name, url=embedded.url)


def _has_native_code(card: NvidiaGpu, catalog: Catalog, arch: str) -> bool:
    """Whether a general Linux build has code compiled for exactly this chip."""
    return any(card.capability in (build.record.arch_list or ()) for build in list_builds(catalog, "linux", arch))


def _check_glibc(machine: Machine, catalog: Catalog, arch: str) -> None:
    distro = (machine.os.distro or "").casefold()
    unsupported = catalog.pytorch.without_glibc
    if unsupported is not None and distro in unsupported.distributions:
        raise AppError("no-glibc", distro=machine.os.name or distro)
    glibc = Version.parse(machine.os.glibc)
    builds = list_builds(catalog, "linux", arch)
    if glibc is None or not builds or list_builds(catalog, "linux", arch, glibc):
        return
    unmet = (unmet_glibc(catalog, build.release.version, build.variant, arch, glibc) for build in builds)
    lowest = min(minimum.lowest for minimum in unmet if minimum is not None)
    raise AppError("glibc-too-old", installed=machine.os.glibc, needed=str(lowest))


def unmet_glibc_of_newest(target: TargetSystem) -> GlibcMinimum | None:
    """What the newest release demands of glibc, where this Linux does not meet it."""
    newest = target.catalog.releases[0]
    if target.glibc is None:
        return None
    variant = next((v.variant for v in newest.variants if (v.system, v.arch) == ("linux", target.arch)), "cpu")
    return unmet_glibc(target.catalog, newest.version, variant, target.arch, target.glibc)


def best_non_nvidia_candidate(target: TargetSystem, accepts: BuildFilter | None = None) -> tuple[Candidate, Gpu] | None:
    """The newest build for an AMD GPU, else for an Intel one, with that GPU."""
    for gpu in target.machine.gpus_of("amd"):
        candidate = _rocm_candidate(target, gpu, accepts)
        if candidate is not None:
            return candidate, gpu
    for gpu in target.machine.gpus_of("intel"):
        candidate = _xpu_candidate(target, gpu, accepts)
        if candidate is not None:
            return candidate, gpu
    return None


def amd_chip(catalog: Catalog, gpu: Gpu) -> str | None:
    """The chip of an AMD GPU ("gfx1100"): as it reports, else by its PCI id, else by its name."""
    if gpu.gfx is not None:
        return gpu.gfx
    device = catalog.amd_device(gpu.pci_id or "") or catalog.amd_device_by_name(gpu.name or "")
    return device.gfx if device is not None else None


def intel_family(catalog: Catalog, gpu: Gpu) -> str | None:
    """The family of an Intel GPU ("Alchemist"), by its PCI id, else by its name."""
    device = catalog.intel_device(gpu.pci_id or "") or catalog.intel_device_by_name(gpu.name or "")
    return device.family if device is not None else None


def lacks_rocm_code(catalog: Catalog, gpu: Gpu, build: Build) -> bool:
    """Whether a ROCm build is known to have no code for an AMD GPU; False where nobody knows."""
    chip = amd_chip(catalog, gpu) if gpu.vendor == "amd" else None
    if build.record.gfx is None and catalog.unproven_amd_chip(chip) is not None:
        return False
    return chip is not None and not has_rocm_code(catalog, chip, build.record)


def find_better_labelled_build(target: TargetSystem, chosen: Build) -> Build | None:
    """The newest build of a newer release that would serve all GPUs, but is published as a wheel variant alone."""
    chips = [amd_chip(target.catalog, gpu) for gpu in target.machine.gpus_of("amd")]
    for build in list_labelled_builds(target.catalog, target.machine.os.system, target.arch, target.glibc):
        if build.release.version <= chosen.release.version:
            return None
        if build.cuda is not None and chosen.cuda is not None and _serves_nvidia(target, build):
            return build
        if _is_rocm(build) and _is_rocm(chosen) and chips and all(chip in (build.record.gfx or ()) for chip in chips):
            return build
    return None


def _serves_nvidia(target: TargetSystem, build: Build) -> bool:
    """Whether a build has code for the deciding chip and the others, on a driver that is there or can be had."""
    state, card = target.driver_state, target.gpu
    if state is None or card is None or card.capability is None:
        return False
    codes = [code_kind(target.catalog, build.record, chip) for chip in (card.capability, *target.other_chips)]
    if any(code not in ("binary", "ptx") for code in codes):
        return False
    minimum = build_minimum_driver(target.catalog, state, build, "ptx" if "ptx" in codes else "binary")
    return minimum is not None and is_reachable(state, minimum)


def find_unlisted_intel_gpu(target: TargetSystem) -> Gpu | None:
    """The first Intel GPU of a machine on which none is of the families that PyTorch validates."""
    gpus = target.machine.gpus_of("intel")
    return gpus[0] if gpus and all(_xpu_candidate(target, gpu) is None for gpu in gpus) else None


def _rocm_candidate(target: TargetSystem, gpu: Gpu, accepts: BuildFilter | None = None) -> Candidate | None:
    # Under WSL a Radeon needs packages of AMD's that no index has.
    chip, system = amd_chip(target.catalog, gpu), target.machine.os
    support = target.catalog.accelerators.amd_windows
    if chip is None or system.wsl or system.system == "darwin":
        return None
    if system.system == "windows" and not (
        chip in support.chips and _is_windows(target.machine, support.lowest_windows)
    ):
        return None
    best = best_rocm_build(target, chip, accepts)
    return Candidate(build=best) if best is not None else None


def best_rocm_build(target: TargetSystem, chip: str, accepts: BuildFilter | None = None) -> Build | None:
    """The newest build with code for an AMD chip, of one release the one for the newest ROCm."""
    builds = [b for b in target.builds if _is_rocm(b) and has_rocm_code(target.catalog, chip, b.record)]
    builds = [b for b in builds if accepts is None or accepts(b)]
    return min(builds, key=lambda b: (b.rank, [-part for part in version_key(b.variant[4:])]), default=None)


def _is_rocm(build: Build) -> bool:
    return build.variant.startswith("rocm")


def _xpu_candidate(target: TargetSystem, gpu: Gpu, accepts: BuildFilter | None = None) -> Candidate | None:
    name, intel = intel_family(target.catalog, gpu), target.catalog.accelerators.intel
    family = next((f for f in intel.families if f.family == name), None)
    if family is None or not _supports_system(target.machine, family):
        return None
    builds = (b for b in target.builds if b.variant == intel.variant and (accepts is None or accepts(b)))
    return next((Candidate(build=b) for b in builds), None)


def find_needed_windows(target: TargetSystem, gpu: Gpu) -> str | None:
    """The Windows that PyTorch asks for with an Intel GPU ("11"), where this one is another."""
    name, families = intel_family(target.catalog, gpu), target.catalog.accelerators.intel.families
    family = next((f for f in families if f.family == name), None)
    if family is None or target.machine.os.system not in family.systems or _supports_system(target.machine, family):
        return None
    return family.lowest_windows


def _supports_system(machine: Machine, family: IntelFamily) -> bool:
    system = "wsl" if machine.os.wsl else machine.os.system
    if system not in family.systems:
        return False
    return system != "windows" or family.lowest_windows is None or _is_windows(machine, family.lowest_windows)


def _is_windows(machine: Machine, release: str) -> bool:
    """Whether this is the Windows of a release's name ("11"); True where its name is unknown."""
    name_parts = (machine.os.name or "").split()
    return not name_parts or release in name_parts


def unsupported_reason(target: TargetSystem, card: NvidiaGpu) -> UnsupportedReason:
    """Why no CUDA build serves a GPU: its chip is "new"er or "old"er than all that builds for this system have code
    for; "none" where it is neither, or unknown.
    """
    supported = _supported_chip_range(target.catalog, target.machine.os.system, target.arch)
    if card.capability is None or supported is None:
        return "none"
    oldest, newest = supported
    if card.capability > newest:
        return "new"
    return "old" if card.capability < oldest else "none"


@lru_cache(maxsize=32)
def _supported_chip_range(catalog: Catalog, system: SystemName, arch: str) -> tuple[Capability, Capability] | None:
    """The oldest and the newest chip that any build for a system has code for, whatever glibc it needs."""
    codes = [code for build in list_builds(catalog, system, arch) for code in build.record.arch_list or ()]
    return (min(codes), max(codes)) if codes else None


def find_host_obstacle(target: TargetSystem) -> Literal["missing", "old"] | None:
    """Where the host gives the driver: whether it is that which keeps the GPU from computing, because there is none, or
    it is too old for every build with code for the GPU.
    """
    state = target.driver_state
    if state is None or state.host is None or best_cuda_build(target) is not None:
        return None
    if not any(True for _ in list_runnable_builds(target)):
        return None
    return "missing" if state.installed is None else "old"


def find_vendor_index(target: TargetSystem) -> VendorIndex | None:
    """NVIDIA's own index with CUDA builds, for a platform for which PyTorch publishes none."""
    platform = (target.machine.os.system, target.arch)
    return next((index for index in target.catalog.pytorch.makers_own if (index.system, index.arch) == platform), None)
