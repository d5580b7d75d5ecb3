"""The records of `resources/catalog/*.json`, one group for each file."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from ..core.machine import SystemName
from ..core.recommendation import Channel
from .driver_ways import (
    DriverAddress,
    DriverLookup,
    DriverProduct,
    DriverSystem,
    DriverTrouble,
    FabricManager,
    FirstDriver,
    LinuxDriverCommands,
    LinuxDriverInstall,
    LinuxDriverPage,
    LinuxModules,
    SecureBoot,
    WindowsDriverInstall,
)
from .subject import (
    Arch,
    Bytes,
    Capability,
    Confidence,
    Day,
    Hex32,
    Https,
    Numbers,
    PciId,
    Series,
    Variant,
)
from .subject import Subject as Subject  # what the advice says where its reasons come from
from .toolkits import CudaRedist, GnuCompiler, HostCompiler, Installer, ToolkitAddress, ToolkitInstall

Segment = Literal["desktop", "laptop", "workstation", "mobile-workstation", "datacenter", "mining"]


class GpuRow(Struct, frozen=True, kw_only=True):
    """One NVIDIA device id. `memory_bytes` is None where one id serves several sizes."""

    pci_id: PciId
    name: str
    chip: str
    architecture: str
    compute_capability: Capability | None
    memory_bytes: Bytes | None
    segment: Segment

    @property
    def laptop(self) -> bool:
        """Whether this id is a laptop's card."""
        return self.segment in ("laptop", "mobile-workstation")


class GpuRange(Struct, frozen=True, kw_only=True):
    """A stretch of device ids, both ends in it, in which every known id is of chips with one capability."""

    first: PciId
    last: PciId
    compute_capability: Capability


class CapabilityRange(Struct, frozen=True, kw_only=True):
    """The oldest and the newest chips that NVIDIA has told of, by what they compute."""

    lowest: Capability
    highest: Capability
    source: str


class Gpus(Subject, frozen=True, kw_only=True):
    """`gpus.json`; `ranges` stand in ascending order; `capabilities` is what any file may name."""

    capabilities: CapabilityRange | None = None
    ranges: tuple[GpuRange, ...]
    gpus: tuple[GpuRow, ...]


class MinimumDriver(Struct, frozen=True, kw_only=True):
    """The lowest driver for programs of one CUDA major, by system, and the oldest chip it can be compiled for."""

    major: int
    lowest_capability: Capability
    linux: Numbers
    windows: Numbers
    source: str | None = None
    confidence: Confidence = "high"
    note: str | None = None


class DriverBranch(Struct, frozen=True):
    """The highest CUDA that drivers of a branch implement."""

    branch: Numbers
    cuda: Numbers


class Toolkit(Struct, frozen=True, kw_only=True):
    """One CUDA Toolkit release: the drivers that came with it, whether the installer carries them, the chips that
    its compiler serves (lowest and highest capability, some beyond, a deprecated low end), and its installers.
    """

    version: Numbers
    name: str | None = None
    date: Day | None = None
    linux_driver: Numbers | None
    windows_driver: Numbers | None
    linux_driver_bundled: bool | None = None
    windows_driver_bundled: bool | None = None
    lowest_capability: Capability | None = None
    highest_capability: Capability | None = None
    deprecated_below: Capability | None = None
    also_capabilities: tuple[Capability, ...] = ()
    redist_index: Https | None = None
    redist_sha256: Hex32 | None = None
    installers: tuple[Installer, ...] = ()
    preview: bool = False
    source: str | None = None
    confidence: Confidence = "high"
    note: str | None = None

    def installer(self, system: SystemName, arch: str) -> Installer | None:
        """NVIDIA's own installer of all of it, where its checksum is known."""
        return next((i for i in self.installers if (i.system, i.arch) == (system, arch) and i.checked), None)


class Cuda(Subject, frozen=True, kw_only=True):
    """`cuda.json`; all lists newest first. `gnu_packages` has what distributions call a compiler of one {major}."""

    minimum_drivers: tuple[MinimumDriver, ...]
    branches: tuple[DriverBranch, ...]
    branch_source: str | None = None
    toolkits: tuple[Toolkit, ...]
    redist: CudaRedist | None = None
    address_patterns: tuple[ToolkitAddress, ...] = ()
    installing: tuple[ToolkitInstall, ...] = ()
    host_compilers: tuple[HostCompiler, ...] = ()
    gnu_compilers: tuple[GnuCompiler, ...] = ()
    gnu_packages: dict[str, str] = field(default_factory=dict)
    gnu_packages_source: str | None = None

    def how(self, system: SystemName) -> ToolkitInstall | None:
        """How NVIDIA's installer runs on a system."""
        return next((how for how in self.installing if how.system == system), None)


class Generation(Struct, frozen=True, kw_only=True):
    """Cards from one compute capability up to (not including) another, and the last driver branch they get; `ended`
    tells that NVIDIA no longer maintains that one.
    """

    id: str
    from_capability: Capability
    below_capability: Capability | None
    last_branch: int | None
    ended: bool = False
    first_without: dict[SystemName, str] = {}


class DriverPackage(Struct, frozen=True, kw_only=True):
    """The newest driver known for a kind of card; `segment` and `channel` None serve every one."""

    version: Numbers
    date: Day | None
    system: SystemName
    generation: str
    segment: Segment | None
    channel: Channel | None
    url: Https | None
    sha256: Hex32 | None
    source: str
    confidence: Confidence = "high"


class LowestWindows(Struct, frozen=True, kw_only=True):
    """The oldest Windows that the drivers (`source`) and current Pythons (`python_source`) are made for."""

    name: str
    version: str
    build: int
    source: str
    python_source: str


class Drivers(Subject, frozen=True, kw_only=True):
    """`drivers.json`."""

    generations: tuple[Generation, ...]
    packages: tuple[DriverPackage, ...]
    lowest_windows: LowestWindows | None = None
    lookup: DriverLookup | None = None
    systems: tuple[DriverSystem, ...] = ()
    products: tuple[DriverProduct, ...] = ()
    products_as_of: Day | None = None
    products_source: str | None = None
    address_patterns: dict[str, DriverAddress] = field(default_factory=dict)
    windows_install: WindowsDriverInstall | None = None
    linux_install: tuple[LinuxDriverInstall, ...] = ()
    linux_commands: tuple[LinuxDriverCommands, ...] = ()
    linux_pages: tuple[LinuxDriverPage, ...] = ()
    linux_modules: tuple[LinuxModules, ...] = ()
    first_drivers: tuple[FirstDriver, ...] = ()
    troubles: tuple[DriverTrouble, ...] = ()
    secure_boot: SecureBoot | None = None
    fabric_manager: FabricManager | None = None


class PythonBuild(Struct, frozen=True, kw_only=True):
    """One standalone Python: archive address, its lower-case hex sha256, size in bytes where known."""

    series: Series
    version: Numbers
    system: SystemName
    arch: Arch
    url: Https
    sha256: Hex32
    bytes: Bytes | None


class Pythons(Subject, frozen=True, kw_only=True):
    """`pythons.json`, newest series first."""

    builds: tuple[PythonBuild, ...]


class Sizes(Struct, frozen=True, kw_only=True):
    """Bytes to download and to keep on disk for one kind of build; None where nobody measured it.

    `release` is the one that was measured; `approximate` tells that another one, or none in particular, was
    asked for. With `whole` the download is PyTorch with all that it needs, else PyTorch's own wheel.
    """

    variant: Variant | None = None
    system: SystemName | None = None
    release: Numbers | None = None
    download_bytes: Bytes | None = None
    disk_bytes: Bytes | None = None
    source: str | None = None
    whole: bool = False
    approximate: bool = False


class Environments(Subject, frozen=True, kw_only=True):
    """`sizes.json`."""

    environments: tuple[Sizes, ...]


class UpdateKey(Struct, frozen=True, kw_only=True):
    """A key that may sign what is said about new versions: its name and its 32 bytes in lower-case hex."""

    id: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9.-]{0,31}$")]
    ed25519: Hex32


class Updates(Subject, frozen=True, kw_only=True):
    """`updates.json`. Without an address or a key this build looks for no updates.

    A source is asked once in `interval_hours` at most, may answer with `answer_bytes` at most, and has
    `answer_seconds` for it.
    """

    address: Https | None
    keys: tuple[UpdateKey, ...]
    interval_hours: Annotated[float, Meta(ge=1)]
    answer_bytes: Annotated[int, Meta(ge=1024)]
    answer_seconds: Annotated[float, Meta(ge=1)]
