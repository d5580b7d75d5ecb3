"""Which PyTorch builds there are for a system, and how each of them runs on a GPU.

A CUDA build runs on a chip with code compiled for it ("binary"), or with portable code that the driver translates
("ptx"). Its libraries count too: the cuDNN inside may have dropped the chip (`cudnn_support`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.records.pytorch import GlibcMinimum, TorchRelease, TorchVariant
from ..catalog.store import Catalog
from ..core.machine import SystemName
from ..core.versions import Capability, Version

CodeKind = Literal["binary", "ptx", "unknown"]
CudnnSupport = Literal["fits", "last", "too-new"]


class Build(Struct, frozen=True, kw_only=True, eq=False):
    """One build of one release. `rank` 0 is the newest release; `cuda` is None without CUDA; `local` tells that it
    comes from the user's wheelhouse.
    """

    release: TorchRelease
    record: TorchVariant
    rank: int
    cuda: Version | None
    local: bool = False

    @property
    def version(self) -> str:
        """The release: "2.15.0"."""
        return self.release.version.text

    @property
    def variant(self) -> str:
        """The local version tag: "cu130"."""
        return self.record.variant

    @property
    def label(self) -> str:
        """Both, as pip writes them: "2.15.0+cu130"."""
        return f"{self.release.version}+{self.record.variant}"

    @property
    def bundled_cuda(self) -> Version | None:
        """The CUDA inside the wheel: the exact version where the catalog has it, else that of the tag."""
        return self.record.cuda or self.cuda


@lru_cache(maxsize=64)
def parse_cuda_tag(variant: str) -> Version | None:
    """The CUDA version of a local version tag: "cu126" is 12.6; None for other tags."""
    digits = variant.removeprefix("cu")
    if digits == variant or not (digits.isascii() and digits.isdigit()) or not 2 <= len(digits) <= 4:
        return None
    return Version(f"{digits[:-1]}.{digits[-1]}")


@lru_cache(maxsize=64)
def list_builds(catalog: Catalog, system: SystemName, arch: str, glibc: Version | None = None) -> tuple[Build, ...]:
    """Every build for a system that its glibc can load (None: unknown, or not Linux), newest release first."""
    return tuple(
        Build(release=_release_of_build(release, record), record=record, rank=rank, cuda=parse_cuda_tag(record.variant))
        for rank, release in enumerate(catalog.releases)
        for record in release.variants
        if record.system == system
        and record.arch == arch
        and (glibc is None or unmet_glibc(catalog, release.version, record.variant, arch, glibc) is None)
    )


@lru_cache(maxsize=64)
def list_labelled_builds(
    catalog: Catalog, system: SystemName, arch: str, glibc: Version | None = None
) -> tuple[Build, ...]:
    """The builds that are published as wheel variants alone, newest release first: no lock file can name them yet."""
    return tuple(
        Build(release=_release_of_build(release, record), record=record, rank=0, cuda=parse_cuda_tag(record.variant))
        for release in catalog.pytorch.releases
        for record in release.labelled
        if (record.system, record.arch) == (system, arch)
        and (glibc is None or unmet_glibc(catalog, release.version, record.variant, arch, glibc) is None)
    )


def _release_of_build(release: TorchRelease, record: TorchVariant) -> TorchRelease:
    """A release with the Pythons and the companion packages that this build of it has."""
    if record.python:
        release = replace(release, python=record.python)
    return replace(release, torchvision=None, torchaudio=None) if record.alone else release


def unmet_glibc(catalog: Catalog, release: Version, variant: str, arch: str, glibc: Version) -> GlibcMinimum | None:
    """The minimum of a Linux build that a glibc does not meet; None where it does, or none is known."""
    for minimum in catalog.pytorch.glibc:
        if release < minimum.from_release:
            continue
        if minimum.arch in (None, arch) and (not minimum.variants or variant in minimum.variants):
            return minimum if glibc < minimum.lowest else None
    return None


@lru_cache(maxsize=8)
def excluded_devices(catalog: Catalog) -> dict[Capability, frozenset[Capability]]:
    """By capability of compiled code: the embedded chips on which it does not run, although the numbers would fit."""
    return {
        code: frozenset(device for text in devices if (device := Capability.parse(text)) is not None)
        for text, devices in catalog.pytorch.excluded_devices.items()
        if (code := Capability.parse(text)) is not None
    }


def code_kind(catalog: Catalog, record: TorchVariant, device: Capability) -> CodeKind | None:
    """How a build runs on a chip; None: not at all.

    Compiled code runs on chips of its major with the same or a higher minor, except on the embedded ones. Portable
    code runs on every newer chip.
    """
    if record.arch_list is None:
        # General builds are known to leave out the embedded chips.
        if any(device in excluded_chips for excluded_chips in excluded_devices(catalog).values()):
            return None
        if _is_older_than_chip(catalog, record.variant, device):
            return None
        lowest = _lowest_compiled_chip(catalog, record.variant)
        return "unknown" if lowest is None or device >= lowest else None
    excluded = excluded_devices(catalog)
    for code in record.arch_list:
        if code.major == device.major and code <= device and device not in excluded.get(code, ()):
            return "binary"
    if not any(code <= device for code in record.ptx_for):
        return None
    # cuBLAS and cuDNN in the build have no portable code: they know a chip from the first CUDA that supports it.
    cuda, first_cuda = parse_cuda_tag(record.variant), _first_cuda_for_chip(catalog, device)
    return "ptx" if cuda is not None and (first_cuda is None or cuda >= first_cuda) else None


@lru_cache(maxsize=256)
def _first_cuda_for_chip(catalog: Catalog, device: Capability) -> Version | None:
    """The first CUDA that compiles for a chip; for a chip newer than all, the first one for the newest known chip."""
    highest_chips = [
        (toolkit.version.series, toolkit.highest_capability)
        for toolkit in catalog.cuda.toolkits
        if toolkit.highest_capability is not None
    ]
    target = min(device, max((highest for _, highest in highest_chips), default=device))
    return min((series for series, highest in highest_chips if highest >= target), default=None)


@lru_cache(maxsize=256)
def _is_older_than_chip(catalog: Catalog, variant: str, device: Capability) -> bool:
    """Whether a CUDA is known to be too old to compile for any chip of this one's major."""
    cuda = parse_cuda_tag(variant)
    return cuda is not None and any(
        toolkit.highest_capability is not None
        and toolkit.version.series >= cuda
        and toolkit.highest_capability.major < device.major
        for toolkit in catalog.cuda.toolkits
    )


@lru_cache(maxsize=256)
def _lowest_compiled_chip(catalog: Catalog, variant: str) -> Capability | None:
    cuda = parse_cuda_tag(variant)
    minimums = (row for row in catalog.cuda.minimum_drivers if cuda is not None and row.major == cuda.major)
    return next((row.lowest_capability for row in minimums), None)


@lru_cache(maxsize=1024)
def cuda_builds(
    catalog: Catalog, system: SystemName, arch: str, device: Capability, glibc: Version | None = None
) -> tuple[tuple[Build, CodeKind], ...]:
    """The CUDA builds with code for a chip, newest release first.

    Builds whose code is unknown count only on systems where that of none is known.
    """
    builds = tuple(_builds_with_code(catalog, list_builds(catalog, system, arch, glibc), device))
    return builds if _has_no_known_code(catalog, system, arch) else tuple(f for f in builds if f[1] != "unknown")


def _has_no_known_code(catalog: Catalog, system: SystemName, arch: str) -> bool:
    return all(build.record.arch_list is None for build in list_builds(catalog, system, arch))


def _builds_with_code(
    catalog: Catalog, builds: tuple[Build, ...], device: Capability
) -> Iterator[tuple[Build, CodeKind]]:
    for build in builds:
        if build.cuda is not None and (code := code_kind(catalog, build.record, device)) is not None:
            yield build, code


@lru_cache(maxsize=64)
def widest_builds(
    catalog: Catalog, system: SystemName, arch: str, lowest_chip: Capability | None, glibc: Version | None = None
) -> tuple[tuple[Build, CodeKind], ...]:
    """The CUDA builds for an unknown chip, newest release first: those with compiled code for the most known chips
    from `lowest_chip` on. Chips whose drivers are no longer maintained do not count.
    """
    lowest_maintained = min((g.from_capability for g in catalog.drivers.generations if not g.ended), default=None)
    lower_bounds = [bound for bound in (lowest_chip, lowest_maintained) if bound is not None]
    chips = {row.compute_capability for row in catalog.gpus.gpus if row.compute_capability is not None}
    chips = {chip for chip in chips if all(chip >= bound for bound in lower_bounds)}
    counts = [
        (sum(code_kind(catalog, build.record, chip) == "binary" for chip in chips), build)
        for build in list_builds(catalog, system, arch, glibc)
        if build.cuda is not None
    ]
    highest_count = max((count for count, _ in counts), default=0)
    return tuple((build, "unknown") for count, build in counts if count == highest_count)


def has_rocm_code(catalog: Catalog, chip: str, record: TorchVariant) -> bool:
    """Whether a ROCm build has code for an AMD chip: as its publisher states, else by the table of chips."""
    return chip in record.gfx if record.gfx is not None else record.variant in catalog.rocm_variants(chip)


def cudnn_support(catalog: Catalog, build: Build, device: Capability | None) -> CudnnSupport:
    """Whether the cuDNN inside a build supports a chip: "too-new" does not any more, "last" does while newer ones do
    not, "fits" where nothing is known against it.

    Where the catalog does not have the cuDNN of a build, that of the same build for another system is taken.
    """
    build_cudnn = build.record.cudnn or _cudnn_of_twin_build(build)
    if build_cudnn is None or device is None:
        return "fits"
    newer_drops_chip = False
    for minimum in catalog.pytorch.cudnn_floors:
        lowest_chip = minimum.lowest_capability
        if build_cudnn >= minimum.from_version:
            if build.cuda is not None and build.cuda.major == 11 and minimum.lowest_with_cuda_11 is not None:
                lowest_chip = minimum.lowest_with_cuda_11
            if device < lowest_chip:
                return "too-new"
            break
        newer_drops_chip = newer_drops_chip or device < lowest_chip
    return "last" if newer_drops_chip else "fits"


def _cudnn_of_twin_build(build: Build) -> Version | None:
    versions = (v.cudnn for v in build.release.variants if v.variant == build.variant and v.arch == build.record.arch)
    return next((version for version in versions if version is not None), None)
