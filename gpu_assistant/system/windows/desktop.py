r"""The desktop on Windows: Start menu, task bar, editor, Jupyter's kernels, a command at login, staying awake.

A shortcut's bytes come from the shell itself: IShellLinkW and IPersistFile (shobjidl_core.h, objidl.h); the task bar
is its ITaskbarList3. The command at login is HKEY_CURRENT_USER\...\RunOnce: Explorer deletes the value, runs the
command and waits for its end, so that the command is one that starts the program and ends (`start_at_login`).
Jupyter's folder: its "Common Directories".
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
import os
import subprocess
import tempfile
import winreg
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import wintypes
from pathlib import Path

from ...core.errors import AppError, os_error_text
from ...core.paths import is_packaged
from ..base import VIEWED_SUFFIXES, MenuEntryFile, TaskbarState, menu_entry_name
from ..processes import check_command_line, program_missing_error, reap_in_background
from ..variables import find_on_path
from . import com, processes, registry
from .com import guid_from_text
from .functions import kernel32, ole32, shell32, user32

CLSID_SHELL_LINK = "00021401-0000-0000-c000-000000000046"  # CLSID_ShellLink
IID_SHELL_LINK = "000214f9-0000-0000-c000-000000000046"  # IID_IShellLinkW
IID_PERSIST_FILE = "0000010b-0000-0000-c000-000000000046"  # IID_IPersistFile
CLSID_TASKBAR_LIST = "56fdf344-fd6d-11d0-958a-006097c9a090"  # CLSID_TaskbarList
IID_TASKBAR_LIST3 = "ea1afb91-9e28-4b86-90e9-9e9f8a5eefaf"  # IID_ITaskbarList3
FOLDERID_PROGRAMS = "a77f5d77-2e2b-44c3-a6a2-aba601054a51"  # FOLDERID_Programs
FOLDERID_ROAMING_APP_DATA = "3eb685db-65f9-4cf6-a03a-e3ef65729f3d"  # FOLDERID_RoamingAppData
KF_FLAG_DONT_VERIFY = 0x4000  # the path of a folder that may not exist yet

# Indexes in the method tables.
SHELL_LINK_SET_DESCRIPTION, SHELL_LINK_SET_WORKING_DIRECTORY, SHELL_LINK_SET_ARGUMENTS, SHELL_LINK_SET_PATH = (
    7,
    9,
    11,
    20,
)
PERSIST_FILE_SAVE = 6
TASKBAR_HR_INIT, TASKBAR_SET_PROGRESS_VALUE, TASKBAR_SET_PROGRESS_STATE = 3, 9, 10

TASKBAR_FLAGS: dict[TaskbarState, int] = {"none": 0, "busy": 1, "normal": 2, "error": 4, "paused": 8}
PROGRESS_TOTAL = 1000
BUTTON_MESSAGE, MSGFLT_ALLOW = "TaskbarButtonCreated", 1  # winuser.h

# Where the editor's two installers put it, below the folders of these variables.
VS_CODE_PATHS = (
    ("LOCALAPPDATA", r"Programs\Microsoft VS Code\Code.exe"),
    ("ProgramFiles", r"Microsoft VS Code\Code.exe"),
)

# learn.microsoft.com/windows/apps/develop/launch/launch-settings-app, "Power & sleep"
POWER_SETTINGS = "ms-settings:powersleep"

# Folders in which a PyCharm has a folder of its own.
PYCHARM_FOLDERS = (("LOCALAPPDATA", ("Programs",)), ("ProgramFiles", ("JetBrains",)))

RUN_ONCE_KEY = r"Software\Microsoft\Windows\CurrentVersion\RunOnce"
RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"  # after each login; learn.microsoft.com, as below
# Without "!", with which Explorer would delete the value after the command: then also one that was written meanwhile.
RUN_ONCE_VALUE = "GPUAssistant"
MAX_COMMAND_LENGTH = 260  # characters; learn.microsoft.com, "Run and RunOnce Registry Keys"

ES_CONTINUOUS, ES_SYSTEM_REQUIRED = 0x80000000, 0x1  # winnt.h


def open_folder(folder: Path) -> None:
    """Show a folder in Explorer; raises AppError("no-file-manager")."""
    try:
        os.startfile(folder)  # noqa: S606 - a folder, nothing that runs
    except OSError as error:
        raise AppError("no-file-manager", path=str(folder)) from error


def open_file(file: Path) -> None:
    """Open a file of `VIEWED_SUFFIXES` as Explorer would; raises AppError("no-file-viewer")."""
    if file.suffix.lower() not in VIEWED_SUFFIXES:
        raise AppError("no-file-viewer", path=str(file))
    try:
        os.startfile(file)  # noqa: S606 - of a kind that does not run
    except OSError as error:
        raise AppError("no-file-viewer", path=str(file)) from error


def open_power_settings() -> None:
    """The page of Windows' Settings; raises AppError("no-power-settings")."""
    try:
        os.startfile(POWER_SETTINGS)  # noqa: S606 - an address of a page of Settings
    except OSError as error:
        raise AppError("no-power-settings") from error


def open_terminal(environment: Path) -> None:
    """cmd in a window of its own, with the environment activated; raises AppError: no-terminal, and
    program-blocked or program-missing where Windows does not start it.
    """
    cmd = processes.system_folder() / "cmd.exe"
    activate_script = environment / "Scripts" / "activate.bat"
    if not cmd.is_file() or not activate_script.is_file():
        raise AppError("no-terminal", path=str(environment))
    try:
        process = subprocess.Popen(
            f'"{cmd}" /K ""{activate_script}""',  # cmd strips the outer quotes and keeps the inner ones
            executable=str(cmd),
            cwd=environment,
            creationflags=subprocess.CREATE_NEW_CONSOLE,
        )
    except OSError as error:
        raise program_missing_error(str(cmd), os_error_text(error)) from error
    reap_in_background(process)


def start_program(argv: Sequence[str | Path], folder: Path) -> None:
    """See `base.Desktop.start_program`; also raises ValueError for a batch file."""
    command = [str(argument) for argument in argv]
    try:
        processes.start_detached(command, folder)
    except OSError as error:
        raise program_missing_error(command[0], os_error_text(error)) from error


def find_editor(environ: Mapping[str, str]) -> Path | None:
    """Where its installers put it, or beside the batch file on PATH."""
    candidates = [Path(environ[name], path) for name, path in VS_CODE_PATHS if environ.get(name)]
    code_cmd = find_on_path(("code.cmd",), environ)
    candidates += [code_cmd.parent.parent / "Code.exe"] if code_cmd is not None else []
    return next((path for path in candidates if path.is_absolute() and path.is_file()), None)


def find_pycharm(environ: Mapping[str, str]) -> Path | None:
    """Where its installers and the JetBrains Toolbox put it by default, the newest name first; else on PATH.

    Source: PyCharm's help, "Install PyCharm", and the Toolbox App's, "Tools": installers use Program Files\\JetBrains,
    the Toolbox from 2.0 on %LOCALAPPDATA%\\Programs.
    """
    folders = [Path(environ[name], *parts) for name, parts in PYCHARM_FOLDERS if environ.get(name)]
    candidates = [
        folder / "bin" / "pycharm64.exe"
        for parent in folders
        if parent.is_absolute()
        for folder in sorted(parent.glob("PyCharm*"), reverse=True)
    ]
    on_path = find_on_path(("pycharm64.exe",), environ)
    candidates += [on_path] if on_path is not None else []
    return next((path for path in candidates if path.is_absolute() and path.is_file()), None)


def kernels_folder(environ: Mapping[str, str]) -> Path:
    """Below JUPYTER_DATA_DIR, else below the roaming data folder."""
    jupyter_data_dir = Path(environ.get("JUPYTER_DATA_DIR", ""))
    if not jupyter_data_dir.is_absolute():
        jupyter_data_dir = _known_folder(FOLDERID_ROAMING_APP_DATA) / "jupyter"
    return jupyter_data_dir / "kernels"


def menu_entry_files(environment: Path) -> tuple[MenuEntryFile, ...]:
    """A shortcut in the Start menu to cmd, which activates the environment from its own folder."""
    cmd = processes.system_folder() / "cmd.exe"
    name = menu_entry_name(environment)
    try:
        # A relative path, because cmd would interpret special characters in the environment's path.
        content = create_shortcut(cmd, r"/K Scripts\activate.bat", environment, name)
        return (MenuEntryFile(path=_known_folder(FOLDERID_PROGRAMS) / f"{name}.lnk", content=content),)
    except OSError as error:
        raise AppError("menu-unusable", detail=os_error_text(error)) from error


def create_shortcut(program: Path, arguments: str, folder: Path, description: str) -> bytes:
    """The bytes of a shortcut file; raises OSError."""
    with com.com_initialized():
        link = com.create_object(CLSID_SHELL_LINK, IID_SHELL_LINK)
        try:
            for method, text in (
                (SHELL_LINK_SET_PATH, str(program)),
                (SHELL_LINK_SET_ARGUMENTS, arguments),
                (SHELL_LINK_SET_WORKING_DIRECTORY, str(folder)),
                (SHELL_LINK_SET_DESCRIPTION, description),
            ):
                com.call_method(link, method, (wintypes.LPCWSTR,), text)
            return _save_to_bytes(link)
        finally:
            com.release(link)


def _save_to_bytes(link: ctypes.c_void_p) -> bytes:
    persist_file = com.query_interface(link, IID_PERSIST_FILE)
    try:
        with tempfile.TemporaryDirectory(prefix="gpu-assistant-", ignore_cleanup_errors=True) as temporary_folder:
            path = Path(temporary_folder) / "entry.lnk"
            com.call_method(persist_file, PERSIST_FILE_SAVE, (wintypes.LPCWSTR, wintypes.BOOL), str(path), False)
            return path.read_bytes()
    finally:
        com.release(persist_file)


def _known_folder(folder_id: str) -> Path:
    """A folder of the user's, wherever it was moved to; raises OSError."""
    text = ctypes.c_wchar_p()
    shell32.SHGetKnownFolderPath(ctypes.byref(guid_from_text(folder_id)), KF_FLAG_DONT_VERIFY, None, ctypes.byref(text))
    try:
        return Path(text.value or "")
    finally:
        ole32.CoTaskMemFree(text)


class WindowsTaskbarProgress:
    """See `base.TaskbarProgress`; `window` is the window's handle. Where the shell has no task bar (yet), and in a
    thread that has not initialized COM, nothing is shown.

    The shell sends a registered message once a button is there, also after Explorer was restarted, when what was shown
    before is lost (learn.microsoft.com/windows/win32/api/shobjidl_core/nn-shobjidl_core-itaskbarlist3). It has fewer
    rights than a window of an administrator, which gets the message only by ChangeWindowMessageFilterEx.
    """

    def __init__(self, window: int) -> None:
        self._window = wintypes.HWND(window)
        self._taskbar = ctypes.c_void_p()
        self._button_message: int = user32.RegisterWindowMessageW(BUTTON_MESSAGE)
        user32.ChangeWindowMessageFilterEx(self._window, self._button_message, MSGFLT_ALLOW, None)

    def show(self, state: TaskbarState, fraction: float | None = None) -> bool:
        """The state is set last, because setting the value turns "busy" into "normal"."""
        try:
            if not self._taskbar:
                self._connect()
            if state not in ("none", "busy"):
                value = round(PROGRESS_TOTAL * min(max(1.0 if fraction is None else fraction, 0.0), 1.0))
                value_types = (wintypes.HWND, ctypes.c_ulonglong, ctypes.c_ulonglong)
                com.call_method(
                    self._taskbar, TASKBAR_SET_PROGRESS_VALUE, value_types, self._window, value, PROGRESS_TOTAL
                )
            state_types = (wintypes.HWND, ctypes.c_int)
            com.call_method(self._taskbar, TASKBAR_SET_PROGRESS_STATE, state_types, self._window, TASKBAR_FLAGS[state])
            if state == "none":
                self.close()
        except OSError:
            return False
        return True

    def is_new_button(self, message: int) -> bool:
        """By the registered message, of a MSG at that address; the object of an earlier task bar is of no use then."""
        content = wintypes.MSG.from_address(message)
        if content.message != self._button_message or content.hWnd != self._window.value:
            return False
        self.close()
        return True

    def close(self) -> None:
        """Release the object."""
        com.release(self._taskbar)
        self._taskbar = ctypes.c_void_p()

    def _connect(self) -> None:
        self._taskbar = com.create_object(CLSID_TASKBAR_LIST, IID_TASKBAR_LIST3)
        try:
            com.call_method(self._taskbar, TASKBAR_HR_INIT, ())
        except OSError:
            self.close()
            raise


class WindowsLoginCommand:
    """See `base.LoginCommand`. `key` is the registry key below HKEY_CURRENT_USER."""

    def __init__(self, key: str = RUN_ONCE_KEY) -> None:
        self._key = key

    def set(self, argv: Sequence[str | Path]) -> None:
        """As one line, quoted as programs on Windows parse it."""
        line = subprocess.list2cmdline(check_command_line(argv))
        if len(line) > MAX_COMMAND_LENGTH:
            raise AppError("login-too-long", length=len(line), limit=MAX_COMMAND_LENGTH)
        try:
            with winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, self._key, 0, winreg.KEY_SET_VALUE) as key:
                winreg.SetValueEx(key, RUN_ONCE_VALUE, 0, winreg.REG_SZ, line)
        except OSError as error:
            raise _login_command_error(error) from error

    def get(self) -> tuple[str, ...] | None:
        """The arguments, as Windows splits the line."""
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


def start_at_login(arguments: Sequence[str]) -> int:
    """Start this program with these arguments and return at once; gives the exit code.

    The command line's gets a console of its own. Both start in the user's folder: Explorer's is System32.
    """
    own = [sys.executable] if is_packaged() else [sys.executable, "-m", "gpu_assistant"]
    is_window = "install" not in arguments
    try:
        processes.start_detached([*own, *arguments], Path.home(), new_console=not is_window)
    except OSError:
        return 1
    return 0


def split_command_line(line: str) -> tuple[str, ...]:
    """The arguments in a command line; raises OSError."""
    count = ctypes.c_int()
    arguments = shell32.CommandLineToArgvW(line, ctypes.byref(count))
    if not arguments:
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        return tuple(arguments[index] or "" for index in range(count.value))
    finally:
        kernel32.LocalFree(ctypes.cast(arguments, ctypes.c_void_p))


def _login_command_error(error: OSError) -> AppError:
    return AppError("login-unusable", detail=os_error_text(error))


@contextmanager
def keep_awake() -> Iterator[bool]:
    """Keep Windows awake while this thread is in the context; its value is whether Windows agreed."""
    # It returns the previous state, which is never 0; 0 is a failure.
    is_awake = kernel32.SetThreadExecutionState(ES_CONTINUOUS | ES_SYSTEM_REQUIRED) != 0
    try:
        yield is_awake
    finally:
        kernel32.SetThreadExecutionState(ES_CONTINUOUS)
