"""Administrator rights: the one way to a program that has them is the shell's "runas", which asks the user.

CreateProcess cannot do it, so neither can subprocess.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
import subprocess  # noqa: E402
import threading  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from ctypes import wintypes  # noqa: E402
from pathlib import Path  # noqa: E402

from ..core.errors import AppError, Cancelled, ElevationDenied  # noqa: E402
from .processes import POLL_INTERVAL_S, check_command, program_missing_error  # noqa: E402
from .windows_processes import check_not_batch_file  # noqa: E402

# shellapi.h, winuser.h, winerror.h, synchapi.h, objbase.h
SEE_MASK_NOCLOSEPROCESS = 0x40
SEE_MASK_NOASYNC = 0x100
SEE_MASK_FLAG_NO_UI = 0x400
SW_SHOWNORMAL = 1
ERROR_CANCELLED = 1223
WAIT_TIMEOUT = 0x102
COINIT_APARTMENTTHREADED = 0x2


class _ExecuteInfo(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD),
        ("mask", wintypes.ULONG),
        ("window", wintypes.HWND),
        ("verb", wintypes.LPCWSTR),
        ("file", wintypes.LPCWSTR),
        ("parameters", wintypes.LPCWSTR),
        ("directory", wintypes.LPCWSTR),
        ("show", ctypes.c_int),
        ("instance", wintypes.HINSTANCE),
        ("id_list", ctypes.c_void_p),
        ("class_name", wintypes.LPCWSTR),
        ("class_key", wintypes.HKEY),
        ("hot_key", wintypes.DWORD),
        ("monitor", wintypes.HANDLE),
        ("process", wintypes.HANDLE),
    )


def run_as_admin(argv: Sequence[str | Path], *, cancel: threading.Event | None, window: int | None) -> int:
    """See `base.System.run_as_admin`; also raises ValueError for a batch file."""
    command = check_command(argv)
    check_not_batch_file(command[0])
    if cancel is not None and cancel.is_set():
        raise Cancelled
    process = _shell_execute(command, window)
    kernel32 = _kernel32()
    try:
        while kernel32.WaitForSingleObject(process, int(POLL_INTERVAL_S * 1000)) == WAIT_TIMEOUT:
            if cancel is not None and cancel.is_set():
                # Windows lets only an elevated us end an elevated program.
                kernel32.TerminateProcess(process, 1)
                raise Cancelled
        code = wintypes.DWORD()
        if not kernel32.GetExitCodeProcess(process, ctypes.byref(code)):
            raise program_missing_error(command[0], ctypes.FormatError(ctypes.get_last_error()))
        return code.value
    finally:
        kernel32.CloseHandle(process)


def _shell_execute(command: Sequence[str], window: int | None) -> int:
    shell = ctypes.WinDLL("shell32", use_last_error=True)
    shell.ShellExecuteExW.argtypes = (ctypes.POINTER(_ExecuteInfo),)
    ole = ctypes.WinDLL("ole32")
    info = _ExecuteInfo(
        size=ctypes.sizeof(_ExecuteInfo),
        # No message box of the shell's own: its words would be another program's.
        mask=SEE_MASK_NOCLOSEPROCESS | SEE_MASK_NOASYNC | SEE_MASK_FLAG_NO_UI,
        window=window,
        verb="runas",
        file=command[0],
        parameters=subprocess.list2cmdline(command[1:]),
        directory=str(Path(command[0]).parent),
        show=SW_SHOWNORMAL,
    )
    # The shell may hand the work to extensions, which need COM. A thread that has it in another mode is left so.
    com_initialized = ole.CoInitializeEx(None, COINIT_APARTMENTTHREADED) >= 0
    try:
        started = shell.ShellExecuteExW(ctypes.byref(info))
        error = ctypes.get_last_error()
    finally:
        if com_initialized:
            ole.CoUninitialize()
    if started and info.process:
        return int(info.process)
    raise elevation_error(command[0], error)


def elevation_error(program: str, error: int) -> AppError:
    """What the shell's error (winerror.h) says of a program that it did not start."""
    if error == ERROR_CANCELLED:
        return ElevationDenied("rights-refused", program=program)
    return program_missing_error(program, ctypes.FormatError(error))


def _kernel32() -> ctypes.WinDLL:
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.WaitForSingleObject.argtypes = (wintypes.HANDLE, wintypes.DWORD)
    kernel.WaitForSingleObject.restype = wintypes.DWORD
    kernel.TerminateProcess.argtypes = (wintypes.HANDLE, wintypes.UINT)
    kernel.GetExitCodeProcess.argtypes = (wintypes.HANDLE, ctypes.POINTER(wintypes.DWORD))
    kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
    return kernel
