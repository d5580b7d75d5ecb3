"""What a computer is: the `machine` of the contract.

Every field that may be left out of a machine file is optional; `None` means "not known", an empty tuple
means "looked, and there is none". A machine file comes from anybody: its texts are shown in a terminal and its
numbers are reckoned with, so both have bounds that no real computer comes near.

Which of a machine's disks a folder lies on, and which other one has room.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from .types import Value

MACHINE_SCHEMA: Final = "gpu-assistant/machine/1"

SystemName = Literal["windows", "linux", "darwin"]
Vendor = Literal["nvidia", "amd", "intel", "apple", "other"]
Container = Literal["docker", "podman", "lxc", "kubernetes", "other"]
Cloud = Literal["azure", "aws", "gcp", "aliyun", "other"]

# No control characters, and none that turn the direction of what follows.
_PRINTABLE: Final = r"^[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*\Z"
ShortText = Annotated[str, Meta(max_length=300, pattern=_PRINTABLE)]
VersionText = Annotated[str, Meta(max_length=100, pattern=_PRINTABLE)]
PathText = Annotated[str, Meta(max_length=32_767, pattern=_PRINTABLE)]  # the longest path that Windows knows
LongText = Annotated[str, Meta(max_length=20_000)]  # what another program said, in as many lines as it liked
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class OperatingSystem(Struct, frozen=True, kw_only=True):
    """The operating system; `version` is its own number ("10.0.26100", "6.1.0"), `glibc` like "2.36".

    `secure_boot` tells whether the firmware starts signed systems and drivers only.

    Of a Linux distribution, as its os-release says: `distro` is its id, `distro_like` the ids of those it is built
    from, the nearest first, `distro_codename` the release of those ("noble"), `distro_variant` its edition
    ("silverblue"); `kernel` is the running kernel's whole name ("6.14.0-33-generic"). `image_based`: the system is an
    image that is replaced as a whole, into which no package is installed. `driver_stream` is the stream of the dnf
    module "nvidia-driver" that is enabled ("open-dkms").
    """

    system: SystemName
    name: ShortText | None = None
    version: VersionText | None = None
    build: Count | None = None
    arch: Literal["x86_64", "arm64"] | None = None
    wsl: bool | None = None
    distro: ShortText | None = None
    distro_version: VersionText | None = None
    distro_like: tuple[ShortText, ...] | None = None
    distro_codename: ShortText | None = None
    distro_variant: ShortText | None = None
    kernel: VersionText | None = None
    glibc: VersionText | None = None
    secure_boot: bool | None = None
    image_based: bool | None = None
    driver_stream: ShortText | None = None


class Cpu(Struct, frozen=True, kw_only=True):
    """The processor; `cores` are physical ones, `avx` and `avx2`: whether programs may use these instructions."""

    name: ShortText | None = None
    cores: Count | None = None
    threads: Count | None = None
    avx: bool | None = None
    avx2: bool | None = None


class Disk(Struct, frozen=True, kw_only=True):
    """One mounted disk that the user can write to; sizes in bytes."""

    path: PathText
    free_bytes: Count | None = None
    total_bytes: Count | None = None


class Gpu(Struct, frozen=True, kw_only=True):
    """One display adapter. `pci_id` is "vendor:device" in lower-case hex, `compute_capability` "8.9".

    `vgpu`: it is a virtual GPU (NVIDIA vGPU) that a host lends to this guest; `mig`: it is divided into instances.
    """

    index: Count = 0
    vendor: Vendor
    name: ShortText | None = None
    pci_id: ShortText | None = None
    uuid: ShortText | None = None
    compute_capability: VersionText | None = None
    memory_bytes: Count | None = None
    laptop: bool | None = None
    gfx: ShortText | None = None
    vgpu: bool | None = None
    mig: bool | None = None


class Driver(Struct, frozen=True, kw_only=True):
    """The NVIDIA driver that answers; `cuda_max` is the highest CUDA it implements, `model` WDDM/TCC/MCDM."""

    version: VersionText
    cuda_max: VersionText | None = None
    model: ShortText | None = None


class CudaToolkit(Struct, frozen=True, kw_only=True):
    """One CUDA Toolkit found on disk; `nvcc` tells whether its compiler is there."""

    version: VersionText | None = None
    path: PathText
    nvcc: bool | None = None


class Cudnn(Struct, frozen=True, kw_only=True):
    """One cuDNN found on disk, outside of any Python environment."""

    version: VersionText | None = None
    path: PathText


class TorchBuild(Struct, frozen=True, kw_only=True):
    """PyTorch as a Python has it: what its files say, and what it said itself where it was asked.

    `cuda_available` is torch.cuda.is_available(), `arch_list` torch.cuda.get_arch_list() ("sm_90", "compute_90",
    "gfx1100"), `cudnn` the version that it brings ("9.10.2"), `error` why it could not be imported.
    """

    version: VersionText
    cuda: VersionText | None = None
    cuda_available: bool | None = None
    arch_list: tuple[ShortText, ...] | None = None
    cudnn: VersionText | None = None
    error: LongText | None = None


class TensorFlowBuild(Struct, frozen=True, kw_only=True):
    """How a Python's TensorFlow was built: the CUDA and cuDNN that it was built against, None without CUDA."""

    cuda: VersionText | None = None
    cudnn: VersionText | None = None
    cuda_build: bool | None = None
    gpu_available: bool | None = None


class Python(Struct, frozen=True, kw_only=True):
    """One Python interpreter."""

    path: PathText
    version: VersionText
    arch: ShortText | None = None
    kind: Literal["system", "venv", "conda", "store", "managed"] | None = None
    torch: TorchBuild | None = None
    tensorflow: VersionText | None = None
    tensorflow_build: TensorFlowBuild | None = None


class Tools(Struct, frozen=True, kw_only=True):
    """Versions of other programs that matter; `None` is "not found" when the machine was looked at.

    `vc_libraries` are the files of Microsoft's C++ runtime in Windows' own folder, in lower case; None where nobody
    looked. `gcc` is the version of the C++ compiler of GNU ("14.2.0").
    """

    conda: VersionText | None = None
    git: VersionText | None = None
    vc_redist: VersionText | None = None
    vc_libraries: tuple[ShortText, ...] | None = None
    msvc: VersionText | None = None
    gcc: VersionText | None = None


class User(Struct, frozen=True, kw_only=True):
    """Who runs us; `ascii` tells whether the home path is plain ASCII, `home_too_long` whether environments below
    it would pass the longest path that programs take; `onedrive` are the folders that OneDrive keeps.
    """

    home: PathText | None = None
    ascii: bool | None = None
    admin: bool | None = None
    home_too_long: bool | None = None
    onedrive: tuple[PathText, ...] | None = None


class Network(Struct, frozen=True, kw_only=True):
    """How bytes come in; `region` is an ISO 3166 country code where it is known."""

    proxy: PathText | None = None
    region: ShortText | None = None


class ProbeNote(Struct, frozen=True, kw_only=True):
    """A probe that could not say: which field it costs and why (`code` is a text's key)."""

    probe: ShortText
    code: ShortText
    detail: LongText | None = None


class Machine(Struct, frozen=True, kw_only=True):
    """A computer as far as it is known.

    `virtual_machine` is false in WSL, which `os.wsl` tells; `remote_desktop` whether this session is seen from afar.
    `container` is the kind of container that we run in, `cloud` whose rented computer this is; None where it is none
    that is known.
    """

    schema: Literal["gpu-assistant/machine/1"]
    os: OperatingSystem
    gpus: tuple[Gpu, ...]
    cpu: Cpu | None = None
    memory_bytes: Count | None = None
    disks: tuple[Disk, ...] | None = None
    driver: Driver | None = None
    cuda_toolkits: tuple[CudaToolkit, ...] | None = None
    cudnn: tuple[Cudnn, ...] | None = None
    pythons: tuple[Python, ...] | None = None
    tools: Tools | None = None
    user: User | None = None
    network: Network | None = None
    pending_reboot: bool | None = None
    laptop: bool | None = None
    virtual_machine: bool | None = None
    remote_desktop: bool | None = None
    container: Container | None = None
    cloud: Cloud | None = None
    notes: tuple[ProbeNote, ...] = ()

    def gpus_of(self, vendor: Vendor) -> tuple[Gpu, ...]:
        """The adapters of one vendor, in the machine's order."""
        return tuple(gpu for gpu in self.gpus if gpu.vendor == vendor)


# NVIDIA's vGPU user guide: the series of virtual GPUs are Q, C, A and B; "4" and "ME" mark special types.
_VIRTUAL_GPU_NAME: Final = re.compile(r"(?P<board>.+?)(?:-\d+)?-\d+(?P<series>Q|C|A|B4?|CME)$")
_MIG_NAME: Final = re.compile(r"\bMIG \d+g\.")


def virtual_gpu_board(name: str | None) -> str | None:
    """The board that an NVIDIA virtual GPU is a part of: "T4" of "GRID T4-8Q"; None for the name of a whole GPU."""
    match = _VIRTUAL_GPU_NAME.fullmatch((name or "").strip())
    return match["board"].removeprefix("GRID ") if match is not None else None


def virtual_gpu_series(name: str | None) -> str | None:
    """The series of an NVIDIA virtual GPU, which tells what it is licensed for: "Q" of "GRID T4-8Q"."""
    match = _VIRTUAL_GPU_NAME.fullmatch((name or "").strip())
    return match["series"][0] if match is not None else None


def is_mig_name(name: str | None) -> bool:
    """Whether a name is that of an instance of a divided GPU: "NVIDIA A100 MIG 1g.5gb"."""
    return _MIG_NAME.search(name or "") is not None


def find_disk(machine: Machine, folder: str) -> Disk | None:
    """The disk of a folder, among those whose free space is known; None where it is on none of them."""

    def normalize(path: str) -> str:
        return path.replace("\\", "/").lower() if machine.os.system == "windows" else path

    target = normalize(folder).rstrip("/") + "/"
    candidates = [
        disk for disk in _disks_with_known_space(machine) if target.startswith(normalize(disk.path).rstrip("/") + "/")
    ]
    return max(candidates, key=lambda disk: len(disk.path), default=None)


def home_disk(machine: Machine) -> Disk | None:
    """Where environments go unless the user chooses a folder: the disk of the user's own folder; where that is not
    known the one with the most room, so that nobody is warned without need.
    """
    home = machine.user.home if machine.user is not None else None
    disk_with_home = find_disk(machine, home) if home is not None else None
    return disk_with_home or max(_disks_with_known_space(machine), key=lambda disk: disk.free_bytes or 0, default=None)


def larger_disk_data(
    disks: Sequence[Disk], small_path: str, needed_bytes: int, system: SystemName, folder: str
) -> dict[str, Value]:
    """What is told of the disk with the most room where the one at the path `small` has too little for `needed` bytes:
    its name, its room, and there a new `folder`; empty where no other one has enough.
    """
    candidates = [disk for disk in disks if disk.path != small_path and (disk.free_bytes or 0) >= needed_bytes]
    larger = max(candidates, key=lambda disk: disk.free_bytes or 0, default=None)
    if larger is None:
        return {}
    path, separator = larger.path.lstrip("@"), "\\" if system == "windows" else "/"
    suggested_folder = path.rstrip("\\/") + separator + folder
    return {"other": path, "other_free_bytes": larger.free_bytes, "there": suggested_folder}


def _disks_with_known_space(machine: Machine) -> list[Disk]:
    return [disk for disk in machine.disks or () if disk.free_bytes is not None]
