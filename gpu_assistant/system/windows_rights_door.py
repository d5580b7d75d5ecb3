"""The elevated helper's side of Windows: folders that only administrators change, plain files, signatures."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
import msvcrt  # noqa: E402
import os  # noqa: E402
from ctypes import wintypes  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import BinaryIO  # noqa: E402

from ..core.errors import AppError  # noqa: E402
from ..core.refusal import os_error_text  # noqa: E402
from . import windows_rights_restore, windows_rights_signature  # noqa: E402
from .windows_rights_acl import Ace, read_owner_and_aces, writer_sids  # noqa: E402

# Owner and full access: administrators and the system; everybody signed in may read. Nothing comes from above.
PRIVATE_FOLDER_SDDL = "O:BAD:P(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICI;FRFX;;;BU)"
ADMINISTRATOR_SIDS = frozenset(
    (
        "S-1-5-32-544",  # administrators
        "S-1-5-18",  # the system
        "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",  # TrustedInstaller
    )
)
# fileapi.h, winnt.h
GENERIC_READ = 0x80000000
FILE_SHARE_READ = 0x1
OPEN_EXISTING = 3
FILE_FLAG_OPEN_REPARSE_POINT = 0x00200000
FILE_TYPE_DISK = 1
REPARSE_POINT_OR_DIRECTORY = 0x400 | 0x10
FILE_ATTRIBUTE_REPARSE_POINT = 0x400
INVALID_HANDLE_VALUE = ctypes.c_void_p(-1).value
INVALID_FILE_ATTRIBUTES = 0xFFFFFFFF


class _SecurityAttributes(ctypes.Structure):
    _fields_ = (("length", wintypes.DWORD), ("descriptor", ctypes.c_void_p), ("inherit", wintypes.BOOL))


class WindowsElevatedSystem:
    """See `rights.Rights`. `trusted` are the SIDs that may change our folders, `root` the one authority for signatures
    (DER; None: those that Windows trusts).
    """

    def __init__(self, trusted_sids: frozenset[str] = ADMINISTRATOR_SIDS, root_certificate: bytes | None = None) -> None:
        self._trusted_sids, self._root_certificate = trusted_sids, root_certificate

    def private_folder_path(self, name: str) -> Path:
        r"""Below C:\Windows\Temp: its folders belong to those who made them, and Windows sweeps it."""
        buffer = ctypes.create_unicode_buffer(260)
        ctypes.windll.kernel32.GetSystemWindowsDirectoryW(buffer, len(buffer))
        return Path(buffer.value) / "Temp" / name

    def create_private_folder(self, name: str) -> Path:
        """See `rights.Rights.make_private`. The folder is born with its rights."""
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
        """A real folder whose owner is trusted, and no entry that lets anybody else change it."""
        attributes = ctypes.windll.kernel32.GetFileAttributesW(ctypes.c_wchar_p(str(folder))) & INVALID_FILE_ATTRIBUTES
        if attributes == INVALID_FILE_ATTRIBUTES or attributes & FILE_ATTRIBUTE_REPARSE_POINT or not attributes & 0x10:
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
        """The name itself is no link of any kind, and nobody can write or swap the file while it is open."""
        if not path.is_absolute() or ".." in path.parts or str(path).startswith(("\\\\", "//")):
            raise AppError("door-file", path=str(path), detail=None)
        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel32.CreateFileW.restype = ctypes.c_void_p
        kernel32.GetFileType.argtypes = kernel32.CloseHandle.argtypes = (ctypes.c_void_p,)
        handle = kernel32.CreateFileW(
            ctypes.c_wchar_p(str(path)), GENERIC_READ, FILE_SHARE_READ, None, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, None
        )
        if handle is None or handle == INVALID_HANDLE_VALUE:
            detail = ctypes.FormatError(ctypes.get_last_error()).strip()
            raise AppError("door-file", path=str(path), detail=detail)
        # While it is held, what the name leads to stays what it is.
        attributes = kernel32.GetFileAttributesW(ctypes.c_wchar_p(str(path))) & INVALID_FILE_ATTRIBUTES
        if kernel32.GetFileType(handle) != FILE_TYPE_DISK or attributes & REPARSE_POINT_OR_DIRECTORY:
            kernel32.CloseHandle(handle)
            raise AppError("door-file", path=str(path), detail=None)
        return os.fdopen(msvcrt.open_osfhandle(handle, os.O_RDONLY | os.O_BINARY), "rb")

    def system_programs_folder(self) -> Path:
        """System32."""
        buffer = ctypes.create_unicode_buffer(260)
        ctypes.windll.kernel32.GetSystemDirectoryW(buffer, len(buffer))
        return Path(buffer.value)

    def publisher(self, file: Path) -> str:
        """Windows' own judgement."""
        return windows_rights_signature.verify_publisher(file, self._root_certificate)

    def create_restore_point(self, description: str) -> None:
        """Through System Restore."""
        windows_rights_restore.create_restore_point(description)
