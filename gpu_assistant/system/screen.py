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

DisplayState = Literal["there", "none", "silent"]
# Qt's own names of its ways to a display server; all its others need none.
X11_PLATFORMS, WAYLAND_PLATFORMS = ("xcb",), ("wayland", "wayland-egl")
CONNECT_TIMEOUT_S = 5.0


def display_state(environ: Mapping[str, str] = os.environ) -> DisplayState:
    """ "there" on Windows and macOS; elsewhere "none" where no display server is named, "silent" where the named one
    cannot be reached or lets nobody in.
    """
    if sys.platform in ("win32", "darwin"):
        return "there"
    requested = [name.partition(":")[0] for name in environ.get("QT_QPA_PLATFORM", "").split(";") if name]
    if any(name not in (*X11_PLATFORMS, *WAYLAND_PLATFORMS) for name in requested):
        return "there"
    reachable = [
        can_connect(environ)
        for names, variable, can_connect in ((WAYLAND_PLATFORMS, "WAYLAND_DISPLAY", _can_connect_wayland), (X11_PLATFORMS, "DISPLAY", _can_connect_x11))
        if environ.get(variable) and (not requested or not set(names).isdisjoint(requested))
    ]
    if not reachable:
        return "none"
    return "there" if any(reachable) else "silent"


def display_server_name(environ: Mapping[str, str] = os.environ) -> str:
    """The display server that the environment names, as it stands there."""
    names = ("WAYLAND_DISPLAY", "DISPLAY")
    return ", ".join(f"{name}={environ[name]}" for name in names if environ.get(name))


def _can_connect_wayland(environ: Mapping[str, str]) -> bool:
    """Whether something listens where the compositor should."""
    # An absolute path stays what it is.
    path = Path(environ.get("XDG_RUNTIME_DIR", "")) / environ["WAYLAND_DISPLAY"]
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as connection:
        connection.settimeout(CONNECT_TIMEOUT_S)
        try:
            connection.connect(str(path))
        except OSError:
            return False
    return True


def _can_connect_x11(environ: Mapping[str, str]) -> bool:
    """Whether the X server lets us in, asked with the library that Qt asks with; True where it cannot be asked."""
    try:
        library = ctypes.CDLL("libxcb.so.1")
        xcb_connect, xcb_has_error, xcb_disconnect = library.xcb_connect, library.xcb_connection_has_error, library.xcb_disconnect
    except (OSError, AttributeError):
        return True
    xcb_connect.argtypes, xcb_connect.restype = (ctypes.c_char_p, ctypes.c_void_p), ctypes.c_void_p
    xcb_has_error.argtypes, xcb_has_error.restype = (ctypes.c_void_p,), ctypes.c_int
    xcb_disconnect.argtypes, xcb_disconnect.restype = (ctypes.c_void_p,), None
    connection = xcb_connect(environ["DISPLAY"].encode(), None)
    try:
        return not xcb_has_error(connection)
    finally:
        xcb_disconnect(connection)
