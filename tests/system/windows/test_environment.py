"""The user's environment variables on Windows, in a registry key of the tests' own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform != "win32":
    pytest.skip("Windows' own; the same module in tests/system/linux has Linux'", allow_module_level=True)

import winreg

from gpu_assistant.core.errors import AppError
from gpu_assistant.system.base import EnvironmentVariable
from gpu_assistant.system.windows import environment
from gpu_assistant.system.windows.environment import WindowsEnvironmentVariables
from gpu_assistant.system.windows.parsing import MAX_PATH_VARIABLE
from gpu_assistant.system.windows.system import WindowsSystem

pytestmark = pytest.mark.windows

SYSTEM = WindowsSystem()

KEY = r"Software\GpuAssistantTest"


@pytest.fixture(autouse=True)
def own_key() -> Iterator[None]:
    winreg.CreateKey(winreg.HKEY_CURRENT_USER, KEY).Close()
    yield
    winreg.DeleteKey(winreg.HKEY_CURRENT_USER, KEY)


def write(name: str, value: str | bytes | int | list[str], kind: int) -> None:
    with winreg.OpenKey(winreg.HKEY_CURRENT_USER, KEY, 0, winreg.KEY_SET_VALUE) as key:
        winreg.SetValueEx(key, name, 0, kind, value)


def written(name: str) -> tuple[object, int] | None:
    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, KEY) as key:
            return winreg.QueryValueEx(key, name)
    except FileNotFoundError:
        return None


def test_variable_keeps_text_and_type() -> None:
    variables = WindowsEnvironmentVariables(KEY)
    assert variables.get("A") is None
    variables.set("A", "你好 %USERPROFILE%")
    assert written("A") == ("你好 %USERPROFILE%", winreg.REG_SZ)
    variables.set("A", r"%USERPROFILE%\x", expand=True)
    assert written("A") == (r"%USERPROFILE%\x", winreg.REG_EXPAND_SZ)
    assert variables.get("A") == EnvironmentVariable(value=r"%USERPROFILE%\x", expand=True)
    assert variables.remove("A")
    assert not variables.remove("A")
    assert written("A") is None


def test_user_variables() -> None:
    """In the place that logins read; a name of our own, taken away again."""
    name = "GPU_ASSISTANT_TEST"
    SYSTEM.variables.set(name, "x")
    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, "Environment") as key:
            assert winreg.QueryValueEx(key, name) == ("x", winreg.REG_SZ)
    finally:
        assert SYSTEM.variables.remove(name)


@pytest.mark.parametrize("kind", [winreg.REG_SZ, winreg.REG_EXPAND_SZ])
@pytest.mark.parametrize("text", [r"C:\a;%USERPROFILE%\b", r"C:\a;", r"C:\a;;", "", " C:\\a ;"])
def test_add_to_path_and_remove(text: str, kind: int) -> None:
    write("PATH", text, kind)
    variables = WindowsEnvironmentVariables(KEY)
    folder = Path(r"C:\Program Files\GPU 助手\bin")
    assert variables.add_to_path(folder)
    result = written("Path")
    assert result is not None
    assert str(result[0]).startswith(text)
    assert result[1] == kind
    assert not variables.add_to_path(Path(str(folder).upper() + "\\"))
    assert variables.remove_from_path(folder)
    assert written("Path") == (text, kind)
    assert not variables.remove_from_path(folder)
    assert written("Path") == (text, kind)


def test_missing_path_is_missing_after_removal() -> None:
    variables = WindowsEnvironmentVariables(KEY)
    assert not variables.remove_from_path(Path(r"C:\a"))
    assert variables.add_to_path(Path(r"C:\a"))
    assert written("Path") == (r"C:\a", winreg.REG_EXPAND_SZ)
    assert variables.remove_from_path(Path(r"C:\a"))
    assert written("Path") is None


def test_folder_on_path_in_other_spelling() -> None:
    write("Path", r'x;"%SystemRoot%\SYSTEM32\";y', winreg.REG_EXPAND_SZ)
    assert not WindowsEnvironmentVariables(KEY).add_to_path(Path(os.environ["SYSTEMROOT"]) / "system32")


def test_folder_not_allowed_on_path() -> None:
    variables = WindowsEnvironmentVariables(KEY)
    for name in (r"C:\a;b", r"C:\%USERNAME%\x"):
        with pytest.raises(AppError) as error:
            variables.add_to_path(Path(name))
        assert error.value.code == "path-not-addable"
    write("Path", "x" * (MAX_PATH_VARIABLE - 5), winreg.REG_SZ)
    assert variables.add_to_path(Path(r"C:\a"))
    with pytest.raises(AppError) as error:
        variables.add_to_path(Path(r"C:\b"))
    assert error.value.code == "path-too-long"
    write("Path", 7, winreg.REG_DWORD)
    with pytest.raises(AppError) as error:
        variables.add_to_path(Path(r"C:\a"))
    assert error.value.code == "variable-unusable"
    assert written("Path") == (7, winreg.REG_DWORD)
    with pytest.raises(ValueError, match="name"):
        variables.set("A=B", "x")


# A window of another process: it says what it hears, or hangs.
WINDOW = r"""
import ctypes, sys, time
from ctypes import wintypes
user = ctypes.WinDLL("user32")
Procedure = ctypes.WINFUNCTYPE(ctypes.c_ssize_t, wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM)
class Class(ctypes.Structure):
    _fields_ = (("style", wintypes.UINT), ("procedure", Procedure), ("a", ctypes.c_int), ("b", ctypes.c_int),
                ("instance", wintypes.HINSTANCE), ("icon", wintypes.HANDLE), ("cursor", wintypes.HANDLE),
                ("brush", wintypes.HANDLE), ("menu", wintypes.LPCWSTR), ("name", wintypes.LPCWSTR))
user.DefWindowProcW.argtypes = (wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM)
user.DefWindowProcW.restype = ctypes.c_ssize_t
user.CreateWindowExW.argtypes = (wintypes.DWORD, wintypes.LPCWSTR, wintypes.LPCWSTR, wintypes.DWORD,
    *[ctypes.c_int] * 4, wintypes.HWND, wintypes.HMENU, wintypes.HINSTANCE, ctypes.c_void_p)
user.CreateWindowExW.restype = wintypes.HWND
@Procedure
def procedure(window, message, word, pointer):
    if message == 0x1A and pointer:
        print("heard", ctypes.wstring_at(pointer), flush=True)
    return user.DefWindowProcW(window, message, word, pointer)
kind = Class(procedure=procedure, name="GpuAssistantTest")
assert user.RegisterClassW(ctypes.byref(kind))
assert user.CreateWindowExW(0, kind.name, "test", 0, 0, 0, 10, 10, None, None, None, None)
print("ready", flush=True)
if sys.argv[1] == "hangs":
    time.sleep(60)
message = wintypes.MSG()
while user.GetMessageW(ctypes.byref(message), None, 0, 0) > 0:
    user.DispatchMessageW(ctypes.byref(message))
"""


def window(how: str) -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", WINDOW, how], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def test_change_is_broadcast() -> None:
    with window("listens") as child:
        try:
            WindowsEnvironmentVariables(KEY).set("A", "x")
            assert child.stdout is not None
            assert child.stdout.readline() == "heard Environment\n"
        finally:
            child.kill()


def test_hung_window_does_not_block() -> None:
    with window("hangs") as first, window("hangs") as second:
        try:
            began = time.monotonic()
            assert not environment.broadcast_change(0.2)
            assert time.monotonic() - began < 5
        finally:
            first.kill()
            second.kill()
