r"""The user's environment variables: HKEY_CURRENT_USER\Environment, and the word to all windows that it changed."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
import threading  # noqa: E402
import winreg  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from ctypes import wintypes  # noqa: E402
from pathlib import Path  # noqa: E402

from ..core.errors import AppError  # noqa: E402
from ..core.refusal import why  # noqa: E402
from .places import variable_name, variable_value  # noqa: E402
from .services import Variable  # noqa: E402
from .windows_read import path_with, path_without  # noqa: E402

KEY = "Environment"
PATH = "Path"
TEXTS = (winreg.REG_SZ, winreg.REG_EXPAND_SZ)

# winuser.h
HWND_BROADCAST = 0xFFFF
WM_SETTINGCHANGE = 0x1A
SMTO_ABORTIFHUNG = 0x2
PER_WINDOW_MS = 500
ALL_WINDOWS_S = 2.0


class WindowsVariables:
    """See `services.UserVariables`. `key` names another place below HKEY_CURRENT_USER."""

    def __init__(self, key: str = KEY) -> None:
        self._key = key

    def get(self, name: str) -> Variable | None:
        """As the registry has it, nothing filled in."""
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, self._key) as key:
                value, kind = winreg.QueryValueEx(key, variable_name(name))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(name, error) from error
        if kind not in TEXTS:
            raise AppError("variable-unusable", name=name, detail=f"registry type {kind}")
        return Variable(value=value or "", expand=kind == winreg.REG_EXPAND_SZ)

    def set(self, name: str, value: str, *, expand: bool = False) -> None:
        """As REG_SZ, or as REG_EXPAND_SZ."""
        kind = winreg.REG_EXPAND_SZ if expand else winreg.REG_SZ
        with self._changing(name) as key:
            winreg.SetValueEx(key, variable_name(name), 0, kind, variable_value(value))
        announce()

    def remove(self, name: str) -> bool:
        """Delete the value."""
        try:
            with self._changing(name) as key:
                winreg.DeleteValue(key, variable_name(name))
        except AppError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return False
            raise
        announce()
        return True

    def has_on_path(self, folder: Path) -> bool:
        """Whether it is one of the entries, letter by letter."""
        before = self.get(PATH)
        return before is not None and str(folder) in before.value.split(";")

    def add_to_path(self, folder: Path) -> bool:
        """At the end of the user's Path, whose type stays; a new one is REG_EXPAND_SZ, as Windows makes it."""
        before = self.get(PATH)
        expand = before.expand if before is not None else True
        text = path_with(before.value if before is not None else None, str(folder), expand, _expanded)
        if text is None:
            return False
        self.set(PATH, text, expand=expand)
        return True

    def take_from_path(self, folder: Path) -> bool:
        """Where nothing is left of it, there was no Path before."""
        before = self.get(PATH)
        if before is None or not self.has_on_path(folder):
            return False
        text = path_without(before.value, str(folder))
        if text is None:
            return self.remove(PATH)
        self.set(PATH, text, expand=before.expand)
        return True

    @contextmanager
    def _changing(self, name: str) -> Iterator[winreg.HKEYType]:
        try:
            with winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, self._key, 0, winreg.KEY_SET_VALUE) as key:
                yield key
        except OSError as error:
            raise _unusable(name, error) from error


def announce(limit: float = ALL_WINDOWS_S) -> bool:
    """Tell all windows that the environment changed, so that what Explorer starts next has it.

    A window that hangs holds the sender up, and `SendMessageTimeoutW` counts its limit for each window anew:
    a thread of its own waits for them. Says whether all had heard it after `limit` seconds.
    """
    user = ctypes.WinDLL("user32")
    user.SendMessageTimeoutW.argtypes = (
        *(wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPCWSTR),
        *(wintypes.UINT, wintypes.UINT, ctypes.c_void_p),
    )

    def tell() -> None:
        flags = SMTO_ABORTIFHUNG
        user.SendMessageTimeoutW(HWND_BROADCAST, WM_SETTINGCHANGE, 0, "Environment", flags, PER_WINDOW_MS, None)

    teller = threading.Thread(target=tell, name="tells windows of the environment", daemon=True)
    teller.start()
    teller.join(limit)
    return not teller.is_alive()


def _expanded(text: str) -> str:
    return winreg.ExpandEnvironmentStrings(text)


def _unusable(name: str, error: OSError) -> AppError:
    return AppError("variable-unusable", name=name, detail=why(error))
