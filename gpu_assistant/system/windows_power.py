"""Windows' power: mains or battery, and staying awake."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from ctypes import wintypes  # noqa: E402

from .services import Power  # noqa: E402
from .windows_read import NO_BATTERY, UNKNOWN  # noqa: E402
from .windows_read import power as power_of  # noqa: E402

ES_CONTINUOUS, ES_SYSTEM_REQUIRED = 0x80000000, 0x1  # winnt.h


class _Status(ctypes.Structure):
    _fields_ = (
        ("line", ctypes.c_ubyte),
        ("battery", ctypes.c_ubyte),
        ("percent", ctypes.c_ubyte),
        ("saver", ctypes.c_ubyte),
        ("seconds_left", wintypes.DWORD),
        ("seconds_full", wintypes.DWORD),
    )


def power() -> Power:
    """From GetSystemPowerStatus; where that fails, nothing is known."""
    status = _Status()
    if not ctypes.WinDLL("kernel32").GetSystemPowerStatus(ctypes.byref(status)):
        return Power()
    return power_of(status.line, status.battery, status.percent, status.saver)


def battery() -> bool | None:
    """Whether the computer has a battery; None where Windows does not say."""
    status = _Status()
    if not ctypes.WinDLL("kernel32").GetSystemPowerStatus(ctypes.byref(status)) or status.battery == UNKNOWN:
        return None
    return not status.battery & NO_BATTERY


@contextmanager
def keep_awake() -> Iterator[bool]:
    """While this thread is in the context."""
    set_state = ctypes.WinDLL("kernel32").SetThreadExecutionState
    set_state.argtypes = (ctypes.c_uint,)
    set_state.restype = ctypes.c_uint
    # The state before, which is never 0; 0 is a failure.
    held = set_state(ES_CONTINUOUS | ES_SYSTEM_REQUIRED) != 0
    try:
        yield held
    finally:
        set_state(ES_CONTINUOUS)
