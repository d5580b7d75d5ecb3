r"""A command after the next login: HKEY_CURRENT_USER\...\RunOnce, which Explorer empties as it runs it."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
import subprocess  # noqa: E402
import winreg  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from ctypes import wintypes  # noqa: E402
from pathlib import Path  # noqa: E402

from ..core.errors import AppError  # noqa: E402
from ..core.refusal import why  # noqa: E402
from . import windows_registry as registry  # noqa: E402
from .places import absolute_words  # noqa: E402

KEY = r"Software\Microsoft\Windows\CurrentVersion\RunOnce"
# The mark keeps the value until the command has ended: one that is cut short runs again after the next login.
NAME = "!GPUAssistant"
LONGEST = 260  # characters; learn.microsoft.com, "Run and RunOnce Registry Keys"


class WindowsAtLogin:
    """See `services.AtLogin`. `key` names another place below HKEY_CURRENT_USER."""

    def __init__(self, key: str = KEY) -> None:
        self._key = key

    def set(self, argv: Sequence[str | Path]) -> None:
        """As one line, quoted as Windows' programs read it."""
        line = subprocess.list2cmdline(absolute_words(argv))
        if len(line) > LONGEST:
            raise AppError("login-too-long", length=len(line), limit=LONGEST)
        try:
            with winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, self._key, 0, winreg.KEY_SET_VALUE) as key:
                winreg.SetValueEx(key, NAME, 0, winreg.REG_SZ, line)
        except OSError as error:
            raise _unusable(error) from error

    def get(self) -> tuple[str, ...] | None:
        """Its words, as Windows takes a line apart."""
        line = registry.text(registry.USER, self._key, NAME)
        return words(line) if line else None

    def clear(self) -> None:
        """Delete the value."""
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, self._key, 0, winreg.KEY_SET_VALUE) as key:
                winreg.DeleteValue(key, NAME)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unusable(error) from error


def words(line: str) -> tuple[str, ...]:
    """A command line's words; raises OSError."""
    split = ctypes.WinDLL("shell32", use_last_error=True).CommandLineToArgvW
    split.restype = ctypes.POINTER(wintypes.LPWSTR)
    split.argtypes = (wintypes.LPCWSTR, ctypes.POINTER(ctypes.c_int))
    free = ctypes.WinDLL("kernel32").LocalFree
    free.argtypes = (ctypes.c_void_p,)
    count = ctypes.c_int()
    found = split(line, ctypes.byref(count))
    if not found:
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        return tuple(found[number] or "" for number in range(count.value))
    finally:
        free(found)


def _unusable(error: OSError) -> AppError:
    return AppError("login-unusable", detail=why(error))
