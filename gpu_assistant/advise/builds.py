"""Which PyTorch builds there are for a system, and which of them have code for a card."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.load import Catalog
from ..catalog.torch_builds import GlibcFloor, TorchRelease, TorchVariant
from ..catalog.versions import capability, numbers
from ..core.machine import SystemName

Code = Literal["binary", "ptx", "unknown"]


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


def cuda_of(variant: str) -> tuple[int, int] | None:
    """The CUDA version that a local version tag stands for: "cu126" is (12, 6); None for other tags."""
    digits = variant.removeprefix("cu")
    if digits == variant or not (digits.isascii() and digits.isdigit()) or not 2 <= len(digits) <= 4:
        return None
    return int(digits[:-1]), int(digits[-1])


@lru_cache(maxsize=64)
def builds_for(
    catalog: Catalog, system: SystemName, arch: str, glibc: tuple[int, ...] | None = None
) -> tuple[Build, ...]:
    """Every build for a system that its glibc (None: not known, or no Linux) can load, newest release first."""
    return tuple(
        Build(release=_made_for(release, record), record=record, rank=rank, cuda=cuda_of(record.variant))
        for rank, release in enumerate(catalog.releases)
        for record in release.variants
        if record.system == system
        and record.arch == arch
        and (glibc is None or glibc_lacking(catalog, release.version, record.variant, arch, glibc) is None)
    )


def _made_for(release: TorchRelease, record: TorchVariant) -> TorchRelease:
    """A release as one of its builds has it: the Pythons that this is made for, and what is published beside it."""
    if record.python:
        release = replace(release, python=record.python)
    return replace(release, torchvision=None, torchaudio=None) if record.alone else release


def glibc_lacking(catalog: Catalog, release: str, variant: str, arch: str, glibc: tuple[int, ...]) -> GlibcFloor | None:
    """The floor of a Linux build that a glibc stays under; None where it does not or nothing is known."""
    version = numbers(release)
    for floor in catalog.pytorch.glibc:
        since, lowest = numbers(floor.from_release), numbers(floor.lowest)
        if version is None or since is None or lowest is None or version < since:
            continue
        if floor.arch in (None, arch) and (not floor.variants or variant in floor.variants):
            return floor if glibc < lowest else None
    return None


@lru_cache(maxsize=8)
def excluded_devices(catalog: Catalog) -> dict[tuple[int, int], frozenset[tuple[int, int]]]:
    """The embedded chips on which compiled code for a capability does not run, though the numbers look as if."""
    return {
        code: frozenset(c for device in devices if (c := capability(device)) is not None)
        for text, devices in catalog.pytorch.excluded_devices.items()
        if (code := capability(text)) is not None
    }


def code_for(catalog: Catalog, record: TorchVariant, device: tuple[int, int]) -> Code | None:
    """How a build runs on a device: compiled code of the same major and a lower or equal minor (the embedded
    chips excepted), else portable code for any newer chip, which the driver translates; None: not at all.
    """
    if record.arch_list is None:
        # Of embedded chips it is known that general builds leave them out.
        if any(device in listed for listed in excluded_devices(catalog).values()):
            return None
        if _before_chip(catalog, record.variant, device):
            return None
        return "unknown" if device >= _lowest_target(catalog, record.variant) else None
    excluded = excluded_devices(catalog)
    for text in record.arch_list:
        code = capability(text)
        if code is None or code[0] != device[0] or code[1] > device[1]:
            continue
        if device not in excluded.get(code, ()):
            return "binary"
    portable = (capability(text) for text in record.ptx_for)
    if not any(code is not None and code <= device for code in portable):
        return None
    # The libraries beside PyTorch's own code (cuBLAS, cuDNN) know a chip only from the CUDA on that brought it.
    cuda, first = cuda_of(record.variant), _first_cuda(catalog, device)
    return "ptx" if cuda is not None and (first is None or cuda >= first) else None


@lru_cache(maxsize=256)
def _first_cuda(catalog: Catalog, device: tuple[int, int]) -> tuple[int, int] | None:
    """The first CUDA that compiles for a chip, or for the newest known chip where this one is newer still."""
    tops = [
        (series, high)
        for toolkit in catalog.cuda.toolkits
        if (series := capability(".".join(toolkit.version.split(".")[:2]))) is not None
        and (high := capability(toolkit.highest_capability)) is not None
    ]
    wanted = min(device, max((high for _, high in tops), default=device))
    return min((series for series, high in tops if high >= wanted), default=None)


@lru_cache(maxsize=256)
def _before_chip(catalog: Catalog, variant: str, device: tuple[int, int]) -> bool:
    """Whether a CUDA is known to be too old to compile for any chip of this one's major."""
    cuda = cuda_of(variant)
    return cuda is not None and any(
        (series := capability(".".join(toolkit.version.split(".")[:2]))) is not None
        and (high := capability(toolkit.highest_capability)) is not None
        and series >= cuda
        and high < (device[0], 0)
        for toolkit in catalog.cuda.toolkits
    )


@lru_cache(maxsize=256)
def _lowest_target(catalog: Catalog, variant: str) -> tuple[int, int]:
    cuda = cuda_of(variant)
    majors = (m for m in catalog.cuda.minimum_drivers if cuda is not None and m.major == cuda[0])
    return next((c for m in majors if (c := capability(m.lowest_capability)) is not None), (0, 0))


@lru_cache(maxsize=1024)
def cuda_builds(
    catalog: Catalog, system: SystemName, arch: str, device: tuple[int, int], glibc: tuple[int, ...] | None = None
) -> tuple[tuple[Build, Code], ...]:
    """The CUDA builds with code for a device, newest release first.

    Builds that nobody looked into count only on systems where none is known.
    """
    found = tuple(_with_code(catalog, builds_for(catalog, system, arch, glibc), device))
    return found if _none_known(catalog, system, arch) else tuple(f for f in found if f[1] != "unknown")


def _none_known(catalog: Catalog, system: SystemName, arch: str) -> bool:
    return all(build.record.arch_list is None for build in builds_for(catalog, system, arch))


def _with_code(catalog: Catalog, builds: tuple[Build, ...], device: tuple[int, int]) -> Iterator[tuple[Build, Code]]:
    for build in builds:
        if build.cuda is not None and (code := code_for(catalog, build.record, device)) is not None:
            yield build, code


@lru_cache(maxsize=64)
def widest_builds(
    catalog: Catalog, system: SystemName, arch: str, lowest: tuple[int, int], glibc: tuple[int, ...] | None = None
) -> tuple[tuple[Build, Code], ...]:
    """The CUDA builds for a card that nobody knows: those with code for the most of the known chips from
    `lowest` on first, and among equals the newest release. Chips whose drivers have ended do not count.
    """
    kept = (g.from_capability for g in catalog.drivers.generations if not g.ended)
    lowest = max(lowest, min((c for text in kept if (c := capability(text)) is not None), default=lowest))
    chips = {c for row in catalog.gpus.gpus if (c := capability(row.compute_capability)) is not None}
    chips = {chip for chip in chips if chip >= lowest}
    counted = [
        (sum(code_for(catalog, build.record, chip) == "binary" for chip in chips), build)
        for build in builds_for(catalog, system, arch, glibc)
        if build.cuda is not None
    ]
    most = max((count for count, _ in counted), default=0)
    return tuple((build, "unknown") for count, build in counted if count == most)
