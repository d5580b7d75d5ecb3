"""Which PyTorch builds there are for a system, and which of them have code for a card.

Whether the cuDNN inside a build is made for a card, and whether newer ones still are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.records.software import GlibcMinimum, TorchRelease, TorchVariant
from ..catalog.store import Catalog
from ..catalog.versions import parse_capability, parse_version
from ..core.machine import SystemName

CodeKind = Literal["binary", "ptx", "unknown"]


class Build(Struct, frozen=True, kw_only=True, eq=False):
    """One build of one release. `rank` 0 is the newest release; `cuda` is (13, 2); `local` is one that a local
    source of wheels holds.
    """

    release: TorchRelease
    record: TorchVariant
    rank: int
    cuda: tuple[int, int] | None
    local: bool = False

    @property
    def version(self) -> str:
        """The release: "2.15.0"."""
        return self.release.version

    @property
    def variant(self) -> str:
        """The local version tag: "cu130"."""
        return self.record.variant

    @property
    def label(self) -> str:
        """Both, as pip writes them: "2.15.0+cu130"."""
        return f"{self.release.version}+{self.record.variant}"


def parse_cuda_tag(variant: str) -> tuple[int, int] | None:
    """The CUDA version that a local version tag stands for: "cu126" is (12, 6); None for other tags."""
    digits = variant.removeprefix("cu")
    if digits == variant or not (digits.isascii() and digits.isdigit()) or not 2 <= len(digits) <= 4:
        return None
    return int(digits[:-1]), int(digits[-1])


@lru_cache(maxsize=64)
def list_builds(
    catalog: Catalog, system: SystemName, arch: str, glibc: tuple[int, ...] | None = None
) -> tuple[Build, ...]:
    """Every build for a system that its glibc (None: not known, or no Linux) can load, newest release first."""
    return tuple(
        Build(release=_release_of_build(release, record), record=record, rank=rank, cuda=parse_cuda_tag(record.variant))
        for rank, release in enumerate(catalog.releases)
        for record in release.variants
        if record.system == system
        and record.arch == arch
        and (glibc is None or unmet_glibc(catalog, release.version, record.variant, arch, glibc) is None)
    )


def _release_of_build(release: TorchRelease, record: TorchVariant) -> TorchRelease:
    """A release as one of its builds has it: the Pythons that this is made for, and what is published beside it."""
    if record.python:
        release = replace(release, python=record.python)
    return replace(release, torchvision=None, torchaudio=None) if record.alone else release


def unmet_glibc(catalog: Catalog, release: str, variant: str, arch: str, glibc: tuple[int, ...]) -> GlibcMinimum | None:
    """The floor of a Linux build that a glibc stays under; None where it does not or nothing is known."""
    version = parse_version(release)
    for minimum in catalog.pytorch.glibc:
        first_release, lowest = parse_version(minimum.from_release), parse_version(minimum.lowest)
        if version is None or first_release is None or lowest is None or version < first_release:
            continue
        if minimum.arch in (None, arch) and (not minimum.variants or variant in minimum.variants):
            return minimum if glibc < lowest else None
    return None


@lru_cache(maxsize=8)
def excluded_devices(catalog: Catalog) -> dict[tuple[int, int], frozenset[tuple[int, int]]]:
    """The embedded chips on which compiled code for a capability does not run, though the numbers look as if."""
    return {
        code: frozenset(c for device in devices if (c := parse_capability(device)) is not None)
        for text, devices in catalog.pytorch.excluded_devices.items()
        if (code := parse_capability(text)) is not None
    }


def code_kind(catalog: Catalog, record: TorchVariant, device: tuple[int, int]) -> CodeKind | None:
    """How a build runs on a device: compiled code of the same major and a lower or equal minor (the embedded
    chips excepted), else portable code for any newer chip, which the driver translates; None: not at all.
    """
    if record.arch_list is None:
        # Of embedded chips it is known that general builds leave them out.
        if any(device in excluded_chips for excluded_chips in excluded_devices(catalog).values()):
            return None
        if _is_older_than_chip(catalog, record.variant, device):
            return None
        return "unknown" if device >= _lowest_compiled_chip(catalog, record.variant) else None
    excluded = excluded_devices(catalog)
    for arch in record.arch_list:
        code = parse_capability(arch)
        if code is None or code[0] != device[0] or code[1] > device[1]:
            continue
        if device not in excluded.get(code, ()):
            return "binary"
    portable = (parse_capability(arch) for arch in record.ptx_for)
    if not any(code is not None and code <= device for code in portable):
        return None
    # The libraries beside PyTorch's own code (cuBLAS, cuDNN) know a chip only from the CUDA on that brought it.
    cuda, first_cuda = parse_cuda_tag(record.variant), _first_cuda_for_chip(catalog, device)
    return "ptx" if cuda is not None and (first_cuda is None or cuda >= first_cuda) else None


@lru_cache(maxsize=256)
def _first_cuda_for_chip(catalog: Catalog, device: tuple[int, int]) -> tuple[int, int] | None:
    """The first CUDA that compiles for a chip, or for the newest known chip where this one is newer still."""
    highest_chips = [
        (series, highest)
        for toolkit in catalog.cuda.toolkits
        if (series := parse_capability(".".join(toolkit.version.split(".")[:2]))) is not None
        and (highest := parse_capability(toolkit.highest_capability)) is not None
    ]
    target = min(device, max((highest for _, highest in highest_chips), default=device))
    return min((series for series, highest in highest_chips if highest >= target), default=None)


@lru_cache(maxsize=256)
def _is_older_than_chip(catalog: Catalog, variant: str, device: tuple[int, int]) -> bool:
    """Whether a CUDA is known to be too old to compile for any chip of this one's major."""
    cuda = parse_cuda_tag(variant)
    return cuda is not None and any(
        (series := parse_capability(".".join(toolkit.version.split(".")[:2]))) is not None
        and (highest := parse_capability(toolkit.highest_capability)) is not None
        and series >= cuda
        and highest < (device[0], 0)
        for toolkit in catalog.cuda.toolkits
    )


@lru_cache(maxsize=256)
def _lowest_compiled_chip(catalog: Catalog, variant: str) -> tuple[int, int]:
    cuda = parse_cuda_tag(variant)
    majors = (m for m in catalog.cuda.minimum_drivers if cuda is not None and m.major == cuda[0])
    return next((c for m in majors if (c := parse_capability(m.lowest_capability)) is not None), (0, 0))


@lru_cache(maxsize=1024)
def cuda_builds(
    catalog: Catalog, system: SystemName, arch: str, device: tuple[int, int], glibc: tuple[int, ...] | None = None
) -> tuple[tuple[Build, CodeKind], ...]:
    """The CUDA builds with code for a device, newest release first.

    Builds that nobody looked into count only on systems where none is known.
    """
    builds = tuple(_builds_with_code(catalog, list_builds(catalog, system, arch, glibc), device))
    return builds if _has_no_known_code(catalog, system, arch) else tuple(f for f in builds if f[1] != "unknown")


def _has_no_known_code(catalog: Catalog, system: SystemName, arch: str) -> bool:
    return all(build.record.arch_list is None for build in list_builds(catalog, system, arch))


def _builds_with_code(
    catalog: Catalog, builds: tuple[Build, ...], device: tuple[int, int]
) -> Iterator[tuple[Build, CodeKind]]:
    for build in builds:
        if build.cuda is not None and (code := code_kind(catalog, build.record, device)) is not None:
            yield build, code


@lru_cache(maxsize=64)
def widest_builds(
    catalog: Catalog, system: SystemName, arch: str, lowest_chip: tuple[int, int], glibc: tuple[int, ...] | None = None
) -> tuple[tuple[Build, CodeKind], ...]:
    """The CUDA builds for a card that nobody knows: those with code for the most of the known chips from
    `lowest` on first, and among equals the newest release. Chips whose drivers have ended do not count.
    """
    supported_from = (g.from_capability for g in catalog.drivers.generations if not g.ended)
    lowest_chip = max(
        lowest_chip,
        min((c for text in supported_from if (c := parse_capability(text)) is not None), default=lowest_chip),
    )
    chips = {c for row in catalog.gpus.gpus if (c := parse_capability(row.compute_capability)) is not None}
    chips = {chip for chip in chips if chip >= lowest_chip}
    counts = [
        (sum(code_kind(catalog, build.record, chip) == "binary" for chip in chips), build)
        for build in list_builds(catalog, system, arch, glibc)
        if build.cuda is not None
    ]
    highest_count = max((count for count, _ in counts), default=0)
    return tuple((build, "unknown") for count, build in counts if count == highest_count)


CudnnSupport = Literal["fits", "last", "too-new"]


def cudnn_support(catalog: Catalog, build: Build, device: tuple[int, int] | None) -> CudnnSupport:
    """ "too-new": not made for this chip any more; "last": made for it as far as known, while newer ones are not;
    "fits": nothing is known against it. Where the catalog does not know the cuDNN of a build, that of the same build
    for the other system stands for it.
    """
    build_cudnn = parse_version(build.record.cudnn or _cudnn_of_twin_build(build))
    if build_cudnn is None or device is None:
        return "fits"
    newer_drops_chip = False
    for minimum in catalog.pytorch.cudnn_floors:
        first_version, lowest_chip = parse_version(minimum.from_version), parse_capability(minimum.lowest_capability)
        if first_version is None or lowest_chip is None:
            continue
        if build_cudnn >= first_version:
            lowest_for_cuda_11 = parse_capability(minimum.lowest_with_cuda_11)
            if build.cuda is not None and build.cuda[0] == 11 and lowest_for_cuda_11 is not None:
                lowest_chip = lowest_for_cuda_11
            if device < lowest_chip:
                return "too-new"
            break
        newer_drops_chip = newer_drops_chip or device < lowest_chip
    return "last" if newer_drops_chip else "fits"


def _cudnn_of_twin_build(build: Build) -> str | None:
    versions = (v.cudnn for v in build.release.variants if v.variant == build.variant and v.arch == build.record.arch)
    return next(filter(None, versions), None)
