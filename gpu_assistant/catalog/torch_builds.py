"""The records of `resources/catalog/pytorch.json`: which builds there are, for what, with what inside."""

from __future__ import annotations

from msgspec import Struct

from ..core.machine import SystemName
from .subject import (
    Arch,
    Capability,
    Confidence,
    Day,
    Hex32,
    Https,
    Numbers,
    Series,
    Variant,
)
from .subject import Subject as Subject  # what the advice says where its reasons come from


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
    index_url: Https | None
    arch_list: tuple[Capability, ...] | None = None
    ptx_for: tuple[Capability, ...] = ()
    cuda: Numbers | None = None
    cudnn: Numbers | None = None
    mps: bool = False
    python: tuple[Series, ...] = ()
    alone: bool = False
    lowest_system: Numbers | None = None
    sha256: dict[Series, Hex32] = {}
    confidence: Confidence = "high"
    source: str | None = None


class TorchRelease(Struct, frozen=True, kw_only=True):
    """One PyTorch release with the library versions that belong to it. `date` is None where the release was only
    seen on the wheel index.
    """

    version: Numbers
    date: Day | None
    python: tuple[Series, ...]
    torchvision: Numbers | None
    torchaudio: Numbers | None
    default_variant: dict[SystemName, Variant]
    variants: tuple[TorchVariant, ...]


class GlibcFloor(Struct, frozen=True, kw_only=True):
    """The lowest glibc that the Linux wheels need from a release on: those of `variants`, or all where it is empty,
    for one type of processor or (None) for all.
    """

    from_release: Numbers
    arch: Arch | None = None
    variants: tuple[Variant, ...] = ()
    lowest: Numbers
    source: str


class NumpyBound(Struct, frozen=True, kw_only=True):
    """Releases before `below_release`, for one system or (None) for all, were built for a NumPy before `numpy_below`
    and cannot use a later one, though their wheels do not say so.
    """

    system: SystemName | None = None
    below_release: Numbers
    numpy_below: Numbers
    source: str


class WithoutGlibc(Struct, frozen=True, kw_only=True):
    """Linux distributions, as os-release names them, with another C library, for which no wheels are published."""

    distributions: tuple[str, ...]
    source: str


class Embedded(Struct, frozen=True, kw_only=True):
    """NVIDIA's boards for devices, which the general builds leave out: words in the names of their graphics, and
    where NVIDIA says how PyTorch comes to them.
    """

    arch: Arch
    names: tuple[str, ...]
    url: Https
    source: str


class Platform(Struct, frozen=True, kw_only=True):
    """A kind of computer."""

    system: SystemName
    arch: Arch
    source: str


class MakersOwn(Platform, frozen=True, kw_only=True):
    """A kind of computer for which NVIDIA publishes PyTorch with CUDA while PyTorch itself does not, and where."""

    url: Https


class CudnnFloor(Struct, frozen=True, kw_only=True):
    """The oldest chip that cuDNN supports from a version on; builds for CUDA 11 may go further back."""

    from_version: Numbers
    lowest_capability: Capability
    lowest_with_cuda_11: Capability | None = None
    source: str


class PyTorch(Subject, frozen=True, kw_only=True):
    """`pytorch.json`: releases and floors newest first; code for the key does not run on the listed devices; the
    general package index has nothing for the computers of `not_on_general_index`.
    """

    excluded_devices: dict[str, tuple[str, ...]]
    releases: tuple[TorchRelease, ...]
    glibc: tuple[GlibcFloor, ...] = ()
    without_glibc: WithoutGlibc | None = None
    embedded: Embedded | None = None
    not_on_general_index: tuple[Platform, ...] = ()
    makers_own: tuple[MakersOwn, ...] = ()
    cudnn_floors: tuple[CudnnFloor, ...] = ()
    numpy_bounds: tuple[NumpyBound, ...] = ()


def kind_of(variant: str | None) -> str:
    """What a build computes on, without the version: "cu", "rocm", "cpu"."""
    return (variant or "").rstrip("0123456789.")
