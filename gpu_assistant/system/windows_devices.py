"""Windows' display adapters through SetupAPI, which also lists those without a driver and wakes none."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from ctypes import wintypes  # noqa: E402

from msgspec import Struct  # noqa: E402

from . import windows_registry as registry  # noqa: E402
from .windows_facts import CLASSES, DeviceEntry  # noqa: E402
from .windows_guid import Guid, guid  # noqa: E402
from .windows_read import DISPLAY_CLASS, nvidia_version  # noqa: E402

# setupapi.h
DIGCF_PRESENT = 0x02
DIGCF_ALLCLASSES = 0x04
SPDRP_DEVICEDESC = 0x00
SPDRP_HARDWAREID = 0x01
SPDRP_COMPATIBLEIDS = 0x02
SPDRP_SERVICE = 0x04
SPDRP_CLASSGUID = 0x08
SPDRP_DRIVER = 0x09
SPDRP_CONFIGFLAGS = 0x0A
SPDRP_FRIENDLYNAME = 0x0C
INVALID_HANDLE = ctypes.c_void_p(-1).value
CONFIGFLAG_DISABLED = 0x1  # regstr.h

# devpkey.h: DEVPKEY_Device_BusNumber, _Address, _PowerData
DEVICE_PROPERTIES = "a45c254e-df1c-4efd-8020-67d146a850e0"
BUS_NUMBER, ADDRESS, POWER_DATA = 23, 30, 32
# wdm.h: CM_POWER_DATA begins with its size and PD_MostRecentPowerState; PowerDeviceD3 of DEVICE_POWER_STATE
POWER_STATE_AT = slice(4, 8)
POWER_DEVICE_D3 = 4


class NvidiaCard(Struct, frozen=True, kw_only=True):
    """An NVIDIA card that has a driver: PCI address ("0000:01:00.0"), the driver's version as NVIDIA counts
    ("566.03"), whether it sleeps (D3)."""

    address: str | None
    driver: str | None
    asleep: bool


class _Info(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD),
        ("class_guid", Guid),
        ("instance", wintypes.DWORD),
        ("reserved", ctypes.c_void_p),
    )


class _Key(ctypes.Structure):
    _fields_ = (("group", Guid), ("number", wintypes.DWORD))


class _Device:
    """One entry of an open device list; what it does not have reads as empty."""

    def __init__(self, library: ctypes.WinDLL, devices: int, info: _Info) -> None:
        self._library, self._devices, self._info = library, devices, info

    def texts(self, what: int) -> list[str]:
        """A registry property that is a text or a list of texts."""
        data = self._registry(what)
        return [text for text in data.decode("utf-16-le", "replace").split("\0\0")[0].split("\0") if text]

    def text(self, what: int) -> str | None:
        """A registry property that is a text."""
        return next(iter(self.texts(what)), None)

    def number(self, what: int) -> int:
        """A registry property that is a number; 0 where there is none."""
        return int.from_bytes(self._registry(what)[:4], "little")

    def property(self, number: int) -> bytes:
        """One of the device properties."""
        key = _Key(guid(DEVICE_PROPERTIES), number)
        kind, needed = wintypes.DWORD(), wintypes.DWORD()
        buffer = ctypes.create_string_buffer(256)
        found = self._library.SetupDiGetDevicePropertyW(
            *(self._devices, ctypes.byref(self._info), ctypes.byref(key), ctypes.byref(kind)),
            *(buffer, ctypes.sizeof(buffer), ctypes.byref(needed), 0),
        )
        return buffer.raw[: needed.value] if found else b""

    def _registry(self, what: int) -> bytes:
        buffer = ctypes.create_string_buffer(8192)
        found = self._library.SetupDiGetDeviceRegistryPropertyW(
            self._devices, ctypes.byref(self._info), what, None, buffer, ctypes.sizeof(buffer), None
        )
        return buffer.raw if found else b""


def _devices(device_class: str | None) -> Iterator[_Device]:
    """The PCI devices that are there; of one class, or all."""
    library = ctypes.WinDLL("setupapi", use_last_error=True)
    handle, info_pointer = ctypes.c_void_p, ctypes.POINTER(_Info)
    library.SetupDiGetClassDevsW.restype = handle
    library.SetupDiGetClassDevsW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR, wintypes.HWND, wintypes.DWORD)
    library.SetupDiEnumDeviceInfo.argtypes = (handle, wintypes.DWORD, info_pointer)
    library.SetupDiGetDeviceRegistryPropertyW.argtypes = (
        *(handle, info_pointer, wintypes.DWORD, ctypes.c_void_p),
        *(ctypes.c_void_p, wintypes.DWORD, ctypes.c_void_p),
    )
    library.SetupDiGetDevicePropertyW.argtypes = (
        *(handle, info_pointer, ctypes.POINTER(_Key), ctypes.c_void_p),
        *(ctypes.c_void_p, wintypes.DWORD, ctypes.c_void_p, wintypes.DWORD),
    )
    library.SetupDiDestroyDeviceInfoList.argtypes = (handle,)
    chosen = ctypes.byref(guid(device_class)) if device_class is not None else None
    flags = DIGCF_PRESENT | (DIGCF_ALLCLASSES if device_class is None else 0)
    devices = library.SetupDiGetClassDevsW(chosen, "PCI", None, flags)
    if devices == INVALID_HANDLE:
        return
    try:
        info = _Info(size=ctypes.sizeof(_Info))
        index = 0
        while library.SetupDiEnumDeviceInfo(devices, index, ctypes.byref(info)):
            index += 1
            yield _Device(library, devices, info)
    finally:
        library.SetupDiDestroyDeviceInfoList(devices)


def entries() -> Iterator[DeviceEntry]:
    """Every device on the PCI bus, with and without a driver, in Windows' own order."""
    for device in _devices(None):
        yield DeviceEntry(
            hardware_ids=(*device.texts(SPDRP_HARDWAREID), *device.texts(SPDRP_COMPATIBLEIDS)),
            device_class=device.text(SPDRP_CLASSGUID),
            driver=device.text(SPDRP_DRIVER),
            friendly_name=device.text(SPDRP_FRIENDLYNAME),
            description=device.text(SPDRP_DEVICEDESC),
            service=device.text(SPDRP_SERVICE),
        )


def nvidia_cards() -> tuple[NvidiaCard, ...]:
    """NVIDIA's cards that have a driver and are not disabled."""
    return tuple(card for device in _devices(DISPLAY_CLASS) if (card := _nvidia_card(device)) is not None)


def _nvidia_card(device: _Device) -> NvidiaCard | None:
    ids = device.texts(SPDRP_HARDWAREID)
    driver = device.text(SPDRP_DRIVER)
    if driver is None or not any("VEN_10DE" in text.upper() for text in ids):
        return None
    if device.number(SPDRP_CONFIGFLAGS) & CONFIGFLAG_DISABLED:
        return None
    state = int.from_bytes(device.property(POWER_DATA)[POWER_STATE_AT], "little")
    return NvidiaCard(
        address=_address(device.property(BUS_NUMBER), device.property(ADDRESS)),
        driver=nvidia_version(registry.text(registry.MACHINE, f"{CLASSES}\\{driver}", "DriverVersion")),
        asleep=state == POWER_DEVICE_D3,
    )


def _address(bus: bytes, place: bytes) -> str | None:
    """Both are numbers of four bytes; a place is the device in the upper half and the function in the lower."""
    if len(bus) != 4 or len(place) != 4 or any(bus[1:]):
        return None  # a bus beyond the first segment: how Windows counts those is not documented
    return f"0000:{bus[0]:02x}:{place[2]:02x}.{place[0]:x}"
