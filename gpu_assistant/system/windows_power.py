"""Windows' power: mains or battery, and staying awake."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from ctypes import wintypes  # noqa: E402

from .services import PowerStatus  # noqa: E402
from .windows_read import BATTERY_NONE, POWER_UNKNOWN  # noqa: E402
from .windows_read import parse_power_status as power_of  # noqa: E402

ES_CONTINUOUS, ES_SYSTEM_REQUIRED = 0x80000000, 0x1  # winnt.h


class _SystemPowerStatus(ctypes.Structure):
    _fields_ = (
        ("line", ctypes.c_ubyte),
        ("battery", ctypes.c_ubyte),
        ("percent", ctypes.c_ubyte),
        ("saver", ctypes.c_ubyte),
        ("seconds_left", wintypes.DWORD),
        ("seconds_full", wintypes.DWORD),
    )


def read_power_status() -> PowerStatus:
    """From GetSystemPowerStatus; where that fails, nothing is known."""
    status = _SystemPowerStatus()
    if not ctypes.WinDLL("kernel32").GetSystemPowerStatus(ctypes.byref(status)):
        return PowerStatus()
    return power_of(status.line, status.battery, status.percent, status.saver)


def has_battery() -> bool | None:
    """Whether the computer has a battery; None where Windows does not say."""
    status = _SystemPowerStatus()
    if not ctypes.WinDLL("kernel32").GetSystemPowerStatus(ctypes.byref(status)) or status.battery == POWER_UNKNOWN:
        return None
    return not status.battery & BATTERY_NONE


@contextmanager
def keep_awake() -> Iterator[bool]:
    """While this thread is in the context."""
    set_state = ctypes.WinDLL("kernel32").SetThreadExecutionState
    set_state.argtypes = (ctypes.c_uint,)
    set_state.restype = ctypes.c_uint
    # The state before, which is never 0; 0 is a failure.
    is_awake = set_state(ES_CONTINUOUS | ES_SYSTEM_REQUIRED) != 0
    try:
        yield is_awake
    finally:
        set_state(ES_CONTINUOUS)
