"""Administrator rights on Windows: asked for through the shell's "runas", used in folders that nobody else can change.

CreateProcess, and so subprocess, cannot ask for rights. Who may change a folder is read from its owner and its access
control list (DACL). Restore points are System Restore's.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
import subprocess
import threading
from collections.abc import Sequence
from ctypes import wintypes
from pathlib import Path
from typing import BinaryIO

from ...core.errors import AppError, Cancelled, ElevationDenied, os_error_text
from ..processes import POLL_INTERVAL_S, check_command, program_missing_error
from . import authenticode
from .com import COINIT_APARTMENTTHREADED
from .processes import check_not_batch_file, file_from_handle, open_handle, system_folder

# shellapi.h, winuser.h, winerror.h, synchapi.h
SEE_MASK_NOCLOSEPROCESS = 0x40
SEE_MASK_NOASYNC = 0x100
SEE_MASK_FLAG_NO_UI = 0x400
SW_SHOWNORMAL = 1
ERROR_CANCELLED = 1223
WAIT_TIMEOUT = 0x102

# winnt.h: write data, append, write attributes of both kinds, delete a child, delete, change permissions or owner,
# and the two generic rights that include them.
CHANGE_RIGHTS = 0x2 | 0x4 | 0x10 | 0x100 | 0x40 | 0x10000 | 0x40000 | 0x80000 | 0x40000000 | 0x10000000
ALLOW_ACE_TYPES = (0, 5, 9, 11)  # access control entries that allow something
SIMPLE_ACE_TYPES = (0, 9)  # those whose SID follows the mask directly
INHERIT_ONLY = 0x8
EVERYONE_SID = "S-1-1-0"
SE_FILE_OBJECT = 1
OWNER_AND_DACL = 0x1 | 0x4
# Owner and full access: administrators and the system; signed-in users may read. Nothing is inherited.
PRIVATE_FOLDER_SDDL = "O:BAD:P(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICI;FRFX;;;BU)"
ADMINISTRATOR_SIDS = frozenset(
    (
        "S-1-5-32-544",  # administrators
        "S-1-5-18",  # the system
        "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",  # TrustedInstaller
    )
)

# fileapi.h, winnt.h
FILE_FLAG_OPEN_REPARSE_POINT = 0x00200000
FILE_TYPE_DISK = 1
FILE_ATTRIBUTE_DIRECTORY = 0x10
FILE_ATTRIBUTE_REPARSE_POINT = 0x400
INVALID_FILE_ATTRIBUTES = 0xFFFFFFFF

# srrestoreptapi.h
BEGIN_SYSTEM_CHANGE = 100
END_SYSTEM_CHANGE = 101
DEVICE_DRIVER_INSTALL = 10
MAX_DESCRIPTION = 256
ERROR_SERVICE_DISABLED = 1058

Ace = tuple[int, int, int, str]  # type, flags, mask, SID ("?" where it cannot be read)


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
    """See `base.Elevation.run_as_admin`; also raises ValueError for a batch file."""
    command = check_command(argv)
    check_not_batch_file(command[0])
    if cancel is not None and cancel.is_set():
        raise Cancelled
    process = _shell_execute(command, window)
    kernel32 = _process_functions()
    try:
        while kernel32.WaitForSingleObject(process, int(POLL_INTERVAL_S * 1000)) == WAIT_TIMEOUT:
            if cancel is not None and cancel.is_set():
                # Fails unless we are elevated ourselves; the program then runs on.
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
        # No message box of the shell's own.
        mask=SEE_MASK_NOCLOSEPROCESS | SEE_MASK_NOASYNC | SEE_MASK_FLAG_NO_UI,
        window=window,
        verb="runas",
        file=command[0],
        parameters=subprocess.list2cmdline(command[1:]),
        directory=str(Path(command[0]).parent),
        show=SW_SHOWNORMAL,
    )
    # The shell may pass the work to extensions, which need COM. A thread that has it in another mode keeps that.
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
    """The error of a program that the shell did not start, by its error code (winerror.h)."""
    if error == ERROR_CANCELLED:
        return ElevationDenied("rights-refused", program=program)
    return program_missing_error(program, ctypes.FormatError(error))


def _process_functions() -> ctypes.WinDLL:
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.WaitForSingleObject.argtypes = (wintypes.HANDLE, wintypes.DWORD)
    kernel.WaitForSingleObject.restype = wintypes.DWORD
    kernel.TerminateProcess.argtypes = (wintypes.HANDLE, wintypes.UINT)
    kernel.GetExitCodeProcess.argtypes = (wintypes.HANDLE, ctypes.POINTER(wintypes.DWORD))
    kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
    return kernel


def writer_sids(owner: str, aces: tuple[Ace, ...] | None) -> set[str]:
    """The SIDs that may change the folder; without a DACL everybody may."""
    if aces is None:
        return {owner, EVERYONE_SID}
    return {owner} | {
        sid
        for ace_type, flags, mask, sid in aces
        if ace_type in ALLOW_ACE_TYPES and not flags & INHERIT_ONLY and mask & CHANGE_RIGHTS
    }


def read_owner_and_aces(folder: Path) -> tuple[str, tuple[Ace, ...] | None]:
    """The owner's SID and the entries of the DACL; None for no DACL. Raises OSError."""
    advapi32 = ctypes.WinDLL("advapi32", use_last_error=True)
    kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel32.LocalFree.argtypes = (ctypes.c_void_p,)
    owner, dacl, descriptor = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    error = advapi32.GetNamedSecurityInfoW(
        ctypes.c_wchar_p(str(folder)),
        SE_FILE_OBJECT,
        OWNER_AND_DACL,
        ctypes.byref(owner),
        None,
        ctypes.byref(dacl),
        None,
        ctypes.byref(descriptor),
    )
    if error:
        raise ctypes.WinError(error)
    try:
        return format_sid(owner.value), None if not dacl.value else tuple(_read_aces(advapi32, dacl))
    finally:
        kernel32.LocalFree(descriptor)


def _read_aces(advapi32: ctypes.WinDLL, dacl: ctypes.c_void_p) -> list[Ace]:
    count = ctypes.cast(dacl, ctypes.POINTER(wintypes.WORD))[2]  # ACL.AceCount
    aces: list[Ace] = []
    for ace_index in range(count):
        ace = ctypes.c_void_p()
        if not advapi32.GetAce(dacl, wintypes.DWORD(ace_index), ctypes.byref(ace)) or not ace.value:
            raise ctypes.WinError(ctypes.get_last_error())
        ace_type, flags = ctypes.cast(ace, ctypes.POINTER(ctypes.c_ubyte))[0:2]
        mask = ctypes.cast(ace, ctypes.POINTER(wintypes.DWORD))[1]
        aces.append((ace_type, flags, mask, format_sid(ace.value + 8) if ace_type in SIMPLE_ACE_TYPES else "?"))
    return aces


def format_sid(sid: int | None) -> str:
    """ "S-1-5-32-544" for a SID in memory; raises OSError."""
    advapi32 = ctypes.WinDLL("advapi32", use_last_error=True)
    kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel32.LocalFree.argtypes = (ctypes.c_void_p,)
    text = ctypes.c_wchar_p()
    if not advapi32.ConvertSidToStringSidW(ctypes.c_void_p(sid), ctypes.byref(text)) or text.value is None:
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        return str(text.value)
    finally:
        kernel32.LocalFree(ctypes.cast(text, ctypes.c_void_p))


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
    """Raises AppError("restore-point") where System Restore is off, missing, or refuses.

    By default Windows keeps at most one in 24 hours, and reports success for the others as well.
    """
    try:
        library = ctypes.WinDLL("srclient", winmode=0x800)  # from System32 alone
        set_restore_point = library.SRSetRestorePointW
    except (OSError, AttributeError) as error:
        raise AppError("restore-point", detail=str(error)) from error
    status = _RestorePointStatus()
    begin = _RestorePointInfo(
        event=BEGIN_SYSTEM_CHANGE, kind=DEVICE_DRIVER_INSTALL, number=0, words=description[: MAX_DESCRIPTION - 1]
    )
    if not set_restore_point(ctypes.byref(begin), ctypes.byref(status)):
        raise AppError("restore-point", detail=ctypes.FormatError(status.status or ERROR_SERVICE_DISABLED).strip())
    end = _RestorePointInfo(event=END_SYSTEM_CHANGE, kind=DEVICE_DRIVER_INSTALL, number=status.number, words="")
    set_restore_point(ctypes.byref(end), ctypes.byref(status))


class _SecurityAttributes(ctypes.Structure):
    _fields_ = (("length", wintypes.DWORD), ("descriptor", ctypes.c_void_p), ("inherit", wintypes.BOOL))


class WindowsElevatedSystem:
    """See `elevation.ElevatedSystem`; implements its `WindowsAdministration`, too.

    `trusted_sids` may change private folders; `root_certificate` (DER) is the only authority for signatures, None:
    those that Windows trusts.
    """

    def __init__(
        self, trusted_sids: frozenset[str] = ADMINISTRATOR_SIDS, root_certificate: bytes | None = None
    ) -> None:
        self._trusted_sids, self._root_certificate = trusted_sids, root_certificate

    def private_folder_path(self, name: str) -> Path:
        r"""In C:\Windows\Temp: its folders belong to their creators, and Windows cleans it."""
        buffer = ctypes.create_unicode_buffer(260)
        ctypes.windll.kernel32.GetSystemWindowsDirectoryW(buffer, len(buffer))
        return Path(buffer.value) / "Temp" / name

    def create_private_folder(self, name: str) -> Path:
        """Created with its access control list, not changed afterwards."""
        folder = self.private_folder_path(name)
        advapi32 = ctypes.WinDLL("advapi32", use_last_error=True)
        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel32.LocalFree.argtypes = (ctypes.c_void_p,)
        descriptor = ctypes.c_void_p()
        succeeded = advapi32.ConvertStringSecurityDescriptorToSecurityDescriptorW(
            ctypes.c_wchar_p(PRIVATE_FOLDER_SDDL), 1, ctypes.byref(descriptor), None
        )
        if succeeded:
            attributes = _SecurityAttributes(length=ctypes.sizeof(_SecurityAttributes), descriptor=descriptor)
            succeeded = kernel32.CreateDirectoryW(ctypes.c_wchar_p(str(folder)), ctypes.byref(attributes))
            error = ctypes.get_last_error()
            kernel32.LocalFree(descriptor)
        else:
            error = ctypes.get_last_error()
        if not succeeded:
            raise AppError("door-folder", path=str(folder), detail=ctypes.FormatError(error).strip())
        self.check_private_folder(folder)
        return folder

    def check_private_folder(self, folder: Path) -> None:
        """A real folder with a trusted owner, and no entry that lets anybody else change it."""
        attributes = _file_attributes(folder)
        is_missing = attributes == INVALID_FILE_ATTRIBUTES
        is_folder = attributes & FILE_ATTRIBUTE_DIRECTORY and not attributes & FILE_ATTRIBUTE_REPARSE_POINT
        if is_missing or not is_folder:
            raise AppError("door-folder", path=str(folder), detail=None)
        aces: tuple[Ace, ...] | None
        try:
            owner, aces = read_owner_and_aces(folder)
        except OSError as error:
            raise AppError("door-folder", path=str(folder), detail=os_error_text(error)) from error
        untrusted = writer_sids(owner, aces) - self._trusted_sids
        if untrusted:
            raise AppError("door-folder", path=str(folder), detail=", ".join(sorted(untrusted)))

    def open_user_file(self, path: Path) -> BinaryIO:
        """The path itself is no reparse point, and nobody can write or swap the file while it is open."""
        if not path.is_absolute() or ".." in path.parts or str(path).startswith(("\\\\", "//")):
            raise AppError("door-file", path=str(path), detail=None)
        try:
            handle = open_handle(path, FILE_FLAG_OPEN_REPARSE_POINT)
        except OSError as error:
            raise AppError("door-file", path=str(path), detail=os_error_text(error)) from error
        kernel32 = ctypes.WinDLL("kernel32")
        kernel32.GetFileType.argtypes = kernel32.CloseHandle.argtypes = (ctypes.c_void_p,)
        # While the handle is open, the path cannot lead to another file.
        is_special = _file_attributes(path) & (FILE_ATTRIBUTE_REPARSE_POINT | FILE_ATTRIBUTE_DIRECTORY)
        if kernel32.GetFileType(handle) != FILE_TYPE_DISK or is_special:
            kernel32.CloseHandle(handle)
            raise AppError("door-file", path=str(path), detail=None)
        return file_from_handle(handle)

    @property
    def windows(self) -> WindowsElevatedSystem:
        """Itself."""
        return self

    def system_programs_folder(self) -> Path:
        """System32."""
        return system_folder()

    def publisher(self, file: Path) -> str:
        """As Windows itself verifies the signature."""
        return authenticode.verify_publisher(file, self._root_certificate)

    def create_restore_point(self, description: str) -> None:
        """Through System Restore."""
        create_restore_point(description)


def _file_attributes(path: Path) -> int:
    attributes: int = ctypes.windll.kernel32.GetFileAttributesW(ctypes.c_wchar_p(str(path))) & INVALID_FILE_ATTRIBUTES
    return attributes
