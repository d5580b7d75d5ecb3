"""PyTorch's builds: which there are, for what, with what inside (`pytorch.json`)."""

from __future__ import annotations

from msgspec import Struct

from ...core.machine import SystemName
from ...core.versions import Capability, Version
from ..wheel_variants import VariantLabel
from .base import (
    Arch,
    CatalogFile,
    Confidence,
    Gfx,
    Hex32Bytes,
    HttpsUrl,
    IsoDate,
    PythonSeries,
    Variant,
)


class TorchVariant(Struct, frozen=True, kw_only=True):
    """One published build of PyTorch; `index_url` None is PyPI.

    `arch_list` are the compute capabilities with compiled code (None: unknown), `ptx_for` those with PTX, which the
    driver compiles for newer GPUs. `cuda` and `cudnn` are the versions that it contains. `sha256` are those of its
    wheels by Python series, as far as they are known. `lowest_system` is the minimum macOS. `python` are its Python
    series, empty: the release's. `alone`: there is no torchvision and torchaudio for it.

    `stated` is the source where the publisher's own metadata says what it is made for, also which CUDA the driver has
    to implement (`lowest_cuda`) and for which AMD chips it is (`gfx`; None: `amd_chips` tells that). `label` is that of
    its wheels, where they are wheel variants.

    With a `chip_extra` ("device-{gfx}") it is of AMD's own index: the code for each chip is a package that this extra
    brings, "all" stands for every chip. `sdists` are packages that its index has as source alone.
    """

    system: SystemName
    arch: Arch
    variant: Variant
    index_url: HttpsUrl | None
    arch_list: tuple[Capability, ...] | None = None
    ptx_for: tuple[Capability, ...] = ()
    cuda: Version | None = None
    cudnn: Version | None = None
    mps: bool = False
    python: tuple[PythonSeries, ...] = ()
    alone: bool = False
    lowest_system: Version | None = None
    sha256: dict[PythonSeries, Hex32Bytes] = {}
    label: VariantLabel | None = None
    stated: str | None = None
    lowest_cuda: Version | None = None
    gfx: tuple[Gfx, ...] | None = None
    chip_extra: str | None = None
    sdists: tuple[str, ...] = ()
    confidence: Confidence = "high"
    source: str | None = None


class TorchRelease(Struct, frozen=True, kw_only=True):
    """One PyTorch release with the matching torchvision and torchaudio; `date` is None where only the wheel index has
    it. `labelled` are builds that are published as wheel variants alone, which no lock file can name yet.
    """

    version: Version
    date: IsoDate | None
    python: tuple[PythonSeries, ...]
    torchvision: Version | None
    torchaudio: Version | None
    default_variant: dict[SystemName, Variant]
    variants: tuple[TorchVariant, ...]
    labelled: tuple[TorchVariant, ...] = ()


class GlibcMinimum(Struct, frozen=True, kw_only=True):
    """The minimum glibc of Linux wheels since a release, for `variants` (empty: all) and `arch` (None: all)."""

    from_release: Version
    arch: Arch | None = None
    variants: tuple[Variant, ...] = ()
    lowest: Version
    source: str


class NumpyBound(Struct, frozen=True, kw_only=True):
    """Releases before `below_release`, for `system` (None: all), need a NumPy before `numpy_below`, which their wheels
    do not declare.
    """

    system: SystemName | None = None
    below_release: Version
    numpy_below: Version
    source: str


class NonGlibcDistributions(Struct, frozen=True, kw_only=True):
    """Linux distributions (ids of os-release) with another C library than glibc, for which there are no wheels."""

    distributions: tuple[str, ...]
    source: str


class EmbeddedBoards(Struct, frozen=True, kw_only=True):
    """NVIDIA's embedded boards: parts of their GPUs' names, and NVIDIA's page on how to install PyTorch there.

    PyTorch's builds leave most of their chips out. Those with code for a chip compute on the driver of the board's own
    system, as `driver_source` says; None: not known.
    """

    arch: Arch
    names: tuple[str, ...]
    url: HttpsUrl
    source: str
    driver_source: str | None = None


class PlatformRecord(Struct, frozen=True, kw_only=True):
    """An operating system and a CPU architecture."""

    system: SystemName
    arch: Arch
    source: str


class VendorIndex(PlatformRecord, frozen=True, kw_only=True):
    """NVIDIA's index of PyTorch with CUDA for a platform for which PyTorch's own index has none."""

    url: HttpsUrl


class CudnnMinimumChip(Struct, frozen=True, kw_only=True):
    """The lowest compute capability that cuDNN supports since a version; builds for CUDA 11 may support lower ones."""

    from_version: Version
    lowest_capability: Capability
    lowest_with_cuda_11: Capability | None = None
    source: str


class PyTorchCatalog(CatalogFile, frozen=True, kw_only=True):
    """`pytorch.json`; releases and minimums are sorted newest first.

    `excluded_devices`: code for a capability (key) does not run on these devices. PyPI has no wheels for the platforms
    of `not_on_general_index`; builds for CUDA compute without a GPU on those of `cuda_builds_on_cpu`.
    """

    excluded_devices: dict[str, tuple[str, ...]]
    releases: tuple[TorchRelease, ...]
    glibc: tuple[GlibcMinimum, ...] = ()
    without_glibc: NonGlibcDistributions | None = None
    embedded: EmbeddedBoards | None = None
    not_on_general_index: tuple[PlatformRecord, ...] = ()
    cuda_builds_on_cpu: tuple[PlatformRecord, ...] = ()
    makers_own: tuple[VendorIndex, ...] = ()
    cudnn_floors: tuple[CudnnMinimumChip, ...] = ()
    numpy_bounds: tuple[NumpyBound, ...] = ()


def variant_family(variant: str | None) -> str:
    """A variant without its version: "cu", "rocm", "cpu", "xpu"; "" for None."""
    return (variant or "").rstrip("0123456789.")
