"""How much of the computer's memory can be filled just now."""

from __future__ import annotations

import ctypes
import os
from typing import Optional


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of sysinfoapi.h."""

    _fields_ = [
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in ("total", "available", "page_total", "page", "virtual_total", "virtual")),
        ("extended", ctypes.c_uint64),
    ]


def available_memory_bytes() -> Optional[int]:
    """Bytes that programs can get without another one being paged out; None where nobody tells."""
    try:
        return _windows_available_bytes() if os.name == "nt" else _linux_available_bytes()
    except (OSError, StopIteration, ValueError, AttributeError):
        return None


def _linux_available_bytes() -> int:
    with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))


def _windows_available_bytes() -> Optional[int]:
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    library = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined, unused-ignore]
    return int(status.available) if library.GlobalMemoryStatusEx(ctypes.byref(status)) else None
