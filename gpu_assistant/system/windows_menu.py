"""The Start menu of Windows, Visual Studio Code and Jupyter's kernels there.

A shortcut is made by the shell itself: IShellLinkW and IPersistFile (shobjidl_core.h, objidl.h), called through their
tables. Jupyter's folder: its "Common Directories".
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
import os  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import threading  # noqa: E402
from collections.abc import Iterator, Mapping, Sequence  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from ctypes import wintypes  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from ..core.errors import AppError  # noqa: E402
from ..core.refusal import os_error_text  # noqa: E402
from . import places  # noqa: E402
from .desktop import MenuEntryFile, menu_entry_name  # noqa: E402
from .windows_guid import guid_from_text  # noqa: E402
from .windows_processes import check_not_batch_file  # noqa: E402

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
        code_cmd = places.find_on_path(("code.cmd",), self._environ)
        candidates += [code_cmd.parent.parent / "Code.exe"] if code_cmd is not None else []
        return next((path for path in candidates if path.is_absolute() and path.is_file()), None)

    def kernels_folder(self) -> Path:
        """Below the roaming data folder, or where JUPYTER_DATA_DIR says."""
        jupyter_data_dir = self._environ.get("JUPYTER_DATA_DIR")
        return (Path(jupyter_data_dir) if jupyter_data_dir and Path(jupyter_data_dir).is_absolute() else _known_folder(FOLDERID_ROAMING_APP_DATA) / "jupyter") / "kernels"

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
        _call_com_method(link, QUERY_INTERFACE, (ctypes.c_void_p, ctypes.c_void_p), ctypes.byref(guid_from_text(IID_PERSIST_FILE)), ctypes.byref(file))
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
    ctypes.OleDLL("shell32").SHGetKnownFolderPath(ctypes.byref(guid_from_text(folder_id)), KF_FLAG_DONT_VERIFY, None, ctypes.byref(text))
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
        ctypes.byref(guid_from_text(class_id)), None, INPROC_SERVER, ctypes.byref(guid_from_text(interface)), ctypes.byref(instance)
    )
    try:
        yield instance
    finally:
        _release_com_object(instance)


def _com_method(instance: ctypes.c_void_p, method_index: int, argument_types: tuple[Any, ...]) -> Any:  # noqa: ANN401 - what ctypes gives
    method_table = ctypes.cast(instance, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
    return ctypes.WINFUNCTYPE(ctypes.c_long, ctypes.c_void_p, *argument_types)(method_table[method_index] or 0)


def _call_com_method(instance: ctypes.c_void_p, method_index: int, argument_types: tuple[Any, ...], *values: Any) -> None:  # noqa: ANN401 - as above
    result = _com_method(instance, method_index, argument_types)(instance, *values)
    if result < 0:
        raise OSError(result, f"method {method_index}")


def _release_com_object(instance: ctypes.c_void_p) -> None:
    if instance:
        _com_method(instance, RELEASE_OBJECT, ())(instance)
