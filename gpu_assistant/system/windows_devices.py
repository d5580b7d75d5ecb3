"""Windows' PCI devices through SetupAPI, which also lists those without a driver and wakes none."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from ctypes import wintypes  # noqa: E402

from msgspec.structs import replace  # noqa: E402

from ..core.machine import Gpu  # noqa: E402
from . import windows_registry as registry  # noqa: E402
from .windows_read import adapter  # noqa: E402

# setupapi.h
DIGCF_PRESENT = 0x02
DIGCF_ALLCLASSES = 0x04
SPDRP_DEVICEDESC = 0x00
SPDRP_HARDWAREID = 0x01
SPDRP_COMPATIBLEIDS = 0x02
SPDRP_SERVICE = 0x04
SPDRP_CLASSGUID = 0x08
SPDRP_DRIVER = 0x09
SPDRP_FRIENDLYNAME = 0x0C
INVALID_HANDLE = ctypes.c_void_p(-1).value

CLASSES = r"SYSTEM\CurrentControlSet\Control\Class"


class _DeviceInfo(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD),
        ("class_guid", ctypes.c_byte * 16),
        ("instance", wintypes.DWORD),
        ("reserved", ctypes.c_void_p),
    )


def _library() -> ctypes.WinDLL:
    library = ctypes.WinDLL("setupapi", use_last_error=True)
    library.SetupDiGetClassDevsW.restype = ctypes.c_void_p
    library.SetupDiGetClassDevsW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR, wintypes.HWND, wintypes.DWORD)
    library.SetupDiEnumDeviceInfo.argtypes = (ctypes.c_void_p, wintypes.DWORD, ctypes.POINTER(_DeviceInfo))
    library.SetupDiGetDeviceRegistryPropertyW.argtypes = (
        ctypes.c_void_p,
        ctypes.POINTER(_DeviceInfo),
        wintypes.DWORD,
        ctypes.c_void_p,
        ctypes.c_void_p,
        wintypes.DWORD,
        ctypes.c_void_p,
    )
    library.SetupDiDestroyDeviceInfoList.argtypes = (ctypes.c_void_p,)
    return library


def display_adapters() -> tuple[Gpu, ...]:
    """Every display adapter on the PCI bus, in Windows' own order."""
    return tuple(replace(gpu, index=index) for index, gpu in enumerate(_adapters()))


def _adapters() -> Iterator[Gpu]:
    library = _library()
    devices = library.SetupDiGetClassDevsW(None, "PCI", None, DIGCF_PRESENT | DIGCF_ALLCLASSES)
    if devices == INVALID_HANDLE:
        return
    try:
        info = _DeviceInfo(size=ctypes.sizeof(_DeviceInfo))
        index = 0
        while library.SetupDiEnumDeviceInfo(devices, index, ctypes.byref(info)):
            index += 1
            gpu = _adapter(library, devices, info)
            if gpu is not None:
                yield gpu
    finally:
        library.SetupDiDestroyDeviceInfoList(devices)


def _adapter(library: ctypes.WinDLL, devices: int, info: _DeviceInfo) -> Gpu | None:
    def texts(what: int) -> list[str]:
        buffer = ctypes.create_unicode_buffer(4096)
        size = ctypes.sizeof(buffer)
        if not library.SetupDiGetDeviceRegistryPropertyW(devices, ctypes.byref(info), what, None, buffer, size, None):
            return []
        return [text for text in ctypes.wstring_at(buffer, len(buffer)).split("\0\0")[0].split("\0") if text]

    def text(what: int) -> str | None:
        return next(iter(texts(what)), None)

    driver = text(SPDRP_DRIVER)
    key = f"{CLASSES}\\{driver}"
    described = registry.text(registry.MACHINE, key, "DriverDesc") if driver else None
    return adapter(
        hardware_ids=[*texts(SPDRP_HARDWAREID), *texts(SPDRP_COMPATIBLEIDS)],
        device_class=text(SPDRP_CLASSGUID),
        description=described or text(SPDRP_FRIENDLYNAME) or text(SPDRP_DEVICEDESC),
        service=text(SPDRP_SERVICE),
        memory_bytes=registry.number(registry.MACHINE, key, "HardwareInformation.qwMemorySize") if driver else None,
    )
