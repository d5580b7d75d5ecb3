"""The questions that are put to a machine; each is named after the machine's field that it fills."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ..catalog.load import Catalog
from ..core.machine import Cudnn, Gpu, Network
from ..system.base import System
from ..system.nvml import Nvml
from . import cuda, gpus, pythons, tools
from .driver import LIMIT_S as DRIVER_S
from .driver import DriverProbe, Snapshot
from .told import told

LIMIT_S = 4.0
SPARE_S = 1.0  # what depends on another probe ends a little later


class Probe(Struct, frozen=True, kw_only=True):
    """One question: `read` returns its field's value and may raise anything; it has `limit` seconds."""

    name: str
    read: Callable[[], Any]
    limit: float = LIMIT_S


def all_probes(
    system: System, catalog: Catalog, stop: threading.Event, snapshot: Snapshot | None = None
) -> tuple[Probe, ...]:
    """Every probe. Programs that they started are ended once `stop` is set."""
    nvml = Nvml(system)
    driver = DriverProbe(system, snapshot or nvml.snapshot, stop)
    return (
        Probe(name="driver", read=driver.driver, limit=DRIVER_S + SPARE_S),
        Probe(name="gpus", read=lambda: _gpus(system, driver, catalog), limit=DRIVER_S + SPARE_S),
        Probe(name="os", read=system.operating_system),
        Probe(name="cpu", read=system.cpu),
        Probe(name="disks", read=lambda: _disks(system)),
        Probe(name="pythons", read=lambda: pythons.found(system, stop), limit=pythons.ALL_S + SPARE_S),
        Probe(name="tools", read=lambda: tools.found(system, stop), limit=tools.ALL_S + SPARE_S),
        Probe(name="memory_bytes", read=system.memory_bytes),
        Probe(name="cuda_toolkits", read=lambda: cuda.asked(system, stop), limit=cuda.ALL_S + SPARE_S),
        Probe(name="cudnn", read=lambda: _cudnn(system)),
        Probe(name="user", read=system.user),
        Probe(name="network", read=lambda: Network(proxy=system.proxy())),
        Probe(name="pending_reboot", read=lambda: _restart(system, driver, nvml), limit=DRIVER_S + SPARE_S),
        Probe(name="laptop", read=lambda: _laptop(system, catalog)),
        Probe(name="virtual_machine", read=system.virtual_machine),
        Probe(name="remote_desktop", read=system.remote_desktop),
    )


def _gpus(system: System, driver: DriverProbe, catalog: Catalog) -> tuple[Gpu, ...]:
    adapters = system.display_adapters()
    return gpus.merged(adapters, driver.cards(), gpus.CatalogNames(catalog))


def _restart(system: System, driver: DriverProbe, nvml: Nvml) -> bool | None:
    """As the system says, and where the driver was updated under us: its parts are of different versions till then."""
    driver.cards()  # once it was asked
    return True if nvml.state == "version-mismatch" else system.pending_reboot()


def _disks(system: System) -> Any:  # noqa: ANN401 - disks, or some of them
    found = system.disks()
    return told(found, [disk.path for disk in found if disk.total_bytes is None])


def _cudnn(system: System) -> tuple[Cudnn, ...]:
    return cuda.cudnns(system.cudnn_folders())


def _laptop(system: System, catalog: Catalog) -> bool | None:
    """By the computer itself, else by a card that is made for laptops alone."""
    itself = system.laptop()
    if itself is not None:
        return itself
    rows = (catalog.gpu(gpu.pci_id or "") for gpu in system.display_adapters())
    return True if any(row is not None and row.laptop for row in rows) else None
