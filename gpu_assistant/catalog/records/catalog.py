"""The records of GPUs, CUDA, driver packages, Pythons, sizes, updates, mirrors and refresh settings.

Each group is one file of `resources/catalog/`, named in the docstring of its `CatalogFile`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from ...core.machine import SystemName
from ...core.types import Channel
from ...core.versions import Capability, Version
from .base import (
    Arch,
    ByteCount,
    CatalogFile,
    Confidence,
    Hex32Bytes,
    HttpsUrl,
    IsoDate,
    PciId,
    PythonSeries,
    Variant,
)
from .drivers import (
    DriverAddress,
    DriverLookup,
    DriverProduct,
    DriverSystem,
    FabricManager,
    FirstSupportingDriver,
    KnownDriverIssue,
    LinuxDriverCommands,
    LinuxDriverInstall,
    LinuxDriverPage,
    LinuxModules,
    SecureBoot,
    VirtualGpus,
    WindowsDriverInstall,
)
from .software import (
    CudaRedist,
    GlibcConflict,
    GnuCompiler,
    HostCompiler,
    ToolkitInstaller,
    ToolkitInstallerSettings,
    ToolkitUrlPattern,
)

Segment = Literal["desktop", "laptop", "workstation", "mobile-workstation", "datacenter", "mining"]


class GpuRecord(Struct, frozen=True, kw_only=True):
    """One NVIDIA PCI device id; `memory_bytes` is None where GPUs with this id differ in it."""

    pci_id: PciId
    name: str
    chip: str
    architecture: str
    compute_capability: Capability | None
    memory_bytes: ByteCount | None
    segment: Segment

    @property
    def is_laptop(self) -> bool:
        """Whether GPUs with this id are built into laptops."""
        return self.segment in ("laptop", "mobile-workstation")


class GpuIdRange(Struct, frozen=True, kw_only=True):
    """A range of PCI device ids, both ends included, whose known ids all have this compute capability."""

    first: PciId
    last: PciId
    compute_capability: Capability


class CapabilityRange(Struct, frozen=True, kw_only=True):
    """The lowest and highest compute capability that NVIDIA has published."""

    lowest: Capability
    highest: Capability
    source: str


class SmallMemory(Struct, frozen=True, kw_only=True):
    """A card with no more memory than this computes, but has no room for the models of today."""

    bytes: ByteCount
    source: str


class GpuCatalog(CatalogFile, frozen=True, kw_only=True):
    """`gpus.json`; `ranges` are in ascending order; `capabilities` bounds those of all files."""

    capabilities: CapabilityRange | None = None
    small_memory: SmallMemory | None = None
    ranges: tuple[GpuIdRange, ...]
    gpus: tuple[GpuRecord, ...]


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
    """The highest CUDA that drivers of a branch implement."""

    branch: Version
    cuda: Version


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


class CudaCatalog(CatalogFile, frozen=True, kw_only=True):
    """`cuda.json`; all lists are sorted newest first. `gnu_packages` gives the package name of a GCC by distribution,
    with {major}.
    """

    minimum_drivers: tuple[MinimumDriverRecord, ...]
    branches: tuple[DriverBranch, ...]
    branch_source: str | None = None
    toolkits: tuple[ToolkitRelease, ...]
    redist: CudaRedist | None = None
    address_patterns: tuple[ToolkitUrlPattern, ...] = ()
    installing: tuple[ToolkitInstallerSettings, ...] = ()
    host_compilers: tuple[HostCompiler, ...] = ()
    gnu_compilers: tuple[GnuCompiler, ...] = ()
    glibc_conflicts: tuple[GlibcConflict, ...] = ()
    gnu_packages: dict[str, str] = field(default_factory=dict)
    gnu_packages_source: str | None = None

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


class GpuGeneration(Struct, frozen=True, kw_only=True):
    """GPUs from one compute capability up to, not including, another, and the last driver branch for them (None: the
    newest). `ended`: NVIDIA no longer maintains that branch.
    """

    id: str
    from_capability: Capability
    below_capability: Capability | None
    last_branch: int | None
    ended: bool = False
    first_without: dict[SystemName, Version] = {}


class DriverPackage(Struct, frozen=True, kw_only=True):
    """The newest known driver for a generation of GPUs; `segment` and `channel` None: for all of them."""

    version: Version
    date: IsoDate | None
    system: SystemName
    generation: str
    segment: Segment | None
    channel: Channel | None
    url: HttpsUrl | None
    sha256: Hex32Bytes | None
    source: str
    confidence: Confidence = "high"


class MinimumWindows(Struct, frozen=True, kw_only=True):
    """The oldest Windows that NVIDIA's drivers (`source`) and Python (`python_source`) support."""

    name: str
    version: Version
    build: int
    source: str
    python_source: str


class MinimumDriverWindows(Struct, frozen=True, kw_only=True):
    """The first Windows on which NVIDIA's packages of today can be installed."""

    name: str
    build: int
    source: str
    confidence: Confidence = "high"


class SecurityFix(Struct, frozen=True, kw_only=True):
    """The first driver without a hole, of the branch from one major up to (not with) another, for some kinds of cards;
    `below_capability` where only older chips are affected.
    """

    system: SystemName
    segments: tuple[Segment, ...]
    branch: int
    next_branch: int
    fixed: Version
    below_capability: Capability | None = None


class SecurityBulletin(Struct, frozen=True, kw_only=True):
    """A bulletin about the driver, by the name of a vulnerability in it."""

    id: str
    date: IsoDate | None
    fixes: tuple[SecurityFix, ...]
    source: str
    confidence: Confidence = "high"


class SystemEnd(Struct, frozen=True, kw_only=True):
    """A system that ended: by its distribution's release, or a Windows before a build. `what` ended is the system's
    own "support", or the "drivers" for it; `month` as "2026-10".
    """

    system: SystemName
    name: str
    distribution: str | None = None
    release: str | None = None
    below_build: int | None = None
    what: Literal["support", "drivers"]
    month: Annotated[str, Meta(pattern=r"^\d{4}-\d{2}$")]
    source: str
    confidence: Confidence = "high"


class DriverCatalog(CatalogFile, frozen=True, kw_only=True):
    """`drivers.json`."""

    generations: tuple[GpuGeneration, ...]
    packages: tuple[DriverPackage, ...]
    lowest_windows: MinimumWindows | None = None
    packages_windows: MinimumDriverWindows | None = None
    lookup: DriverLookup | None = None
    systems: tuple[DriverSystem, ...] = ()
    products: tuple[DriverProduct, ...] = ()
    products_as_of: IsoDate | None = None
    products_source: str | None = None
    address_patterns: dict[str, DriverAddress] = field(default_factory=dict)
    windows_install: WindowsDriverInstall | None = None
    linux_install: tuple[LinuxDriverInstall, ...] = ()
    linux_commands: tuple[LinuxDriverCommands, ...] = ()
    linux_pages: tuple[LinuxDriverPage, ...] = ()
    linux_modules: tuple[LinuxModules, ...] = ()
    first_drivers: tuple[FirstSupportingDriver, ...] = ()
    troubles: tuple[KnownDriverIssue, ...] = ()
    secure_boot: SecureBoot | None = None
    fabric_manager: FabricManager | None = None
    virtual_gpus: VirtualGpus | None = None
    security: tuple[SecurityBulletin, ...] = ()
    system_ends: tuple[SystemEnd, ...] = ()


class PythonBuild(Struct, frozen=True, kw_only=True):
    """One standalone Python archive; `bytes` is its size, None where it is unknown."""

    series: PythonSeries
    version: Version
    system: SystemName
    arch: Arch
    url: HttpsUrl
    sha256: Hex32Bytes
    bytes: ByteCount | None


class PythonCatalog(CatalogFile, frozen=True, kw_only=True):
    """`pythons.json`, newest series first."""

    builds: tuple[PythonBuild, ...]


class EnvironmentSizes(Struct, frozen=True, kw_only=True):
    """Measured bytes to download and to keep on disk for an environment with one variant; None where not measured.

    `release` was measured; `approximate` tells that it is not the release in question. `includes_dependencies`: the
    download includes all dependencies, otherwise PyTorch's own wheel alone.
    """

    variant: Variant | None = None
    system: SystemName | None = None
    release: Version | None = None
    download_bytes: ByteCount | None = None
    disk_bytes: ByteCount | None = None
    source: str | None = None
    includes_dependencies: bool = field(default=False, name="whole")
    approximate: bool = False


class EnvironmentSizeCatalog(CatalogFile, frozen=True, kw_only=True):
    """`sizes.json`."""

    environments: tuple[EnvironmentSizes, ...]


class UpdateKey(Struct, frozen=True, kw_only=True):
    """A public key for signatures of update information: its name and its 32 bytes in lower-case hex."""

    id: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9.-]{0,31}$")]
    ed25519: Hex32Bytes


class UpdateCatalog(CatalogFile, frozen=True, kw_only=True):
    """`updates.json`. A build without `address` or `keys` does not look for updates.

    It looks at most every `interval_hours`; a response has at most `answer_bytes` and must arrive within
    `answer_seconds`.
    """

    address: HttpsUrl | None
    keys: tuple[UpdateKey, ...]
    interval_hours: Annotated[float, Meta(ge=1)]
    answer_bytes: Annotated[int, Meta(ge=1024)]
    answer_seconds: Annotated[float, Meta(ge=1)]


IndexKind = Literal["pep503", "flat", "files"]
# A URL whose host may be the field {host}, since PyPI's files have no host of their own name.
HostTemplateUrl = Annotated[str, Meta(pattern=r"^https://(\{host\}|[a-z0-9.-]+)/")]


class Publisher(Struct, frozen=True, kw_only=True):
    """The official source of files: `url` with {variant}, {version}, {file}, {tag} or {path}; None is the installer's
    default. `files` is the base URL of files where it differs from that of the pages. `missing_status` is the HTTP
    status for an absent file, `plus_as` the encoding of "+" in a name.
    """

    id: str
    url: HttpsUrl | None
    hosts: tuple[str, ...]
    kind: IndexKind
    files: HostTemplateUrl | None = None
    missing_status: int | None = None
    plus_as: str | None = None
    checksums: str | None = None
    source: str
    note: str | None = None


class MirrorRecord(Struct, frozen=True, kw_only=True):
    """A mirror of a publisher; `files` mirrors the publisher's `files`. `hashes`: whether its pages contain hashes
    (None: unknown); files are checked against the publisher's hashes anyway.
    """

    publisher: str
    name: str
    url: HttpsUrl
    kind: IndexKind
    region: str
    hashes: bool | None
    source: str
    confidence: Confidence
    files: HttpsUrl | None = None
    note: str | None = None


class SlowSourceThreshold(Struct, frozen=True, kw_only=True):
    """The speed below which mirrors are used in addition to the official source."""

    bytes_per_second: ByteCount
    source: str


class MirrorCatalog(CatalogFile, frozen=True, kw_only=True):
    """`mirrors.json`."""

    slow: SlowSourceThreshold
    publishers: tuple[Publisher, ...]
    mirrors: tuple[MirrorRecord, ...]


class DriverLookupQuery(Struct, frozen=True, kw_only=True):
    """One query of NVIDIA's driver lookup: a product (`pfid`) that represents a generation, on a system (`osID`)."""

    system: SystemName
    system_id: int
    generation: str
    segment: Segment
    channel: Channel | None
    product: int


class RefreshSettings(CatalogFile, frozen=True, kw_only=True):
    """`refresh.json`: the sources of newer facts; those with the URL None are not used.

    A response has at most `answer_bytes` and must arrive within `answer_seconds`; at most `newest` new index files are
    read. PyTorch releases before `oldest_release` are ignored.
    """

    wheels: HttpsUrl | None
    wheel_index: HttpsUrl
    cuda: HttpsUrl | None
    cudnn: HttpsUrl | None
    lookup: HttpsUrl | None
    drivers: tuple[DriverLookupQuery, ...]
    answer_bytes: Annotated[int, Meta(ge=1024)]
    answer_seconds: Annotated[float, Meta(ge=1)]
    newest: Annotated[int, Meta(ge=1)]
    oldest_release: Version
