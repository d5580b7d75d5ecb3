"""Windows' display adapters through SetupAPI, which also lists those without a driver and wakes none."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from ctypes import wintypes  # noqa: E402

from msgspec import Struct  # noqa: E402

from . import windows_registry as registry  # noqa: E402
from .windows_facts import DEVICE_CLASSES_KEY, PciDeviceEntry  # noqa: E402
from .windows_guid import Guid, guid_from_text  # noqa: E402
from .windows_read import DISPLAY_CLASS, nvidia_driver_version  # noqa: E402

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
POWER_STATE_BYTES = slice(4, 8)
POWER_DEVICE_D3 = 4


class NvidiaDevice(Struct, frozen=True, kw_only=True):
    """An NVIDIA card that has a driver: PCI address ("0000:01:00.0"), the driver's version as NVIDIA counts
    ("566.03"), whether it sleeps (D3)."""

    address: str | None
    driver_version: str | None
    is_asleep: bool


class _DeviceInfo(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD),
        ("class_guid", Guid),
        ("instance", wintypes.DWORD),
        ("reserved", ctypes.c_void_p),
    )


class _PropertyKey(ctypes.Structure):
    _fields_ = (("group", Guid), ("number", wintypes.DWORD))


class _SetupDevice:
    """One entry of an open device list; what it does not have reads as empty."""

    def __init__(self, library: ctypes.WinDLL, devices: int, info: _DeviceInfo) -> None:
        self._library, self._devices, self._info = library, devices, info

    def registry_texts(self, property_id: int) -> list[str]:
        """A registry property that is a text or a list of texts."""
        data = self._registry_property(property_id)
        return [text for text in data.decode("utf-16-le", "replace").split("\0\0")[0].split("\0") if text]

    def registry_text(self, property_id: int) -> str | None:
        """A registry property that is a text."""
        return next(iter(self.registry_texts(property_id)), None)

    def registry_number(self, property_id: int) -> int:
        """A registry property that is a number; 0 where there is none."""
        return int.from_bytes(self._registry_property(property_id)[:4], "little")

    def device_property(self, property_id: int) -> bytes:
        """One of the device properties."""
        key = _PropertyKey(guid_from_text(DEVICE_PROPERTIES), property_id)
        property_type, required_size = wintypes.DWORD(), wintypes.DWORD()
        buffer = ctypes.create_string_buffer(256)
        succeeded = self._library.SetupDiGetDevicePropertyW(
            *(self._devices, ctypes.byref(self._info), ctypes.byref(key), ctypes.byref(property_type)),
            *(buffer, ctypes.sizeof(buffer), ctypes.byref(required_size), 0),
        )
        return buffer.raw[: required_size.value] if succeeded else b""

    def _registry_property(self, property_id: int) -> bytes:
        buffer = ctypes.create_string_buffer(8192)
        succeeded = self._library.SetupDiGetDeviceRegistryPropertyW(
            self._devices, ctypes.byref(self._info), property_id, None, buffer, ctypes.sizeof(buffer), None
        )
        return buffer.raw if succeeded else b""


def _pci_devices(device_class: str | None) -> Iterator[_SetupDevice]:
    """The PCI devices that are there; of one class, or all."""
    library = ctypes.WinDLL("setupapi", use_last_error=True)
    handle_type, info_pointer = ctypes.c_void_p, ctypes.POINTER(_DeviceInfo)
    library.SetupDiGetClassDevsW.restype = handle_type
    library.SetupDiGetClassDevsW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR, wintypes.HWND, wintypes.DWORD)
    library.SetupDiEnumDeviceInfo.argtypes = (handle_type, wintypes.DWORD, info_pointer)
    library.SetupDiGetDeviceRegistryPropertyW.argtypes = (
        *(handle_type, info_pointer, wintypes.DWORD, ctypes.c_void_p),
        *(ctypes.c_void_p, wintypes.DWORD, ctypes.c_void_p),
    )
    library.SetupDiGetDevicePropertyW.argtypes = (
        *(handle_type, info_pointer, ctypes.POINTER(_PropertyKey), ctypes.c_void_p),
        *(ctypes.c_void_p, wintypes.DWORD, ctypes.c_void_p, wintypes.DWORD),
    )
    library.SetupDiDestroyDeviceInfoList.argtypes = (handle_type,)
    class_filter = ctypes.byref(guid_from_text(device_class)) if device_class is not None else None
    flags = DIGCF_PRESENT | (DIGCF_ALLCLASSES if device_class is None else 0)
    devices = library.SetupDiGetClassDevsW(class_filter, "PCI", None, flags)
    if devices == INVALID_HANDLE:
        return
    try:
        info = _DeviceInfo(size=ctypes.sizeof(_DeviceInfo))
        index = 0
        while library.SetupDiEnumDeviceInfo(devices, index, ctypes.byref(info)):
            index += 1
            yield _SetupDevice(library, devices, info)
    finally:
        library.SetupDiDestroyDeviceInfoList(devices)


def device_entries() -> Iterator[PciDeviceEntry]:
    """Every device on the PCI bus, with and without a driver, in Windows' own order."""
    for device in _pci_devices(None):
        yield PciDeviceEntry(
            hardware_ids=(*device.registry_texts(SPDRP_HARDWAREID), *device.registry_texts(SPDRP_COMPATIBLEIDS)),
            device_class=device.registry_text(SPDRP_CLASSGUID),
            driver=device.registry_text(SPDRP_DRIVER),
            friendly_name=device.registry_text(SPDRP_FRIENDLYNAME),
            description=device.registry_text(SPDRP_DEVICEDESC),
            service=device.registry_text(SPDRP_SERVICE),
        )


def nvidia_devices() -> tuple[NvidiaDevice, ...]:
    """NVIDIA's cards that have a driver and are not disabled."""
    return tuple(nvidia_device for device in _pci_devices(DISPLAY_CLASS) if (nvidia_device := _nvidia_device(device)) is not None)


def _nvidia_device(device: _SetupDevice) -> NvidiaDevice | None:
    hardware_ids = device.registry_texts(SPDRP_HARDWAREID)
    driver = device.registry_text(SPDRP_DRIVER)
    if driver is None or not any("VEN_10DE" in text.upper() for text in hardware_ids):
        return None
    if device.registry_number(SPDRP_CONFIGFLAGS) & CONFIGFLAG_DISABLED:
        return None
    power_state = int.from_bytes(device.device_property(POWER_DATA)[POWER_STATE_BYTES], "little")
    return NvidiaDevice(
        address=_pci_address(device.device_property(BUS_NUMBER), device.device_property(ADDRESS)),
        driver_version=nvidia_driver_version(registry.text(registry.MACHINE, f"{DEVICE_CLASSES_KEY}\\{driver}", "DriverVersion")),
        is_asleep=power_state == POWER_DEVICE_D3,
    )


def _pci_address(bus: bytes, device_address: bytes) -> str | None:
    """Both are numbers of four bytes; a place is the device in the upper half and the function in the lower."""
    if len(bus) != 4 or len(device_address) != 4 or any(bus[1:]):
        return None  # a bus beyond the first segment: how Windows counts those is not documented
    return f"0000:{bus[0]:02x}:{device_address[2]:02x}.{device_address[0]:x}"
