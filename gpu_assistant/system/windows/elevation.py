"""Administrator rights on Windows: asked for through the shell's "runas", used in folders that nobody else can change.

CreateProcess, and so subprocess, cannot ask for rights. Who may change a folder is read from its owner and its access
control list (DACL).
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
import itertools
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from ctypes import wintypes
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from ...core import filesystem
from ...core.errors import AppError, Cancelled, ElevationDenied, os_error_text
from ..base import FolderWriters
from ..processes import POLL_INTERVAL_S, check_command, program_missing_error
from . import authenticode, restore_points
from .com import COINIT_APARTMENTTHREADED, COINIT_DISABLE_OLE1DDE
from .functions import advapi32, kernel32, ole32, shell32, version
from .processes import check_not_batch_file, file_from_handle, open_handle, system_folder
from .structures import (
    AccessAllowedAce,
    Acl,
    FixedFileInfo,
    SecurityAttributes,
    ShellExecuteInfo,
)

# shellapi.h, winuser.h, winerror.h, synchapi.h
SEE_MASK_NOCLOSEPROCESS = 0x40
SEE_MASK_NOASYNC = 0x100
SEE_MASK_FLAG_NO_UI = 0x400
SW_SHOWNORMAL = 1
ERROR_CANCELLED = 1223
ERROR_TIMEOUT = 1460
CONSENT_TIMEOUT_S = 110.0  # User Account Control waits for two minutes
WAIT_TIMEOUT = 0x102

# winnt.h: write data, append, write attributes of both kinds, delete a child, delete, change permissions or owner,
# and the two generic rights that include them.
CHANGE_RIGHTS = 0x2 | 0x4 | 0x10 | 0x100 | 0x40 | 0x10000 | 0x40000 | 0x80000 | 0x40000000 | 0x10000000
ALLOW_ACE_TYPES = (0, 5, 9, 11)  # access control entries that allow something
SIMPLE_ACE_TYPES = (0, 9)  # those whose SID follows the mask directly
INHERIT_ONLY = 0x8
SDDL_REVISION_1 = 1  # sddl.h
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

# Everybody, anonymous, authenticated and interactive users, the groups of users and of guests.
PUBLIC_SIDS = frozenset((EVERYONE_SID, "S-1-5-7", "S-1-5-11", "S-1-5-4", "S-1-5-32-545", "S-1-5-32-546"))
PLACEHOLDER_SIDS = frozenset(("S-1-3-0", "S-1-3-1", "S-1-3-4"))  # whoever creates, and the owner's own rights
ACCOUNT_LENGTH = 257  # lmcons.h: UNLEN, and the terminating zero

# fileapi.h, winnt.h
FILE_FLAG_OPEN_REPARSE_POINT = 0x00200000
FILE_TYPE_DISK = 1
FILE_ATTRIBUTE_DIRECTORY = 0x10
FILE_ATTRIBUTE_REPARSE_POINT = 0x400
INVALID_FILE_ATTRIBUTES = 0xFFFFFFFF


LAUNCHER = "GPU Assistant.exe"  # of the setup program and the portable folder (installers/windows/build.py)
ASIDE_SUFFIX = ".before-gpu-assistant"
UNPACK_FOLDER_MARK = ".gpu-assistant"  # a file in a folder to which an installer unpacks itself, which is ours then

Ace = tuple[int, int, int, str]  # type, flags, mask, SID ("?" where it cannot be read)


def run_as_admin(argv: Sequence[str | Path], *, cancel: threading.Event | None, window: int | None) -> int:
    """See `base.Elevation.run_as_admin`; also raises ValueError for a batch file."""
    command = check_command(argv)
    check_not_batch_file(command[0])
    if cancel is not None and cancel.is_set():
        raise Cancelled
    process = _shell_execute(command, window)
    try:
        while kernel32.WaitForSingleObject(process, int(POLL_INTERVAL_S * 1000)) == WAIT_TIMEOUT:
            if cancel is not None and cancel.is_set():
                # Fails unless we are elevated ourselves; the program then runs on. Who passes `cancel` decides how long
                # a cancel may end it.
                kernel32.TerminateProcess(process, 1)
                raise Cancelled
        code = wintypes.DWORD()
        if not kernel32.GetExitCodeProcess(process, ctypes.byref(code)):
            raise program_missing_error(command[0], os_error_text(ctypes.WinError(ctypes.get_last_error())))
        return code.value
    finally:
        kernel32.CloseHandle(process)


def _shell_execute(command: Sequence[str], window: int | None) -> int:
    info = ShellExecuteInfo(
        cbSize=ctypes.sizeof(ShellExecuteInfo),
        # No message box of the shell's own.
        fMask=SEE_MASK_NOCLOSEPROCESS | SEE_MASK_NOASYNC | SEE_MASK_FLAG_NO_UI,
        hwnd=window,
        lpVerb="runas",
        lpFile=command[0],
        lpParameters=subprocess.list2cmdline(command[1:]),
        lpDirectory=str(Path(command[0]).parent),
        nShow=SW_SHOWNORMAL,
    )
    # The shell may pass the work to extensions, which need COM. A thread that has it in another mode keeps that.
    asked_at = time.monotonic()
    # https://learn.microsoft.com/windows/win32/api/shellapi/nf-shellapi-shellexecuteexw#remarks
    com_initialized = ole32.CoInitializeEx(None, COINIT_APARTMENTTHREADED | COINIT_DISABLE_OLE1DDE) >= 0
    try:
        started = shell32.ShellExecuteExW(ctypes.byref(info))
        error = ctypes.get_last_error()
    finally:
        if com_initialized:
            ole32.CoUninitialize()
    if started and info.hProcess:
        return int(info.hProcess)
    raise elevation_error(command[0], error, time.monotonic() - asked_at)


def elevation_error(program: str, error: int, waited_s: float) -> AppError:
    """The error of a program that the shell did not start, by its error code (winerror.h).

    Windows closes a question that nobody answers, and says that it was cancelled.
    """
    if error == ERROR_TIMEOUT or (error == ERROR_CANCELLED and waited_s >= CONSENT_TIMEOUT_S):
        return ElevationDenied("rights-unanswered", program=program)
    if error == ERROR_CANCELLED:
        return ElevationDenied("rights-refused", program=program)
    return program_missing_error(program, os_error_text(ctypes.WinError(error)))


def writer_sids(owner: str, aces: tuple[Ace, ...] | None) -> set[str]:
    """The SIDs that may change the folder; without a DACL everybody may."""
    if aces is None:
        return {owner, EVERYONE_SID}
    return {owner} | {
        sid
        for ace_type, flags, mask, sid in aces
        if ace_type in ALLOW_ACE_TYPES and not flags & INHERIT_ONLY and mask & CHANGE_RIGHTS
    }


def folder_writers(folder: Path) -> FolderWriters:
    """Who may change a folder, by name, without administrators and services; raises OSError."""
    sids = writer_sids(*read_owner_and_aces(folder)) - ADMINISTRATOR_SIDS - PLACEHOLDER_SIDS
    return FolderWriters(tuple(sorted(map(account_name, sids - PUBLIC_SIDS))), everybody=bool(sids & PUBLIC_SIDS))


def account_name(sid: str) -> str:
    """ "COMPUTER\\name" for a SID; the SID itself where nobody here knows it."""
    pointer = ctypes.c_void_p()
    if not advapi32.ConvertStringSidToSidW(sid, ctypes.byref(pointer)):
        return sid
    try:
        name, domain, kind = (
            ctypes.create_unicode_buffer(ACCOUNT_LENGTH),
            ctypes.create_unicode_buffer(ACCOUNT_LENGTH),
            ctypes.c_int(),
        )
        lengths = wintypes.DWORD(ACCOUNT_LENGTH), wintypes.DWORD(ACCOUNT_LENGTH)
        found = advapi32.LookupAccountSidW(
            None, pointer, name, ctypes.byref(lengths[0]), domain, ctypes.byref(lengths[1]), ctypes.byref(kind)
        )
        return f"{domain.value}\\{name.value}".removeprefix("\\") if found else sid
    finally:
        kernel32.LocalFree(pointer)


def read_owner_and_aces(folder: Path) -> tuple[str, tuple[Ace, ...] | None]:
    """The owner's SID and the entries of the DACL; None for no DACL. Raises OSError."""
    owner, dacl, descriptor = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    error = advapi32.GetNamedSecurityInfoW(
        str(folder),
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
        return format_sid(owner.value), None if not dacl.value else tuple(_read_aces(dacl))
    finally:
        kernel32.LocalFree(descriptor)


def _read_aces(dacl: ctypes.c_void_p) -> list[Ace]:
    count = ctypes.cast(dacl, ctypes.POINTER(Acl)).contents.AceCount
    aces: list[Ace] = []
    for ace_index in range(count):
        ace = ctypes.c_void_p()
        if not advapi32.GetAce(dacl, ace_index, ctypes.byref(ace)) or not ace.value:
            raise ctypes.WinError(ctypes.get_last_error())
        entry = ctypes.cast(ace, ctypes.POINTER(AccessAllowedAce)).contents
        sid = ace.value + AccessAllowedAce.SidStart.offset if entry.AceType in SIMPLE_ACE_TYPES else None
        aces.append((entry.AceType, entry.AceFlags, entry.Mask, "?" if sid is None else format_sid(sid)))
    return aces


def format_sid(sid: int | None) -> str:
    """ "S-1-5-32-544" for a SID in memory; raises OSError."""
    text = ctypes.c_wchar_p()
    if not advapi32.ConvertSidToStringSidW(sid, ctypes.byref(text)) or text.value is None:
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        return str(text.value)
    finally:
        kernel32.LocalFree(ctypes.cast(text, ctypes.c_void_p))


class WindowsElevatedSystem:
    """See `elevation.ElevatedSystem`; implements its `WindowsAdministration`, too.

    `trusted_sids` may change private folders; `root_certificate` (DER) is the only authority for signatures, None:
    those of the computer's store. `drive` replaces the root of the system's drive in tests.
    """

    def __init__(
        self,
        trusted_sids: frozenset[str] = ADMINISTRATOR_SIDS,
        root_certificate: bytes | None = None,
        drive: Path | None = None,
    ) -> None:
        self._trusted_sids, self._root_certificate, self._drive = trusted_sids, root_certificate, drive

    def helper_program(self, home: Path) -> Path | None:
        """The window's launcher: with rights it runs only copies that it has checked (installers/windows/door.c)."""
        program = home / LAUNCHER
        return program if program.is_file() else None

    def private_folder_path(self, name: str) -> Path:
        r"""In C:\Windows\Temp: its folders belong to their creators, and Windows cleans it."""
        return _windows_folder() / "Temp" / name

    def create_private_folder(self, name: str) -> Path:
        """Created with its access control list, not changed afterwards."""
        return self._create_private(self.private_folder_path(name))

    @contextmanager
    def private_unpack_folder(self, name: str | None) -> Iterator[None]:
        r"""Everybody may make C:\NVIDIA, and everybody may change what lies in it, also while it is run: the folder
        that is there moves aside, and the private one is deleted in the end. One that a killed run left is deleted,
        and what it had moved aside comes back; any other folder stays, whatever its name.
        """
        if name is None:
            yield
            return
        folder = (self._drive or Path(_windows_folder().anchor)) / name
        names = (f"{name}{ASIDE_SUFFIX}{'' if number == 1 else f'-{number}'}" for number in itertools.count(1))
        asides = (folder.with_name(each) for each in names)
        aside, is_made = next(asides), False
        try:
            try:
                if self._is_left_behind(folder):
                    filesystem.rmtree(folder)
                elif os.path.lexists(folder):
                    while os.path.lexists(aside):
                        aside = next(asides)
                    filesystem.rename(folder, aside)
                self._create_private(folder)
                is_made = True
                (folder / UNPACK_FOLDER_MARK).touch()
            except OSError as error:
                raise AppError("door-folder", path=str(folder), detail=os_error_text(error)) from error
            yield
        finally:
            if is_made:
                filesystem.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                if os.path.lexists(aside) and not os.path.lexists(folder):
                    filesystem.rename(aside, folder)

    def _is_left_behind(self, folder: Path) -> bool:
        """Whether it is a killed run's unpack folder: nobody but administrators could mark it."""
        try:
            self.check_private_folder(folder)
        except AppError:
            return False
        return (folder / UNPACK_FOLDER_MARK).is_file()

    def _create_private(self, folder: Path) -> Path:
        descriptor = ctypes.c_void_p()
        succeeded = advapi32.ConvertStringSecurityDescriptorToSecurityDescriptorW(
            PRIVATE_FOLDER_SDDL, SDDL_REVISION_1, ctypes.byref(descriptor), None
        )
        if succeeded:
            attributes = SecurityAttributes(nLength=ctypes.sizeof(SecurityAttributes), lpSecurityDescriptor=descriptor)
            succeeded = kernel32.CreateDirectoryW(str(folder), ctypes.byref(attributes))
            error = ctypes.get_last_error()
            kernel32.LocalFree(descriptor)
        else:
            error = ctypes.get_last_error()
        if not succeeded:
            raise AppError("door-folder", path=str(folder), detail=ctypes.FormatError(error).strip())
        try:
            self.check_private_folder(folder)
        except AppError:
            filesystem.remove_if_empty(folder)
            raise
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

    def publisher(self, file: Path, signed_since: datetime | None = None) -> str:
        """As Windows itself verifies the signature, by the computer's own roots."""
        return authenticode.verify_publisher(file, self._root_certificate, signed_since)

    def file_version(self, file: Path) -> str | None:
        """The file's version, of its VERSIONINFO resource."""
        return _file_version(file)

    def create_restore_point(self, description: str) -> None:
        """Through System Restore."""
        restore_points.create_restore_point(description)


def _file_version(file: Path) -> str | None:
    """https://learn.microsoft.com/windows/win32/api/winver/nf-winver-verqueryvaluew: its root is VS_FIXEDFILEINFO."""
    size = version.GetFileVersionInfoSizeW(str(file), None)
    block = ctypes.create_string_buffer(size)
    info, length = ctypes.POINTER(FixedFileInfo)(), wintypes.UINT()
    if (
        not size
        or not version.GetFileVersionInfoW(str(file), 0, size, block)
        or not version.VerQueryValueW(block, "\\", ctypes.byref(info), ctypes.byref(length))
        or length.value < ctypes.sizeof(FixedFileInfo)
    ):
        return None
    words = info.contents.dwFileVersionMS, info.contents.dwFileVersionLS
    return ".".join(str(part) for word in words for part in (word >> 16, word & 0xFFFF))


def _windows_folder() -> Path:
    buffer = ctypes.create_unicode_buffer(wintypes.MAX_PATH)
    kernel32.GetSystemWindowsDirectoryW(buffer, len(buffer))
    return Path(buffer.value)


def _file_attributes(path: Path) -> int:
    attributes: int = kernel32.GetFileAttributesW(str(path))
    return attributes
