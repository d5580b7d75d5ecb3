"""The NVIDIA driver and its cards: its library first, nvidia-smi second, the loaded kernel module third."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final

from ..core.errors import AppError
from ..core.machine import Gpu
from ..system.base import System
from ..system.nvml import NvmlSnapshot
from ..system.patience import answered
from . import nvidia_smi
from .told import Partly

LIBRARY_S: Final = 2.0  # a healthy library answers within a tenth
LIMIT_S: Final = LIBRARY_S + nvidia_smi.LIMIT_S + 0.5  # by then whoever answers has answered

Snapshot = Callable[[], NvmlSnapshot | None]


class DriverProbe:
    """The driver's word, asked for once; whoever needs the cards waits for it."""

    def __init__(self, system: System, snapshot: Snapshot, stop: threading.Event) -> None:
        self._system = system
        self._ask = snapshot
        self._stop = stop
        self._asked = threading.Event()
        self._snapshot: NvmlSnapshot | None = None

    def driver(self) -> Any:  # noqa: ANN401 - Driver, None, or part of a Driver
        """Ask, without waking cards that all sleep."""
        try:
            sleeping = self._system.sleeping_driver()
            if sleeping is not None or self._system.cards_asleep():
                return sleeping
            return self._awake()
        finally:
            self._asked.set()

    def _awake(self) -> Any:  # noqa: ANN401
        silent: list[str] = []
        told = self._within("NVML", self._ask, LIBRARY_S, silent)
        program = self._system.nvidia_smi() if told is None else None
        if program is not None:
            path = program

            def ask() -> NvmlSnapshot | None:
                return nvidia_smi.ask(self._system, path, self._stop)

            told = self._within("nvidia-smi", ask, nvidia_smi.LIMIT_S, silent)
        self._snapshot = told
        driver = told.driver if told is not None else nvidia_smi.kernel_module(self._system.loaded_driver())
        return Partly(value=driver, detail=", ".join(silent)) if silent else driver

    @staticmethod
    def _within(name: str, ask: Snapshot, limit: float, silent: list[str]) -> NvmlSnapshot | None:
        try:
            found = answered({name: ask}, limit)
        except AppError:
            found = {}
        if name not in found:
            silent.append(name)
        return found.get(name)

    def cards(self) -> tuple[Gpu, ...]:
        """The driver's cards; none where it does not answer in time."""
        started = time.monotonic()
        self._asked.wait(LIMIT_S - (time.monotonic() - started))
        return self._snapshot.gpus if self._snapshot is not None else ()
