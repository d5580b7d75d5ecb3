"""One NVIDIA card: what it is, how it is just now, and what it was found not to answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core.machine import Gpu
from ..core.results import GpuSample, GpuState
from . import nvml_figures as figures
from .nvml_ask import Asker
from .nvml_processes import Processes

if TYPE_CHECKING:
    from .base import System

# What is asked how often, in seconds; see `nvml_figures` for what belongs to which.
SETTLED_S = 5.0
ERRORS_S = 60.0
DEAR_S = 3.0


class Card(Asker):
    """A card of an open session; `watched` is whether the session hears of its Xid errors, `xid` the last and when."""

    def __init__(self, index: int, pynvml: Any) -> None:  # noqa: ANN401 - untyped library
        super().__init__(index, pynvml)
        self.index = index
        self.watched = False
        self.may_sleep = False
        self.xid: tuple[int | None, float | None] = (None, None)
        self.name = text(self.ask("nvmlDeviceGetName"))
        self.uuid = text(self.ask("nvmlDeviceGetUUID"))
        self.pci: Any = self.ask("nvmlDeviceGetPciInfo")
        # NVML writes the domain with eight digits, the kernel with four.
        self.address = None if self.pci is None else str(text(self.pci.busId)).lower()[-12:]
        self._due: dict[str, float] = {}
        self._settled: dict[str, Any] = {}
        self._errors: dict[str, Any] = {}
        self._limits: dict[str, Any] | None = None
        self._dear: dict[str, Any] = {}
        self._programs: dict[str, Any] = {}
        self._processes = Processes(self.ask)

    def describe(self) -> Gpu:
        """Who the card is; `laptop` is not known to NVML."""
        capability = self.ask("nvmlDeviceGetCudaComputeCapability")
        memory = figures.memory(self)
        pci = self.pci.pciDeviceId if self.pci is not None else None
        return Gpu(
            index=self.index,
            vendor="nvidia",
            name=self.name,
            # NVML packs device and vendor into one number: 0x288210de.
            pci_id=f"{pci & 0xFFFF:04x}:{pci >> 16:04x}" if pci else None,
            uuid=self.uuid,
            compute_capability=".".join(map(str, capability)) if capability else None,
            memory_bytes=memory.total if memory is not None else None,
        )

    def sample(self, now: float, system: System, *, looking: bool, programs: bool) -> GpuSample:
        """The card just now (`now` in seconds); asleep or lost, only its names are told.

        `system` is asked whether the card sleeps, where it `may_sleep`, and for what the driver does not know. Unless
        somebody is `looking`, what is dear to ask is not asked: PCIe traffic, and `programs` where wanted.
        """
        if self.lost:
            return self.named("lost")
        if self.may_sleep and self.address is not None and system.card_asleep(self.address):
            return self.named("asleep")
        return self._read(now, system, looking=looking, programs=looking and programs)

    def _read(self, now: float, system: System, *, looking: bool, programs: bool) -> GpuSample:
        current = figures.possible(figures.current(self))
        if self._is_due("settled", now, SETTLED_S):
            self._settled = figures.possible(figures.settled(self))
        if self._is_due("errors", now, ERRORS_S):
            self._errors = figures.errors(self)
        if self._limits is None:
            self._limits = figures.possible(figures.limits(self, current["temp"]))
        # Who begins to look is answered at once.
        if not looking:
            self._dear = {}
            self._due.pop("dear", None)
        elif self._is_due("dear", now, DEAR_S):
            self._dear = figures.traffic(self)
        if not programs:
            self._programs = {}
            self._due.pop("programs", None)
        elif self._is_due("programs", now, DEAR_S):
            self._programs = {"processes": self._processes.now(self._memory(system))}
        # Lost on the way: half a sample would look like a card at rest.
        if self.lost:
            return self.named("lost")
        return GpuSample(
            index=self.index,
            name=self.name,
            uuid=self.uuid,
            address=self.address,
            **current,
            **self._settled,
            **self._errors,
            **self._limits,
            **self._dear,
            **self._programs,
            **self._reported(),
        )

    def named(self, state: GpuState) -> GpuSample:
        """The card's names, and what was reported of it; nothing that would have to be asked."""
        names: dict[str, Any] = {"name": self.name, "uuid": self.uuid, "address": self.address}
        return GpuSample(index=self.index, state=state, **names, **self._reported())

    def _reported(self) -> dict[str, Any]:
        xid, at = self.xid
        return {"xid": 0 if xid is None and self.watched else xid, "xid_t": at}

    def _memory(self, system: System) -> Callable[[], dict[int, int]]:
        return lambda: system.card_memory(self.address) if self.address is not None else {}

    def _is_due(self, group: str, now: float, seconds: float) -> bool:
        if now < self._due.get(group, now):
            return False
        self._due[group] = now + seconds
        return True


def text(value: str | bytes | None) -> str | None:
    """A name as text, whichever way nvidia-ml-py hands it over."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
