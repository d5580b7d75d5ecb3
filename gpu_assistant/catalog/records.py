"""The records of `resources/catalog/*.json`, one group for each file."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..core.machine import SystemName
from ..core.recommendation import Channel

Confidence = Literal["high", "medium", "low"]
Segment = Literal["desktop", "laptop", "workstation", "datacenter"]
Arch = Literal["x86_64", "arm64"]


class Source(Struct, frozen=True):
    """Where a record comes from; `url` is None where it was measured or read from an index."""

    what: str
    url: str | None


class Subject(Struct, frozen=True, kw_only=True):
    """What every catalog file says about itself; `as_of` is the day its facts were gathered."""

    subject: str
    as_of: str
    sources: dict[str, Source]
    note: str | None = None


class GpuRow(Struct, frozen=True, kw_only=True):
    """One NVIDIA device id. `memory_bytes` is None where one id serves several sizes."""

    pci_id: str
    name: str
    chip: str
    architecture: str
    compute_capability: str | None
    memory_bytes: int | None
    segment: Segment

    @property
    def laptop(self) -> bool:
        """Whether this id is a laptop's card."""
        return self.segment == "laptop"


class Gpus(Subject, frozen=True, kw_only=True):
    """`gpus.json`."""

    gpus: tuple[GpuRow, ...]


class TorchVariant(Struct, frozen=True, kw_only=True):
    """One published build. `index_url` None is the general package index.

    `arch_list` are compute capabilities with compiled code (None: not known), `ptx_for` those with portable
    code that newer cards translate for themselves; `cuda` and `cudnn` the versions inside.
    """

    system: SystemName
    arch: Arch
    variant: str
    index_url: str | None
    arch_list: tuple[str, ...] | None = None
    ptx_for: tuple[str, ...] = ()
    cuda: str | None = None
    cudnn: str | None = None
    mps: bool = False
    confidence: Confidence = "high"
    source: str | None = None


class TorchRelease(Struct, frozen=True, kw_only=True):
    """One PyTorch release with the library versions that belong to it."""

    version: str
    date: str
    python: tuple[str, ...]
    torchvision: str | None
    torchaudio: str | None
    default_variant: dict[SystemName, str]
    variants: tuple[TorchVariant, ...]


class GlibcFloor(Struct, frozen=True, kw_only=True):
    """The lowest glibc that the Linux wheels need from a release on; older releases are not known."""

    from_release: str
    lowest: str
    source: str


class CudnnFloor(Struct, frozen=True, kw_only=True):
    """The oldest chip that cuDNN supports from a version on; builds for CUDA 11 may go further back."""

    from_version: str
    lowest_capability: str
    lowest_with_cuda_11: str | None = None
    source: str


class PyTorch(Subject, frozen=True, kw_only=True):
    """`pytorch.json`: releases and floors newest first; code for the key does not run on the listed devices."""

    excluded_devices: dict[str, tuple[str, ...]]
    releases: tuple[TorchRelease, ...]
    glibc: tuple[GlibcFloor, ...] = ()
    cudnn_floors: tuple[CudnnFloor, ...] = ()


class MinimumDriver(Struct, frozen=True, kw_only=True):
    """The lowest driver for programs of one CUDA major, by system, and the oldest chip it can be compiled for."""

    major: int
    lowest_capability: str
    linux: str
    windows: str
    confidence: Confidence = "high"
    note: str | None = None


class DriverBranch(Struct, frozen=True):
    """The highest CUDA that drivers of a branch implement."""

    branch: str
    cuda: str


class Toolkit(Struct, frozen=True, kw_only=True):
    """One CUDA Toolkit release and the drivers that came with it."""

    version: str
    linux_driver: str | None
    windows_driver: str | None
    confidence: Confidence = "high"


class Cuda(Subject, frozen=True, kw_only=True):
    """`cuda.json`; all lists newest first."""

    minimum_drivers: tuple[MinimumDriver, ...]
    branches: tuple[DriverBranch, ...]
    toolkits: tuple[Toolkit, ...]


class Generation(Struct, frozen=True, kw_only=True):
    """Cards from one compute capability up to (not including) another, and the last driver branch they get."""

    id: str
    from_capability: str
    below_capability: str | None
    last_branch: int | None
    first_without: dict[SystemName, str] = {}


class DriverPackage(Struct, frozen=True, kw_only=True):
    """The newest driver known for a kind of card; `segment` and `channel` None serve every one."""

    version: str
    date: str | None
    system: SystemName
    generation: str
    segment: Segment | None
    channel: Channel | None
    url: str | None
    sha256: str | None
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


class PythonBuild(Struct, frozen=True, kw_only=True):
    """One standalone Python: archive address, its lower-case hex sha256, size in bytes where known."""

    series: str
    version: str
    system: SystemName
    arch: Arch
    url: str
    sha256: str
    bytes: int | None


class Pythons(Subject, frozen=True, kw_only=True):
    """`pythons.json`, newest series first."""

    builds: tuple[PythonBuild, ...]


class Sizes(Struct, frozen=True, kw_only=True):
    """Bytes to download and to keep on disk for one kind of build; None where nobody measured it.

    `release` is the one that was measured; `approximate` tells that another one, or none in particular, was
    asked for.
    """

    variant: str | None = None
    system: SystemName | None = None
    release: str | None = None
    download_bytes: int | None = None
    disk_bytes: int | None = None
    source: str | None = None
    approximate: bool = False


class Environments(Subject, frozen=True, kw_only=True):
    """`sizes.json`."""

    environments: tuple[Sizes, ...]


class UpdateKey(Struct, frozen=True, kw_only=True):
    """A key that may sign what is said about new versions: its name and its 32 bytes in lower-case hex."""

    id: str
    ed25519: str


class Updates(Subject, frozen=True, kw_only=True):
    """`updates.json`. Without an address or a key this build looks for no updates.

    A source is asked once in `interval_hours` at most, may answer with `answer_bytes` at most, and has
    `answer_seconds` for it.
    """

    address: str | None
    keys: tuple[UpdateKey, ...]
    interval_hours: float
    answer_bytes: int
    answer_seconds: float
