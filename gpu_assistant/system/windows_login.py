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
from ..core.refusal import os_error_text  # noqa: E402
from . import windows_registry as registry  # noqa: E402
from .places import check_command_line  # noqa: E402

RUN_ONCE_KEY = r"Software\Microsoft\Windows\CurrentVersion\RunOnce"
# The mark keeps the value until the command has ended: one that is cut short runs again after the next login.
RUN_ONCE_VALUE = "!GPUAssistant"
MAX_COMMAND_LENGTH = 260  # characters; learn.microsoft.com, "Run and RunOnce Registry Keys"


class WindowsLoginCommand:
    """See `services.AtLogin`. `key` names another place below HKEY_CURRENT_USER."""

    def __init__(self, key: str = RUN_ONCE_KEY) -> None:
        self._key = key

    def set(self, argv: Sequence[str | Path]) -> None:
        """As one line, quoted as Windows' programs read it."""
        line = subprocess.list2cmdline(check_command_line(argv))
        if len(line) > MAX_COMMAND_LENGTH:
            raise AppError("login-too-long", length=len(line), limit=MAX_COMMAND_LENGTH)
        try:
            with winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, self._key, 0, winreg.KEY_SET_VALUE) as key:
                winreg.SetValueEx(key, RUN_ONCE_VALUE, 0, winreg.REG_SZ, line)
        except OSError as error:
            raise _login_command_error(error) from error

    def get(self) -> tuple[str, ...] | None:
        """Its words, as Windows takes a line apart."""
        line = registry.text(registry.USER, self._key, RUN_ONCE_VALUE)
        return split_command_line(line) if line else None

    def clear(self) -> None:
        """Delete the value."""
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, self._key, 0, winreg.KEY_SET_VALUE) as key:
                winreg.DeleteValue(key, RUN_ONCE_VALUE)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _login_command_error(error) from error


def split_command_line(line: str) -> tuple[str, ...]:
    """A command line's words; raises OSError."""
    command_line_to_argv = ctypes.WinDLL("shell32", use_last_error=True).CommandLineToArgvW
    command_line_to_argv.restype = ctypes.POINTER(wintypes.LPWSTR)
    command_line_to_argv.argtypes = (wintypes.LPCWSTR, ctypes.POINTER(ctypes.c_int))
    local_free = ctypes.WinDLL("kernel32").LocalFree
    local_free.argtypes = (ctypes.c_void_p,)
    count = ctypes.c_int()
    arguments = command_line_to_argv(line, ctypes.byref(count))
    if not arguments:
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        return tuple(arguments[index] or "" for index in range(count.value))
    finally:
        local_free(arguments)


def _login_command_error(error: OSError) -> AppError:
    return AppError("login-unusable", detail=os_error_text(error))
