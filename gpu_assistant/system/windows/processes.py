"""Programs on Windows: each in a job object of its own, which ends its whole tree on request and when we die."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
import msvcrt
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ctypes import wintypes
from pathlib import Path
from typing import BinaryIO

from ..processes import reap_in_background
from .functions import kernel32, ntdll
from .structures import JobObjectBasicLimitInformation, JobObjectExtendedLimitInformation

TERMINATE_GRACE_S = 5.0
BATCH_FILE_SUFFIXES = (".bat", ".cmd")

# winnt.h, processthreadsapi.h, winbase.h, winerror.h
CREATE_SUSPENDED = 0x4
JOB_EXTENDED_LIMIT_INFORMATION = 9
KILL_ON_JOB_CLOSE = 0x2000
DETACHED_PROCESS = 0x8
CREATE_BREAKAWAY_FROM_JOB = 0x1000000
ERROR_ACCESS_DENIED = 5
# fileapi.h
GENERIC_READ = 0x80000000
FILE_SHARE_READ = 0x1
OPEN_EXISTING = 3
INVALID_HANDLE_VALUE = ctypes.c_void_p(-1).value


class WindowsChildProcess:
    """A program in its job object."""

    def __init__(self, process: subprocess.Popen[bytes], job: int) -> None:
        self.process = process
        self._job: int | None = job

    def terminate(self) -> None:
        """End everything in the job."""
        if self._job is not None:
            kernel32.TerminateJobObject(self._job, 1)
        # A process that Windows did not let into the job (a job around us may allow no second one) ends alone.
        with suppress(OSError):
            self.process.kill()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=TERMINATE_GRACE_S)

    def close(self) -> None:
        """Close the job, which ends what the program left behind in it."""
        if self._job is not None:
            kernel32.CloseHandle(self._job)
            self._job = None


def check_not_batch_file(program: str) -> None:
    """Raise ValueError for a batch file: cmd would run it, and read its arguments as commands."""
    if program.lower().endswith(BATCH_FILE_SUFFIXES):
        raise ValueError(f"a batch file is not started: {program!r}")


def start_process(argv: Sequence[str], environ: Mapping[str, str], cwd: Path | None) -> WindowsChildProcess:
    """Start a program without a console window; raises OSError, ValueError for a batch file.

    It starts suspended, so that it is in the job before it can start anything itself.
    """
    check_not_batch_file(argv[0])
    job = kernel32.CreateJobObjectW(None, None)
    limits = JobObjectExtendedLimitInformation(
        BasicLimitInformation=JobObjectBasicLimitInformation(LimitFlags=KILL_ON_JOB_CLOSE)
    )
    if not job or not kernel32.SetInformationJobObject(
        job, JOB_EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
    ):
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
            cwd=cwd,
            creationflags=subprocess.CREATE_NO_WINDOW | CREATE_SUSPENDED,
        )
    except OSError:
        kernel32.CloseHandle(job)
        raise
    child = WindowsChildProcess(process, job)
    handle = int(process._handle)  # type: ignore[attr-defined]  # noqa: SLF001 - Popen keeps it under this name only
    kernel32.AssignProcessToJobObject(job, handle)
    # Popen has closed the thread's handle, which ResumeThread would need; this resumes the whole process.
    if ntdll.NtResumeProcess(handle):
        child.terminate()
        child.close()
        raise OSError(f"{argv[0]} cannot be resumed")
    return child


def start_to_end(
    argv: Sequence[str], environ: Mapping[str, str], cwd: Path | None, output: BinaryIO
) -> subprocess.Popen[bytes]:
    """Start a program that nothing of ours ends; raises OSError, ValueError for a batch file."""
    check_not_batch_file(argv[0])
    return _start_outside_of_job(
        lambda flags: subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(environ),
            cwd=cwd,
            creationflags=subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP | flags,
        )
    )


def _start_outside_of_job(start: Callable[[int], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Start it outside of a job that we may be in, if that one allows it: it would end the program with us."""
    try:
        return start(CREATE_BREAKAWAY_FROM_JOB)
    except OSError as error:
        if error.winerror != ERROR_ACCESS_DENIED:
            raise
        return start(0)


def start_checked(program: Path, check: Callable[[BinaryIO], None]) -> None:
    """See `base.Processes.start_checked`: nobody can write, replace or delete the file between check and start."""
    check_not_batch_file(str(program))
    with file_from_handle(open_handle(program)) as file:
        check(file)
        process = _start_outside_of_job(lambda flags: _start_detached_program(program, flags))
    reap_in_background(process)


def _start_detached_program(program: Path, flags: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(program)],
        cwd=program.anchor,
        creationflags=DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP | flags,
    )


def start_detached(argv: Sequence[str], cwd: Path, *, new_console: bool = False) -> None:
    """Start a program that outlives us, with or without a console; raises OSError, ValueError for a batch file."""
    check_not_batch_file(argv[0])
    console = subprocess.CREATE_NEW_CONSOLE if new_console else DETACHED_PROCESS
    process = _start_outside_of_job(lambda flags: subprocess.Popen(argv, cwd=cwd, creationflags=console | flags))
    reap_in_background(process)


def open_handle(path: Path, flags: int = 0) -> int:
    """A file's handle for reading; others may read it meanwhile, but not write, rename or delete it. Raises OSError."""
    handle = kernel32.CreateFileW(str(path), GENERIC_READ, FILE_SHARE_READ, None, OPEN_EXISTING, flags, None)
    if handle is None or handle == INVALID_HANDLE_VALUE:
        raise ctypes.WinError(ctypes.get_last_error())
    return int(handle)


def file_from_handle(handle: int) -> BinaryIO:
    """A file object that owns the handle."""
    return os.fdopen(msvcrt.open_osfhandle(handle, os.O_RDONLY | os.O_BINARY), "rb")


def system_folder() -> Path:
    """System32, as Windows says: environment variables are the user's to change."""
    buffer = ctypes.create_unicode_buffer(wintypes.MAX_PATH)
    kernel32.GetSystemDirectoryW(buffer, len(buffer))
    return Path(buffer.value)
