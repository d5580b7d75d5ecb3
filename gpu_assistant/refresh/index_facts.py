"""What the general package index says, and what of it is new to the catalog. Pure.

Only versions are taken from there. Chips and drivers are nowhere in it: a new release stays without them, and is not
recommended before somebody has looked at it.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.records.base import Arch
from ..catalog.records.cuda import CudaCatalog, ToolkitRelease
from ..catalog.records.libraries import CudnnCatalog, CudnnRelease
from ..catalog.records.pytorch import PyTorchCatalog, TorchRelease, TorchVariant
from ..core.machine import SystemName
from ..core.versions import Version
from .merge import MergeResult

INDEX_SOURCE = "live-index"
# The platform whose packages say most: PyTorch for Linux requires NVIDIA's.
SYSTEM: SystemName = "linux"
ARCH: Arch = "x86_64"


class TorchRequirements(Struct, frozen=True, kw_only=True):
    """The CUDA and the cuDNN that a PyTorch release for Linux requires (None: none); of a CUDA before 13 the series.

    `is_exact`: it requires these very versions, and no others would do.
    """

    version: Version
    python: str
    cuda: Version | None
    cudnn: Version | None
    is_exact: bool = False

    @property
    def variant(self) -> str:
        """The build ("cu132")."""
        return f"cu{self.cuda.major}{self.cuda.minor}" if self.cuda is not None else "cpu"

    @property
    def is_update(self) -> bool:
        """Whether the CUDA is known to its update ("13.2.2")."""
        return self.cuda is not None and len(self.cuda.text.split(".")) > 2


class IndexFacts(Struct, frozen=True, kw_only=True):
    """What an index says, newest first; `cudnn` are the releases by CUDA major."""

    pytorch: tuple[TorchRequirements, ...] = ()
    toolkits: tuple[Version, ...] = ()
    cudnn: dict[int, tuple[Version, ...]] = {}
    tensorflow: Version | None = None


def linux_build(release: TorchRelease, variant: str) -> TorchVariant | None:
    """A release's build for the platform that the index is asked for."""
    return next((b for b in release.variants if (b.system, b.arch, b.variant) == (SYSTEM, ARCH, variant)), None)


def merge_pytorch_facts(
    current: PyTorchCatalog, facts: IndexFacts, *, wheel_index: str, known_majors: Collection[int]
) -> MergeResult[PyTorchCatalog]:
    """New releases with the one build that the index has, and the exact CUDA and cuDNN of a build where they were
    unknown. What is known stays, also where the index says otherwise (`catalog check --against-index` tells that).
    """
    releases = {release.version: release for release in current.releases}
    count = 0
    for told in facts.pytorch:
        if told.cuda is None or told.cuda.major not in known_majors:
            continue
        release = releases.get(told.version)
        if release is None:
            releases[told.version] = _make_release(told, wheel_index)
            count += 1
            continue
        build = linux_build(release, told.variant)
        if build is None or not told.is_exact:
            continue
        cuda = build.cuda or (told.cuda if told.is_update else None)
        known = replace(build, cuda=cuda, cudnn=build.cudnn or told.cudnn)
        if known != build:
            variants = tuple(known if each is build else each for each in release.variants)
            releases[told.version] = replace(release, variants=variants)
            count += 1
    ordered = tuple(sorted(releases.values(), key=lambda release: release.version, reverse=True))
    return MergeResult(replace(current, releases=ordered), count)


def _make_release(told: TorchRequirements, wheel_index: str) -> TorchRelease:
    build = TorchVariant(
        system=SYSTEM,
        arch=ARCH,
        variant=told.variant,
        index_url=f"{wheel_index.rstrip('/')}/{told.variant}",
        cuda=told.cuda if told.is_exact and told.is_update else None,
        cudnn=told.cudnn if told.is_exact else None,
        confidence="medium",
        source=INDEX_SOURCE,
    )
    return TorchRelease(
        version=told.version,
        date=None,
        python=(told.python,),
        torchvision=None,
        torchaudio=None,
        default_variant={SYSTEM: told.variant},
        variants=(build,),
    )


def merge_toolkit_facts(current: CudaCatalog, facts: IndexFacts) -> MergeResult[CudaCatalog]:
    """New toolkits by version; their drivers, chips and archives stay unknown."""
    known = {toolkit.version for toolkit in current.toolkits}
    added = [
        ToolkitRelease(
            version=version, linux_driver=None, windows_driver=None, source=INDEX_SOURCE, confidence="medium"
        )
        for version in facts.toolkits
        if version not in known
    ]
    ordered = sorted((*current.toolkits, *added), key=lambda toolkit: toolkit.version, reverse=True)
    return MergeResult(replace(current, toolkits=tuple(ordered)), len(added))


def merge_cudnn_facts(current: CudnnCatalog, facts: IndexFacts) -> MergeResult[CudnnCatalog]:
    """New cuDNN releases with the CUDA majors that have a package; their oldest chips and archives stay unknown."""
    known = {release.version for release in current.releases}
    majors: dict[Version, list[int]] = {}
    for major, versions in facts.cudnn.items():
        for version in versions:
            if version not in known:
                majors.setdefault(version, []).append(major)
    added = [
        CudnnRelease(
            version=version,
            date=None,
            cuda_majors=tuple(sorted(packaged)),
            lowest_capability={},
            wheels=tuple(sorted(packaged, reverse=True)),
            archives=(),
            source=INDEX_SOURCE,
            confidence="medium",
        )
        for version, packaged in majors.items()
    ]
    ordered = sorted((*current.releases, *added), key=lambda release: release.version, reverse=True)
    return MergeResult(replace(current, releases=tuple(ordered)), len(added))
