r"""The Start menu of Windows, Visual Studio Code and Jupyter's kernels there.

A shortcut is made by the shell itself: IShellLinkW and IPersistFile (shobjidl_core.h, objidl.h), called through their
tables. Jupyter's folder: its "Common Directories".

Progress on a window's task-bar button: the shell's ITaskbarList3 (shobjidl_core.h), called through its table.

A command after the next login: HKEY_CURRENT_USER\...\RunOnce, which Explorer empties as it runs it.

Windows' power: mains or battery, and staying awake.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
import os
import subprocess
import tempfile
import threading
import winreg
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import wintypes
from pathlib import Path
from typing import Any

from ...core.errors import AppError, os_error_text
from .. import paths
from ..base import PowerStatus, TaskbarState
from ..desktop_entry import MenuEntryFile, menu_entry_name
from ..paths import check_command_line
from . import registry
from .facts import BATTERY_NONE, POWER_UNKNOWN
from .facts import parse_power_status as power_of
from .processes import check_not_batch_file
from .registry import guid_from_text

CLSID_SHELL_LINK = "00021401-0000-0000-c000-000000000046"  # CLSID_ShellLink
IID_SHELL_LINK = "000214f9-0000-0000-c000-000000000046"  # IID_IShellLinkW
IID_PERSIST_FILE = "0000010b-0000-0000-c000-000000000046"  # IID_IPersistFile
FOLDERID_PROGRAMS = "a77f5d77-2e2b-44c3-a6a2-aba601054a51"  # FOLDERID_Programs
FOLDERID_ROAMING_APP_DATA = "3eb685db-65f9-4cf6-a03a-e3ef65729f3d"  # FOLDERID_RoamingAppData
KF_FLAG_DONT_VERIFY = 0x4000  # KF_FLAG_DONT_VERIFY: where it would be, also if nobody has made it yet
INPROC_SERVER = 0x1
COINIT_APARTMENTTHREADED = 0x2
RPC_E_CHANGED_MODE = -2147417850  # RPC_E_CHANGED_MODE: this thread has been set up in another way, which serves as well
# Places in the tables.
QUERY_INTERFACE, RELEASE_OBJECT, SAVE_FILE = 0, 2, 6
SET_DESCRIPTION, SET_FOLDER, SET_ARGUMENTS, SET_PATH = 7, 9, 11, 20
# Where its two installers put it, below these variables' folders.
VS_CODE_PATHS = (
    ("LOCALAPPDATA", r"Programs\Microsoft VS Code\Code.exe"),
    ("ProgramFiles", r"Microsoft VS Code\Code.exe"),
)


class WindowsDesktopEnvironment:
    """See `desktop.Desktop`; for a job's thread."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._environ = environ

    def menu_entry_files(self, environment: Path) -> tuple[MenuEntryFile, ...]:
        """A shortcut to cmd, which activates the environment in its own folder."""
        buffer = ctypes.create_unicode_buffer(wintypes.MAX_PATH)
        ctypes.windll.kernel32.GetSystemDirectoryW(buffer, len(buffer))
        cmd = Path(buffer.value) / "cmd.exe"
        name = menu_entry_name(environment)
        try:
            # From its working folder, so that no letter of the environment's path means anything to cmd.
            content = create_shortcut(cmd, r"/K Scripts\activate.bat", environment, name)
            return (MenuEntryFile(path=_known_folder(FOLDERID_PROGRAMS) / f"{name}.lnk", content=content),)
        except OSError as error:
            raise AppError("menu-unusable", detail=os_error_text(error)) from error

    def find_editor(self) -> Path | None:
        """Where its installers put it; what lies on PATH is a batch file beside it."""
        candidates = [Path(self._environ[name], path) for name, path in VS_CODE_PATHS if self._environ.get(name)]
        code_cmd = paths.find_on_path(("code.cmd",), self._environ)
        candidates += [code_cmd.parent.parent / "Code.exe"] if code_cmd is not None else []
        return next((path for path in candidates if path.is_absolute() and path.is_file()), None)

    def kernels_folder(self) -> Path:
        """Below the roaming data folder, or where JUPYTER_DATA_DIR says."""
        jupyter_data_dir = self._environ.get("JUPYTER_DATA_DIR")
        return (
            Path(jupyter_data_dir)
            if jupyter_data_dir and Path(jupyter_data_dir).is_absolute()
            else _known_folder(FOLDERID_ROAMING_APP_DATA) / "jupyter"
        ) / "kernels"

    def start_program(self, argv: Sequence[str | Path], folder: Path) -> None:
        """See `desktop.Desktop.start`."""
        command = [str(argument) for argument in argv]
        check_not_batch_file(command[0])
        try:
            process = subprocess.Popen(command, cwd=folder, creationflags=subprocess.DETACHED_PROCESS)
        except OSError as error:
            raise AppError("program-missing", path=command[0]) from error
        # Its handle is kept until somebody has taken note of its end.
        threading.Thread(target=process.wait, name=f"waits for {Path(command[0]).name}", daemon=True).start()


def create_shortcut(program: Path, arguments: str, folder: Path, description: str) -> bytes:
    """The bytes of a shortcut; raises OSError."""
    with _com_initialized(), _create_com_object(CLSID_SHELL_LINK, IID_SHELL_LINK) as link:
        for method_index, text in (
            (SET_PATH, str(program)),
            (SET_ARGUMENTS, arguments),
            (SET_FOLDER, str(folder)),
            (SET_DESCRIPTION, description),
        ):
            _call_com_method(link, method_index, (wintypes.LPCWSTR,), text)
        file = ctypes.c_void_p()
        _call_com_method(
            link,
            QUERY_INTERFACE,
            (ctypes.c_void_p, ctypes.c_void_p),
            ctypes.byref(guid_from_text(IID_PERSIST_FILE)),
            ctypes.byref(file),
        )
        try:
            with tempfile.TemporaryDirectory(prefix="gpu-assistant-") as temporary_folder:
                path = Path(temporary_folder) / "entry.lnk"
                _call_com_method(file, SAVE_FILE, (wintypes.LPCWSTR, wintypes.BOOL), str(path), False)
                return path.read_bytes()
        finally:
            _release_com_object(file)


def _known_folder(folder_id: str) -> Path:
    """One of the user's folders, wherever it was moved to; raises OSError."""
    text = ctypes.c_wchar_p()
    ctypes.OleDLL("shell32").SHGetKnownFolderPath(
        ctypes.byref(guid_from_text(folder_id)), KF_FLAG_DONT_VERIFY, None, ctypes.byref(text)
    )
    try:
        return Path(text.value or "")
    finally:
        ctypes.WinDLL("ole32").CoTaskMemFree(text)


@contextmanager
def _com_initialized() -> Iterator[None]:
    ole = ctypes.WinDLL("ole32")
    result = ctypes.c_long(ole.CoInitializeEx(None, COINIT_APARTMENTTHREADED)).value
    if result < 0 and result != RPC_E_CHANGED_MODE:
        raise OSError(result, "CoInitializeEx")
    try:
        yield
    finally:
        if result >= 0:
            ole.CoUninitialize()


@contextmanager
def _create_com_object(class_id: str, interface: str) -> Iterator[ctypes.c_void_p]:
    instance = ctypes.c_void_p()
    ctypes.OleDLL("ole32").CoCreateInstance(
        ctypes.byref(guid_from_text(class_id)),
        None,
        INPROC_SERVER,
        ctypes.byref(guid_from_text(interface)),
        ctypes.byref(instance),
    )
    try:
        yield instance
    finally:
        _release_com_object(instance)


def _com_method(instance: ctypes.c_void_p, method_index: int, argument_types: tuple[Any, ...]) -> Any:  # noqa: ANN401 - what ctypes gives
    method_table = ctypes.cast(instance, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
    return ctypes.WINFUNCTYPE(ctypes.c_long, ctypes.c_void_p, *argument_types)(method_table[method_index] or 0)


def _call_com_method(
    instance: ctypes.c_void_p, method_index: int, argument_types: tuple[Any, ...], *values: Any
) -> None:
    result = _com_method(instance, method_index, argument_types)(instance, *values)
    if result < 0:
        raise OSError(result, f"method {method_index}")


def _release_com_object(instance: ctypes.c_void_p) -> None:
    if instance:
        _com_method(instance, RELEASE_OBJECT, ())(instance)


CLSID_TASKBAR_LIST = "56fdf344-fd6d-11d0-958a-006097c9a090"  # CLSID_TaskbarList
IID_TASKBAR_LIST3 = "ea1afb91-9e28-4b86-90e9-9e9f8a5eefaf"  # IID_ITaskbarList3
CLSCTX_INPROC_SERVER = 0x1
TASKBAR_RELEASE, HR_INIT, SET_VALUE, SET_STATE = 2, 3, 9, 10  # places in the table
TASKBAR_FLAGS: dict[TaskbarState, int] = {"none": 0, "busy": 1, "normal": 2, "error": 4, "paused": 8}
PROGRESS_TOTAL = 1000


class WindowsTaskbarProgress:
    """See `services.Taskbar`; `window` is the window's handle. Raises OSError where the shell has no task bar."""

    def __init__(self, window: int) -> None:
        self._window = wintypes.HWND(window)
        self._list = ctypes.c_void_p()
        ole = ctypes.OleDLL("ole32")  # raises OSError for a failed result
        ole.CoCreateInstance(
            ctypes.byref(guid_from_text(CLSID_TASKBAR_LIST)),
            None,
            CLSCTX_INPROC_SERVER,
            ctypes.byref(guid_from_text(IID_TASKBAR_LIST3)),
            ctypes.byref(self._list),
        )
        if self._call_method(HR_INIT, ()) < 0:
            self.close()
            raise OSError("the shell has no task bar")

    def show(self, state: TaskbarState, fraction: float | None = None) -> bool:
        """A value turns "busy" into "normal", so the state comes last."""
        window = self._window
        status = 0
        if state not in ("none", "busy"):
            value = round(PROGRESS_TOTAL * min(max(1.0 if fraction is None else fraction, 0.0), 1.0))
            value_types = (ctypes.c_ulonglong, ctypes.c_ulonglong)
            status = self._call_method(SET_VALUE, (wintypes.HWND, *value_types), window, value, PROGRESS_TOTAL)
        return (
            status >= 0
            and self._call_method(SET_STATE, (wintypes.HWND, ctypes.c_int), window, TASKBAR_FLAGS[state]) >= 0
        )

    def close(self) -> None:
        """Give the object back."""
        if self._list:
            self._call_method(TASKBAR_RELEASE, ())
            self._list = ctypes.c_void_p()

    def _call_method(self, method_index: int, argument_types: tuple[Any, ...], *values: Any) -> int:  # noqa: ANN401 - what ctypes takes
        method_table = ctypes.cast(self._list, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
        method = ctypes.WINFUNCTYPE(ctypes.c_long, ctypes.c_void_p, *argument_types)(method_table[method_index] or 0)
        return int(method(self._list, *values))


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


ES_CONTINUOUS, ES_SYSTEM_REQUIRED = 0x80000000, 0x1  # winnt.h


class _SystemPowerStatus(ctypes.Structure):
    _fields_ = (
        ("line", ctypes.c_ubyte),
        ("battery", ctypes.c_ubyte),
        ("percent", ctypes.c_ubyte),
        ("saver", ctypes.c_ubyte),
        ("seconds_left", wintypes.DWORD),
        ("seconds_full", wintypes.DWORD),
    )


def read_power_status() -> PowerStatus:
    """From GetSystemPowerStatus; where that fails, nothing is known."""
    status = _SystemPowerStatus()
    if not ctypes.WinDLL("kernel32").GetSystemPowerStatus(ctypes.byref(status)):
        return PowerStatus()
    return power_of(status.line, status.battery, status.percent, status.saver)


def has_battery() -> bool | None:
    """Whether the computer has a battery; None where Windows does not say."""
    status = _SystemPowerStatus()
    if not ctypes.WinDLL("kernel32").GetSystemPowerStatus(ctypes.byref(status)) or status.battery == POWER_UNKNOWN:
        return None
    return not status.battery & BATTERY_NONE


@contextmanager
def keep_awake() -> Iterator[bool]:
    """While this thread is in the context."""
    set_state = ctypes.WinDLL("kernel32").SetThreadExecutionState
    set_state.argtypes = (ctypes.c_uint,)
    set_state.restype = ctypes.c_uint
    # The state before, which is never 0; 0 is a failure.
    is_awake = set_state(ES_CONTINUOUS | ES_SYSTEM_REQUIRED) != 0
    try:
        yield is_awake
    finally:
        set_state(ES_CONTINUOUS)
