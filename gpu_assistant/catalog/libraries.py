"""The libraries beside PyTorch: cuDNN, TensorFlow, Microsoft's Visual C++ runtime."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..core.machine import SystemName
from .subject import Arch, ByteCount, CapabilityText, Confidence, IsoDate, Hex32Bytes, HttpsUrl, Md5, DottedVersion, PythonSeries, CatalogFile


class CudnnArchive(Struct, frozen=True, kw_only=True):
    """One archive of cuDNN for a system and a CUDA major."""

    system: SystemName
    arch: Arch
    cuda: int
    url: HttpsUrl
    sha256: Hex32Bytes
    md5: Md5 | None
    bytes: ByteCount | None


class CudnnRelease(Struct, frozen=True, kw_only=True):
    """One cuDNN: the CUDA majors it is built for, the oldest chip by CUDA major, the majors with a wheel, archives
    with known hashes, and NVIDIA's index file of this release. A yanked one is never offered.
    """

    version: DottedVersion
    date: IsoDate | None
    cuda_majors: tuple[int, ...]
    lowest_capability: dict[str, CapabilityText]
    wheels: tuple[int, ...]
    archives: tuple[CudnnArchive, ...]
    index_url: HttpsUrl | None = None
    index_sha256: Hex32Bytes | None = None
    yanked: bool = False
    source: str
    confidence: Confidence = "high"
    note: str | None = None


class LastSupportingCudnn(Struct, frozen=True, kw_only=True):
    """The last cuDNN for chips below a compute capability."""

    version: DottedVersion
    below_capability: CapabilityText
    source: str


class CudnnWindowsLayout(Struct, frozen=True, kw_only=True):
    """Which folder of the archive goes into which folder of the toolkit, by CUDA major; the libraries of 9.x."""

    folders: dict[str, dict[str, str]]
    dlls: tuple[str, ...]
    source: str


class CudnnCatalog(CatalogFile, frozen=True, kw_only=True):
    """`cudnn.json`, newest first; `wheel_packages` by CUDA major."""

    index: HttpsUrl
    wheel_packages: dict[str, str]
    last_for_old_chips: LastSupportingCudnn
    windows_install: CudnnWindowsLayout
    releases: tuple[CudnnRelease, ...]


class TensorFlowBuildRecord(Struct, frozen=True, kw_only=True):
    """One TensorFlow series on one kind of computer: Pythons newest first, the CUDA and cuDNN it was tested with (None
    without GPU), whether the requirement brings them as wheels, and the compiled capabilities (None: not known).
    """

    version: DottedVersion
    system: SystemName
    arch: Arch = "x86_64"
    python: tuple[PythonSeries, ...]
    gpu: bool
    cuda: DottedVersion | None
    cudnn: DottedVersion | None
    bundled_cuda: bool
    requirement: str
    arch_list: tuple[CapabilityText, ...] | None = None
    ptx_for: tuple[CapabilityText, ...] = ()
    arch_source: str | None = None
    arch_confidence: Confidence | None = None
    source: str
    confidence: Confidence = "high"
    note: str | None = None


class TensorFlowRoute(Struct, frozen=True, kw_only=True):
    """One way to TensorFlow on a system, the better ones first; `requirement` is for the general index.

    `setup` is the command, word by word, that makes a system ready for it; the same in two halves: `system_words` with
    administrator rights, for everybody, and `user_words` for the user alone. `restart_codes` ask for a restart.
    """

    system: SystemName
    gpu: bool
    how: Literal["and-cuda", "wsl2", "native", "directml"]
    requirement: str
    recommended: bool
    from_version: DottedVersion | None = None
    to_version: DottedVersion | None = None
    lowest_driver: DottedVersion | None = None
    lowest_windows_build: int | None = None
    setup: tuple[str, ...] = ()
    system_words: tuple[str, ...] = ()
    user_words: tuple[str, ...] = ()
    restart_codes: tuple[int, ...] = ()
    setup_source: str | None = None
    source: str
    note: str | None = None


class TensorFlowUnsupportedChips(Struct, frozen=True, kw_only=True):
    """Chips from a capability up to (not with) another that released wheels do not serve well."""

    from_capability: CapabilityText
    below_capability: CapabilityText | None = None
    why: str
    source: str
    confidence: Confidence = "high"


class GlibcRequirement(Struct, frozen=True, kw_only=True):
    """The lowest glibc of the Linux wheels from a release on; older releases than the last are not known."""

    from_release: DottedVersion
    lowest: DottedVersion
    source: str


class CpuFeatureRequirement(Struct, frozen=True, kw_only=True):
    """A processor feature without which the program ends at once, as /proc/cpuinfo names it, on one type of them."""

    feature: str
    arch: Arch = "x86_64"
    source: str


class ApplePlugin(Struct, frozen=True, kw_only=True):
    """What lets TensorFlow use a Mac's graphics, and the first TensorFlow with which it was seen to fail."""

    name: str
    broken_from: DottedVersion
    source: str
    confidence: Confidence = "high"


class TensorFlowCatalog(CatalogFile, frozen=True, kw_only=True):
    """`tensorflow.json`; builds by system, newest first. `minimum_drivers` (linux, wsl) are for CUDA 12 builds."""

    newest: DottedVersion
    last_windows_gpu: DottedVersion
    cpu_needs: tuple[CpuFeatureRequirement, ...]
    minimum_drivers: dict[Literal["linux", "wsl"], DottedVersion]
    driver_source: str
    numpy_2_from: DottedVersion
    glibc: tuple[GlibcRequirement, ...] = ()
    not_for: tuple[TensorFlowUnsupportedChips, ...]
    routes: tuple[TensorFlowRoute, ...]
    builds: tuple[TensorFlowBuildRecord, ...]
    apple_plugin: ApplePlugin | None = None

    def find_route(self, system: SystemName, kind: str) -> TensorFlowRoute | None:
        """The way of a kind on a system."""
        return next((each for each in self.routes if (each.system, each.how) == (system, kind)), None)


class VcRuntimePackage(Struct, frozen=True, kw_only=True):
    """The runtime's installer; it changes behind its address, so its signer is checked instead of a hash."""

    url: HttpsUrl
    sha256: Hex32Bytes | None
    signer: str
    arguments: tuple[str, ...]
    success_codes: tuple[int, ...]
    restart_codes: tuple[int, ...]
    registry_key: str
    source: str


class VcRuntimeRequirement(Struct, frozen=True, kw_only=True):
    """What a framework from a release on needs; `advise_current`: older runtimes were seen to fail."""

    from_release: DottedVersion
    lowest: DottedVersion | None
    needs_files: tuple[str, ...]
    advise_current: bool = False
    source: str
    confidence: Confidence = "high"


class VcRuntimeCatalog(CatalogFile, frozen=True, kw_only=True):
    """`vc_redist.json`; needs newest first: PyTorch's, and those of TensorFlow on Windows itself."""

    package: VcRuntimePackage
    required_before: tuple[VcRuntimeRequirement, ...]
    tensorflow_needs: tuple[VcRuntimeRequirement, ...] = ()
