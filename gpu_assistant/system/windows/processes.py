"""Programs on Windows: each in a job object of its own, which ends its whole tree on request and when we die."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
import math
import msvcrt
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from ctypes import wintypes
from pathlib import Path
from typing import BinaryIO

from ..processes import reap_in_background
from .functions import kernel32
from .structures import (
    JobObjectBasicLimitInformation,
    JobObjectExtendedLimitInformation,
    ProcessInformation,
    StartupInfoEx,
)

TERMINATE_GRACE_S = 5.0
BATCH_FILE_SUFFIXES = (".bat", ".cmd")

# winnt.h, processthreadsapi.h, winbase.h, winerror.h
JOB_EXTENDED_LIMIT_INFORMATION = 9
KILL_ON_JOB_CLOSE = 0x2000
DETACHED_PROCESS = 0x8
CREATE_BREAKAWAY_FROM_JOB = 0x1000000
ERROR_ACCESS_DENIED = 5
STARTF_USESTDHANDLES = 0x100
CREATE_UNICODE_ENVIRONMENT = 0x400
EXTENDED_STARTUPINFO_PRESENT = 0x80000
PROC_THREAD_ATTRIBUTE_HANDLE_LIST = 0x20002
PROC_THREAD_ATTRIBUTE_JOB_LIST = 0x2000D  # Windows 10 and later
WAIT_OBJECT_0, INFINITE = 0, 0xFFFFFFFF
# fileapi.h
GENERIC_READ = 0x80000000
FILE_SHARE_READ = 0x1
OPEN_EXISTING = 3
INVALID_HANDLE_VALUE = ctypes.c_void_p(-1).value


class JobProcess:
    """A started program with pipes on stdout and stderr, until `close`; used as subprocess.Popen is."""

    def __init__(self, handle: int, stdout: BinaryIO, stderr: BinaryIO) -> None:
        self.stdout, self.stderr = stdout, stderr
        self._handle = handle

    def close(self) -> None:
        """Close its handle; the pipes are closed by who reads them."""
        kernel32.CloseHandle(self._handle)

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        try:
            return self.wait(timeout=0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """The exit code once it has ended; raises subprocess.TimeoutExpired after `timeout` seconds."""
        milliseconds = INFINITE if timeout is None else math.ceil(timeout * 1000)
        if kernel32.WaitForSingleObject(self._handle, milliseconds) != WAIT_OBJECT_0:
            raise subprocess.TimeoutExpired("", timeout or 0)
        code = wintypes.DWORD()
        if not kernel32.GetExitCodeProcess(self._handle, ctypes.byref(code)):
            raise ctypes.WinError(ctypes.get_last_error())
        return code.value

    def kill(self) -> None:
        """End it, and nothing that it started; no error where it has ended."""
        kernel32.TerminateProcess(self._handle, 1)


class WindowsChildProcess:
    """A program in its job object."""

    def __init__(self, process: JobProcess, job: int) -> None:
        self.process = process
        self._job: int | None = job

    def terminate(self) -> None:
        """End everything in the job."""
        if self._job is not None:
            kernel32.TerminateJobObject(self._job, 1)
        # A process that Windows did not let into the job (a job around us may allow no second one) ends alone.
        self.process.kill()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=TERMINATE_GRACE_S)

    def close(self) -> None:
        """Close the job, which ends what the program left behind in it."""
        if self._job is not None:
            kernel32.CloseHandle(self._job)
            self._job = None
            self.process.close()


def check_not_batch_file(program: str) -> None:
    """Raise ValueError for a batch file: cmd would run it, and read its arguments as commands."""
    if program.lower().endswith(BATCH_FILE_SUFFIXES):
        raise ValueError(f"a batch file is not started: {program!r}")


def start_process(argv: Sequence[str], environ: Mapping[str, str], cwd: Path | None) -> WindowsChildProcess:
    """Start a program without a console window; raises OSError, ValueError for a batch file.

    It is in the job from its first instruction on: Windows puts it there when it creates the process.
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
        try:
            process = _create_process(argv, environ, cwd, job)
        except OSError as error:
            # A job around us may allow no second one.
            if error.winerror != ERROR_ACCESS_DENIED:
                raise
            process = _create_process(argv, environ, cwd, None)
    except (OSError, ValueError):
        kernel32.CloseHandle(job)
        raise
    return WindowsChildProcess(process, job)


def _create_process(argv: Sequence[str], environ: Mapping[str, str], cwd: Path | None, job: int | None) -> JobProcess:
    """CreateProcessW with a job, which subprocess cannot name, with nothing on stdin and pipes on stdout and stderr."""
    # What the program gets is closed here in any case; what stays with us, only where it does not start.
    with ExitStack() as stack, ExitStack() as kept:
        (stdout, to_stdout), (stderr, to_stderr) = (_open_pipe(kept, stack) for _ in range(2))
        nothing = stack.enter_context(open(os.devnull, "rb"))  # noqa: PTH123 - a device, not a path
        # In the order of STARTUPINFO; these three and no other handle of ours are inherited.
        streams = [msvcrt.get_osfhandle(file.fileno()) for file in (nothing, to_stdout, to_stderr)]
        for handle in streams:
            os.set_handle_inheritable(handle, True)
        attributes = {PROC_THREAD_ATTRIBUTE_HANDLE_LIST: streams}
        if job is not None:
            attributes[PROC_THREAD_ATTRIBUTE_JOB_LIST] = [job]
        startup = StartupInfoEx()
        startup.StartupInfo.cb = ctypes.sizeof(startup)
        startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES
        startup.StartupInfo.hStdInput, startup.StartupInfo.hStdOutput, startup.StartupInfo.hStdError = streams
        startup.lpAttributeList = ctypes.cast(stack.enter_context(_attribute_list(attributes)), ctypes.c_void_p)
        created = ProcessInformation()
        if not kernel32.CreateProcessW(
            argv[0],
            ctypes.create_unicode_buffer(subprocess.list2cmdline(argv)),
            None,
            None,
            True,  # handles are inherited: those of the list
            subprocess.CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT,
            _environment_block(environ),
            None if cwd is None else str(cwd),
            ctypes.byref(startup),
            ctypes.byref(created),
        ):
            raise ctypes.WinError(ctypes.get_last_error())
        kernel32.CloseHandle(created.hThread)
        kept.pop_all()
        return JobProcess(created.hProcess, stdout, stderr)


def _open_pipe(kept: ExitStack, given: ExitStack) -> tuple[BinaryIO, BinaryIO]:
    """The end for reading and the one for writing."""
    read, write = os.pipe()
    return kept.enter_context(os.fdopen(read, "rb")), given.enter_context(os.fdopen(write, "wb"))


@contextmanager
def _attribute_list(attributes: Mapping[int, Sequence[int]]) -> Iterator[ctypes.Array[ctypes.c_char]]:
    """A list of handles for each attribute, as CreateProcessW takes them. Raises OSError."""
    size = ctypes.c_size_t()
    kernel32.InitializeProcThreadAttributeList(None, len(attributes), 0, ctypes.byref(size))
    memory = ctypes.create_string_buffer(size.value)
    if not kernel32.InitializeProcThreadAttributeList(memory, len(attributes), 0, ctypes.byref(size)):
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        # The list points to these: they live as long as it.
        values = {kind: (wintypes.HANDLE * len(handles))(*handles) for kind, handles in attributes.items()}
        for kind, array in values.items():
            if not kernel32.UpdateProcThreadAttribute(memory, 0, kind, array, ctypes.sizeof(array), None, None):
                raise ctypes.WinError(ctypes.get_last_error())
        yield memory
    finally:
        kernel32.DeleteProcThreadAttributeList(memory)


def _environment_block(environ: Mapping[str, str]) -> ctypes.Array[ctypes.c_wchar]:
    """ "NAME=value" after another, sorted by name, each and the whole ended by a zero. Raises ValueError."""
    for name, value in environ.items():
        if "\0" in name + value or "=" in name[1:] or not name:
            raise ValueError(f"{name!r} is no environment variable")
    lines = (f"{name}={environ[name]}\0" for name in sorted(environ, key=str.upper))
    return ctypes.create_unicode_buffer("".join(lines) + "\0")


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
