"""The description of a computer (`Machine`), which is also the JSON of `detect` and of machine files.

Fields that a machine file may omit have a default; None means "unknown", an empty tuple "there is none". A machine
file is untrusted: its texts are shown in a terminal and its numbers are used in calculations, so both have bounds that
no real computer exceeds. `find_disk` and `larger_disk_data` choose among a machine's disks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from .types import Value

MACHINE_SCHEMA: Final = "gpu-assistant/machine/1"

SystemName = Literal["windows", "linux", "darwin"]
Vendor = Literal["nvidia", "amd", "intel", "apple", "other"]
Container = Literal["docker", "podman", "lxc", "kubernetes", "other"]
Cloud = Literal["azure", "aws", "gcp", "aliyun", "other"]

# No control characters and no marks of writing direction.
_PRINTABLE: Final = r"^[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*\Z"
ShortText = Annotated[str, Meta(max_length=300, pattern=_PRINTABLE)]
VersionText = Annotated[str, Meta(max_length=100, pattern=_PRINTABLE)]
PathText = Annotated[str, Meta(max_length=32_767, pattern=_PRINTABLE)]  # the longest path that Windows knows
LongText = Annotated[str, Meta(max_length=20_000)]  # output of another program, of any number of lines
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class OperatingSystem(Struct, frozen=True, kw_only=True):
    """The operating system; `version` is that of Windows or of the kernel ("10.0.26100", "6.1.0"), `glibc` as "2.36".

    `secure_boot`: whether UEFI Secure Boot is enabled. `smart_app_control`: whether Windows 11 blocks files that
    Microsoft does not know ("evaluation": it watches and blocks nothing).

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
    smart_app_control: Literal["off", "on", "evaluation"] | None = None
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
    """One mounted disk that the user can write to; sizes are in bytes."""

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
    """The loaded NVIDIA driver; `cuda_max` is the highest CUDA version that it supports, `model` WDDM, TCC or MCDM."""

    version: VersionText
    cuda_max: VersionText | None = None
    model: ShortText | None = None


class CudaToolkit(Struct, frozen=True, kw_only=True):
    """One CUDA Toolkit on disk; `nvcc`: whether it has the compiler."""

    version: VersionText | None = None
    path: PathText
    nvcc: bool | None = None


class Cudnn(Struct, frozen=True, kw_only=True):
    """One cuDNN on disk, outside of Python environments."""

    version: VersionText | None = None
    path: PathText


class TorchBuild(Struct, frozen=True, kw_only=True):
    """The PyTorch of a Python, from its files and, where it was imported, from torch itself.

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
    """The TensorFlow of a Python, with the CUDA and cuDNN versions that it was built with (None: without CUDA)."""

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
    """Versions of other relevant programs; None: not found.

    `vc_libraries` are the file names of Microsoft's C++ runtime in Windows' system folder, in lower case; None where
    they were not looked up. `gcc` is the version of g++ ("14.2.0").
    """

    conda: VersionText | None = None
    git: VersionText | None = None
    vc_redist: VersionText | None = None
    vc_libraries: tuple[ShortText, ...] | None = None
    msvc: VersionText | None = None
    gcc: VersionText | None = None


class User(Struct, frozen=True, kw_only=True):
    """The user who runs this program. `ascii`: whether the path of the home folder is ASCII. `home_too_long`: whether
    paths of environments below it would exceed the system's limit. `onedrive` are the folders that OneDrive syncs.
    """

    home: PathText | None = None
    ascii: bool | None = None
    admin: bool | None = None
    home_too_long: bool | None = None
    onedrive: tuple[PathText, ...] | None = None


class Network(Struct, frozen=True, kw_only=True):
    """The internet connection; `region` is an ISO 3166 country code, None where it is unknown."""

    proxy: PathText | None = None
    region: ShortText | None = None


class ProbeNote(Struct, frozen=True, kw_only=True):
    """A failed probe: the field of `Machine` that is unknown for it, and the reason (`code` is the key of a text)."""

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


def is_virtual_gpu(gpu: Gpu) -> bool:
    """Whether a host lends this GPU to a guest (vGPU): as it was found, else by its name."""
    return gpu.vgpu if gpu.vgpu is not None else virtual_gpu_board(gpu.name) is not None


def is_divided_gpu(gpu: Gpu) -> bool:
    """Whether this GPU is divided into instances (MIG): as it was found, else by its name."""
    return gpu.mig if gpu.mig is not None else is_mig_name(gpu.name)


def surroundings(machine: Machine) -> Iterator[tuple[str, dict[str, Value]]]:
    """Where the machine runs, as codes of texts with their data: a container, a rented computer, a system that is an
    image, a virtual or divided GPU. Each decides who gives the driver.
    """
    if machine.container is not None:
        yield "machine.container", {"kind": f"@machine.container.{machine.container}"}
    if machine.cloud is not None:
        yield "machine.cloud", {"provider": f"@machine.cloud.{machine.cloud}"}
    if machine.os.image_based:
        yield "machine.image-based", {}
    for code, matches in (("machine.vgpu", is_virtual_gpu), ("machine.mig", is_divided_gpu)):
        names = [gpu.name.lstrip("@") for gpu in machine.gpus_of("nvidia") if gpu.name is not None and matches(gpu)]
        if names:
            yield code, {"gpu": names[0]}


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
    """The disk for environments in the default location: that of the home folder; where it is unknown, the disk with
    the most free space, so that no needless warning is shown. None where no free space is known.
    """
    home = machine.user.home if machine.user is not None else None
    disk_with_home = find_disk(machine, home) if home is not None else None
    return disk_with_home or max(_disks_with_known_space(machine), key=lambda disk: disk.free_bytes or 0, default=None)


def larger_disk_data(
    disks: Sequence[Disk], small_path: str, needed_bytes: int, system: SystemName, folder: str
) -> dict[str, Value]:
    """Figures for a text that suggests another disk than `small_path`: the one with the most free space.

    `other` is its path, `other_free_bytes` its free space, `there` the path of `folder` on it. Empty where no other
    disk has `needed_bytes` free.
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
