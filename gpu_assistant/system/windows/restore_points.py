"""Restore points of System Restore: made before a driver, and looked for afterwards.

learn.microsoft.com/windows/win32/sr/using-system-restore: the process initializes COM's security so that Windows' own
services may call it back, else SRSetRestorePoint does not work. It also reports success where Windows, which makes one
point in 24 hours, made none, with the number of the earlier one (…/sr/calling-srsetrestorepoint): only the list of
points (the class SystemRestore of WMI), before and afterwards, tells.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import wintypes
from typing import Any

from ...core.errors import AppError, os_error_text
from ..processes import run_process
from . import processes
from .com import COINIT_MULTITHREADED, com_initialized
from .functions import advapi32, kernel32, ole32, srclient
from .parsing import parse_restore_points
from .structures import MAX_DESC_W, RestorePointInfo, StateManagerStatus

# srrestoreptapi.h, winerror.h
BEGIN_SYSTEM_CHANGE, END_SYSTEM_CHANGE = 100, 101
DEVICE_DRIVER_INSTALL = 10
ERROR_SERVICE_DISABLED = 1058
# rpcdce.h, objidl.h, winerror.h
RPC_C_AUTHN_LEVEL_PKT_PRIVACY, RPC_C_IMP_LEVEL_IDENTIFY = 6, 2
EOAC_NO_CUSTOM_MARSHAL, EOAC_DISABLE_AAA = 0x2000, 0x1000
RPC_E_TOO_LATE = -2147417831
SDDL_REVISION_1 = 1  # sddl.h
# COM_RIGHTS_EXECUTE for LocalService, NetworkService, ourselves, the system and administrators.
CALLERS_SDDL = "O:BAG:BAD:(A;;0x1;;;LS)(A;;0x1;;;NS)(A;;0x1;;;PS)(A;;0x1;;;SY)(A;;0x1;;;BA)"

# Modules of Windows alone: PowerShell also looks into the user's Documents, and starts what the user's variables name.
OWN_MODULES = "$env:PSModulePath = $PSHOME + '\\Modules'; "
OWN_ENVIRONMENT = {"COR_ENABLE_PROFILING": None}
LIST_COMMAND = "Get-CimInstance -Namespace root/default -ClassName SystemRestore | ForEach-Object SequenceNumber"
LIST_TIMEOUT_S = 60.0


def list_restore_points() -> frozenset[int]:
    """The sequence numbers of all restore points; raises AppError where nobody tells."""
    powershell = processes.system_folder() / "WindowsPowerShell" / "v1.0" / "powershell.exe"
    finished = run_process(
        processes.start_process,
        [powershell, "-NoProfile", "-NonInteractive", "-Command", OWN_MODULES + LIST_COMMAND],
        timeout=LIST_TIMEOUT_S,
        environ=OWN_ENVIRONMENT,
        cwd=None,
        cancel=None,
        on_line=None,
        fallback_encoding="mbcs",
    )
    return parse_restore_points(finished.stdout)


def create_restore_point(
    description: str,
    *,
    set_point: Callable[..., int] | None = None,
    list_points: Callable[[], frozenset[int]] = list_restore_points,
) -> None:
    """Raises AppError("restore-point") where System Restore is off, missing, or refuses, and where the new point is not
    among the points afterwards, or was before. `set_point` (SRSetRestorePointW) and `list_points` replace Windows' own
    in tests.
    """
    status = StateManagerStatus()
    begin = RestorePointInfo(
        dwEventType=BEGIN_SYSTEM_CHANGE,
        dwRestorePtType=DEVICE_DRIVER_INSTALL,
        szDescription=description[: MAX_DESC_W - 1],
    )
    earlier = list_points()
    try:
        with com_initialized(COINIT_MULTITHREADED):
            _allow_services_to_call()
            set_point = set_point or srclient.SRSetRestorePointW
            if not set_point(ctypes.byref(begin), ctypes.byref(status)):
                reason = ctypes.FormatError(status.nStatus or ERROR_SERVICE_DISABLED).strip()
                raise AppError("restore-point", detail=reason)
            number = status.llSequenceNumber
            end = RestorePointInfo(
                dwEventType=END_SYSTEM_CHANGE, dwRestorePtType=DEVICE_DRIVER_INSTALL, llSequenceNumber=number
            )
            set_point(ctypes.byref(end), ctypes.byref(status))
    except OSError as error:
        raise AppError("restore-point", detail=os_error_text(error)) from error
    except AttributeError as error:  # a library without the function
        raise AppError("restore-point", detail=str(error)) from error
    if number in earlier or number not in list_points():
        raise AppError("restore-point", detail=f"SystemRestore {number}")


def _allow_services_to_call() -> None:
    """Initialize the security of this process's COM, once; raises OSError."""
    with absolute_descriptor(CALLERS_SDDL) as descriptor:
        result: int = ole32.CoInitializeSecurity(
            *(descriptor, -1, None, None),
            *(RPC_C_AUTHN_LEVEL_PKT_PRIVACY, RPC_C_IMP_LEVEL_IDENTIFY, None),
            *(EOAC_NO_CUSTOM_MARSHAL | EOAC_DISABLE_AAA, None),
        )
    if result < 0 and result != RPC_E_TOO_LATE:
        raise ctypes.WinError(result)


@contextmanager
def absolute_descriptor(sddl: str) -> Iterator[ctypes.Array[Any]]:
    """A security descriptor in absolute format, which alone CoInitializeSecurity takes; raises OSError."""
    relative = ctypes.c_void_p()
    if not advapi32.ConvertStringSecurityDescriptorToSecurityDescriptorW(
        sddl, SDDL_REVISION_1, ctypes.byref(relative), None
    ):
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        # Descriptor, DACL, SACL, owner, group: the first call only asks for their sizes.
        sizes = [wintypes.DWORD() for _ in range(5)]
        no_buffers = [item for size in sizes for item in (None, ctypes.byref(size))]
        advapi32.MakeAbsoluteSD(relative, *no_buffers)
        buffers = [ctypes.create_string_buffer(max(size.value, 1)) for size in sizes]
        parts = [item for buffer, size in zip(buffers, sizes, strict=True) for item in (buffer, ctypes.byref(size))]
        if not advapi32.MakeAbsoluteSD(relative, *parts):
            raise ctypes.WinError(ctypes.get_last_error())
        yield buffers[0]
    finally:
        kernel32.LocalFree(relative)
