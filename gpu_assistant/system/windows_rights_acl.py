"""Who may change a folder on Windows, read from its owner and its list of permissions."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from ctypes import wintypes  # noqa: E402
from pathlib import Path  # noqa: E402

# winnt.h: write data, append, write attributes of both kinds, delete a child, delete, change permissions or owner,
# and the two generic rights that hold them.
CHANGE_RIGHTS = 0x2 | 0x4 | 0x10 | 0x100 | 0x40 | 0x10000 | 0x40000 | 0x80000 | 0x40000000 | 0x10000000
ALLOW_ACE_TYPES = (0, 5, 9, 11)  # the kinds of entry that allow something
SIMPLE_ACE_TYPES = (0, 9)  # those whose SID follows the mask at once
INHERIT_ONLY = 0x8
EVERYONE_SID = "S-1-1-0"
SE_FILE_OBJECT = 1
OWNER_AND_DACL = 0x1 | 0x4

Ace = tuple[int, int, int, str]  # kind, flags, mask, SID ("?" where it cannot be read)


def writer_sids(owner: str, aces: tuple[Ace, ...] | None) -> set[str]:
    """The SIDs that may change the folder; without a list of permissions everybody may."""
    if aces is None:
        return {owner, EVERYONE_SID}
    return {owner} | {
        sid for ace_type, flags, mask, sid in aces if ace_type in ALLOW_ACE_TYPES and not flags & INHERIT_ONLY and mask & CHANGE_RIGHTS
    }


def read_owner_and_aces(folder: Path) -> tuple[str, tuple[Ace, ...] | None]:
    """The owner's SID and the entries; None for no list at all. Raises OSError."""
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
