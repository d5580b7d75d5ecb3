"""What Windows does for us, done to the Windows that the tests run on, in places of the tests' own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform != "win32":
    pytest.skip("Windows' own services; test_linux_services has Linux's", allow_module_level=True)

import ctypes
import winreg

from gpu_assistant.core.errors import AppError, Cancelled, ElevationDenied
from gpu_assistant.system.base import EnvironmentVariable
from gpu_assistant.system.windows import elevation, environment
from gpu_assistant.system.windows.desktop import MAX_COMMAND_LENGTH, RUN_ONCE_VALUE, WindowsLoginCommand
from gpu_assistant.system.windows.environment import WindowsEnvironmentVariables
from gpu_assistant.system.windows.facts import MAX_PATH_VARIABLE
from gpu_assistant.system.windows.system import WindowsSystem

pytestmark = pytest.mark.windows

SYSTEM = WindowsSystem()
KEY = r"Software\GpuAssistantTest"
WINE = "WINELOADERNOEXEC" in os.environ or "WINEPREFIX" in os.environ


@pytest.fixture(autouse=True)
def own_key() -> Iterator[None]:
    winreg.CreateKey(winreg.HKEY_CURRENT_USER, KEY).Close()
    yield
    winreg.DeleteKey(winreg.HKEY_CURRENT_USER, KEY)


def write(name: str, value: object, kind: int) -> None:
    with winreg.OpenKey(winreg.HKEY_CURRENT_USER, KEY, 0, winreg.KEY_SET_VALUE) as key:
        winreg.SetValueEx(key, name, 0, kind, value)


def written(name: str) -> tuple[object, int] | None:
    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, KEY) as key:
            return winreg.QueryValueEx(key, name)
    except FileNotFoundError:
        return None


# Environment variables


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
    found = written("Path")
    assert found is not None
    assert str(found[0]).startswith(text)
    assert found[1] == kind
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


# After login


def test_login_command_set_and_cleared() -> None:
    at_login = WindowsLoginCommand(KEY)
    assert at_login.get() is None
    odd = [r"D:\a b\\", 'quote " in', "", "你好", r"\"", "%PATH%", "a&b"]
    at_login.set([Path(sys.executable), "old"])
    at_login.set([sys.executable, *odd])
    assert at_login.get() == (sys.executable, *odd)
    found = written(RUN_ONCE_VALUE)
    assert found is not None
    assert found[1] == winreg.REG_SZ
    # The program itself reads the same words out of that line.
    code = "import sys; sys.stdout.buffer.write('\\0'.join(sys.argv[1:]).encode())"
    line = str(found[0]).replace(" ", f" -c {subprocess.list2cmdline([code])} ", 1)
    said = subprocess.run(line, executable=sys.executable, capture_output=True, check=True, timeout=60).stdout
    assert said.decode().split("\0") == odd
    at_login.clear()
    at_login.clear()
    assert at_login.get() is None


def test_login_command_too_long_is_refused() -> None:
    at_login = WindowsLoginCommand(KEY)
    program = r"C:\p.exe"
    at_login.set([program, "x" * (MAX_COMMAND_LENGTH - len(program) - 1)])
    with pytest.raises(AppError) as error:
        at_login.set([program, "x" * (MAX_COMMAND_LENGTH - len(program))])
    assert error.value.code == "login-too-long"
    with pytest.raises(ValueError, match="full path"):
        at_login.set(["p.exe"])


@pytest.mark.skipif(not WINE, reason="writes where the next login of this person reads")
def test_run_once_key() -> None:
    SYSTEM.login_command.set([sys.executable, "--version"])
    try:
        key = r"Software\Microsoft\Windows\CurrentVersion\RunOnce"
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened:
            assert winreg.QueryValueEx(opened, RUN_ONCE_VALUE)[0] == subprocess.list2cmdline(
                [sys.executable, "--version"]
            )
    finally:
        SYSTEM.login_command.clear()


# Rights: Wine asks nobody; on Windows a person would be asked.


@pytest.mark.skipif(not WINE, reason="Windows would ask the person before it")
class TestRights:
    def test_exit_status_and_arguments(self, tmp_path: Path) -> None:
        out = tmp_path / "a b 你好"
        code = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_text(sys.argv[2], 'utf-8'); sys.exit(7)"
        assert SYSTEM.run_as_admin([sys.executable, "-c", code, out, 'quote " and \\']) == 7
        assert out.read_text("utf-8") == 'quote " and \\'

    def test_cancel(self, tmp_path: Path) -> None:
        started, cancel = tmp_path / "started", threading.Event()

        def soon() -> None:
            end = time.monotonic() + 30
            while not started.exists() and time.monotonic() < end:
                time.sleep(0.02)
            cancel.set()

        helper = threading.Thread(target=soon)
        helper.start()
        code = "import sys, time; open(sys.argv[1], 'w').close(); time.sleep(60)"
        began = time.monotonic()
        with pytest.raises(Cancelled):
            SYSTEM.run_as_admin([sys.executable, "-c", code, started], cancel=cancel)
        assert started.exists()
        assert time.monotonic() - began < 45
        helper.join()

    def test_non_executable_raises(self, tmp_path: Path) -> None:
        broken = tmp_path / "x.exe"
        broken.write_bytes(b"nothing")
        with pytest.raises(AppError) as error:
            SYSTEM.run_as_admin([broken])
        assert error.value.code == "program-missing"


def test_elevation_of_missing_or_batch_file_fails(tmp_path: Path) -> None:
    with pytest.raises(AppError) as error:
        SYSTEM.run_as_admin([tmp_path / "none.exe"])
    assert error.value.code == "program-missing"
    batch = tmp_path / "x.bat"
    batch.write_text("echo", encoding="ascii")
    with pytest.raises(ValueError, match="batch"):
        SYSTEM.run_as_admin([batch])
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        SYSTEM.run_as_admin([sys.executable], cancel=cancel)


def test_shell_error_to_elevation_error() -> None:
    with pytest.raises(ElevationDenied) as error:
        raise elevation.elevation_error("x.exe", elevation.ERROR_CANCELLED)
    assert (error.value.code, error.value.exit_code) == ("rights-refused", 5)


# Power and the task bar


def test_power() -> None:
    found = SYSTEM.power()
    assert found.source in ("mains", "battery")
    assert found.percent is None or 0 <= found.percent <= 100
    assert found.power_saving is not None


def test_keep_awake() -> None:
    """Asking again tells the state before: while it holds, that the system is required."""
    required = 0x1
    state = ctypes.WinDLL("kernel32").SetThreadExecutionState
    state.argtypes, state.restype = (ctypes.c_uint,), ctypes.c_uint
    with SYSTEM.keep_awake("installing") as held:
        assert held
        assert state(0x80000000 | required) & required
    if WINE:
        return  # it tells a fixed state at first
    assert not state(0x80000000) & required


def test_taskbar_progress() -> None:
    ctypes.OleDLL("ole32").CoInitializeEx(None, 2)
    desktop = ctypes.WinDLL("user32").GetDesktopWindow
    desktop.restype = ctypes.c_void_p
    try:
        bar = SYSTEM.taskbar(desktop())
        assert bar is not None
        assert bar.show("busy")
        assert bar.show("normal", 0.5)
        assert bar.show("normal", 1.5)
        assert bar.show("paused", 0.0)
        assert bar.show("error")
        assert bar.show("none")
        bar.close()
    finally:
        ctypes.WinDLL("ole32").CoUninitialize()


def test_no_taskbar_without_com() -> None:
    """A thread that has not set COM up gets none, and no error."""
    found: list[object] = [1]
    thread = threading.Thread(target=lambda: found.append(SYSTEM.taskbar(1)))
    thread.start()
    thread.join()
    assert found[-1] is None
