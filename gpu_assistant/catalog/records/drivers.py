"""NVIDIA drivers: their packages, and how they are looked up, fetched and installed on each system.

File: `drivers.json`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from ...core.machine import SystemName
from ...core.types import Channel
from ...core.versions import Capability, Version
from .base import (
    Arch,
    CatalogFile,
    Confidence,
    Fact,
    Hex32Bytes,
    HttpsUrl,
    IsoDate,
    PciId,
)
from .gpus import Segment

DriverExit = Literal["done", "restart", "no-compatible-card", "wrong-package-kind", "failed"]
ModuleKind = Literal["open", "proprietary"]


class DriverLookup(Fact, frozen=True, kw_only=True):
    """NVIDIA's driver lookup service: `parameters` maps our names to its query parameters, `fixed` are constant
    parameters, `studio_values` the value of the parameter for each channel, `hosts` the allowed suffixes of the host
    names of drivers.
    """

    url: HttpsUrl
    func: str
    ids_url: HttpsUrl
    hosts: tuple[str, ...]
    parameters: dict[str, str]
    fixed: dict[str, str]
    studio_values: dict[str, str]


class DriverSystem(Struct, frozen=True, kw_only=True):
    """An operating system in the driver lookup."""

    id: int
    name: str
    code: str


class DriverProduct(Struct, frozen=True, kw_only=True):
    """The driver lookup's id (`pfid`) of a product; a name may have two, for desktops and for notebooks."""

    name: str
    id: int
    notebook: bool


class DriverAddress(Fact, frozen=True, kw_only=True):
    """The URL of a kind of driver package, with {version}; `for_names` are prefixes of the names of the systems that
    it supports (empty: all).
    """

    url: HttpsUrl
    for_names: tuple[str, ...] = ()


class DriverExitCode(Struct, frozen=True, kw_only=True):
    """The meaning of an installer's exit code; `of` is the installer: driver, NVIDIA App or CUDA Toolkit."""

    code: int
    means: DriverExit
    of: Literal["driver", "nvidia-app", "cuda-toolkit"]
    confidence: Confidence = "high"


class WindowsDriverInstall(Struct, frozen=True, kw_only=True):
    """The driver installer's silent mode; where `components` are named, it installs them alone. It unpacks itself into
    `unpack_folder` of the system's drive. A package that is not one of the catalog's by its checksum, and was signed
    before `signed_since`, is not run with administrator rights: old ones have known holes.
    """

    arguments: tuple[str, ...]
    components: tuple[str, ...]
    clean: str
    log: str
    log_level: str
    supported_list: str
    extract: tuple[str, ...]
    unpack_folder: str
    uninstall_key: str
    signer: str
    signed_since: IsoDate
    signed_source: str
    dch_mark: str
    exit_codes: tuple[DriverExitCode, ...]
    source: str


class ModuleBuildFailure(Struct, frozen=True, kw_only=True):
    """A release whose packages of one kind of kernel modules do not compile for the kernels that it has."""

    release: str
    kind: ModuleKind
    source: str


class LinuxDriverInstall(Struct, frozen=True, kw_only=True):
    """How a distribution installs the driver: its packages by purpose (with {branch}) or its tool.

    `children`: distributions built from this one have its packages too, in the release that `codenames` tells.
    `kernels` has each release's own kernel ("6.8"): one with a newer one has it from the line of newer kernels, whose
    modules are other packages ({flavour}); `cloud_flavours` are the kernels of cloud providers, which have packages of
    their own name. `key` is the one that Secure Boot is asked to trust, where it is not the
    usual one.
    """

    distribution: str
    tool: tuple[str, ...] | None
    data_center_tool: tuple[str, ...] | None
    series: tuple[Version, ...]
    seen_in: tuple[str, ...] = ()
    seen_source: str | None = None
    packages: dict[str, str]
    needs: tuple[str, ...] = ()
    releases: dict[str, Version] = {}
    releases_source: str | None = None
    nvidia_source: str | None = None
    source: str
    children: bool = False
    codenames: dict[str, str] = {}
    codenames_source: str | None = None
    kernels: dict[str, Version] = {}
    cloud_flavours: tuple[str, ...] = ()
    cloud_source: str | None = None
    key: str | None = None
    key_source: str | None = None
    build_failures: tuple[ModuleBuildFailure, ...] = ()


class LinuxDriverCommands(Fact, frozen=True, kw_only=True):
    """The commands by which a distribution's documentation installs the driver for some generations of GPUs, with
    {release}, its {major}, {arch} and {kernel}.

    Empty `releases` and `kernels` stand for all; a kernel is known by a part of its name. `branch` is the one that
    they bring, `at_least` the lowest that they may. `signed`: Secure Boot takes the modules as they are; else `enrol`
    makes a key known, before the driver with `enrol_first`. Where another stream of the dnf module is enabled than
    `stream`, `switch` takes the place of the command that names it.
    """

    distributions: tuple[str, ...]
    generations: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    releases: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    without_variants: tuple[str, ...] = ()
    branch: Version | None = None
    at_least: Version | None = None
    signed: bool = False
    enrol: tuple[tuple[str, ...], ...] = ()
    enrol_first: bool = False
    stream: str | None = None
    switch: tuple[str, ...] = ()
    switch_source: str | None = None


class LinuxDriverPage(Struct, frozen=True, kw_only=True):
    """The distributions whose own page says how the driver gets there; for those built from them as well.
    `secure_boot_source` is the page about Secure Boot, where that is another one; `image_based`: it is for systems that
    are replaced as a whole. `own`: neither packages nor commands of another distribution are for these, whatever they
    are built from. `packages` are those to look for there, by generation of cards, as `packages_source` says.
    """

    distributions: tuple[str, ...]
    source: str
    secure_boot_source: str | None = None
    image_based: bool = False
    own: bool = False
    packages: dict[str, str] = {}
    packages_source: str | None = None


class FirstSupportingDriver(Struct, frozen=True, kw_only=True):
    """The first driver of each system that supports GPUs from one capability up to, not including, another."""

    from_capability: Capability
    below_capability: Capability | None
    versions: dict[SystemName, Version]
    source: str


class KnownDriverIssue(Fact, frozen=True, kw_only=True):
    """A known issue of drivers with these exact versions; `what` is part of a text's code."""

    system: SystemName
    versions: tuple[Version, ...]
    what: str


class LinuxModules(Struct, frozen=True, kw_only=True):
    """The kinds of kernel modules for GPUs from one capability up to, not including, another; preferred kind first.
    A row with an `arch` goes before those for all, on computers of that architecture.
    """

    from_capability: Capability
    below_capability: Capability | None
    arch: Arch | None = None
    kinds: tuple[ModuleKind, ...]
    source: str


class OpenModules(Struct, frozen=True, kw_only=True):
    """The open kernel modules of branches before `datacenter_only_below` serve data centre GPUs only: for others they
    have to be told to by a module parameter.
    """

    datacenter_only_below: Version
    source: str


class SecureBoot(Struct, frozen=True, kw_only=True):
    """Secure Boot on Linux: the commands that query its state (`ask`) and enrol a key, and the kernel's messages when
    it rejects a module.
    """

    ask: tuple[str, ...]
    key: str
    enrol: tuple[str, ...]
    prefer: str
    person_at_keyboard: bool
    kernel_says: tuple[str, ...]
    source: str


class VirtualGpuRelease(Struct, frozen=True, kw_only=True):
    """The release of vGPU whose guest drivers are of a branch."""

    branch: Version
    release: str


class VirtualGpus(Fact, frozen=True, kw_only=True):
    """NVIDIA vGPU: the releases by the branch of their guest drivers, newest first; the series of virtual GPUs on which
    CUDA runs.
    """

    releases: tuple[VirtualGpuRelease, ...]
    cuda_series: tuple[str, ...]
    cuda_source: str


class FabricManager(Struct, frozen=True, kw_only=True):
    """NVIDIA Fabric Manager, which boards with NVSwitch need in exactly the driver's version.

    GPUs with `pci_ids` may be on such boards. `packages` are by distribution, with {branch}; `service` is the systemd
    service that must run.
    """

    pci_ids: tuple[PciId, ...]
    packages: dict[str, str]
    service: str
    source: str
    packages_source: str


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


class DriverPackage(Fact, frozen=True, kw_only=True):
    """The newest known driver for a generation of GPUs; `segment` and `channel` None: for all of them. `line` is
    NVIDIA's word for the branch: one of the line "new-feature" can be chosen, but is not recommended.
    """

    version: Version
    date: IsoDate | None
    system: SystemName
    generation: str
    segment: Segment | None
    channel: Channel | None
    url: HttpsUrl | None
    sha256: Hex32Bytes | None
    line: Literal["production", "new-feature"] | None = None


class MinimumWindows(Struct, frozen=True, kw_only=True):
    """The oldest Windows that NVIDIA's drivers (`source`) and Python (`python_source`) support."""

    name: str
    version: Version
    build: int
    source: str
    python_source: str


class MinimumDriverWindows(Fact, frozen=True, kw_only=True):
    """The first Windows on which NVIDIA's packages of today can be installed, among those whose names begin with one of
    `for_names` (empty: all others). `last_lines` are the last driver lines of older ones, by the beginning of a name.
    """

    name: str
    build: int
    for_names: tuple[str, ...] = ()
    last_lines: dict[str, str] = field(default_factory=dict)


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


class SecurityBulletin(Fact, frozen=True, kw_only=True):
    """A bulletin about the driver, by the name of a vulnerability in it."""

    id: str
    date: IsoDate | None
    fixes: tuple[SecurityFix, ...]


class SystemEnd(Fact, frozen=True, kw_only=True):
    """A system that ended: by its distribution's release, or a Windows before a build. `what` ended is the system's
    own "support", or the "drivers" for it (of cards of `segments`; empty: of all); `month` as "2026-10".
    """

    system: SystemName
    name: str
    distribution: str | None = None
    release: str | None = None
    below_build: int | None = None
    what: Literal["support", "drivers"]
    segments: tuple[Segment, ...] = ()
    month: Annotated[str, Meta(pattern=r"^\d{4}-\d{2}$")]


class DriverCatalog(CatalogFile, frozen=True, kw_only=True):
    """`drivers.json`."""

    generations: tuple[GpuGeneration, ...]
    packages: tuple[DriverPackage, ...]
    lowest_windows: MinimumWindows | None = None
    packages_windows: tuple[MinimumDriverWindows, ...] = ()
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
    open_modules: OpenModules | None = None
    first_drivers: tuple[FirstSupportingDriver, ...] = ()
    troubles: tuple[KnownDriverIssue, ...] = ()
    secure_boot: SecureBoot | None = None
    fabric_manager: FabricManager | None = None
    virtual_gpus: VirtualGpus | None = None
    security: tuple[SecurityBulletin, ...] = ()
    system_ends: tuple[SystemEnd, ...] = ()
