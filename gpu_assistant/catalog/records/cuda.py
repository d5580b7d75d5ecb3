"""CUDA Toolkits and the drivers that programs of a CUDA version need; how a toolkit is fetched and installed.

File: `cuda.json`.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct, field

from ...core.machine import OperatingSystem, SystemName
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
)

_CUDNN_MACROS = ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")


class MinimumDriverRecord(Struct, frozen=True, kw_only=True):
    """The minimum driver for programs of one CUDA major by system, and the lowest capability that it compiles for."""

    major: int
    lowest_capability: Capability
    linux: Version
    windows: Version
    source: str | None = None
    confidence: Confidence = "high"
    note: str | None = None


class DriverBranch(Struct, frozen=True):
    """The highest CUDA that drivers of a branch implement; `source` where it is not the one of all branches."""

    branch: Version
    cuda: Version
    source: str | None = None


class ToolkitRelease(Struct, frozen=True, kw_only=True):
    """One CUDA Toolkit release.

    `linux_driver` and `windows_driver` are the drivers released with it; `*_bundled` tells whether its installer
    contains them. nvcc compiles for `lowest_capability` to `highest_capability` and `also_capabilities`; those below
    `deprecated_below` are deprecated.
    """

    version: Version
    name: str | None = None
    date: IsoDate | None = None
    linux_driver: Version | None
    windows_driver: Version | None
    linux_driver_bundled: bool | None = None
    windows_driver_bundled: bool | None = None
    lowest_capability: Capability | None = None
    highest_capability: Capability | None = None
    deprecated_below: Capability | None = None
    also_capabilities: tuple[Capability, ...] = ()
    redist_index: HttpsUrl | None = None
    redist_sha256: Hex32Bytes | None = None
    installers: tuple[ToolkitInstaller, ...] = ()
    preview: bool = False
    source: str | None = None
    confidence: Confidence = "high"
    note: str | None = None

    def find_installer(self, system: SystemName, arch: str) -> ToolkitInstaller | None:
        """The full installer for a system; None where it is unknown or has no published checksum."""
        return next((i for i in self.installers if (i.system, i.arch) == (system, arch) and i.has_checksum), None)


def _distribution_ids(system: OperatingSystem) -> tuple[str, ...]:
    ids = (system.distro,) if system.distro is not None else ()
    return (*ids, *(system.distro_like or ()))


class CudaCatalog(CatalogFile, frozen=True, kw_only=True):
    """`cuda.json`; all lists are sorted newest first. `gnu_packages` gives the package name of a GCC by distribution,
    with {major}; `gnu_commands` the command that installs the distribution's own, `msvc_command` Microsoft's.
    """

    minimum_drivers: tuple[MinimumDriverRecord, ...]
    branches: tuple[DriverBranch, ...]
    branch_source: str | None = None
    toolkits: tuple[ToolkitRelease, ...]
    redist: CudaRedist | None = None
    wheels: CudaWheels | None = None
    address_patterns: tuple[ToolkitUrlPattern, ...] = ()
    installing: tuple[ToolkitInstallerSettings, ...] = ()
    host_compilers: tuple[HostCompiler, ...] = ()
    gnu_compilers: tuple[GnuCompiler, ...] = ()
    glibc_conflicts: tuple[GlibcConflict, ...] = ()
    gnu_packages: dict[str, str] = field(default_factory=dict)
    gnu_packages_source: str | None = None
    gnu_commands: dict[str, str] = field(default_factory=dict)
    gnu_commands_source: str | None = None
    msvc_command: str | None = None
    msvc_command_source: str | None = None

    def host_compiler(self, toolkit: Version) -> HostCompiler | None:
        """The range of Microsoft's compilers that a toolkit accepts; None where it is unknown."""
        return next((row for row in self.host_compilers if toolkit >= row.from_toolkit), None)

    def newest_gnu(self, toolkit: Version) -> int | None:
        """The newest major of GNU's compiler that a toolkit accepts; None where it is unknown."""
        return next((row.newest for row in self.gnu_compilers if toolkit >= row.from_toolkit), None)

    def gnu_package(self, system: OperatingSystem) -> str | None:
        """The distribution's package for a compiler of a given major ("g++-{major}"); None where it is unknown."""
        return next((self.gnu_packages[name] for name in _distribution_ids(system) if name in self.gnu_packages), None)

    def compiler_command(self, system: OperatingSystem, major: int | None = None) -> str | None:
        """The command that installs a C++ compiler, on Linux of a given major if there is one; None if unknown."""
        if system.system != "linux":
            return self.msvc_command if system.system == "windows" else None
        names = _distribution_ids(system)
        default = next((self.gnu_commands[name] for name in names if name in self.gnu_commands), None)
        package = self.gnu_package(system)
        if major is None or default is None:
            return default
        return None if package is None else f"{default.rpartition(' ')[0]} {package.format(major=major)}"

    def installer_settings(self, system: SystemName) -> ToolkitInstallerSettings | None:
        """The settings of NVIDIA's installer on a system; None where they are unknown."""
        return next((settings for settings in self.installing if settings.system == system), None)

    def toolkit(self, version: str) -> ToolkitRelease | None:
        """The record of a full version such as "13.2.2"; None where it is unknown."""
        return next((toolkit for toolkit in self.toolkits if toolkit.version.text == version), None)

    def installer(self, version: str | None, system: SystemName, arch: str = "x86_64") -> ToolkitInstaller | None:
        """NVIDIA's installer of a toolkit; None where it is unknown or has no published checksum."""
        toolkit = self.toolkit(version) if version is not None else None
        return toolkit.find_installer(system, arch) if toolkit is not None else None


InstallerKind = Literal["local", "network"]


def parse_version_json(text: str) -> str | None:
    """The version in a toolkit's version.json (CUDA 11.1 and newer); None where the text is malformed."""
    try:
        version: Any = msgspec.json.decode(text)["cuda"]["version"]
    except (msgspec.DecodeError, KeyError, TypeError):
        return None
    return version if isinstance(version, str) else None


def parse_cuda_header(text: str) -> str | None:
    """From cuda.h, which has major and minor only: 13000 is "13.0"."""
    match = re.search(r"#define\s+CUDA_VERSION\s+(\d+)", text)
    return f"{int(match[1]) // 1000}.{int(match[1]) % 1000 // 10}" if match else None


def parse_cudnn_header(text: str) -> str | None:
    """From the three macros of cudnn_version.h, or of cudnn.h in old releases: "9.14.0"."""
    numbers = [re.search(rf"#define\s+{part}\s+(\d+)", text) for part in _CUDNN_MACROS]
    return ".".join(match[1] for match in numbers if match) if all(numbers) else None


class Checksum(NamedTuple):
    """A published checksum; `hex` is in lower case."""

    kind: Literal["sha256", "md5"]
    hex: str


class ToolkitInstaller(Fact, frozen=True, kw_only=True):
    """One installer of a CUDA Toolkit. NVIDIA publishes MD5 only; `sha256` is from another source."""

    system: SystemName
    arch: Arch
    kind: InstallerKind
    file: str
    url: HttpsUrl
    md5: Md5 | None
    sha256: Hex32Bytes | None
    bytes: ByteCount | None

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


class ToolkitUrlPattern(Fact, frozen=True, kw_only=True):
    """The URL of installers, with {version} and {driver}, for toolkits from one up to, not including, another."""

    system: SystemName
    kind: InstallerKind
    from_version: Version | None
    before_version: Version | None
    url: HttpsUrl


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

    def toolkit_parts(self, major: int) -> tuple[RedistPart, ...]:
        """The parts of a toolkit of a major version of CUDA."""
        return tuple(part for part in self.parts if _is_for_major(part, major))

    def toolkit_folders(self, system: SystemName, major: int) -> RedistFolders:
        """The folders for PATH, and the links in the tree."""
        return next(each for each in self.folders if each.system == system and _is_for_major(each, major))

    def toolkit_bytes(self, version: Version, system: SystemName, arch: str) -> int | None:
        """The download size of all archives; None if one is unknown."""
        rows = (each.bytes for each in self.sizes if (each.version, each.system, each.arch) == (version, system, arch))
        known_sizes = next(rows, {})
        sizes = [known_sizes.get(part.names[0]) for part in self.toolkit_parts(version.major)]
        return sum(size or 0 for size in sizes) if all(sizes) else None


def _is_for_major(record: RedistPart | RedistFolders, major: int) -> bool:
    return (record.from_major or 0) <= major and (record.before_major is None or major < record.before_major)


class WheelPart(Struct, frozen=True, kw_only=True):
    """A component of the toolkit as a Python package: the extra of the toolkit's package that installs it, its own
    package, and its purpose. `inside_pytorch` are the systems where PyTorch's CUDA builds require it themselves.
    """

    extra: str
    package: str
    inside_pytorch: tuple[SystemName, ...]
    why: str


class WheelPlatform(Struct, frozen=True, kw_only=True):
    """A system and processor for which there are such packages."""

    system: SystemName
    arch: Arch


class WheelSizes(Struct, frozen=True, kw_only=True):
    """Download size of each component of one toolkit, by its extra."""

    version: Version
    system: SystemName
    arch: Arch
    bytes: dict[str, ByteCount]
    source: str


class CudaWheels(Struct, frozen=True, kw_only=True):
    """NVIDIA's packages on the general Python index, from the first toolkit with a compiler in them.

    In an environment's site-packages they make up one tree, `folder`, with {major} for CUDA's; `path` has its folders
    for PATH, `links` its symbolic links (name → target) by system. cuDNN is in `cudnn_folder`; on the `cudnn_systems`
    programs can be linked with it. `unpacked_ratio`: bytes on the disk for each byte of a compiler's package.
    """

    package: str
    from_toolkit: Version
    platforms: tuple[WheelPlatform, ...]
    parts: tuple[WheelPart, ...]
    folder: str
    path: dict[SystemName, tuple[str, ...]]
    links: dict[SystemName, dict[str, str]]
    cudnn_package: str
    cudnn_folder: str
    cudnn_systems: tuple[SystemName, ...]
    cudnn_source: str
    sizes: tuple[WheelSizes, ...]
    unpacked_ratio: float
    source: str

    def has_toolkit(self, version: Version, system: SystemName, arch: str) -> bool:
        """Whether a toolkit can be installed from them."""
        return version >= self.from_toolkit and any((p.system, p.arch) == (system, arch) for p in self.platforms)

    def come_with_pytorch(self, cuda: Version | None, system: SystemName) -> bool:
        """Whether PyTorch's builds for this CUDA require some of these packages themselves."""
        return cuda is not None and cuda >= self.from_toolkit and any(system in p.inside_pytorch for p in self.parts)

    def missing_parts(self, system: SystemName, *, beside_pytorch: bool) -> tuple[WheelPart, ...]:
        """The components to ask for; `beside_pytorch`: those that its CUDA build for this CUDA does not bring."""
        return tuple(part for part in self.parts if not (beside_pytorch and system in part.inside_pytorch))

    def toolkit_bytes(self, version: Version, system: SystemName, arch: str, *, beside_pytorch: bool) -> int | None:
        """The download size of these components; None if it is unknown."""
        rows = (s.bytes for s in self.sizes if (s.version, s.system, s.arch) == (version, system, arch))
        sizes = next(rows, {})
        parts = [sizes.get(part.extra) for part in self.missing_parts(system, beside_pytorch=beside_pytorch)]
        return sum(size or 0 for size in parts) if all(parts) else None


class SuccessExitCode(Struct, frozen=True, kw_only=True):
    """An exit code other than 0 that means success."""

    code: int
    meaning: str
    confidence: Confidence = "high"


class HostCompiler(Fact, frozen=True, kw_only=True):
    """The versions of Microsoft's compiler that toolkits since one support: from `lowest` up to, not including, `below`
    (None: no limit); `products` are the releases of Visual Studio that contain them.
    """

    from_toolkit: Version
    lowest: Version
    below: Version | None
    products: str


class GlibcConflict(Fact, frozen=True, kw_only=True):
    """The first glibc whose headers clash with those of toolkits from one on; None: none is known."""

    from_toolkit: Version
    fails_from: Version | None


class GnuCompiler(Fact, frozen=True, kw_only=True):
    """The newest major of GCC that toolkits since one support on Linux; nvcc rejects newer ones."""

    from_toolkit: Version
    newest: int


class ExtraComponents(Fact, frozen=True, kw_only=True):
    """Additional components that compiling needs since a CUDA major."""

    from_major: int
    components: tuple[str, ...]


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
