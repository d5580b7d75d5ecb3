"""The questions that are put to a machine; each is named after the machine's field that it fills."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ..catalog.load import Catalog
from ..core.machine import Cudnn, Gpu, Network
from ..system.base import System
from ..system.nvml import NvmlMonitor
from . import cuda, gpus, pythons, tools
from .driver import DRIVER_TIMEOUT_S as DRIVER_S
from .driver import DriverProbe, TakeSnapshot
from .told import wrap_partial

PROBE_TIMEOUT_S = 4.0
DEPENDENT_PROBE_MARGIN_S = 1.0  # what depends on another probe ends a little later


class Probe(Struct, frozen=True, kw_only=True):
    """One question: `read` returns its field's value and may raise anything; it has `limit` seconds."""

    name: str
    read: Callable[[], Any]
    timeout: float = PROBE_TIMEOUT_S


def all_probes(
    system: System, catalog: Catalog, stop: threading.Event, snapshot: TakeSnapshot | None = None
) -> tuple[Probe, ...]:
    """Every probe. Programs that they started are ended once `stop` is set."""
    nvml = NvmlMonitor(system)
    driver = DriverProbe(system, snapshot or nvml.snapshot, stop)
    return (
        Probe(name="driver", read=driver.read_driver, timeout=DRIVER_S + DEPENDENT_PROBE_MARGIN_S),
        Probe(name="gpus", read=lambda: _read_gpus(system, driver, catalog), timeout=DRIVER_S + DEPENDENT_PROBE_MARGIN_S),
        Probe(name="os", read=system.operating_system),
        Probe(name="cpu", read=system.cpu),
        Probe(name="disks", read=lambda: _read_disks(system)),
        Probe(name="pythons", read=lambda: pythons.find_pythons(system, stop), timeout=pythons.TOTAL_TIMEOUT_S + DEPENDENT_PROBE_MARGIN_S),
        Probe(name="tools", read=lambda: tools.find_tools(system, stop), timeout=tools.TOTAL_TIMEOUT_S + DEPENDENT_PROBE_MARGIN_S),
        Probe(name="memory_bytes", read=system.memory_bytes),
        Probe(name="cuda_toolkits", read=lambda: cuda.find_toolkits(system, stop), timeout=cuda.TOTAL_TIMEOUT_S + DEPENDENT_PROBE_MARGIN_S),
        Probe(name="cudnn", read=lambda: _read_cudnn(system)),
        Probe(name="user", read=system.user),
        Probe(name="network", read=lambda: Network(proxy=system.proxy())),
        Probe(name="pending_reboot", read=lambda: _read_pending_reboot(system, driver, nvml), timeout=DRIVER_S + DEPENDENT_PROBE_MARGIN_S),
        Probe(name="laptop", read=lambda: _read_laptop(system, catalog)),
        Probe(name="virtual_machine", read=system.virtual_machine),
        Probe(name="remote_desktop", read=system.remote_desktop),
    )


def _read_gpus(system: System, driver: DriverProbe, catalog: Catalog) -> tuple[Gpu, ...]:
    adapters = system.display_adapters()
    return gpus.merge_gpus(adapters, driver.wait_for_gpus(), gpus.CatalogGpuLookup(catalog))


def _read_pending_reboot(system: System, driver: DriverProbe, nvml: NvmlMonitor) -> bool | None:
    """As the system says, and where the driver was updated under us: its parts are of different versions till then."""
    driver.wait_for_gpus()  # once it was asked
    return True if nvml.state == "version-mismatch" else system.pending_reboot()


def _read_disks(system: System) -> Any:  # noqa: ANN401 - disks, or some of them
    disks = system.disks()
    return wrap_partial(disks, [disk.path for disk in disks if disk.total_bytes is None])


def _read_cudnn(system: System) -> tuple[Cudnn, ...]:
    return cuda.find_cudnn(system.cudnn_folders())


def _read_laptop(system: System, catalog: Catalog) -> bool | None:
    """By the computer itself, else by a card that is made for laptops alone."""
    is_laptop = system.laptop()
    if is_laptop is not None:
        return is_laptop
    rows = (catalog.gpu(gpu.pci_id or "") for gpu in system.display_adapters())
    return True if any(row is not None and row.is_laptop for row in rows) else None
