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
from ..core.refusal import why  # noqa: E402
from . import windows_rights_restore, windows_rights_signature  # noqa: E402
from .windows_rights_acl import Ace, aces_and_owner, writers  # noqa: E402

# Owner and full access: administrators and the system; everybody signed in may read. Nothing comes from above.
PRIVATE = "O:BAD:P(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICI;FRFX;;;BU)"
ADMINS = frozenset(
    (
        "S-1-5-32-544",  # administrators
        "S-1-5-18",  # the system
        "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",  # TrustedInstaller
    )
)
# fileapi.h, winnt.h
GENERIC_READ = 0x80000000
SHARE_READ = 0x1
OPEN_EXISTING = 3
OPEN_REPARSE_POINT = 0x00200000
FILE_TYPE_DISK = 1
REPARSE_OR_FOLDER = 0x400 | 0x10
REPARSE = 0x400
INVALID_HANDLE = ctypes.c_void_p(-1).value
INVALID_ATTRIBUTES = 0xFFFFFFFF


class _Attributes(ctypes.Structure):
    _fields_ = (("length", wintypes.DWORD), ("descriptor", ctypes.c_void_p), ("inherit", wintypes.BOOL))


class WindowsRights:
    """See `rights.Rights`. `trusted` are the SIDs that may change our folders, `root` the one authority for signatures
    (DER; None: those that Windows trusts).
    """

    def __init__(self, trusted: frozenset[str] = ADMINS, root: bytes | None = None) -> None:
        self._trusted, self._root = trusted, root

    def place(self, name: str) -> Path:
        r"""Below C:\Windows\Temp: its folders belong to those who made them, and Windows sweeps it."""
        buffer = ctypes.create_unicode_buffer(260)
        ctypes.windll.kernel32.GetSystemWindowsDirectoryW(buffer, len(buffer))
        return Path(buffer.value) / "Temp" / name

    def make_private(self, name: str) -> Path:
        """See `rights.Rights.make_private`. The folder is born with its rights."""
        folder = self.place(name)
        security = ctypes.WinDLL("advapi32", use_last_error=True)
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.LocalFree.argtypes = (ctypes.c_void_p,)
        descriptor = ctypes.c_void_p()
        made = security.ConvertStringSecurityDescriptorToSecurityDescriptorW(
            ctypes.c_wchar_p(PRIVATE), 1, ctypes.byref(descriptor), None
        )
        if made:
            attributes = _Attributes(length=ctypes.sizeof(_Attributes), descriptor=descriptor)
            made = kernel.CreateDirectoryW(ctypes.c_wchar_p(str(folder)), ctypes.byref(attributes))
            error = ctypes.get_last_error()
            kernel.LocalFree(descriptor)
        else:
            error = ctypes.get_last_error()
        if not made:
            raise AppError("door-folder", path=str(folder), detail=ctypes.FormatError(error).strip())
        self.refuse_open(folder)
        return folder

    def refuse_open(self, folder: Path) -> None:
        """A real folder whose owner is trusted, and no entry that lets anybody else change it."""
        attributes = ctypes.windll.kernel32.GetFileAttributesW(ctypes.c_wchar_p(str(folder))) & INVALID_ATTRIBUTES
        if attributes == INVALID_ATTRIBUTES or attributes & REPARSE or not attributes & 0x10:
            raise AppError("door-folder", path=str(folder), detail=None)
        entries: tuple[Ace, ...] | None
        try:
            owner, entries = aces_and_owner(folder)
        except OSError as error:
            raise AppError("door-folder", path=str(folder), detail=why(error)) from error
        others = writers(owner, entries) - self._trusted
        if others:
            raise AppError("door-folder", path=str(folder), detail=", ".join(sorted(others)))

    def open_given(self, path: Path) -> BinaryIO:
        """The name itself is no link of any kind, and nobody can write or swap the file while it is open."""
        if not path.is_absolute() or ".." in path.parts or str(path).startswith(("\\\\", "//")):
            raise AppError("door-file", path=str(path), detail=None)
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateFileW.restype = ctypes.c_void_p
        kernel.GetFileType.argtypes = kernel.CloseHandle.argtypes = (ctypes.c_void_p,)
        handle = kernel.CreateFileW(
            ctypes.c_wchar_p(str(path)), GENERIC_READ, SHARE_READ, None, OPEN_EXISTING, OPEN_REPARSE_POINT, None
        )
        if handle is None or handle == INVALID_HANDLE:
            detail = ctypes.FormatError(ctypes.get_last_error()).strip()
            raise AppError("door-file", path=str(path), detail=detail)
        # While it is held, what the name leads to stays what it is.
        attributes = kernel.GetFileAttributesW(ctypes.c_wchar_p(str(path))) & INVALID_ATTRIBUTES
        if kernel.GetFileType(handle) != FILE_TYPE_DISK or attributes & REPARSE_OR_FOLDER:
            kernel.CloseHandle(handle)
            raise AppError("door-file", path=str(path), detail=None)
        return os.fdopen(msvcrt.open_osfhandle(handle, os.O_RDONLY | os.O_BINARY), "rb")

    def system_folder(self) -> Path:
        """System32."""
        buffer = ctypes.create_unicode_buffer(260)
        ctypes.windll.kernel32.GetSystemDirectoryW(buffer, len(buffer))
        return Path(buffer.value)

    def publisher(self, file: Path) -> str:
        """Windows' own judgement."""
        return windows_rights_signature.publisher(file, self._root)

    def restore_point(self, words: str) -> None:
        """Through System Restore."""
        windows_rights_restore.make(words)
