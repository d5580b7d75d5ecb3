"""The records of `resources/catalog/pytorch.json`: which builds there are, for what, with what inside.

The libraries beside PyTorch: cuDNN, TensorFlow, Microsoft's Visual C++ runtime.

How a CUDA Toolkit is fetched and installed.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from ...core.machine import SystemName
from ...core.versions import Capability, Version
from .base import (
    Arch,
    ByteCount,
    CatalogFile,
    Confidence,
    Hex32Bytes,
    HttpsUrl,
    IsoDate,
    Md5,
    PythonSeries,
    Variant,
)


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
    arch_list: tuple[Capability, ...] | None = None
    ptx_for: tuple[Capability, ...] = ()
    cuda: Version | None = None
    cudnn: Version | None = None
    mps: bool = False
    python: tuple[PythonSeries, ...] = ()
    alone: bool = False
    lowest_system: Version | None = None
    sha256: dict[PythonSeries, Hex32Bytes] = {}
    confidence: Confidence = "high"
    source: str | None = None


class TorchRelease(Struct, frozen=True, kw_only=True):
    """One PyTorch release with the library versions that belong to it. `date` is None where the release was only
    seen on the wheel index.
    """

    version: Version
    date: IsoDate | None
    python: tuple[PythonSeries, ...]
    torchvision: Version | None
    torchaudio: Version | None
    default_variant: dict[SystemName, Variant]
    variants: tuple[TorchVariant, ...]


class GlibcMinimum(Struct, frozen=True, kw_only=True):
    """The lowest glibc that the Linux wheels need from a release on: those of `variants`, or all where it is empty,
    for one type of processor or (None) for all.
    """

    from_release: Version
    arch: Arch | None = None
    variants: tuple[Variant, ...] = ()
    lowest: Version
    source: str


class NumpyBound(Struct, frozen=True, kw_only=True):
    """Releases before `below_release`, for one system or (None) for all, were built for a NumPy before `numpy_below`
    and cannot use a later one, though their wheels do not say so.
    """

    system: SystemName | None = None
    below_release: Version
    numpy_below: Version
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

    from_version: Version
    lowest_capability: Capability
    lowest_with_cuda_11: Capability | None = None
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

    version: Version
    date: IsoDate | None
    cuda_majors: tuple[int, ...]
    lowest_capability: dict[str, Capability]
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

    version: Version
    below_capability: Capability
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

    version: Version
    system: SystemName
    arch: Arch = "x86_64"
    python: tuple[PythonSeries, ...]
    gpu: bool
    cuda: Version | None
    cudnn: Version | None
    bundled_cuda: bool
    requirement: str
    arch_list: tuple[Capability, ...] | None = None
    ptx_for: tuple[Capability, ...] = ()
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
    from_version: Version | None = None
    to_version: Version | None = None
    lowest_driver: Version | None = None
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

    from_capability: Capability
    below_capability: Capability | None = None
    why: str
    source: str
    confidence: Confidence = "high"


class GlibcRequirement(Struct, frozen=True, kw_only=True):
    """The lowest glibc of the Linux wheels from a release on; older releases than the last are not known."""

    from_release: Version
    lowest: Version
    source: str


class CpuFeatureRequirement(Struct, frozen=True, kw_only=True):
    """A processor feature without which the program ends at once, as /proc/cpuinfo names it, on one type of them."""

    feature: str
    arch: Arch = "x86_64"
    source: str


class ApplePlugin(Struct, frozen=True, kw_only=True):
    """What lets TensorFlow use a Mac's graphics, and the first TensorFlow with which it was seen to fail."""

    name: str
    broken_from: Version
    source: str
    confidence: Confidence = "high"


class TensorFlowCatalog(CatalogFile, frozen=True, kw_only=True):
    """`tensorflow.json`; builds by system, newest first. `minimum_drivers` (linux, wsl) are for CUDA 12 builds."""

    newest: Version
    last_windows_gpu: Version
    cpu_needs: tuple[CpuFeatureRequirement, ...]
    minimum_drivers: dict[Literal["linux", "wsl"], Version]
    driver_source: str
    numpy_2_from: Version
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

    from_release: Version
    lowest: Version | None
    needs_files: tuple[str, ...]
    advise_current: bool = False
    source: str
    confidence: Confidence = "high"


class VcRuntimeCatalog(CatalogFile, frozen=True, kw_only=True):
    """`vc_redist.json`; needs newest first: PyTorch's, and those of TensorFlow on Windows itself."""

    package: VcRuntimePackage
    needs: tuple[VcRuntimeRequirement, ...]
    tensorflow_needs: tuple[VcRuntimeRequirement, ...] = ()


InstallerKind = Literal["local", "network"]


def parse_version_json(text: str) -> str | None:
    """The version of a toolkit on disk, from its version.json (CUDA 11.1 and newer)."""
    try:
        version: Any = msgspec.json.decode(text)["cuda"]["version"]
    except (msgspec.DecodeError, KeyError, TypeError):
        return None
    return version if isinstance(version, str) else None


class Checksum(NamedTuple):
    """A published checksum, `hex` in lower case."""

    kind: Literal["sha256", "md5"]
    hex: str


class ToolkitInstaller(Struct, frozen=True, kw_only=True):
    """One installer file. NVIDIA itself publishes MD5 only; `sha256` where somebody fetched and hashed it."""

    system: SystemName
    arch: Arch
    kind: InstallerKind
    file: str
    url: HttpsUrl
    md5: Md5 | None
    sha256: Hex32Bytes | None
    bytes: ByteCount | None
    source: str
    confidence: Confidence = "high"

    @property
    def checksum(self) -> Checksum | None:
        """The sha256 where somebody published one, else NVIDIA's MD5; None without either."""
        if self.sha256 is not None:
            return Checksum("sha256", self.sha256)
        return Checksum("md5", self.md5) if self.md5 is not None else None

    @property
    def has_checksum(self) -> bool:
        """Whether it is the whole toolkit, with a checksum that somebody published."""
        return self.kind == "local" and self.checksum is not None


class ToolkitUrlPattern(Struct, frozen=True, kw_only=True):
    """How installers' addresses are built ({version}, {driver}), for toolkits from one up to (not with) another."""

    system: SystemName
    kind: InstallerKind
    from_version: Version | None
    before_version: Version | None
    url: HttpsUrl
    source: str
    confidence: Confidence = "high"


class RedistPart(Struct, frozen=True, kw_only=True):
    """A part of the toolkit that is installed: its names in NVIDIA's index (the first that is there counts), the CUDA
    majors that have it, and why it is wanted.
    """

    names: tuple[str, ...]
    from_major: int | None
    before_major: int | None
    why: str


class RedistFolders(Struct, frozen=True, kw_only=True):
    """What belongs on PATH in a tree of merged parts, and the links that it needs, by name and target."""

    system: SystemName
    from_major: int | None
    before_major: int | None
    path: tuple[str, ...]
    links: dict[str, str]
    source: str


class RedistSizes(Struct, frozen=True, kw_only=True):
    """Bytes to fetch for each part of one toolkit, by the part's first name."""

    version: Version
    system: SystemName
    arch: Arch
    bytes: dict[str, ByteCount]
    source: str


class CudaRedist(Struct, frozen=True, kw_only=True):
    """NVIDIA's index of single parts, "{version}" in `file` being the toolkit's."""

    index: HttpsUrl
    file: str
    platforms: tuple[str, ...]
    parts: tuple[RedistPart, ...]
    folders: tuple[RedistFolders, ...]
    sizes: tuple[RedistSizes, ...]
    source: str


class SuccessExitCode(Struct, frozen=True, kw_only=True):
    """An exit code other than 0 after which the toolkit is complete."""

    code: int
    meaning: str
    confidence: Confidence = "high"


class HostCompiler(Struct, frozen=True, kw_only=True):
    """Microsoft's compilers that toolkits from one on take: from `lowest` up to (not with) `below`, None being no
    bound; `products` are the Visual Studios that bring them.
    """

    from_toolkit: Version
    lowest: Version
    below: Version | None
    products: str
    source: str
    confidence: Confidence = "high"


class GlibcConflict(Struct, frozen=True, kw_only=True):
    """The first glibc whose headers clash with those of toolkits from one on; None: none is known."""

    from_toolkit: Version
    fails_from: Version | None
    source: str
    confidence: Confidence = "high"


class GnuCompiler(Struct, frozen=True, kw_only=True):
    """The newest major of GNU's compiler that toolkits from one on take on Linux; nvcc refuses a newer one."""

    from_toolkit: Version
    newest: int
    source: str
    confidence: Confidence = "high"


class ExtraComponents(Struct, frozen=True, kw_only=True):
    """Components that compiling needs besides, from a CUDA major on."""

    from_major: int
    components: tuple[str, ...]
    source: str
    confidence: Confidence = "high"


class ToolkitInstallerSettings(Struct, frozen=True, kw_only=True):
    """How the installer runs in silence: "{components}" in `arguments` stands for the chosen component names with
    `component_suffix` behind each. `avoid` never belongs in the list; `complete_when` are files that tell a
    success, whatever the exit code. `signer` is who must have signed it; after `restart_codes` the computer wants a
    restart. `own_folder` are the words that put it into a folder of the user's ("{folder}"), unpacked below another
    one ("{scratch}"), without an administrator; empty where it cannot.
    """

    system: SystemName
    arguments: tuple[str, ...]
    components: tuple[str, ...]
    minimal_for_compiling: tuple[str, ...]
    avoid: tuple[str, ...]
    component_suffix: str | None
    no_restart: str | None
    folder: str | None
    complete_when: tuple[str, ...]
    also_success: tuple[SuccessExitCode, ...]
    uninstall_key: str | None
    needs: str | None
    source: str
    added: tuple[ExtraComponents, ...] = ()
    signer: str | None = None
    restart_codes: tuple[int, ...] = ()
    own_folder: tuple[str, ...] = ()
    own_folder_source: str | None = None

    def installer_arguments(self, version: str) -> tuple[str, ...]:
        """What the installer of a toolkit is called with: all that compiling needs, and nothing else."""
        major, minor = version.split(".")[:2]
        suffix = (self.component_suffix or "").format(major=major, minor=minor)
        extra_names = (name for extra in self.added if extra.from_major <= int(major) for name in extra.components)
        names = tuple(f"{name}{suffix}" for name in (*self.minimal_for_compiling, *extra_names))
        return tuple(
            each for argument in self.arguments for each in (names if argument == "{components}" else (argument,))
        )

    @property
    def can_run_unattended(self) -> bool:
        """Whether we may run it: into a folder of the user's, or where it is known who must have signed it."""
        return bool(self.own_folder) or self.signer is not None
