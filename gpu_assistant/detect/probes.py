"""The questions that are put to a machine; each is named after the machine's field that it fills."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..catalog.load import Catalog
from ..core.machine import Cudnn, Network, User
from ..system.base import System
from ..system.nvml import Nvml, NvmlSnapshot
from . import cuda, gpus, pythons, tools

LIMIT_S = 4.0
PYTHONS_LIMIT_S = 8.0  # many interpreters, each with a limit of its own
SNAPSHOT_LIMIT_S = 3.0  # the adapters are worth having without the driver's word

Snapshot = Callable[[], NvmlSnapshot | None]


class Probe(Struct, frozen=True, kw_only=True):
    """One question: `read` returns its field's value and may raise anything; it has `limit` seconds."""

    name: str
    read: Callable[[], Any]
    limit: float = LIMIT_S


class _Driver:
    """The driver's word, asked for once by whoever needs it first."""

    def __init__(self, system: System, snapshot: Snapshot) -> None:
        self._system = system
        self._ask = snapshot
        self._asked = threading.Event()
        self._snapshot: NvmlSnapshot | None = None

    def driver(self) -> Any:  # noqa: ANN401 - Driver or None
        """Ask, without waking cards that all sleep."""
        try:
            sleeping = self._system.sleeping_driver()
            if sleeping is not None:
                return sleeping
            self._snapshot = self._ask()
            return self._snapshot.driver if self._snapshot is not None else None
        finally:
            self._asked.set()

    def cards(self) -> tuple[Any, ...]:
        """The driver's cards; none where it does not answer in time."""
        self._asked.wait(SNAPSHOT_LIMIT_S)
        return self._snapshot.gpus if self._snapshot is not None else ()


def all_probes(
    system: System, catalog: Catalog, stop: threading.Event, snapshot: Snapshot | None = None
) -> tuple[Probe, ...]:
    """Every probe. Programs that they started are ended once `stop` is set."""
    driver = _Driver(system, snapshot or (lambda: Nvml(system).snapshot()))
    return (
        Probe(name="driver", read=driver.driver),
        Probe(name="gpus", read=lambda: gpus.merged(system.display_adapters(), driver.cards(), catalog.gpu)),
        Probe(name="os", read=system.operating_system),
        Probe(name="cpu", read=system.cpu),
        Probe(name="disks", read=system.disks),
        Probe(name="pythons", read=lambda: pythons.found(system, stop), limit=PYTHONS_LIMIT_S),
        Probe(name="tools", read=lambda: tools.found(system, stop)),
        Probe(name="memory_bytes", read=_memory),
        Probe(name="cuda_toolkits", read=lambda: cuda.toolkits(system.cuda_folders(), system.executable("nvcc"))),
        Probe(name="cudnn", read=lambda: _cudnn(system)),
        Probe(name="user", read=lambda: _user(system)),
        Probe(name="network", read=lambda: Network(proxy=system.proxy())),
        Probe(name="pending_reboot", read=system.pending_reboot),
    )


def _memory() -> int:
    import psutil

    return psutil.virtual_memory().total


def _cudnn(system: System) -> tuple[Cudnn, ...]:
    return cuda.cudnns(system.cudnn_folders())


def _user(system: System) -> User:
    home = str(Path.home())
    return User(home=home, ascii=home.isascii(), admin=system.is_admin())
