"""The libraries beside PyTorch: cuDNN, TensorFlow, Microsoft's Visual C++ runtime.

Files: `cudnn.json`, `tensorflow.json`, `vc_redist.json`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ...core.machine import SystemName
from ...core.versions import Capability, Version
from .base import (
    Arch,
    ByteCount,
    CatalogFile,
    Confidence,
    Fact,
    Hex32Bytes,
    HttpsUrl,
    IsoDate,
    Md5,
    PythonSeries,
)


class CudnnArchive(Struct, frozen=True, kw_only=True):
    """One archive of cuDNN for a platform and a CUDA major."""

    system: SystemName
    arch: Arch
    cuda: int
    url: HttpsUrl
    sha256: Hex32Bytes
    md5: Md5 | None
    bytes: ByteCount | None


class CudnnRelease(Fact, frozen=True, kw_only=True):
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


class TensorFlowBuildRecord(Fact, frozen=True, kw_only=True):
    """One TensorFlow series on one platform.

    `python` is sorted newest first. `cuda` and `cudnn` are the versions that it was tested with, None without GPU
    support; `bundled_cuda`: `requirement` installs them as wheels, `pins_cudnn`: one exact cuDNN; `libraries_lost`: it
    was seen not to find those wheels, and so not to use the GPU. `arch_list` are the compute capabilities with compiled
    code (None: unknown), `ptx_for` those with PTX. `lowest_system` is the minimum macOS.
    """

    version: Version
    system: SystemName
    arch: Arch = "x86_64"
    python: tuple[PythonSeries, ...]
    gpu: bool
    cuda: Version | None
    cudnn: Version | None
    bundled_cuda: bool
    pins_cudnn: bool = False
    libraries_lost: bool = False
    libraries_source: str | None = None
    requirement: str
    arch_list: tuple[Capability, ...] | None = None
    ptx_for: tuple[Capability, ...] = ()
    lowest_system: Version | None = None
    arch_source: str | None = None
    arch_confidence: Confidence | None = None
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


class TensorFlowUnsupportedChips(Fact, frozen=True, kw_only=True):
    """GPUs from one capability up to, not including, another that released wheels do not support well. Where a release
    removed them (`from_release`), those before it have compiled code for them.
    """

    from_capability: Capability
    below_capability: Capability | None = None
    from_release: Version | None = None
    why: str


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


class ApplePlugin(Fact, frozen=True, kw_only=True):
    """The plugin for GPUs of Apple silicon, and the first TensorFlow with which it fails."""

    name: str
    broken_from: Version


class TensorFlowMinimumDriver(Struct, frozen=True, kw_only=True):
    """The lowest driver for builds with compiled code of a CUDA major; `wsl` is that of Windows (None: not known)."""

    cuda_major: int
    linux: Version
    wsl: Version | None
    source: str


class TensorFlowCatalog(CatalogFile, frozen=True, kw_only=True):
    """`tensorflow.json`; builds are sorted by system, newest first."""

    newest: Version
    last_windows_gpu: Version
    cpu_needs: tuple[CpuFeatureRequirement, ...]
    minimum_drivers: tuple[TensorFlowMinimumDriver, ...]
    numpy_2_from: Version
    glibc: tuple[GlibcRequirement, ...] = ()
    not_for: tuple[TensorFlowUnsupportedChips, ...]
    routes: tuple[TensorFlowRoute, ...]
    builds: tuple[TensorFlowBuildRecord, ...]
    apple_plugin: ApplePlugin | None = None

    def find_route(self, system: SystemName, kind: str) -> TensorFlowRoute | None:
        """The route of a kind (`how`) on a system; None where there is none."""
        return next((each for each in self.routes if (each.system, each.how) == (system, kind)), None)

    def find_build(self, release: Version, system: SystemName, arch: str) -> TensorFlowBuildRecord | None:
        """The build of a release's series for a platform; None where there is none."""
        wanted = (release.series, system, arch)
        return next((each for each in self.builds if (each.version.series, each.system, each.arch) == wanted), None)

    def find_minimum_driver(self, cuda: Version, *, is_wsl: bool) -> Version | None:
        """The lowest driver for compiled code of a CUDA version; None where it is not known."""
        row = next((each for each in self.minimum_drivers if each.cuda_major == cuda.major), None)
        return None if row is None else row.wsl if is_wsl else row.linux


class VcRuntimePackage(Struct, frozen=True, kw_only=True):
    """The installer of the Visual C++ runtime. Its URL always has the newest version, so that its signer is checked
    instead of a hash, and that it is not an old one.
    """

    url: HttpsUrl
    sha256: Hex32Bytes | None
    signer: str
    arguments: tuple[str, ...]
    success_codes: tuple[int, ...]
    restart_codes: tuple[int, ...]
    registry_key: str
    source: str
    lowest: Version  # an older installer, though signed, is not run with administrator rights
    lowest_source: str


class VcRuntimeRequirement(Fact, frozen=True, kw_only=True):
    """The runtime that a framework needs since a release; `advise_current`: older runtimes are known to fail."""

    from_release: Version
    lowest: Version | None
    lowest_source: str | None = None
    needs_files: tuple[str, ...]
    advise_current: bool = False


class VcRuntimeCatalog(CatalogFile, frozen=True, kw_only=True):
    """`vc_redist.json`: the requirements of PyTorch, and of TensorFlow on native Windows, sorted newest first."""

    package: VcRuntimePackage
    needs: tuple[VcRuntimeRequirement, ...]
    tensorflow_needs: tuple[VcRuntimeRequirement, ...] = ()
