"""Who may change a folder on Windows, read from its owner and its list of permissions."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from ctypes import wintypes  # noqa: E402
from pathlib import Path  # noqa: E402

# winnt.h: write data, append, write attributes of both kinds, delete a child, delete, change permissions or owner,
# and the two generic rights that hold them.
CHANGING = 0x2 | 0x4 | 0x10 | 0x100 | 0x40 | 0x10000 | 0x40000 | 0x80000 | 0x40000000 | 0x10000000
ALLOWED = (0, 5, 9, 11)  # the kinds of entry that allow something
SIMPLE = (0, 9)  # those whose SID follows the mask at once
INHERIT_ONLY = 0x8
EVERYBODY = "S-1-1-0"
SE_FILE_OBJECT = 1
OWNER_AND_DACL = 0x1 | 0x4

Ace = tuple[int, int, int, str]  # kind, flags, mask, SID ("?" where it cannot be read)


def writers(owner: str, entries: tuple[Ace, ...] | None) -> set[str]:
    """The SIDs that may change the folder; without a list of permissions everybody may."""
    if entries is None:
        return {owner, EVERYBODY}
    return {owner} | {
        sid for kind, flags, mask, sid in entries if kind in ALLOWED and not flags & INHERIT_ONLY and mask & CHANGING
    }


def aces_and_owner(folder: Path) -> tuple[str, tuple[Ace, ...] | None]:
    """The owner's SID and the entries; None for no list at all. Raises OSError."""
    security = ctypes.WinDLL("advapi32", use_last_error=True)
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.LocalFree.argtypes = (ctypes.c_void_p,)
    owner, dacl, descriptor = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    error = security.GetNamedSecurityInfoW(
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
        return sid_text(owner.value), None if not dacl.value else tuple(_entries(security, dacl))
    finally:
        kernel.LocalFree(descriptor)


def _entries(security: ctypes.WinDLL, dacl: ctypes.c_void_p) -> list[Ace]:
    count = ctypes.cast(dacl, ctypes.POINTER(wintypes.WORD))[2]  # ACL.AceCount
    found: list[Ace] = []
    for number in range(count):
        entry = ctypes.c_void_p()
        if not security.GetAce(dacl, wintypes.DWORD(number), ctypes.byref(entry)) or not entry.value:
            raise ctypes.WinError(ctypes.get_last_error())
        kind, flags = ctypes.cast(entry, ctypes.POINTER(ctypes.c_ubyte))[0:2]
        mask = ctypes.cast(entry, ctypes.POINTER(wintypes.DWORD))[1]
        found.append((kind, flags, mask, sid_text(entry.value + 8) if kind in SIMPLE else "?"))
    return found


def sid_text(sid: int | None) -> str:
    """ "S-1-5-32-544" for a SID in memory; raises OSError."""
    security = ctypes.WinDLL("advapi32", use_last_error=True)
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.LocalFree.argtypes = (ctypes.c_void_p,)
    text = ctypes.c_wchar_p()
    if not security.ConvertSidToStringSidW(ctypes.c_void_p(sid), ctypes.byref(text)) or text.value is None:
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        return str(text.value)
    finally:
        kernel.LocalFree(ctypes.cast(text, ctypes.c_void_p))
