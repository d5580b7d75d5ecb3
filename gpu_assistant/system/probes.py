"""Whether there is a network, and a display to open a window on.

Both are asked before anything heavy is loaded; without a display Qt would end the process.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal

# Addresses that belong to nobody, reserved for documentation: RFC 5737 and RFC 3849.
_DOCUMENTATION_ADDRESSES = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
_DISCARD_PORT = 9


def is_network_available() -> bool:
    """Whether the system has a route to other computers. Nothing is sent: connecting a UDP socket only looks it up."""
    for family, address in _DOCUMENTATION_ADDRESSES:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, _DISCARD_PORT))
            return True
    return False


DisplayState = Literal["there", "none", "silent"]
# Qt's platform plugins that need a display server; the others need none.
X11_PLATFORMS, WAYLAND_PLATFORMS = ("xcb",), ("wayland", "wayland-egl")
CONNECT_TIMEOUT_S = 5.0


def display_state(environ: Mapping[str, str] = os.environ) -> DisplayState:
    """ "there" on Windows and macOS; elsewhere "none" where the environment names no display server, "silent" where
    the named one cannot be reached or refuses us.
    """
    if sys.platform in ("win32", "darwin"):
        return "there"
    requested = [name.partition(":")[0] for name in environ.get("QT_QPA_PLATFORM", "").split(";") if name]
    if any(name not in (*X11_PLATFORMS, *WAYLAND_PLATFORMS) for name in requested):
        return "there"
    reachable = [
        can_connect(environ)
        for names, variable, can_connect in (
            (WAYLAND_PLATFORMS, "WAYLAND_DISPLAY", _can_connect_wayland),
            (X11_PLATFORMS, "DISPLAY", _can_connect_x11),
        )
        if environ.get(variable) and (not requested or not set(names).isdisjoint(requested))
    ]
    if not reachable:
        return "none"
    return "there" if any(reachable) else "silent"


def display_server_name(environ: Mapping[str, str] = os.environ) -> str:
    """The display servers that the environment names: "WAYLAND_DISPLAY=wayland-0, DISPLAY=:0"."""
    names = ("WAYLAND_DISPLAY", "DISPLAY")
    return ", ".join(f"{name}={environ[name]}" for name in names if environ.get(name))


def _can_connect_wayland(environ: Mapping[str, str]) -> bool:
    """Whether something listens on the compositor's socket."""
    # An absolute WAYLAND_DISPLAY replaces the folder.
    path = Path(environ.get("XDG_RUNTIME_DIR", "")) / environ["WAYLAND_DISPLAY"]
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as connection:
        connection.settimeout(CONNECT_TIMEOUT_S)
        try:
            connection.connect(str(path))
        except OSError:
            return False
    return True


def _can_connect_x11(environ: Mapping[str, str]) -> bool:
    """Whether the X server accepts us, by the library that Qt connects with; True where there is no such library."""
    try:
        library = ctypes.CDLL("libxcb.so.1")
        xcb_connect, xcb_has_error, xcb_disconnect = (
            library.xcb_connect,
            library.xcb_connection_has_error,
            library.xcb_disconnect,
        )
    except (OSError, AttributeError):
        return True
    xcb_connect.argtypes, xcb_connect.restype = (ctypes.c_char_p, ctypes.c_void_p), ctypes.c_void_p
    xcb_has_error.argtypes, xcb_has_error.restype = (ctypes.c_void_p,), ctypes.c_int
    xcb_disconnect.argtypes, xcb_disconnect.restype = (ctypes.c_void_p,), None
    connection = xcb_connect(environ["DISPLAY"].encode(), None)
    if xcb_has_error(connection):
        xcb_disconnect(connection)
        return False
    # Kept for the life of the process: a server that resets when its last client leaves (Xvfb, Xephyr, Xorg without
    # -noreset) would refuse Qt, which connects next.
    return True
