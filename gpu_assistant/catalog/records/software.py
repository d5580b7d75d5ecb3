"""Records of software: PyTorch, cuDNN, TensorFlow, the Visual C++ runtime, installers and parts of CUDA Toolkits."""

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
    """One published build of PyTorch; `index_url` None is PyPI.

    `arch_list` are the compute capabilities with compiled code (None: unknown), `ptx_for` those with PTX, which the
    driver compiles for newer GPUs. `cuda` and `cudnn` are the versions that it contains. `sha256` are those of its
    wheels by Python series, as far as they are known. `lowest_system` is the minimum macOS. `python` are its Python
    series, empty: the release's. `alone`: there is no torchvision and torchaudio for it.
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
    """One PyTorch release with the matching torchvision and torchaudio; `date` is None where only the wheel index has
    it.
    """

    version: Version
    date: IsoDate | None
    python: tuple[PythonSeries, ...]
    torchvision: Version | None
    torchaudio: Version | None
    default_variant: dict[SystemName, Variant]
    variants: tuple[TorchVariant, ...]


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
    """NVIDIA's embedded boards, which PyTorch's builds do not support: parts of their GPUs' names, and NVIDIA's page on
    how to install PyTorch there.
    """

    arch: Arch
    names: tuple[str, ...]
    url: HttpsUrl
    source: str


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
    of `not_on_general_index`.
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
    """A variant without its version: "cu", "rocm", "cpu", "xpu"; "" for None."""
    return (variant or "").rstrip("0123456789.")


class CudnnArchive(Struct, frozen=True, kw_only=True):
    """One archive of cuDNN for a platform and a CUDA major."""

    system: SystemName
    arch: Arch
    cuda: int
    url: HttpsUrl
    sha256: Hex32Bytes
    md5: Md5 | None
    bytes: ByteCount | None


class CudnnRelease(Struct, frozen=True, kw_only=True):
    """One cuDNN release; a `yanked` one is never offered.

    `cuda_majors` are those that it is built for, `wheels` those with a wheel. `lowest_capability` is by CUDA major.
    `index_url` is NVIDIA's index file of the release.
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
    """The last cuDNN for GPUs below a compute capability."""

    version: Version
    below_capability: Capability
    source: str


class CudnnWindowsLayout(Struct, frozen=True, kw_only=True):
    """The toolkit's folder for each folder of the archive, by CUDA major, and the names of cuDNN 9's libraries."""

    folders: dict[str, dict[str, str]]
    dlls: tuple[str, ...]
    source: str


class CudnnCatalog(CatalogFile, frozen=True, kw_only=True):
    """`cudnn.json`; releases are sorted newest first, `wheel_packages` are by CUDA major."""

    index: HttpsUrl
    wheel_packages: dict[str, str]
    last_for_old_chips: LastSupportingCudnn
    windows_install: CudnnWindowsLayout
    releases: tuple[CudnnRelease, ...]


class TensorFlowBuildRecord(Struct, frozen=True, kw_only=True):
    """One TensorFlow series on one platform.

    `python` is sorted newest first. `cuda` and `cudnn` are the versions that it was tested with, None without GPU
    support; `bundled_cuda`: `requirement` installs them as wheels. `arch_list` are the compute capabilities with
    compiled code (None: unknown), `ptx_for` those with PTX.
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
    """One way to install TensorFlow on a system, in order of preference; `requirement` is installed from PyPI.

    `setup` is the command that prepares the system, as a list of arguments; `system_words` and `user_words` are its two
    parts: with administrator rights for all users, and for the user. `restart_codes` are exit codes that request a
    restart.
    `help_words` are parts of the help text, in every language, that an old version of the command prints for options
    that it does not know.
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
    help_words: tuple[str, ...] = ()
    restart_codes: tuple[int, ...] = ()
    setup_source: str | None = None
    source: str
    note: str | None = None


class TensorFlowUnsupportedChips(Struct, frozen=True, kw_only=True):
    """GPUs from one capability up to, not including, another that released wheels do not support well."""

    from_capability: Capability
    below_capability: Capability | None = None
    why: str
    source: str
    confidence: Confidence = "high"


class GlibcRequirement(Struct, frozen=True, kw_only=True):
    """The minimum glibc of Linux wheels since a release."""

    from_release: Version
    lowest: Version
    source: str


class CpuFeatureRequirement(Struct, frozen=True, kw_only=True):
    """A CPU feature, as in /proc/cpuinfo, without which TensorFlow ends at import, on one architecture."""

    feature: str
    arch: Arch = "x86_64"
    source: str


class ApplePlugin(Struct, frozen=True, kw_only=True):
    """The plugin for GPUs of Apple silicon, and the first TensorFlow with which it fails."""

    name: str
    broken_from: Version
    source: str
    confidence: Confidence = "high"


class TensorFlowCatalog(CatalogFile, frozen=True, kw_only=True):
    """`tensorflow.json`; builds are sorted by system, newest first. `minimum_drivers` are for builds with CUDA 12."""

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
        """The route of a kind (`how`) on a system; None where there is none."""
        return next((each for each in self.routes if (each.system, each.how) == (system, kind)), None)


class VcRuntimePackage(Struct, frozen=True, kw_only=True):
    """The installer of the Visual C++ runtime. Its URL always has the newest version, so that its signer is checked
    instead of a hash.
    """

    url: HttpsUrl
    sha256: Hex32Bytes | None
    signer: str
    arguments: tuple[str, ...]
    success_codes: tuple[int, ...]
    restart_codes: tuple[int, ...]
    registry_key: str
    source: str


class VcRuntimeRequirement(Struct, frozen=True, kw_only=True):
    """The runtime that a framework needs since a release; `advise_current`: older runtimes are known to fail."""

    from_release: Version
    lowest: Version | None
    needs_files: tuple[str, ...]
    advise_current: bool = False
    source: str
    confidence: Confidence = "high"


class VcRuntimeCatalog(CatalogFile, frozen=True, kw_only=True):
    """`vc_redist.json`: the requirements of PyTorch, and of TensorFlow on native Windows, sorted newest first."""

    package: VcRuntimePackage
    needs: tuple[VcRuntimeRequirement, ...]
    tensorflow_needs: tuple[VcRuntimeRequirement, ...] = ()


InstallerKind = Literal["local", "network"]


def parse_version_json(text: str) -> str | None:
    """The version in a toolkit's version.json (CUDA 11.1 and newer); None where the text is malformed."""
    try:
        version: Any = msgspec.json.decode(text)["cuda"]["version"]
    except (msgspec.DecodeError, KeyError, TypeError):
        return None
    return version if isinstance(version, str) else None


class Checksum(NamedTuple):
    """A published checksum; `hex` is in lower case."""

    kind: Literal["sha256", "md5"]
    hex: str


class ToolkitInstaller(Struct, frozen=True, kw_only=True):
    """One installer of a CUDA Toolkit. NVIDIA publishes MD5 only; `sha256` is from another source."""

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
        """The SHA-256 where it is known, else NVIDIA's MD5; None without either."""
        if self.sha256 is not None:
            return Checksum("sha256", self.sha256)
        return Checksum("md5", self.md5) if self.md5 is not None else None

    @property
    def has_checksum(self) -> bool:
        """Whether it is a full ("local") installer with a checksum."""
        return self.kind == "local" and self.checksum is not None


class ToolkitUrlPattern(Struct, frozen=True, kw_only=True):
    """The URL of installers, with {version} and {driver}, for toolkits from one up to, not including, another."""

    system: SystemName
    kind: InstallerKind
    from_version: Version | None
    before_version: Version | None
    url: HttpsUrl
    source: str
    confidence: Confidence = "high"


class RedistPart(Struct, frozen=True, kw_only=True):
    """A component of the CUDA Toolkit to install: its names in NVIDIA's index, of which the first that exists is used,
    the CUDA majors that have it, and its purpose.
    """

    names: tuple[str, ...]
    from_major: int | None
    before_major: int | None
    why: str


class RedistFolders(Struct, frozen=True, kw_only=True):
    """The folders of a merged toolkit that belong on PATH, and its symbolic links (name → target)."""

    system: SystemName
    from_major: int | None
    before_major: int | None
    path: tuple[str, ...]
    links: dict[str, str]
    source: str


class RedistSizes(Struct, frozen=True, kw_only=True):
    """Download size of each component of one toolkit, by the component's first name."""

    version: Version
    system: SystemName
    arch: Arch
    bytes: dict[str, ByteCount]
    source: str


class CudaRedist(Struct, frozen=True, kw_only=True):
    """NVIDIA's index of single components; {version} in `file` is the toolkit's."""

    index: HttpsUrl
    file: str
    platforms: tuple[str, ...]
    parts: tuple[RedistPart, ...]
    folders: tuple[RedistFolders, ...]
    sizes: tuple[RedistSizes, ...]
    source: str


class SuccessExitCode(Struct, frozen=True, kw_only=True):
    """An exit code other than 0 that means success."""

    code: int
    meaning: str
    confidence: Confidence = "high"


class HostCompiler(Struct, frozen=True, kw_only=True):
    """The versions of Microsoft's compiler that toolkits since one support: from `lowest` up to, not including, `below`
    (None: no limit); `products` are the releases of Visual Studio that contain them.
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
    """The newest major of GCC that toolkits since one support on Linux; nvcc rejects newer ones."""

    from_toolkit: Version
    newest: int
    source: str
    confidence: Confidence = "high"


class ExtraComponents(Struct, frozen=True, kw_only=True):
    """Additional components that compiling needs since a CUDA major."""

    from_major: int
    components: tuple[str, ...]
    source: str
    confidence: Confidence = "high"


class ToolkitInstallerSettings(Struct, frozen=True, kw_only=True):
    """The installer's silent mode. {components} in `arguments` stands for the components' names, each followed by
    `component_suffix`.

    `avoid` are components that are never installed. `complete_when` are files that prove success whatever the exit
    code is. `signer` is the required signer; `restart_codes` are exit codes that request a restart. `own_folder` are
    the arguments for an installation without administrator rights into {folder}, unpacked below {scratch}; empty where
    the installer has none.
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
        """The arguments for a toolkit, which install the components that compiling needs and no others."""
        major, minor = version.split(".")[:2]
        suffix = (self.component_suffix or "").format(major=major, minor=minor)
        extra_names = (name for extra in self.added if extra.from_major <= int(major) for name in extra.components)
        names = tuple(f"{name}{suffix}" for name in (*self.minimal_for_compiling, *extra_names))
        return tuple(
            each for argument in self.arguments for each in (names if argument == "{components}" else (argument,))
        )

    @property
    def can_run_unattended(self) -> bool:
        """Whether it may be run silently: into a user's folder, or with a known signer."""
        return bool(self.own_folder) or self.signer is not None
