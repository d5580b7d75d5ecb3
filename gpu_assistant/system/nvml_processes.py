"""The processes on one card, and how they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from msgspec.structs import replace

from ..core.results import GpuProcess

LISTS: tuple[tuple[Literal["compute", "graphics"], str], ...] = (
    ("compute", "nvmlDeviceGetComputeRunningProcesses"),
    ("graphics", "nvmlDeviceGetGraphicsRunningProcesses"),
)


class Processes:
    """Asks through a card's `ask`. A process is asked for its name once, when it is first seen."""

    def __init__(self, ask: Callable[[str], Any]) -> None:
        self._ask = ask
        self._names: dict[int, str | None] = {}

    def now(self, memory: Callable[[], dict[int, int]]) -> tuple[GpuProcess, ...] | None:
        """Each process once; None where the card does not tell. `memory` is the system's own count, by process."""
        found: dict[int, GpuProcess] = {}
        answered = False
        names: dict[int, str | None] = {}
        for kind, function in LISTS:
            entries = self._ask(function)
            answered = answered or entries is not None
            for entry in entries or ():
                pid = entry.pid
                if pid not in names:
                    names[pid] = self._names[pid] if pid in self._names else _name(pid)
                # A process that draws and computes stands in both lists with the same memory.
                before = found.get(pid)
                found[pid] = GpuProcess(
                    pid=pid,
                    name=names[pid],
                    mem_used=(before.mem_used if before is not None else None) or entry.usedGpuMemory,
                    kind=kind if before is None else "both",
                )
        self._names = names
        if any(process.mem_used is None for process in found.values()):
            counted = memory()
            for pid, process in found.items():
                if process.mem_used is None:
                    found[pid] = replace(process, mem_used=counted.get(pid))
        return tuple(found.values()) if answered else None


def _name(pid: int) -> str | None:
    import psutil

    try:
        return psutil.Process(pid).name()
    except (psutil.Error, OSError, ValueError):
        return None
