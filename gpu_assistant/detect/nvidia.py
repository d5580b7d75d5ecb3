"""The NVIDIA driver and its GPUs, and one list of all GPUs from the system, the driver and the catalog."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, Protocol
from xml.etree import ElementTree

from msgspec.structs import replace

from ..catalog.store import Catalog
from ..core.errors import AppError
from ..core.machine import Driver, Gpu, is_mig_name, virtual_gpu_board
from ..core.results import NvmlState
from ..system.base import Hardware, Processes
from ..system.nvml.monitor import NvmlSnapshot
from ..system.processes import gather_with_timeout
from .partial_result import PartialResult

NVML_TIMEOUT_S: Final = 2.0  # a healthy library answers within a tenth
NVIDIA_SMI_TIMEOUT_S: Final = 2.0
DRIVER_TIMEOUT_S: Final = NVML_TIMEOUT_S + NVIDIA_SMI_TIMEOUT_S + 0.5  # for all answers together
MIB: Final = 2**20

TakeSnapshot = Callable[[], NvmlSnapshot | None]

_VERSION = re.compile(r"\d+(\.\d+)+")
_DRIVER_MODELS: dict[str, Literal["WDDM", "TCC", "MCDM"]] = {"WDDM": "WDDM", "TCC": "TCC", "MCDM": "MCDM"}


class DriverQuerySystem(Hardware, Processes, Protocol):
    """The roles of the operating system that asking the driver uses."""


class DriverProbe:
    """Asks the driver once; probes that need its GPUs wait for that.

    In this order: NVML, nvidia-smi, the loaded kernel module (which has the driver's version only).
    """

    def __init__(
        self,
        system: DriverQuerySystem,
        snapshot: TakeSnapshot,
        stop: threading.Event,
        nvml_state: Callable[[], NvmlState] = lambda: "untried",
    ) -> None:
        self._system, self._nvml_state = system, nvml_state
        self._take_snapshot = snapshot
        self._stop = stop
        self._finished = threading.Event()
        self._snapshot: NvmlSnapshot | None = None

    def read_driver(self) -> Any:  # noqa: ANN401 - Driver, None, or part of a Driver
        """The driver. Where every GPU is asleep none is woken: the version is read elsewhere."""
        try:
            sleeping_driver = self._system.sleeping_driver()
            if sleeping_driver is not None or self._system.are_gpus_asleep():
                return sleeping_driver
            return self._query()
        finally:
            self._finished.set()

    def _query(self) -> Any:  # noqa: ANN401
        unanswered: list[str] = []
        snapshot = self._call_with_timeout("NVML", self._take_snapshot, NVML_TIMEOUT_S, unanswered)
        program = self._system.nvidia_smi() if snapshot is None else None
        if program is not None:
            run_nvidia_smi = partial(query_nvidia_smi, self._system, program, self._stop)
            snapshot = self._call_with_timeout("nvidia-smi", run_nvidia_smi, NVIDIA_SMI_TIMEOUT_S, unanswered)
        self._snapshot = snapshot
        driver = snapshot.driver if snapshot is not None else parse_kernel_module(self._system.loaded_driver())
        if unanswered:
            return PartialResult(value=driver, detail=", ".join(unanswered))
        if driver is None and self._nvml_state() == "not-loaded":
            return PartialResult(value=None, reason="not-loaded")
        return driver

    @staticmethod
    def _call_with_timeout(name: str, call: TakeSnapshot, timeout: float, unanswered: list[str]) -> NvmlSnapshot | None:
        try:
            results = gather_with_timeout({name: call}, timeout)
        except AppError:
            results = {}
        if name not in results:
            unanswered.append(name)
        return results.get(name)

    def wait_for_gpus(self) -> tuple[Gpu, ...]:
        """The driver's GPUs; () where it does not answer in time."""
        self._finished.wait(DRIVER_TIMEOUT_S)
        return self._snapshot.gpus if self._snapshot is not None else ()


def query_nvidia_smi(system: Processes, program: Path, stop: threading.Event) -> NvmlSnapshot | None:
    """Driver and GPUs from `nvidia-smi -q -x`; None where it fails. Raises AppError("program-timeout")."""
    try:
        completed = system.run([program, "-q", "-x"], timeout=NVIDIA_SMI_TIMEOUT_S, cancel=stop)
    except AppError as error:
        if error.code == "program-timeout":
            raise
        return None
    return parse_nvidia_smi(completed.stdout) if completed.returncode == 0 else None


def parse_nvidia_smi(text: str) -> NvmlSnapshot | None:
    """From the XML of `nvidia-smi -q -x`; None for other text, and where it has no driver's version.

    The table that nvidia-smi prints by default changes from release to release. From driver 610 on the XML has "KMD"
    and "CUDA UMD" instead of "driver" and "CUDA".
    """
    try:
        root = ElementTree.fromstring(text.strip())  # noqa: S314 - written by NVIDIA's own program, started by its full path
    except (ElementTree.ParseError, ValueError):
        return None
    version = _first_version(root, "kmd_version", "driver_version")
    if version is None:
        return None
    gpus = root.findall("gpu")
    models = [
        _DRIVER_MODELS[name]
        for gpu in gpus
        if (name := _element_text(gpu, "driver_model/current_dm") or "") in _DRIVER_MODELS
    ]
    return NvmlSnapshot(
        driver=Driver(
            version=version,
            cuda_max=_major_minor(_first_version(root, "cuda_umd_version", "cuda_version")),
            model=models[0] if models else None,
        ),
        gpus=tuple(_parse_gpu(index, gpu) for index, gpu in enumerate(gpus)),
    )


def _parse_gpu(index: int, element: ElementTree.Element) -> Gpu:
    device_and_vendor = (_element_text(element, "pci/pci_device_id") or "").lower().removeprefix("0x")
    is_valid = re.fullmatch(r"[0-9a-f]{8}", device_and_vendor) is not None
    memory_match = re.fullmatch(r"(\d+) MiB", _element_text(element, "fb_memory_usage/total") or "")
    uuid, name = _element_text(element, "uuid"), _element_text(element, "product_name")
    return Gpu(
        index=index,
        vendor="nvidia",
        name=name,
        # Device and vendor id in one number: 288210DE.
        pci_id=f"{device_and_vendor[4:]}:{device_and_vendor[:4]}" if is_valid else None,
        uuid=uuid if (uuid or "").startswith("GPU-") else None,
        memory_bytes=int(memory_match[1]) * MIB if memory_match else None,
        vgpu=virtual_gpu_board(name) is not None
        or _matches(element, "gpu_virtualization_mode/virtualization_mode", "VGPU"),
        mig=is_mig_name(name) or _matches(element, "mig_mode/current_mig", "Enabled"),
    )


def _matches(element: ElementTree.Element, path: str, text: str) -> bool | None:
    """Whether a field has a value; None where it is missing or not available."""
    found = _element_text(element, path)
    return found.casefold() == text.casefold() if found is not None else None


def _element_text(element: ElementTree.Element, path: str) -> str | None:
    text = (element.findtext(path) or "").strip()
    return None if not text or text in ("N/A", "[N/A]", "Unknown Error") else text


def _first_version(root: ElementTree.Element, *names: str) -> str | None:
    # A deprecated field contains a sentence that says so.
    return next((text for name in names if _VERSION.fullmatch(text := _element_text(root, name) or "")), None)


def _major_minor(version: str | None) -> str | None:
    return ".".join(version.split(".")[:2]) if version else None


def parse_kernel_module(text: str) -> Driver | None:
    """From /proc/driver/nvidia/version: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu …".

    The open module says "NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build".
    """
    line = next((line for line in text.splitlines() if line.startswith("NVRM version:")), "")
    match = re.search(r"Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+)+)\b", line)
    return Driver(version=match[1]) if match else None


class GpuLookup(Protocol):
    """Something that knows GPUs by their PCI ids."""

    def complete(self, gpu: Gpu) -> Gpu:
        """The GPU with unknown fields filled in."""
        ...


class CatalogGpuLookup:
    """The catalog's GPUs: NVIDIA's with their abilities, AMD's and Intel's by name and chip."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def complete(self, gpu: Gpu) -> Gpu:
        """Fields that the catalog does not know stay None."""
        if gpu.pci_id is None:
            return gpu
        if gpu.vendor == "nvidia":
            return self._complete_nvidia(gpu, gpu.pci_id)
        try:
            if gpu.vendor == "amd" and (amd := self._catalog.amd_device(gpu.pci_id)) is not None:
                return replace(gpu, name=gpu.name or amd.name, gfx=gpu.gfx or amd.gfx)
            if gpu.vendor == "intel" and (intel := self._catalog.intel_device(gpu.pci_id)) is not None:
                return replace(gpu, name=gpu.name or intel.name)
        except AppError:
            pass  # a catalog without the file of this vendor
        return gpu

    def _complete_nvidia(self, gpu: Gpu, pci_id: str) -> Gpu:
        row = self._catalog.gpu(pci_id)
        if row is None:
            return gpu
        capability = row.compute_capability.text if row.compute_capability is not None else None
        return replace(
            gpu,
            name=gpu.name or row.name,
            compute_capability=gpu.compute_capability or capability,
            memory_bytes=gpu.memory_bytes or row.memory_bytes,
            laptop=gpu.laptop if gpu.laptop is not None else row.is_laptop,
        )


def merge_gpus(adapters: Sequence[Gpu], driver_gpus: Sequence[Gpu], catalog: GpuLookup) -> tuple[Gpu, ...]:
    """One list: the driver's GPUs in its order (CUDA's order by PCI), NVIDIA adapters that it does not know, then other
    vendors' adapters. `index` is the position in this list.

    An adapter and a GPU of the driver with the same PCI id are one GPU; one that the system does not list (WSL) stays
    in the list. What neither knows comes from the catalog.
    """
    unmatched = list(adapters)
    gpus = []
    for driver_gpu in driver_gpus:
        adapter = next((adapter for adapter in unmatched if adapter.pci_id == driver_gpu.pci_id), None)
        if adapter is not None:
            unmatched.remove(adapter)
        gpus.append(_merge_gpu(driver_gpu, adapter))
    gpus += sorted(unmatched, key=lambda adapter: adapter.vendor != "nvidia")
    return tuple(replace(catalog.complete(gpu), index=index) for index, gpu in enumerate(gpus))


def _merge_gpu(driver_gpu: Gpu, adapter: Gpu | None) -> Gpu:
    if adapter is None:
        return driver_gpu
    return replace(
        driver_gpu,
        name=driver_gpu.name or adapter.name,
        memory_bytes=driver_gpu.memory_bytes or adapter.memory_bytes,
        laptop=driver_gpu.laptop if driver_gpu.laptop is not None else adapter.laptop,
    )
