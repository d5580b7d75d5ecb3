"""The processes on one card, and how they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from msgspec.structs import replace

from ..core.results import GpuProcess

PROCESS_LISTS: tuple[tuple[Literal["compute", "graphics"], str], ...] = (
    ("compute", "nvmlDeviceGetComputeRunningProcesses"),
    ("graphics", "nvmlDeviceGetGraphicsRunningProcesses"),
)


class GpuProcessList:
    """Asks through a card's `ask`. A process is asked for its name once, when it is first seen."""

    def __init__(self, query: Callable[[str], Any]) -> None:
        self._query = query
        self._names: dict[int, str | None] = {}

    def list_processes(self, read_system_memory: Callable[[], dict[int, int]]) -> tuple[GpuProcess, ...] | None:
        """Each process once; None where the card does not tell. `memory` is the system's own count, by process."""
        processes: dict[int, GpuProcess] = {}
        is_supported = False
        names: dict[int, str | None] = {}
        for kind, function in PROCESS_LISTS:
            entries = self._query(function)
            is_supported = is_supported or entries is not None
            for entry in entries or ():
                pid = entry.pid
                if pid not in names:
                    names[pid] = self._names[pid] if pid in self._names else _process_name(pid)
                # A process that draws and computes stands in both lists with the same memory.
                existing = processes.get(pid)
                processes[pid] = GpuProcess(
                    pid=pid,
                    name=names[pid],
                    mem_used=(existing.mem_used if existing is not None else None) or entry.usedGpuMemory,
                    kind=kind if existing is None else "both",
                )
        self._names = names
        if any(process.mem_used is None for process in processes.values()):
            system_memory = read_system_memory()
            for pid, process in processes.items():
                if process.mem_used is None:
                    processes[pid] = replace(process, mem_used=system_memory.get(pid))
        return tuple(processes.values()) if is_supported else None


def _process_name(pid: int) -> str | None:
    import psutil

    try:
        return psutil.Process(pid).name()
    except (psutil.Error, OSError, ValueError):
        return None
