"""One NVIDIA card: what it is, how it is just now, and what it was found not to answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core.machine import Gpu
from ..core.results import GpuSample, GpuState
from . import nvml_figures as figures
from .nvml_ask import NvmlQuery
from .nvml_processes import GpuProcessList

if TYPE_CHECKING:
    from .base import System

# What is asked how often, in seconds; see `nvml_figures` for what belongs to which.
SLOW_INTERVAL_S = 5.0
ERRORS_INTERVAL_S = 60.0
EXPENSIVE_INTERVAL_S = 3.0


class NvmlDevice(NvmlQuery):
    """A card of an open session; `watched` is whether the session hears of its Xid errors, `xid` the last and when."""

    def __init__(self, index: int, pynvml: Any) -> None:  # noqa: ANN401 - untyped library
        super().__init__(index, pynvml)
        self.index = index
        self.reports_xids = False
        self.can_sleep = False
        self.xid: tuple[int | None, float | None] = (None, None)
        self.name = decode_text(self.query("nvmlDeviceGetName"))
        self.uuid = decode_text(self.query("nvmlDeviceGetUUID"))
        self.pci: Any = self.query("nvmlDeviceGetPciInfo")
        # NVML writes the domain with eight digits, the kernel with four.
        self.address = None if self.pci is None else str(decode_text(self.pci.busId)).lower()[-12:]
        self._pending_changes: dict[str, float] = {}
        self._slow_fields: dict[str, Any] = {}
        self._error_fields: dict[str, Any] = {}
        self._limit_fields: dict[str, Any] | None = None
        self._traffic_fields: dict[str, Any] = {}
        self._process_fields: dict[str, Any] = {}
        self._processes = GpuProcessList(self.query)

    def describe(self) -> Gpu:
        """Who the card is; `laptop` is not known to NVML."""
        capability = self.query("nvmlDeviceGetCudaComputeCapability")
        memory_info = figures.read_memory_info(self)
        pci_number = self.pci.pciDeviceId if self.pci is not None else None
        return Gpu(
            index=self.index,
            vendor="nvidia",
            name=self.name,
            # NVML packs device and vendor into one number: 0x288210de.
            pci_id=f"{pci_number & 0xFFFF:04x}:{pci_number >> 16:04x}" if pci_number else None,
            uuid=self.uuid,
            compute_capability=".".join(map(str, capability)) if capability else None,
            memory_bytes=memory_info.total if memory_info is not None else None,
        )

    def sample(self, now: float, system: System, *, detailed: bool, processes: bool) -> GpuSample:
        """The card just now (`now` in seconds); asleep or lost, only its names are told.

        `system` is asked whether the card sleeps, where it `may_sleep`, and for what the driver does not know. Unless
        somebody is `looking`, what is dear to ask is not asked: PCIe traffic, and `programs` where wanted.
        """
        if self.is_lost:
            return self.identity_sample("lost")
        if self.can_sleep and self.address is not None and system.is_gpu_asleep(self.address):
            return self.identity_sample("asleep")
        return self._read_sample(now, system, detailed=detailed, processes=detailed and processes)

    def _read_sample(self, now: float, system: System, *, detailed: bool, processes: bool) -> GpuSample:
        live_fields = figures.drop_implausible(figures.read_live(self))
        if self._is_due("settled", now, SLOW_INTERVAL_S):
            self._slow_fields = figures.drop_implausible(figures.read_slow(self))
        if self._is_due("errors", now, ERRORS_INTERVAL_S):
            self._error_fields = figures.read_errors(self)
        if self._limit_fields is None:
            self._limit_fields = figures.drop_implausible(figures.read_limits(self, live_fields["temp"]))
        # Who begins to look is answered at once.
        if not detailed:
            self._traffic_fields = {}
            self._pending_changes.pop("dear", None)
        elif self._is_due("dear", now, EXPENSIVE_INTERVAL_S):
            self._traffic_fields = figures.read_pcie_traffic(self)
        if not processes:
            self._process_fields = {}
            self._pending_changes.pop("programs", None)
        elif self._is_due("programs", now, EXPENSIVE_INTERVAL_S):
            self._process_fields = {"processes": self._processes.list_processes(self._system_memory_reader(system))}
        # Lost on the way: half a sample would look like a card at rest.
        if self.is_lost:
            return self.identity_sample("lost")
        return GpuSample(
            index=self.index,
            name=self.name,
            uuid=self.uuid,
            address=self.address,
            **live_fields,
            **self._slow_fields,
            **self._error_fields,
            **self._limit_fields,
            **self._traffic_fields,
            **self._process_fields,
            **self._xid_fields(),
        )

    def identity_sample(self, state: GpuState) -> GpuSample:
        """The card's names, and what was reported of it; nothing that would have to be asked."""
        identity: dict[str, Any] = {"name": self.name, "uuid": self.uuid, "address": self.address}
        return GpuSample(index=self.index, state=state, **identity, **self._xid_fields())

    def _xid_fields(self) -> dict[str, Any]:
        xid, reported_at = self.xid
        return {"xid": 0 if xid is None and self.reports_xids else xid, "xid_t": reported_at}

    def _system_memory_reader(self, system: System) -> Callable[[], dict[int, int]]:
        return lambda: system.gpu_memory_by_process(self.address) if self.address is not None else {}

    def _is_due(self, group: str, now: float, interval_s: float) -> bool:
        if now < self._pending_changes.get(group, now):
            return False
        self._pending_changes[group] = now + interval_s
        return True


def decode_text(value: str | bytes | None) -> str | None:
    """A name as text, whichever way nvidia-ml-py hands it over."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
