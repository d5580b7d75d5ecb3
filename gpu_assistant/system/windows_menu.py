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
from ..core.refusal import why  # noqa: E402
from . import places  # noqa: E402
from .desktop import EntryFile, entry_name  # noqa: E402
from .windows_guid import guid  # noqa: E402
from .windows_processes import refuse_batch_file  # noqa: E402

SHELL_LINK = "00021401-0000-0000-c000-000000000046"  # CLSID_ShellLink
LINK = "000214f9-0000-0000-c000-000000000046"  # IID_IShellLinkW
PERSIST_FILE = "0000010b-0000-0000-c000-000000000046"  # IID_IPersistFile
PROGRAMS = "a77f5d77-2e2b-44c3-a6a2-aba601054a51"  # FOLDERID_Programs
ROAMING = "3eb685db-65f9-4cf6-a03a-e3ef65729f3d"  # FOLDERID_RoamingAppData
DONT_VERIFY = 0x4000  # KF_FLAG_DONT_VERIFY: where it would be, also if nobody has made it yet
INPROC_SERVER = 0x1
APARTMENT = 0x2
CHANGED_MODE = -2147417850  # RPC_E_CHANGED_MODE: this thread has been set up in another way, which serves as well
# Places in the tables.
QUERY, RELEASE, SAVE = 0, 2, 6
SET_DESCRIPTION, SET_FOLDER, SET_ARGUMENTS, SET_PATH = 7, 9, 11, 20
# Where its two installers put it, below these variables' folders.
EDITOR = (
    ("LOCALAPPDATA", r"Programs\Microsoft VS Code\Code.exe"),
    ("ProgramFiles", r"Microsoft VS Code\Code.exe"),
)


class WindowsDesktop:
    """See `desktop.Desktop`; for a job's thread."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._environ = environ

    def entry(self, environment: Path) -> tuple[EntryFile, ...]:
        """A shortcut to cmd, which activates the environment in its own folder."""
        buffer = ctypes.create_unicode_buffer(wintypes.MAX_PATH)
        ctypes.windll.kernel32.GetSystemDirectoryW(buffer, len(buffer))
        cmd = Path(buffer.value) / "cmd.exe"
        name = entry_name(environment)
        try:
            # From its working folder, so that no letter of the environment's path means anything to cmd.
            content = shortcut(cmd, r"/K Scripts\activate.bat", environment, name)
            return (EntryFile(path=_known(PROGRAMS) / f"{name}.lnk", content=content),)
        except OSError as error:
            raise AppError("menu-unusable", detail=why(error)) from error

    def editor(self) -> Path | None:
        """Where its installers put it; what lies on PATH is a batch file beside it."""
        found = [Path(self._environ[name], path) for name, path in EDITOR if self._environ.get(name)]
        script = places.program(("code.cmd",), self._environ)
        found += [script.parent.parent / "Code.exe"] if script is not None else []
        return next((path for path in found if path.is_absolute() and path.is_file()), None)

    def kernels(self) -> Path:
        """Below the roaming data folder, or where JUPYTER_DATA_DIR says."""
        own = self._environ.get("JUPYTER_DATA_DIR")
        return (Path(own) if own and Path(own).is_absolute() else _known(ROAMING) / "jupyter") / "kernels"

    def start(self, argv: Sequence[str | Path], folder: Path) -> None:
        """See `desktop.Desktop.start`."""
        words = [str(word) for word in argv]
        refuse_batch_file(words[0])
        try:
            process = subprocess.Popen(words, cwd=folder, creationflags=subprocess.DETACHED_PROCESS)
        except OSError as error:
            raise AppError("program-missing", path=words[0]) from error
        # Its handle is kept until somebody has taken note of its end.
        threading.Thread(target=process.wait, name=f"waits for {Path(words[0]).name}", daemon=True).start()


def shortcut(program: Path, arguments: str, folder: Path, description: str) -> bytes:
    """The bytes of a shortcut; raises OSError."""
    with _com(), _made(SHELL_LINK, LINK) as link:
        for place, text in (
            (SET_PATH, str(program)),
            (SET_ARGUMENTS, arguments),
            (SET_FOLDER, str(folder)),
            (SET_DESCRIPTION, description),
        ):
            _call(link, place, (wintypes.LPCWSTR,), text)
        file = ctypes.c_void_p()
        _call(link, QUERY, (ctypes.c_void_p, ctypes.c_void_p), ctypes.byref(guid(PERSIST_FILE)), ctypes.byref(file))
        try:
            with tempfile.TemporaryDirectory(prefix="gpu-assistant-") as place_for_it:
                path = Path(place_for_it) / "entry.lnk"
                _call(file, SAVE, (wintypes.LPCWSTR, wintypes.BOOL), str(path), False)
                return path.read_bytes()
        finally:
            _release(file)


def _known(folder: str) -> Path:
    """One of the user's folders, wherever it was moved to; raises OSError."""
    text = ctypes.c_wchar_p()
    ctypes.OleDLL("shell32").SHGetKnownFolderPath(ctypes.byref(guid(folder)), DONT_VERIFY, None, ctypes.byref(text))
    try:
        return Path(text.value or "")
    finally:
        ctypes.WinDLL("ole32").CoTaskMemFree(text)


@contextmanager
def _com() -> Iterator[None]:
    ole = ctypes.WinDLL("ole32")
    result = ctypes.c_long(ole.CoInitializeEx(None, APARTMENT)).value
    if result < 0 and result != CHANGED_MODE:
        raise OSError(result, "CoInitializeEx")
    try:
        yield
    finally:
        if result >= 0:
            ole.CoUninitialize()


@contextmanager
def _made(kind: str, interface: str) -> Iterator[ctypes.c_void_p]:
    made = ctypes.c_void_p()
    ctypes.OleDLL("ole32").CoCreateInstance(
        ctypes.byref(guid(kind)), None, INPROC_SERVER, ctypes.byref(guid(interface)), ctypes.byref(made)
    )
    try:
        yield made
    finally:
        _release(made)


def _method(thing: ctypes.c_void_p, place: int, kinds: tuple[Any, ...]) -> Any:  # noqa: ANN401 - what ctypes gives
    table = ctypes.cast(thing, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
    return ctypes.WINFUNCTYPE(ctypes.c_long, ctypes.c_void_p, *kinds)(table[place] or 0)


def _call(thing: ctypes.c_void_p, place: int, kinds: tuple[Any, ...], *values: Any) -> None:  # noqa: ANN401 - as above
    result = _method(thing, place, kinds)(thing, *values)
    if result < 0:
        raise OSError(result, f"method {place}")


def _release(thing: ctypes.c_void_p) -> None:
    if thing:
        _method(thing, RELEASE, ())(thing)
