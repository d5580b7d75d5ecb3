"""How much of a card's memory each process has, as the Task Manager shows it: under WDDM Windows hands the memory out,
and NVML does not know.

Sources: the performance counter set "GPU Process Memory" (instances "pid_1234_luid_0x00000000_0x0000C9D1_phys_0"),
pdh.h; the card of a LUID by d3dkmthk.h, D3DKMTQueryAdapterInfo.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from ctypes import wintypes  # noqa: E402

from .windows_read import Luid, parse_gpu_instance  # noqa: E402

GPU_MEMORY_COUNTER = r"\GPU Process Memory(*)\Dedicated Usage"
PDH_FMT_LARGE = 0x400
PDH_MORE_DATA = 0x800007D2
ADAPTER_ADDRESS = 6  # KMTQAITYPE_ADAPTERADDRESS


class _CounterValue(ctypes.Structure):
    _fields_ = (("status", wintypes.DWORD), ("large", ctypes.c_longlong))


class _CounterItem(ctypes.Structure):
    _fields_ = (("name", wintypes.LPWSTR), ("value", _CounterValue))


class _OpenAdapter(ctypes.Structure):
    _fields_ = (("low", wintypes.DWORD), ("high", wintypes.LONG), ("adapter", wintypes.UINT))


class _AdapterAddress(ctypes.Structure):
    _fields_ = (("bus", wintypes.UINT), ("device", wintypes.UINT), ("function", wintypes.UINT))


class _AdapterQuery(ctypes.Structure):
    _fields_ = (
        ("adapter", wintypes.UINT),
        ("what", ctypes.c_int),
        ("to", ctypes.c_void_p),
        ("size", wintypes.UINT),
    )


def gpu_memory_by_process(address: str) -> dict[int, int]:
    """Bytes by process on the card at a PCI address ("0000:01:00.0"); empty where Windows does not count."""
    bytes_by_process: dict[int, int] = {}
    address_by_luid: dict[Luid, str | None] = {}
    for name, value in _read_counters():
        instance = parse_gpu_instance(name)
        if instance is None:
            continue
        pid, luid = instance
        if luid not in address_by_luid:
            address_by_luid[luid] = _adapter_pci_address(luid)
        if address_by_luid[luid] == address:
            bytes_by_process[pid] = bytes_by_process.get(pid, 0) + value
    return bytes_by_process


def _read_counters() -> Iterator[tuple[str, int]]:
    """The counter's instances and their values."""
    pdh = ctypes.WinDLL("pdh")
    with _open_query(pdh) as query:
        counter = wintypes.HANDLE()
        if query is None or _unsigned_status(pdh.PdhAddEnglishCounterW(query, GPU_MEMORY_COUNTER, None, ctypes.byref(counter))):
            return
        if _unsigned_status(pdh.PdhCollectQueryData(query)):
            return
        size, count = wintypes.DWORD(), wintypes.DWORD()
        sizes = ctypes.byref(size), ctypes.byref(count)
        if _unsigned_status(pdh.PdhGetFormattedCounterArrayW(counter, PDH_FMT_LARGE, *sizes, None)) != PDH_MORE_DATA:
            return
        # The names lie behind the items, in the same piece of memory.
        buffer = ctypes.create_string_buffer(size.value)
        if _unsigned_status(pdh.PdhGetFormattedCounterArrayW(counter, PDH_FMT_LARGE, *sizes, buffer)):
            return
        items = ctypes.cast(buffer, ctypes.POINTER(_CounterItem))
        for item_index in range(count.value):
            item = items[item_index]
            if item.name and not item.value.status:
                yield item.name, item.value.large


@contextmanager
def _open_query(pdh: ctypes.WinDLL) -> Iterator[wintypes.HANDLE | None]:
    query = wintypes.HANDLE()
    is_open = not _unsigned_status(pdh.PdhOpenQueryW(None, None, ctypes.byref(query)))
    try:
        yield query if is_open else None
    finally:
        if is_open:
            pdh.PdhCloseQuery(query)


def _unsigned_status(status: int) -> int:
    return status & 0xFFFFFFFF


def _adapter_pci_address(luid: Luid) -> str | None:
    gdi = ctypes.WinDLL("gdi32")
    low, high = luid
    open_adapter = _OpenAdapter(low=low, high=high)
    if gdi.D3DKMTOpenAdapterFromLuid(ctypes.byref(open_adapter)):
        return None
    adapter_address = _AdapterAddress()
    address_pointer = ctypes.cast(ctypes.pointer(adapter_address), ctypes.c_void_p)
    query = _AdapterQuery(adapter=open_adapter.adapter, what=ADAPTER_ADDRESS, to=address_pointer, size=ctypes.sizeof(adapter_address))
    try:
        if gdi.D3DKMTQueryAdapterInfo(ctypes.byref(query)):
            return None
    finally:
        gdi.D3DKMTCloseAdapter(ctypes.byref(wintypes.UINT(open_adapter.adapter)))
    return f"0000:{adapter_address.bus:02x}:{adapter_address.device:02x}.{adapter_address.function:x}"
