"""How NVIDIA drivers are looked up, fetched and installed on each system."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ...core.machine import SystemName
from ...core.versions import Capability, Version
from .base import Confidence, HttpsUrl, PciId

DriverExit = Literal["done", "restart", "no-compatible-card", "wrong-package-kind", "failed"]
ModuleKind = Literal["open", "proprietary"]


class DriverLookup(Struct, frozen=True, kw_only=True):
    """NVIDIA's lookup of drivers: `parameters` are its names for our words, `fixed` what is always sent,
    `studio_values` the channel's value by channel, `hosts` the ends of host names that may serve a driver.
    """

    url: HttpsUrl
    func: str
    ids_url: HttpsUrl
    hosts: tuple[str, ...]
    parameters: dict[str, str]
    fixed: dict[str, str]
    studio_values: dict[str, str]
    source: str
    confidence: Confidence = "high"


class DriverSystem(Struct, frozen=True, kw_only=True):
    """The lookup's id of an operating system."""

    id: int
    name: str
    code: str


class DriverProduct(Struct, frozen=True, kw_only=True):
    """The lookup's id (`pfid`) of a product; one name may have two, for desktops and for notebooks."""

    name: str
    id: int
    notebook: bool


class DriverAddress(Struct, frozen=True, kw_only=True):
    """How addresses of a kind of package are built ({version}); `for_names` are the systems that it is made for, by
    how their names begin, where it is not for all.
    """

    url: HttpsUrl
    source: str
    for_names: tuple[str, ...] = ()
    confidence: Confidence = "high"


class DriverExitCode(Struct, frozen=True, kw_only=True):
    """What an exit code means; `of` tells whose: the driver's, the NVIDIA App's or the CUDA Toolkit's installer."""

    code: int
    means: DriverExit
    of: Literal["driver", "nvidia-app", "cuda-toolkit"]
    confidence: Confidence = "high"


class WindowsDriverInstall(Struct, frozen=True, kw_only=True):
    """How the package runs in silence; only `components` are installed when they are named."""

    arguments: tuple[str, ...]
    components: tuple[str, ...]
    clean: str
    log: str
    log_level: str
    supported_list: str
    extract: tuple[str, ...]
    uninstall_key: str
    signer: str
    dch_mark: str
    exit_codes: tuple[DriverExitCode, ...]
    source: str


class LinuxDriverInstall(Struct, frozen=True, kw_only=True):
    """A distribution's packages by purpose ({branch}), its tool, and the branches it was seen to carry, newest
    first, in the releases that are `seen_in`. `releases` has the one branch of each release ("12": "535") where its
    packages are not named after it; `needs` are the package sources and headers to switch on first, `nvidia_source`
    is how NVIDIA's own packages come.

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
    kernels: dict[str, Version] = {}
    cloud_flavours: tuple[str, ...] = ()
    cloud_source: str | None = None
    key: str | None = None
    key_source: str | None = None


class LinuxDriverCommands(Struct, frozen=True, kw_only=True):
    """What a distribution teaches to type for cards of some generations ({release}, {major} of it, {arch}, {kernel}).

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
    source: str
    confidence: Confidence = "high"


class LinuxDriverPage(Struct, frozen=True, kw_only=True):
    """The distributions whose own page says how the driver gets there; for those built from them as well.
    `secure_boot_source` is the page about Secure Boot, where that is another one; `image_based`: it is for systems that
    are replaced as a whole. `own`: neither packages nor commands of another distribution are for these, whatever they
    are built from. `packages` are those to look for there, by generation of cards.
    """

    distributions: tuple[str, ...]
    source: str
    secure_boot_source: str | None = None
    image_based: bool = False
    own: bool = False
    packages: dict[str, str] = {}


class FirstSupportingDriver(Struct, frozen=True, kw_only=True):
    """The first driver of each system that knows chips from one capability up to (not with) another."""

    from_capability: Capability
    below_capability: Capability | None
    versions: dict[SystemName, Version]
    source: str


class KnownDriverIssue(Struct, frozen=True, kw_only=True):
    """A driver of which trouble is known; `what` is a code of the texts, `versions` are exact."""

    system: SystemName
    versions: tuple[Version, ...]
    what: str
    source: str
    confidence: Confidence = "high"


class LinuxModules(Struct, frozen=True, kw_only=True):
    """Which kernel modules serve chips from one capability up to (not with) another; the better kind first."""

    from_capability: Capability
    below_capability: Capability | None
    kinds: tuple[ModuleKind, ...]
    source: str


class SecureBoot(Struct, frozen=True, kw_only=True):
    """Secure Boot on Linux: how to ask, how a key is enrolled, what the kernel says when it refuses a module."""

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


class VirtualGpus(Struct, frozen=True, kw_only=True):
    """NVIDIA vGPU: the releases by the branch of their guest drivers, newest first; the series of virtual GPUs on which
    CUDA runs.
    """

    releases: tuple[VirtualGpuRelease, ...]
    source: str
    cuda_series: tuple[str, ...]
    cuda_source: str
    confidence: Confidence = "high"


class FabricManager(Struct, frozen=True, kw_only=True):
    """What NVSwitch needs beside the driver, in the very version of that: cards of `pci_ids` can sit on boards that
    have it. `packages` by distribution ({branch}), `service` is what has to run.
    """

    pci_ids: tuple[PciId, ...]
    packages: dict[str, str]
    service: str
    source: str
    packages_source: str
