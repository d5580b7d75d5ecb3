"""A restore point on Windows, through System Restore's own library."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from ctypes import wintypes  # noqa: E402

from ..core.errors import AppError  # noqa: E402

# srrestoreptapi.h
BEGIN_SYSTEM_CHANGE = 100
END_SYSTEM_CHANGE = 101
DEVICE_DRIVER_INSTALL = 10
MAX_DESCRIPTION = 256
ERROR_SERVICE_DISABLED = 1058


class _RestorePointInfo(ctypes.Structure):
    _pack_ = 1
    _fields_ = (
        ("event", wintypes.DWORD),
        ("kind", wintypes.DWORD),
        ("number", ctypes.c_longlong),
        ("words", wintypes.WCHAR * MAX_DESCRIPTION),
    )


class _RestorePointStatus(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("status", wintypes.DWORD), ("number", ctypes.c_longlong))


def create_restore_point(description: str) -> None:
    """Raises AppError("restore-point"): switched off by its owner, refused, or not there at all.

    Windows itself keeps at most one in 24 hours unless its owner said otherwise, and then says yes all the same.
    """
    try:
        library = ctypes.WinDLL("srclient", winmode=0x800)  # from System32 alone
        set_restore_point = library.SRSetRestorePointW
    except (OSError, AttributeError) as error:
        raise AppError("restore-point", detail=str(error)) from error
    status = _RestorePointStatus()
    begin = _RestorePointInfo(event=BEGIN_SYSTEM_CHANGE, kind=DEVICE_DRIVER_INSTALL, number=0, words=description[: MAX_DESCRIPTION - 1])
    if not set_restore_point(ctypes.byref(begin), ctypes.byref(status)):
        raise AppError("restore-point", detail=ctypes.FormatError(status.status or ERROR_SERVICE_DISABLED).strip())
    end = _RestorePointInfo(event=END_SYSTEM_CHANGE, kind=DEVICE_DRIVER_INSTALL, number=status.number, words="")
    set_restore_point(ctypes.byref(end), ctypes.byref(status))
