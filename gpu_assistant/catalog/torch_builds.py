"""The records of `resources/catalog/pytorch.json`: which builds there are, for what, with what inside."""

from __future__ import annotations

from msgspec import Struct

from ..core.machine import SystemName
from .subject import (
    Arch,
    CapabilityText,
    Confidence,
    IsoDate,
    Hex32Bytes,
    HttpsUrl,
    DottedVersion,
    PythonSeries,
    Variant,
)
from .subject import CatalogFile as CatalogFile  # what the advice says where its reasons come from


class TorchVariant(Struct, frozen=True, kw_only=True):
    """One published build. `index_url` None is the general package index.

    `arch_list` are compute capabilities with compiled code (None: not known), `ptx_for` those with portable
    code that newer cards translate for themselves; `cuda` and `cudnn` the versions inside; `sha256` of the wheels
    by Python series, where the index was read; `lowest_system` the macOS that the wheels are made for; `python` the
    series that it is made for where those are not the release's, `alone`: torchvision and torchaudio are not
    published for it.
    """

    system: SystemName
    arch: Arch
    variant: Variant
    index_url: HttpsUrl | None
    arch_list: tuple[CapabilityText, ...] | None = None
    ptx_for: tuple[CapabilityText, ...] = ()
    cuda: DottedVersion | None = None
    cudnn: DottedVersion | None = None
    mps: bool = False
    python: tuple[PythonSeries, ...] = ()
    alone: bool = False
    lowest_system: DottedVersion | None = None
    sha256: dict[PythonSeries, Hex32Bytes] = {}
    confidence: Confidence = "high"
    source: str | None = None


class TorchRelease(Struct, frozen=True, kw_only=True):
    """One PyTorch release with the library versions that belong to it. `date` is None where the release was only
    seen on the wheel index.
    """

    version: DottedVersion
    date: IsoDate | None
    python: tuple[PythonSeries, ...]
    torchvision: DottedVersion | None
    torchaudio: DottedVersion | None
    default_variant: dict[SystemName, Variant]
    variants: tuple[TorchVariant, ...]


class GlibcMinimum(Struct, frozen=True, kw_only=True):
    """The lowest glibc that the Linux wheels need from a release on: those of `variants`, or all where it is empty,
    for one type of processor or (None) for all.
    """

    from_release: DottedVersion
    arch: Arch | None = None
    variants: tuple[Variant, ...] = ()
    lowest: DottedVersion
    source: str


class NumpyBound(Struct, frozen=True, kw_only=True):
    """Releases before `below_release`, for one system or (None) for all, were built for a NumPy before `numpy_below`
    and cannot use a later one, though their wheels do not say so.
    """

    system: SystemName | None = None
    below_release: DottedVersion
    numpy_below: DottedVersion
    source: str


class NonGlibcDistributions(Struct, frozen=True, kw_only=True):
    """Linux distributions, as os-release names them, with another C library, for which no wheels are published."""

    distributions: tuple[str, ...]
    source: str


class EmbeddedBoards(Struct, frozen=True, kw_only=True):
    """NVIDIA's boards for devices, which the general builds leave out: words in the names of their graphics, and
    where NVIDIA says how PyTorch comes to them.
    """

    arch: Arch
    names: tuple[str, ...]
    url: HttpsUrl
    source: str


class PlatformRecord(Struct, frozen=True, kw_only=True):
    """A kind of computer."""

    system: SystemName
    arch: Arch
    source: str


class VendorIndex(PlatformRecord, frozen=True, kw_only=True):
    """A kind of computer for which NVIDIA publishes PyTorch with CUDA while PyTorch itself does not, and where."""

    url: HttpsUrl


class CudnnMinimumChip(Struct, frozen=True, kw_only=True):
    """The oldest chip that cuDNN supports from a version on; builds for CUDA 11 may go further back."""

    from_version: DottedVersion
    lowest_capability: CapabilityText
    lowest_with_cuda_11: CapabilityText | None = None
    source: str


class PyTorchCatalog(CatalogFile, frozen=True, kw_only=True):
    """`pytorch.json`: releases and floors newest first; code for the key does not run on the listed devices; the
    general package index has nothing for the computers of `not_on_general_index`.
    """

    excluded_devices: dict[str, tuple[str, ...]]
    releases: tuple[TorchRelease, ...]
    glibc: tuple[GlibcMinimum, ...] = ()
    without_glibc: NonGlibcDistributions | None = None
    embedded: EmbeddedBoards | None = None
    not_on_general_index: tuple[PlatformRecord, ...] = ()
    makers_own: tuple[VendorIndex, ...] = ()
    cudnn_floors: tuple[CudnnMinimumChip, ...] = ()
    numpy_bounds: tuple[NumpyBound, ...] = ()


def variant_family(variant: str | None) -> str:
    """What a build computes on, without the version: "cu", "rocm", "cpu"."""
    return (variant or "").rstrip("0123456789.")
