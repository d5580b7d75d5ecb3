"""The desktop on Windows: Start menu, task bar, terminal, login, sleep."""

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
    pytest.skip("Windows' own; the same module in tests/system/linux has Linux'", allow_module_level=True)

import ctypes
import winreg
from ctypes import wintypes

from gpu_assistant.core.errors import ERROR_ACCESS_DISABLED_BY_POLICY, AppError
from gpu_assistant.system.windows.desktop import MAX_COMMAND_LENGTH, RUN_ONCE_VALUE, WindowsLoginCommand, find_pycharm
from gpu_assistant.system.windows.system import WindowsSystem
from gpu_assistant.texts.localized import Texts

pytestmark = pytest.mark.windows

ROOT = Path(__file__).resolve().parents[3]
SYSTEM = WindowsSystem()

WINE = "WINELOADERNOEXEC" in os.environ or "WINEPREFIX" in os.environ

KEY = r"Software\GpuAssistantTest"


@pytest.mark.parametrize("place", ["local/Programs/PyCharm", "programs/JetBrains/PyCharm 2026.3"])
def test_pycharm_is_found_where_it_is_installed(tmp_path: Path, place: str) -> None:
    environ = {"LOCALAPPDATA": str(tmp_path / "local"), "ProgramFiles": str(tmp_path / "programs"), "PATH": ""}
    assert find_pycharm(environ) is None
    program = tmp_path / place / "bin" / "pycharm64.exe"
    program.parent.mkdir(parents=True)
    assert find_pycharm(environ) is None
    program.write_bytes(b"MZ")
    assert find_pycharm(environ) == program


@pytest.fixture(autouse=True)
def own_key() -> Iterator[None]:
    winreg.CreateKey(winreg.HKEY_CURRENT_USER, KEY).Close()
    yield
    winreg.DeleteKey(winreg.HKEY_CURRENT_USER, KEY)


def written(name: str) -> tuple[object, int] | None:
    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, KEY) as key:
            return winreg.QueryValueEx(key, name)
    except FileNotFoundError:
        return None


def test_open_terminal_without_environment_fails(tmp_path: Path) -> None:
    with pytest.raises(AppError) as error:
        SYSTEM.open_terminal(tmp_path)
    assert error.value.code == "no-terminal"


def test_blocked_terminal_is_called_blocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by Smart App Control, or by an organisation's policy against cmd."""
    environment = tmp_path / "env"
    (environment / "Scripts").mkdir(parents=True)
    (environment / "Scripts" / "activate.bat").touch()

    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError(22, "blocked", None, ERROR_ACCESS_DISABLED_BY_POLICY)

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(AppError) as error:
        SYSTEM.open_terminal(environment)
    assert error.value.code == "program-blocked"


def test_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(AppError) as error:
        SYSTEM.start_program([tmp_path / "code.exe"], tmp_path)
    assert error.value.code == "program-missing"
    assert "code.exe" in Texts("en").error_text(error.value)


def test_open_terminal_runs_activate(tmp_path: Path) -> None:
    environment = tmp_path / "an env"
    (environment / "Scripts").mkdir(parents=True)
    start = environment / "Scripts" / "activate.bat"
    start.write_text('@echo ready>"%~dp0ready.txt"\r\n@exit\r\n', encoding="ascii", newline="")
    SYSTEM.open_terminal(environment)
    end = time.monotonic() + 30
    while not (environment / "Scripts/ready.txt").exists():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_shell_creates_shortcut(tmp_path: Path) -> None:
    environment = tmp_path / "环境 100% & more"
    environment.mkdir()
    (entry,) = SYSTEM.menu_entry_files(environment)
    assert (entry.path.suffix, entry.path.parent.name) == (".lnk", "Programs")
    assert entry.path.stem == f"{environment.name} (GPU Assistant)"
    assert SYSTEM.menu_entry_files(environment) == (entry,)
    # [MS-SHLLINK]: the header's size and its class, then Unicode strings.
    assert entry.content[:8] == bytes((0x4C, 0, 0, 0, 1, 0x14, 2, 0))
    for text in (r"/K Scripts\activate.bat", str(environment)):
        assert text.encode("utf-16-le") in entry.content
    assert SYSTEM.kernels_folder().name == "kernels"


def test_login_command_set_and_cleared() -> None:
    at_login = WindowsLoginCommand(KEY)
    assert at_login.get() is None
    odd = [r"D:\a b\\", 'quote " in', "", "你好", r"\"", "%PATH%", "a&b"]
    at_login.set([Path(sys.executable), "old"])
    at_login.set([sys.executable, *odd])
    assert at_login.get() == (sys.executable, *odd)
    result = written(RUN_ONCE_VALUE)
    assert result is not None
    assert result[1] == winreg.REG_SZ
    # The program itself reads the same words out of that line.
    code = "import sys; sys.stdout.buffer.write('\\0'.join(sys.argv[1:]).encode())"
    line = str(result[0]).replace(" ", f" -c {subprocess.list2cmdline([code])} ", 1)
    text = subprocess.run(line, executable=sys.executable, capture_output=True, check=True, timeout=60).stdout
    assert text.decode().split("\0") == odd
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


def test_task_bar_without_com_shows_nothing() -> None:
    """As before the shell has made it: no error, and nothing is shown."""
    result: list[object] = []

    def show() -> None:
        bar = SYSTEM.taskbar(1)
        assert bar is not None
        result.append(bar.show("busy"))
        bar.close()

    thread = threading.Thread(target=show)
    thread.start()
    thread.join()
    assert result == [False]


def test_only_the_shells_message_for_this_window_means_a_new_button() -> None:
    ours, other = 0x10010, 0x10020
    register = ctypes.WinDLL("user32").RegisterWindowMessageW
    created, paint = register("TaskbarButtonCreated"), 0xF
    bar = SYSTEM.taskbar(ours)
    assert bar is not None
    messages = [wintypes.MSG(hWnd=window, message=number) for window in (ours, other) for number in (created, paint)]
    assert [bar.is_new_button(ctypes.addressof(each)) for each in messages] == [True, False, False, False]
    bar.close()


# Python's own hook at its start: the program that was started stays until the test lets it go on.
STAYS = """
import os, pathlib, sys, time
folder = pathlib.Path(__file__).parent
if "--at-login" not in sys.orig_argv:
    (folder / "begun").write_text("\\n".join(sys.orig_argv[1:]))
    while not (folder / "go").exists():
        time.sleep(0.05)
    (folder / "ended").touch()
    os._exit(0)
"""


def wait_for(path: Path) -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end, path
        time.sleep(0.05)


def test_login_command_starts_the_program_and_ends(tmp_path: Path) -> None:
    """Explorer waits for the command: it ends while the program that it started runs on."""
    (tmp_path / "sitecustomize.py").write_text(STAYS)
    command = (sys.executable, "-m", "gpu_assistant", "--at-login", "--resume")
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    assert subprocess.run(command, timeout=60, check=False, env=environ).returncode == 0
    wait_for(tmp_path / "begun")
    assert (tmp_path / "begun").read_text().splitlines() == ["-m", "gpu_assistant", "--resume"]
    assert not (tmp_path / "ended").exists()
    (tmp_path / "go").touch()
    wait_for(tmp_path / "ended")


def test_login_value_is_deleted_before_the_command_runs() -> None:
    """learn.microsoft.com, "Run and RunOnce Registry Keys": with "!" it would be deleted afterwards, with what was
    written meanwhile for a second restart.
    """
    assert not RUN_ONCE_VALUE.startswith("!")
