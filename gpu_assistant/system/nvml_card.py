"""One NVIDIA card: what it is, how it is just now, and what it was found not to answer."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ..core.machine import Gpu
from ..core.results import GpuProcess, GpuSample

DEAR_S = 3.0  # processes and PCIe traffic block for milliseconds each: asked this often at most

THROTTLE_REASONS = {
    # nvml.h, nvmlClocksEventReason*. "GPU idle" (bit 0) is left out: a resting card is not held back.
    0x002: "applications-clocks",
    0x004: "power-cap",
    0x008: "hardware-slowdown",
    0x010: "sync-boost",
    0x020: "thermal",
    0x040: "hardware-thermal",
    0x080: "power-brake",
    0x100: "display-clocks",
    0x200: "board-limit",
    0x400: "reliability",
}


class Card:
    """A card of an open session. `pynvml` comes in from there; its functions take this card's handle."""

    def __init__(self, index: int, pynvml: Any) -> None:  # noqa: ANN401 - untyped library
        self.index = index
        self.pynvml = pynvml
        self.unsupported: set[str] = set()
        self.lost = False
        try:
            self.handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        except pynvml.NVMLError:
            self.lost = True  # no rights, no power or no answer; it must not hide the other cards
        self.dear_at: float | None = None
        self.traffic: tuple[int | None, int | None] = (None, None)
        self.processes: tuple[GpuProcess, ...] | None = None
        self.name: str | None = self.ask("nvmlDeviceGetName")
        self.pci: Any = self.ask("nvmlDeviceGetPciInfo")

    @property
    def address(self) -> str | None:
        """The card's place on the bus as the system writes it: "0000:01:00.0"."""
        if self.pci is None:
            return None
        # NVML writes the domain with eight digits, the kernel with four.
        return str(text(self.pci.busId)).lower()[-12:]

    def ask(self, function: str, *args: Any, key: str | None = None) -> Any:  # noqa: ANN401
        """The answer of one NVML function, or None; what this card cannot do is never asked again.

        Raises NVMLError where the whole session is broken.
        """
        key = key or function
        if self.lost or key in self.unsupported:
            return None
        pynvml = self.pynvml
        try:
            return getattr(pynvml, function)(self.handle, *args)
        except (AttributeError, pynvml.NVMLLibraryMismatchError):  # nvidia-ml-py or the driver is older
            self.unsupported.add(key)
        except (UnicodeDecodeError, ctypes.ArgumentError):
            return None
        except pynvml.NVMLError as error:
            if error.value in (
                pynvml.NVML_ERROR_NOT_SUPPORTED,
                pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
                pynvml.NVML_ERROR_NO_PERMISSION,
                pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
            ):
                self.unsupported.add(key)
            elif error.value in (pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED):
                self.lost = True
            elif error.value in (
                pynvml.NVML_ERROR_UNINITIALIZED,
                pynvml.NVML_ERROR_DRIVER_NOT_LOADED,
                pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH,
            ):
                raise
        return None

    def describe(self) -> Gpu:
        """Who the card is; `laptop` is not known to NVML."""
        capability = self.ask("nvmlDeviceGetCudaComputeCapability")
        memory = _memory(self)
        pci = self.pci.pciDeviceId if self.pci is not None else None
        return Gpu(
            index=self.index,
            vendor="nvidia",
            name=text(self.name),
            # NVML packs device and vendor into one number: 0x288210de.
            pci_id=f"{pci & 0xFFFF:04x}:{pci >> 16:04x}" if pci else None,
            uuid=text(self.ask("nvmlDeviceGetUUID")),
            compute_capability=".".join(map(str, capability)) if capability else None,
            memory_bytes=memory.total if memory is not None else None,
        )

    def sample(self, now: float, asleep: Callable[[str], bool]) -> GpuSample:
        """The card just now (`now` in seconds); asleep or lost, only index and name are told.

        `asleep` tells whether the card at a PCI address sleeps.
        """
        name = text(self.name)
        if self.lost or (self.address is not None and asleep(self.address)):
            return GpuSample(index=self.index, name=name)
        ask, nvml = self.ask, self.pynvml
        util = ask("nvmlDeviceGetUtilizationRates")
        memory = _memory(self)
        enc, dec = ask("nvmlDeviceGetEncoderUtilization"), ask("nvmlDeviceGetDecoderUtilization")
        self._dear(now)
        sample = GpuSample(
            index=self.index,
            name=name,
            util=util.gpu if util is not None else None,
            mem_util=util.memory if util is not None else None,
            mem_used=memory.used if memory is not None else None,
            mem_total=memory.total if memory is not None else None,
            temp=_temperature(self),
            power_w=_watts(ask("nvmlDeviceGetPowerUsage")),
            power_limit_w=_watts(ask("nvmlDeviceGetEnforcedPowerLimit")),
            clock_sm=ask("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM, key="clock-sm"),
            clock_mem=ask("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_MEM, key="clock-mem"),
            fan=ask("nvmlDeviceGetFanSpeed"),
            pcie_gen=ask("nvmlDeviceGetCurrPcieLinkGeneration"),
            pcie_width=ask("nvmlDeviceGetCurrPcieLinkWidth"),
            pcie_tx=self.traffic[0],
            pcie_rx=self.traffic[1],
            throttle=_throttle(self),
            enc=enc[0] if enc else None,
            dec=dec[0] if dec else None,
            processes=self.processes,
        )
        # Lost on the way: half a sample would look like a card at rest.
        return GpuSample(index=self.index, name=name) if self.lost else sample

    def _dear(self, now: float) -> None:
        if self.dear_at is not None and now < self.dear_at + DEAR_S:
            return
        self.dear_at = now
        nvml = self.pynvml
        # The library counts for 20 ms in each call; nvml.h gives KB/s.
        tx = self.ask("nvmlDeviceGetPcieThroughput", nvml.NVML_PCIE_UTIL_TX_BYTES, key="pcie-tx")
        rx = self.ask("nvmlDeviceGetPcieThroughput", nvml.NVML_PCIE_UTIL_RX_BYTES, key="pcie-rx")
        self.traffic = (None if tx is None else tx * 1000, None if rx is None else rx * 1000)
        self.processes = _processes(self)


def _processes(card: Card) -> tuple[GpuProcess, ...] | None:
    found: dict[int, int | None] = {}
    answered = False
    for function in ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses"):
        entries = card.ask(function)
        if entries is not None:
            answered = True
            for entry in entries:
                # A process that draws and computes stands in both lists with the same memory.
                found[entry.pid] = found.get(entry.pid) or entry.usedGpuMemory
    if not answered:
        return None
    return tuple(GpuProcess(pid=pid, name=_process_name(pid), mem_used=used) for pid, used in found.items())


def _process_name(pid: int) -> str | None:
    import psutil

    try:
        return psutil.Process(pid).name()
    except (psutil.Error, OSError, ValueError):
        return None


def _memory(card: Card) -> Any:  # noqa: ANN401
    # The second version leaves out of "used" what the driver keeps for itself, as nvidia-smi shows it.
    version = getattr(card.pynvml, "nvmlMemory_v2", None)
    newer = card.ask("nvmlDeviceGetMemoryInfo", version, key="memory-v2") if version else None
    return newer if newer is not None else card.ask("nvmlDeviceGetMemoryInfo")


def _throttle(card: Card) -> tuple[str, ...] | None:
    bits = card.ask("nvmlDeviceGetCurrentClocksEventReasons")
    if bits is None:  # the name before driver 535
        bits = card.ask("nvmlDeviceGetCurrentClocksThrottleReasons")
    return None if bits is None else tuple(name for bit, name in THROTTLE_REASONS.items() if bits & bit)


def _temperature(card: Card) -> int | None:
    sensor = card.pynvml.NVML_TEMPERATURE_GPU
    celsius = card.ask("nvmlDeviceGetTemperature", sensor)
    if celsius is None:  # the only name from CUDA 14 on
        celsius = card.ask("nvmlDeviceGetTemperatureV", sensor)
    return None if celsius is None else int(celsius)


def _watts(milliwatts: int | None) -> float | None:
    return None if milliwatts is None else milliwatts / 1000


def text(value: str | bytes | None) -> str | None:
    """A name as text, whichever way nvidia-ml-py hands it over."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
