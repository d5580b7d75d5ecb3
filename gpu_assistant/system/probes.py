"""What the firmware's tables say: the kind of computer, and whether there is a computer at all.

Source: SMBIOS specification (DSP0134), 7.4.1 "System enclosure or chassis types"; the makers' words are those that
systemd's detect-virt knows.

PCI numbers: who made a display adapter, and which devices are display adapters.

Whether this computer is in a network at all.

Whether there is a screen to open a window on. Asked before Qt is loaded: Qt itself would end the process.
"""

from __future__ import annotations

import ctypes
import os
import re
import socket
import sys
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal

from ..core.machine import Vendor

# Portable, laptop, notebook, hand held, sub notebook, tablet, convertible, detachable
_PORTABLE_CHASSIS = {8, 9, 10, 11, 14, 30, 31, 32}
# Desktop, low profile, pizza box, mini tower, tower, all in one, space saving, servers' kinds, mini PC
_STATIONARY_CHASSIS = {3, 4, 5, 6, 7, 13, 15, 16, 17, 22, 23, 24, 25, 28, 29, 35, 36}

# The beginning of a maker's or a product's name that only virtual machines have.
_VIRTUAL_PREFIXES = (
    *("qemu", "kvm", "vmware", "virtualbox", "innotek", "xen", "bochs", "parallels", "bhyve", "openstack"),
    *("google compute engine", "apple virtualization", "virtual machine", "hvm domu"),
)
# Firms that name virtual and real computers alike; their real ones say so.
_EC2_PREFIX = "amazon ec2"


def is_laptop(chassis: int | None, *, has_battery: bool | None) -> bool | None:
    """By the kind of chassis, else by a battery; None where neither says."""
    if chassis in _PORTABLE_CHASSIS:
        return True
    if chassis in _STATIONARY_CHASSIS:
        return False
    return True if has_battery else None


def is_virtual_machine(vendor: str | None, product: str | None) -> bool | None:
    """By the makers' words; None where there are none."""
    names = [name.strip().lower() for name in (vendor, product) if name and name.strip()]
    if not names:
        return None
    if names[0].startswith(_EC2_PREFIX):
        return not names[-1].endswith("metal") and "metal-" not in names[-1]
    return any(name.startswith(_VIRTUAL_PREFIXES) for name in names)


# Vendor numbers as the PCI-SIG gave them out.
_VENDOR_BY_ID: dict[str, Vendor] = {"10de": "nvidia", "1002": "amd", "1022": "amd", "8086": "intel", "106b": "apple"}


# How pci.ids' makers are called on the box.
_VENDOR_NAMES = {"10de": "NVIDIA", "1002": "AMD", "1022": "AMD", "8086": "Intel"}


def vendor_by_id(vendor_id: str) -> Vendor:
    """The maker by its PCI vendor number in lower-case hex."""
    return _VENDOR_BY_ID.get(vendor_id, "other")


def is_display_adapter(device_class: str, vendor_id: str) -> bool:
    """Whether a PCI class code in hex ("030000") is a display controller.

    AMD's Instinct cards call themselves processing accelerators (class 12).
    """
    return device_class.startswith("03") or (device_class.startswith("12") and vendor_by_id(vendor_id) == "amd")


def read_device_names(lines: Iterable[str], requested: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Devices' names from the lines of pci.ids (its format: "vendor  name", a tab and "device  name", two tabs below).

    What stands in brackets is the name on the box: "AD107 [GeForce RTX 4060]". A device that shares its number with
    others keeps all their names, as the list has them.
    """
    device_names: dict[tuple[str, str], str] = {}
    vendor_id, vendor_name = "", ""
    vendor_ids = {pair[0] for pair in requested}
    for line in lines:
        if line[:1] in ("#", "\n", ""):
            continue
        if line[0] == "C":  # device classes, at the end
            break
        if line[0] != "\t":
            vendor_id, _, vendor_name = line.strip().partition("  ")
        elif line[1:2] != "\t" and vendor_id in vendor_ids:
            device_id, _, name = line.strip().partition("  ")
            if (vendor_id, device_id) in requested and name:
                product = re.search(r"\[(.+)\]", name)
                brand = _VENDOR_NAMES.get(vendor_id) or vendor_name
                device_names[vendor_id, device_id] = f"{brand} {product[1] if product else name}"
    return device_names


# Addresses of nobody, kept for documents: RFC 5737 and RFC 3849.
_DOCUMENTATION_ADDRESSES = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
_DISCARD_PORT = 9


def is_network_available() -> bool:
    """Whether the system knows a way to other computers. Nothing is sent: a datagram only looks for its way."""
    for family, address in _DOCUMENTATION_ADDRESSES:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, _DISCARD_PORT))
            return True
    return False


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
    try:
        return not xcb_has_error(connection)
    finally:
        xcb_disconnect(connection)
