"""What a computer is: the `machine` of the contract.

Every field that may be left out of a machine file is optional; `None` means "not known", an empty tuple
means "looked, and there is none".
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

MACHINE_SCHEMA: Final = "gpu-assistant/machine/1"

SystemName = Literal["windows", "linux", "darwin"]
Vendor = Literal["nvidia", "amd", "intel", "apple", "other"]


class OperatingSystem(Struct, frozen=True, kw_only=True):
    """The operating system; `version` is its own number ("10.0.26100", "6.1.0"), `glibc` like "2.36"."""

    system: SystemName
    name: str | None = None
    version: str | None = None
    build: int | None = None
    arch: Literal["x86_64", "arm64"] | None = None
    wsl: bool | None = None
    distro: str | None = None
    distro_version: str | None = None
    glibc: str | None = None


class Cpu(Struct, frozen=True, kw_only=True):
    """The processor; `cores` are physical ones."""

    name: str | None = None
    cores: int | None = None
    threads: int | None = None


class Disk(Struct, frozen=True, kw_only=True):
    """One mounted disk that the user can write to; sizes in bytes."""

    path: str
    free_bytes: int | None = None
    total_bytes: int | None = None


class Gpu(Struct, frozen=True, kw_only=True):
    """One display adapter. `pci_id` is "vendor:device" in lower-case hex, `compute_capability` "8.9"."""

    index: int = 0
    vendor: Vendor
    name: str | None = None
    pci_id: str | None = None
    uuid: str | None = None
    compute_capability: str | None = None
    memory_bytes: int | None = None
    laptop: bool | None = None
    gfx: str | None = None


class Driver(Struct, frozen=True, kw_only=True):
    """The NVIDIA driver that answers; `cuda_max` is the highest CUDA it implements, `model` WDDM/TCC/MCDM."""

    version: str
    cuda_max: str | None = None
    model: str | None = None


class CudaToolkit(Struct, frozen=True, kw_only=True):
    """One CUDA Toolkit found on disk; `nvcc` tells whether its compiler is there."""

    version: str | None = None
    path: str
    nvcc: bool | None = None


class Cudnn(Struct, frozen=True, kw_only=True):
    """One cuDNN found on disk, outside of any Python environment."""

    version: str | None = None
    path: str


class TorchBuild(Struct, frozen=True, kw_only=True):
    """PyTorch as a Python has it, read from its files; `cuda_available` is known only once it was run."""

    version: str
    cuda: str | None = None
    cuda_available: bool | None = None


class Python(Struct, frozen=True, kw_only=True):
    """One Python interpreter."""

    path: str
    version: str
    arch: str | None = None
    kind: Literal["system", "venv", "conda", "store", "managed"] | None = None
    torch: TorchBuild | None = None
    tensorflow: str | None = None


class Tools(Struct, frozen=True, kw_only=True):
    """Versions of other programs that matter; `None` is "not found" when the machine was looked at."""

    conda: str | None = None
    git: str | None = None
    vc_redist: str | None = None
    msvc: str | None = None


class User(Struct, frozen=True, kw_only=True):
    """Who runs us; `ascii` tells whether the home path is plain ASCII."""

    home: str | None = None
    ascii: bool | None = None
    admin: bool | None = None


class Network(Struct, frozen=True, kw_only=True):
    """How bytes come in; `region` is an ISO 3166 country code where it is known."""

    proxy: str | None = None
    region: str | None = None


class ProbeNote(Struct, frozen=True, kw_only=True):
    """A probe that could not say: which field it costs and why (`code` is a text's key)."""

    probe: str
    code: str
    detail: str | None = None


class Machine(Struct, frozen=True, kw_only=True):
    """A computer as far as it is known."""

    schema: Literal["gpu-assistant/machine/1"]
    os: OperatingSystem
    gpus: tuple[Gpu, ...]
    cpu: Cpu | None = None
    memory_bytes: int | None = None
    disks: tuple[Disk, ...] | None = None
    driver: Driver | None = None
    cuda_toolkits: tuple[CudaToolkit, ...] | None = None
    cudnn: tuple[Cudnn, ...] | None = None
    pythons: tuple[Python, ...] | None = None
    tools: Tools | None = None
    user: User | None = None
    network: Network | None = None
    pending_reboot: bool | None = None
    notes: tuple[ProbeNote, ...] = ()

    def gpus_of(self, vendor: Vendor) -> tuple[Gpu, ...]:
        """The adapters of one vendor, in the machine's order."""
        return tuple(gpu for gpu in self.gpus if gpu.vendor == vendor)
