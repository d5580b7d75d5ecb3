"""What a computer with Windows is made of: PCI devices through SetupAPI, GPU memory by process, power, disks.

SetupAPI also lists devices without a driver, and wakes none. Under WDDM Windows allocates the GPU's memory, so that
NVML does not know how much each process has; the Task Manager shows the same performance counters that are read here.

Sources: setupapi.h; pdh.h and the counter set "GPU Process Memory"; d3dkmthk.h, D3DKMTQueryAdapterInfo (the GPU of a
LUID); winbase.h, SYSTEM_POWER_STATUS; processthreadsapi.h, IsProcessorFeaturePresent.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import wintypes
from functools import partial

from msgspec import Struct

from ...core.machine import Disk
from ..base import PowerStatus
from ..processes import gather_with_timeout
from . import registry
from .com import guid_from_text
from .facts import DEVICE_CLASSES_KEY, PciDeviceEntry
from .functions import gdi32, kernel32, pdh, setupapi
from .parsing import (
    BATTERY_NONE,
    DISPLAY_CLASS,
    POWER_UNKNOWN,
    Luid,
    nvidia_driver_version,
    parse_gpu_instance,
    parse_power_status,
    parse_processor_feature,
)
from .structures import (
    AdapterAddress,
    CloseAdapter,
    CounterValueItem,
    DeviceInfoData,
    DevicePropertyKey,
    OpenAdapterFromLuid,
    QueryAdapterInfo,
    SystemPowerStatus,
)

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

GPU_MEMORY_COUNTER = r"\GPU Process Memory(*)\Dedicated Usage"
GPU_SHARED_MEMORY_COUNTER = r"\GPU Process Memory(*)\Shared Usage"
PDH_FMT_LARGE = 0x400
PDH_MORE_DATA = 0x800007D2
# learn.microsoft.com/windows/win32/perfctrs/checking-pdh-interface-return-values: PDH_CSTATUS_VALID_DATA, _NEW_DATA
VALID_COUNTER_STATUSES = (0, 1)
ADAPTER_ADDRESS = 6  # KMTQAITYPE_ADAPTERADDRESS

# winnt.h: PF_ARM_V8_INSTRUCTIONS_AVAILABLE, PF_AVX_INSTRUCTIONS_AVAILABLE, PF_AVX2_INSTRUCTIONS_AVAILABLE
PF_ARM_V8, PF_AVX, PF_AVX2 = 29, 39, 40

DRIVE_FIXED = 3  # GetDriveTypeW
DISK_TIMEOUT_S = 1.5  # a disk that has not answered by then is listed without its sizes


class NvidiaDevice(Struct, frozen=True, kw_only=True):
    """An NVIDIA GPU that has a driver: PCI address ("0000:01:00.0"), the driver's version as NVIDIA counts
    ("566.03"), whether it is asleep (D3)."""

    address: str | None
    driver_version: str | None
    is_asleep: bool


class SetupDevice:
    """One entry of an open device list; a property that it does not have reads as empty."""

    def __init__(self, device_list: int, info: DeviceInfoData) -> None:
        self.device_list, self.info = device_list, info

    def registry_texts(self, property_id: int) -> list[str]:
        """A registry property of one or several texts."""
        data = self._registry_property(property_id)
        return [text for text in data.decode("utf-16-le", "replace").split("\0\0")[0].split("\0") if text]

    def registry_text(self, property_id: int) -> str | None:
        """A registry property of one text."""
        return next(iter(self.registry_texts(property_id)), None)

    def registry_number(self, property_id: int) -> int:
        """A registry property of one number; 0 where there is none."""
        return int.from_bytes(self._registry_property(property_id)[:4], "little")

    def device_property(self, property_id: int) -> bytes:
        """One of `DEVICE_PROPERTIES`."""
        key = DevicePropertyKey(guid_from_text(DEVICE_PROPERTIES), property_id)
        property_type, required_size = wintypes.DWORD(), wintypes.DWORD()
        buffer = ctypes.create_string_buffer(256)
        succeeded = setupapi.SetupDiGetDevicePropertyW(
            *(self.device_list, ctypes.byref(self.info), ctypes.byref(key), ctypes.byref(property_type)),
            *(buffer, ctypes.sizeof(buffer), ctypes.byref(required_size), 0),
        )
        return buffer.raw[: required_size.value] if succeeded else b""

    def _registry_property(self, property_id: int) -> bytes:
        buffer = ctypes.create_string_buffer(8192)
        succeeded = setupapi.SetupDiGetDeviceRegistryPropertyW(
            self.device_list, ctypes.byref(self.info), property_id, None, buffer, ctypes.sizeof(buffer), None
        )
        return buffer.raw if succeeded else b""


def pci_devices(device_class: str | None) -> Iterator[SetupDevice]:
    """The PCI devices that are present, of one class or of all."""
    class_filter = ctypes.byref(guid_from_text(device_class)) if device_class is not None else None
    flags = DIGCF_PRESENT | (DIGCF_ALLCLASSES if device_class is None else 0)
    devices = setupapi.SetupDiGetClassDevsW(class_filter, "PCI", None, flags)
    if devices == INVALID_HANDLE:
        return
    try:
        info = DeviceInfoData(cbSize=ctypes.sizeof(DeviceInfoData))
        index = 0
        while setupapi.SetupDiEnumDeviceInfo(devices, index, ctypes.byref(info)):
            index += 1
            yield SetupDevice(devices, info)
    finally:
        setupapi.SetupDiDestroyDeviceInfoList(devices)


def device_entries() -> Iterator[PciDeviceEntry]:
    """Every device on the PCI bus, with and without a driver, in Windows' order."""
    for device in pci_devices(None):
        yield PciDeviceEntry(
            hardware_ids=(*device.registry_texts(SPDRP_HARDWAREID), *device.registry_texts(SPDRP_COMPATIBLEIDS)),
            device_class=device.registry_text(SPDRP_CLASSGUID),
            driver=device.registry_text(SPDRP_DRIVER),
            friendly_name=device.registry_text(SPDRP_FRIENDLYNAME),
            description=device.registry_text(SPDRP_DEVICEDESC),
            service=device.registry_text(SPDRP_SERVICE),
        )


def nvidia_devices() -> tuple[NvidiaDevice, ...]:
    """The NVIDIA GPUs that have a driver and are not disabled."""
    return tuple(
        nvidia_device for device in pci_devices(DISPLAY_CLASS) if (nvidia_device := _nvidia_device(device)) is not None
    )


def _nvidia_device(device: SetupDevice) -> NvidiaDevice | None:
    hardware_ids = device.registry_texts(SPDRP_HARDWAREID)
    driver = device.registry_text(SPDRP_DRIVER)
    if driver is None or not any("VEN_10DE" in text.upper() for text in hardware_ids):
        return None
    if device.registry_number(SPDRP_CONFIGFLAGS) & CONFIGFLAG_DISABLED:
        return None
    power_state = int.from_bytes(device.device_property(POWER_DATA)[POWER_STATE_BYTES], "little")
    return NvidiaDevice(
        address=format_pci_address(device.device_property(BUS_NUMBER), device.device_property(ADDRESS)),
        driver_version=nvidia_driver_version(
            registry.text(registry.MACHINE, f"{DEVICE_CLASSES_KEY}\\{driver}", "DriverVersion")
        ),
        is_asleep=power_state == POWER_DEVICE_D3,
    )


def format_pci_address(bus: bytes, device_address: bytes) -> str | None:
    """ "0000:01:00.0" from two numbers of four bytes; the second has the device in its upper half, the function below.

    None outside of the first PCI segment: how Windows numbers those buses is not documented.
    """
    if len(bus) != 4 or len(device_address) != 4 or any(bus[1:]):
        return None
    return f"0000:{bus[0]:02x}:{device_address[2]:02x}.{device_address[0]:x}"


def gpu_memory_by_process(address: str) -> dict[int, int]:
    """Bytes by process id on the GPU at a PCI address ("0000:01:00.0"); {} where Windows does not count them."""
    bytes_by_process: dict[int, int] = {}
    address_by_luid: dict[Luid, str | None] = {}
    for pid, luid, value in _read_counters(GPU_MEMORY_COUNTER):
        if luid not in address_by_luid:
            address_by_luid[luid] = _adapter_pci_address(luid)
        if address_by_luid[luid] == address:
            bytes_by_process[pid] = bytes_by_process.get(pid, 0) + value
    return bytes_by_process


def gpu_shared_memory(pid: int) -> int | None:
    """Bytes of the computer's own memory that a process uses on its GPUs; None where Windows does not count them."""
    values = [value for counted_pid, _, value in _read_counters(GPU_SHARED_MEMORY_COUNTER) if counted_pid == pid]
    return sum(values) if values else None


def shared_gpu_memory(address: str) -> int | None:
    """Bytes of the computer's own memory that all programs use on the GPU at a PCI address; None where Windows does not
    count them.
    """
    address_by_luid: dict[Luid, str | None] = {}
    total: int | None = None
    for _pid, luid, value in _read_counters(GPU_SHARED_MEMORY_COUNTER):
        if luid not in address_by_luid:
            address_by_luid[luid] = _adapter_pci_address(luid)
        if address_by_luid[luid] == address:
            total = (total or 0) + value
    return total


def _read_counters(path: str) -> Iterator[tuple[int, Luid, int]]:
    """(process id, adapter, value) of the instances of a counter of GPU memory."""
    with _open_query() as query:
        counter = wintypes.HANDLE()
        if query is None or pdh.PdhAddEnglishCounterW(query, path, None, ctypes.byref(counter)):
            return
        if pdh.PdhCollectQueryData(query):
            return
        size, count = wintypes.DWORD(), wintypes.DWORD()
        sizes = ctypes.byref(size), ctypes.byref(count)
        if pdh.PdhGetFormattedCounterArrayW(counter, PDH_FMT_LARGE, *sizes, None) != PDH_MORE_DATA:
            return
        # The names follow the items in the same buffer.
        buffer = ctypes.create_string_buffer(size.value)
        items = ctypes.cast(buffer, ctypes.POINTER(CounterValueItem))
        if pdh.PdhGetFormattedCounterArrayW(counter, PDH_FMT_LARGE, *sizes, items):
            return
        for item_index in range(count.value):
            item = items[item_index]
            instance = parse_gpu_instance(item.szName or "")
            if instance is not None and item.FmtValue.CStatus in VALID_COUNTER_STATUSES:
                yield *instance, item.FmtValue.largeValue


@contextmanager
def _open_query() -> Iterator[wintypes.HANDLE | None]:
    query = wintypes.HANDLE()
    is_open = not pdh.PdhOpenQueryW(None, None, ctypes.byref(query))
    try:
        yield query if is_open else None
    finally:
        if is_open:
            pdh.PdhCloseQuery(query)


def _adapter_pci_address(luid: Luid) -> str | None:
    low, high = luid
    open_adapter = OpenAdapterFromLuid(LowPart=low, HighPart=high)
    if gdi32.D3DKMTOpenAdapterFromLuid(ctypes.byref(open_adapter)):
        return None
    adapter_address = AdapterAddress()
    address_pointer = ctypes.cast(ctypes.pointer(adapter_address), ctypes.c_void_p)
    query = QueryAdapterInfo(
        hAdapter=open_adapter.hAdapter,
        Type=ADAPTER_ADDRESS,
        pPrivateDriverData=address_pointer,
        PrivateDriverDataSize=ctypes.sizeof(adapter_address),
    )
    try:
        if gdi32.D3DKMTQueryAdapterInfo(ctypes.byref(query)):
            return None
    finally:
        gdi32.D3DKMTCloseAdapter(ctypes.byref(CloseAdapter(open_adapter.hAdapter)))
    bus, device, function = adapter_address.BusNumber, adapter_address.DeviceNumber, adapter_address.FunctionNumber
    return f"0000:{bus:02x}:{device:02x}.{function:x}"


def vector_instructions() -> tuple[bool | None, bool | None]:
    """Whether programs may use AVX and AVX2; None where that is not known."""
    is_present, build = kernel32.IsProcessorFeaturePresent, sys.getwindowsversion().build
    is_arm = bool(is_present(PF_ARM_V8))
    avx, avx2 = (parse_processor_feature(bool(is_present(each)), build, arm=is_arm) for each in (PF_AVX, PF_AVX2))
    return avx, avx2


def read_power_status() -> PowerStatus:
    """Power source, charge and power saving; all unknown where Windows does not answer."""
    status = _system_power_status()
    if status is None:
        return PowerStatus()
    return parse_power_status(
        status.ACLineStatus, status.BatteryFlag, status.BatteryLifePercent, status.SystemStatusFlag
    )


def has_battery() -> bool | None:
    """Whether the computer has a battery; None where Windows does not tell."""
    status = _system_power_status()
    if status is None or status.BatteryFlag == POWER_UNKNOWN:
        return None
    return not status.BatteryFlag & BATTERY_NONE


def _system_power_status() -> SystemPowerStatus | None:
    status = SystemPowerStatus()
    return status if kernel32.GetSystemPowerStatus(ctypes.byref(status)) else None


def fixed_disks() -> tuple[Disk, ...]:
    """The fixed drives. Network drives are left out: one that does not answer would block for minutes."""
    drive_mask = kernel32.GetLogicalDrives()
    drives = [f"{chr(ord('A') + number)}:\\" for number in range(26) if drive_mask >> number & 1]
    paths = [path for path in drives if kernel32.GetDriveTypeW(path) == DRIVE_FIXED]
    disks_by_path = gather_with_timeout({path: partial(_read_disk, path) for path in paths}, DISK_TIMEOUT_S)
    return tuple(disk for path in paths if (disk := disks_by_path.get(path, Disk(path=path))) is not None)


def _read_disk(path: str) -> Disk | None:
    try:
        usage = shutil.disk_usage(path)
    except OSError:
        return None
    return Disk(path=path, free_bytes=usage.free, total_bytes=usage.total)
