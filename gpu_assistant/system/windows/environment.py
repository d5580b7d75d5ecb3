r"""The user's environment variables: HKEY_CURRENT_USER\Environment, and the broadcast that it has changed."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
import threading
import winreg
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...core.errors import AppError, os_error_text
from ..base import EnvironmentVariable
from ..variables import check_variable_name, check_variable_value
from .functions import user32
from .parsing import append_to_path, remove_folder_from_path

ENVIRONMENT_KEY = "Environment"
PATH_VARIABLE = "Path"
TEXT_TYPES = (winreg.REG_SZ, winreg.REG_EXPAND_SZ)

# winuser.h
HWND_BROADCAST = 0xFFFF
WM_SETTINGCHANGE = 0x1A
SMTO_ABORTIFHUNG = 0x2
WINDOW_TIMEOUT_MS = 500
BROADCAST_TIMEOUT_S = 2.0


class WindowsEnvironmentVariables:
    """See `base.UserEnvironmentVariables`. `key` is the registry key below HKEY_CURRENT_USER."""

    def __init__(self, key: str = ENVIRONMENT_KEY) -> None:
        self._key = key

    def get(self, name: str) -> EnvironmentVariable | None:
        """The stored value, names in it unexpanded."""
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, self._key) as key:
                value, value_type = winreg.QueryValueEx(key, check_variable_name(name))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _variable_error(name, error) from error
        if value_type not in TEXT_TYPES:
            raise AppError("variable-unusable", name=name, detail=f"registry type {value_type}")
        return EnvironmentVariable(value=value or "", expand=value_type == winreg.REG_EXPAND_SZ)

    def set(self, name: str, value: str, *, expand: bool = False) -> None:
        """As REG_SZ, or with `expand` as REG_EXPAND_SZ."""
        value_type = winreg.REG_EXPAND_SZ if expand else winreg.REG_SZ
        with self._open_for_writing(name) as key:
            winreg.SetValueEx(key, check_variable_name(name), 0, value_type, check_variable_value(value))
        broadcast_change()

    def remove(self, name: str) -> bool:
        """Delete the value."""
        try:
            with self._open_for_writing(name) as key:
                winreg.DeleteValue(key, check_variable_name(name))
        except AppError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return False
            raise
        broadcast_change()
        return True

    def is_on_path(self, folder: Path) -> bool:
        """Whether it is one of the entries, character by character."""
        variable = self.get(PATH_VARIABLE)
        return variable is not None and str(folder) in variable.value.split(";")

    def add_to_path(self, folder: Path) -> bool:
        """Append it to the user's Path, whose type is kept; a new one is REG_EXPAND_SZ, as Windows creates it."""
        variable = self.get(PATH_VARIABLE)
        expand = variable.expand if variable is not None else True
        text = append_to_path(variable.value if variable is not None else None, str(folder), expand, _expand_names)
        if text is None:
            return False
        self.set(PATH_VARIABLE, text, expand=expand)
        return True

    def remove_from_path(self, folder: Path) -> bool:
        """Delete Path itself where `add_to_path` created it."""
        variable = self.get(PATH_VARIABLE)
        if variable is None or not self.is_on_path(folder):
            return False
        text = remove_folder_from_path(variable.value, str(folder))
        if text is None:
            return self.remove(PATH_VARIABLE)
        self.set(PATH_VARIABLE, text, expand=variable.expand)
        return True

    @contextmanager
    def _open_for_writing(self, name: str) -> Iterator[winreg.HKEYType]:
        try:
            with winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, self._key, 0, winreg.KEY_SET_VALUE) as key:
                yield key
        except OSError as error:
            raise _variable_error(name, error) from error


def broadcast_change(timeout_s: float = BROADCAST_TIMEOUT_S) -> bool:
    """Tell all windows that the environment changed: programs that Explorer starts from then on have it.

    Returns whether all windows answered within `timeout_s` seconds. A window that hangs blocks the sender, and
    `SendMessageTimeoutW` applies its limit to each window, so a thread of its own waits for them.
    """

    def send() -> None:
        area = ctypes.create_unicode_buffer("Environment")
        user32.SendMessageTimeoutW(
            *(HWND_BROADCAST, WM_SETTINGCHANGE, 0, ctypes.addressof(area)),
            *(SMTO_ABORTIFHUNG, WINDOW_TIMEOUT_MS, None),
        )

    thread = threading.Thread(target=send, name="environment broadcast", daemon=True)
    thread.start()
    thread.join(timeout_s)
    return not thread.is_alive()


def _expand_names(text: str) -> str:
    return winreg.ExpandEnvironmentStrings(text)


def _variable_error(name: str, error: OSError) -> AppError:
    return AppError("variable-unusable", name=name, detail=os_error_text(error))
