"""Whether there is a screen to open a window on. Asked before Qt is loaded: Qt itself would end the process."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Literal

Screen = Literal["there", "none", "silent"]
# Qt's own names of its ways to a display server; all its others need none.
X11, WAYLAND = ("xcb",), ("wayland", "wayland-egl")
PATIENCE_S = 5.0


def screen(environ: Mapping[str, str] = os.environ) -> Screen:
    """ "there" on Windows and macOS; elsewhere "none" where no display server is named, "silent" where the named one
    cannot be reached or lets nobody in.
    """
    if sys.platform in ("win32", "darwin"):
        return "there"
    asked = [name.partition(":")[0] for name in environ.get("QT_QPA_PLATFORM", "").split(";") if name]
    if any(name not in (*X11, *WAYLAND) for name in asked):
        return "there"
    answers = [
        answer(environ)
        for names, variable, answer in ((WAYLAND, "WAYLAND_DISPLAY", _wayland), (X11, "DISPLAY", _x11))
        if environ.get(variable) and (not asked or not set(names).isdisjoint(asked))
    ]
    if not answers:
        return "none"
    return "there" if any(answers) else "silent"


def named(environ: Mapping[str, str] = os.environ) -> str:
    """The display server that the environment names, as it stands there."""
    names = ("WAYLAND_DISPLAY", "DISPLAY")
    return ", ".join(f"{name}={environ[name]}" for name in names if environ.get(name))


def _wayland(environ: Mapping[str, str]) -> bool:
    """Whether something listens where the compositor should."""
    # An absolute path stays what it is.
    path = Path(environ.get("XDG_RUNTIME_DIR", "")) / environ["WAYLAND_DISPLAY"]
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as line:
        line.settimeout(PATIENCE_S)
        try:
            line.connect(str(path))
        except OSError:
            return False
    return True


def _x11(environ: Mapping[str, str]) -> bool:
    """Whether the X server lets us in, asked with the library that Qt asks with; True where it cannot be asked."""
    try:
        library = ctypes.CDLL("libxcb.so.1")
        connect, fault, end = library.xcb_connect, library.xcb_connection_has_error, library.xcb_disconnect
    except (OSError, AttributeError):
        return True
    connect.argtypes, connect.restype = (ctypes.c_char_p, ctypes.c_void_p), ctypes.c_void_p
    fault.argtypes, fault.restype = (ctypes.c_void_p,), ctypes.c_int
    end.argtypes, end.restype = (ctypes.c_void_p,), None
    line = connect(environ["DISPLAY"].encode(), None)
    try:
        return not fault(line)
    finally:
        end(line)
