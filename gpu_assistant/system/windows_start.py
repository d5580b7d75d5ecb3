"""A program that is started on Windows and left to live on, the very file that was checked."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
import msvcrt  # noqa: E402
import os  # noqa: E402
import subprocess  # noqa: E402
import threading  # noqa: E402
from collections.abc import Callable  # noqa: E402
from ctypes import wintypes  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import BinaryIO  # noqa: E402

from .windows_processes import check_not_batch_file  # noqa: E402

# winbase.h, winerror.h
DETACHED_PROCESS = 0x8
CREATE_BREAKAWAY_FROM_JOB = 0x1000000
ERROR_ACCESS_DENIED = 5
# fileapi.h
GENERIC_READ = 0x80000000
FILE_SHARE_READ = 0x1
OPEN_EXISTING = 3
INVALID_HANDLE_VALUE = ctypes.c_void_p(-1).value


def start_checked(program: Path, check: Callable[[BinaryIO], None]) -> None:
    """See `base.System.start_checked`: nobody can write, replace or remove the file between check and start."""
    check_not_batch_file(str(program))
    with _open_locked(program) as file:
        check(file)
        # Out of a job of ours, where there is one and it lets go: it would end the program with us.
        try:
            process = _start_detached(program, CREATE_BREAKAWAY_FROM_JOB)
        except OSError as error:
            if error.winerror != ERROR_ACCESS_DENIED:
                raise
            process = _start_detached(program, 0)
    # Its handle is kept until somebody has taken note of its end.
    threading.Thread(target=process.wait, name=f"waits for {program.name}", daemon=True).start()


def _open_locked(program: Path) -> BinaryIO:
    """A file open for reading that others may read, but neither write nor rename nor remove meanwhile."""
    open_file = ctypes.WinDLL("kernel32", use_last_error=True).CreateFileW
    open_file.restype = ctypes.c_void_p
    open_file.argtypes = (
        wintypes.LPCWSTR,
        wintypes.DWORD,
        wintypes.DWORD,
        ctypes.c_void_p,
        wintypes.DWORD,
        wintypes.DWORD,
        wintypes.HANDLE,
    )
    handle = open_file(str(program), GENERIC_READ, FILE_SHARE_READ, None, OPEN_EXISTING, 0, None)
    if handle is None or handle == INVALID_HANDLE_VALUE:
        raise ctypes.WinError(ctypes.get_last_error())
    return os.fdopen(msvcrt.open_osfhandle(handle, os.O_RDONLY | os.O_BINARY), "rb")


def _start_detached(program: Path, flags: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(program)],
        cwd=program.anchor,
        creationflags=DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP | flags,
    )
