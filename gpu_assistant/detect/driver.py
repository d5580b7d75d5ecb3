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
from ..system.patience import gather_with_timeout
from . import nvidia_smi
from .told import PartialResult

NVML_TIMEOUT_S: Final = 2.0  # a healthy library answers within a tenth
DRIVER_TIMEOUT_S: Final = NVML_TIMEOUT_S + nvidia_smi.NVIDIA_SMI_TIMEOUT_S + 0.5  # by then whoever answers has answered

TakeSnapshot = Callable[[], NvmlSnapshot | None]


class DriverProbe:
    """The driver's word, asked for once; whoever needs the cards waits for it."""

    def __init__(self, system: System, snapshot: TakeSnapshot, stop: threading.Event) -> None:
        self._system = system
        self._take_snapshot = snapshot
        self._stop = stop
        self._finished = threading.Event()
        self._snapshot: NvmlSnapshot | None = None

    def read_driver(self) -> Any:  # noqa: ANN401 - Driver, None, or part of a Driver
        """Ask, without waking cards that all sleep."""
        try:
            driver_of_sleeping_gpus = self._system.sleeping_driver()
            if driver_of_sleeping_gpus is not None or self._system.are_gpus_asleep():
                return driver_of_sleeping_gpus
            return self._query()
        finally:
            self._finished.set()

    def _query(self) -> Any:  # noqa: ANN401
        unanswered: list[str] = []
        snapshot = self._call_with_timeout("NVML", self._take_snapshot, NVML_TIMEOUT_S, unanswered)
        program = self._system.nvidia_smi() if snapshot is None else None
        if program is not None:
            path = program

            def run_nvidia_smi() -> NvmlSnapshot | None:
                return nvidia_smi.query_nvidia_smi(self._system, path, self._stop)

            snapshot = self._call_with_timeout("nvidia-smi", run_nvidia_smi, nvidia_smi.NVIDIA_SMI_TIMEOUT_S, unanswered)
        self._snapshot = snapshot
        driver = snapshot.driver if snapshot is not None else nvidia_smi.parse_kernel_module(self._system.loaded_driver())
        return PartialResult(value=driver, detail=", ".join(unanswered)) if unanswered else driver

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
        """The driver's cards; none where it does not answer in time."""
        started = time.monotonic()
        self._finished.wait(DRIVER_TIMEOUT_S - (time.monotonic() - started))
        return self._snapshot.gpus if self._snapshot is not None else ()
