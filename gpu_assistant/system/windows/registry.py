"""Reading Windows' registry; a missing or forbidden value reads as None."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import winreg

MACHINE = winreg.HKEY_LOCAL_MACHINE
USER = winreg.HKEY_CURRENT_USER


def read_value(root: int, key: str, name: str) -> str | int | bytes | None:
    """One value; lists of texts read as None."""
    try:
        with winreg.OpenKey(root, key) as opened_key:
            data = winreg.QueryValueEx(opened_key, name)[0]
    except OSError:
        return None
    return data if isinstance(data, str | int | bytes) else None


def text(root: int, key: str, name: str) -> str | None:
    """One text value, trimmed; an empty one is None."""
    data = read_value(root, key, name)
    return data.strip("\0 ") or None if isinstance(data, str) else None


def number(root: int, key: str, name: str) -> int | None:
    """One number; drivers store some of them as bytes."""
    data = read_value(root, key, name)
    if isinstance(data, bytes):
        return int.from_bytes(data, "little")
    return data if isinstance(data, int) else None


def exists(root: int, key: str) -> bool:
    """Whether there is such a key."""
    try:
        winreg.OpenKey(root, key).Close()
    except OSError:
        return False
    return True


def children(root: int, key: str) -> list[str]:
    """The names of a key's sub-keys."""
    try:
        with winreg.OpenKey(root, key) as opened_key:
            return [winreg.EnumKey(opened_key, index) for index in range(winreg.QueryInfoKey(opened_key)[0])]
    except OSError:
        return []
