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

from .windows_read import Luid, gpu_instance  # noqa: E402

COUNTER = r"\GPU Process Memory(*)\Dedicated Usage"
PDH_FMT_LARGE = 0x400
PDH_MORE_DATA = 0x800007D2
ADAPTER_ADDRESS = 6  # KMTQAITYPE_ADAPTERADDRESS


class _Value(ctypes.Structure):
    _fields_ = (("status", wintypes.DWORD), ("large", ctypes.c_longlong))


class _Item(ctypes.Structure):
    _fields_ = (("name", wintypes.LPWSTR), ("value", _Value))


class _Open(ctypes.Structure):
    _fields_ = (("low", wintypes.DWORD), ("high", wintypes.LONG), ("adapter", wintypes.UINT))


class _Address(ctypes.Structure):
    _fields_ = (("bus", wintypes.UINT), ("device", wintypes.UINT), ("function", wintypes.UINT))


class _Query(ctypes.Structure):
    _fields_ = (
        ("adapter", wintypes.UINT),
        ("what", ctypes.c_int),
        ("to", ctypes.c_void_p),
        ("size", wintypes.UINT),
    )


def used(address: str) -> dict[int, int]:
    """Bytes by process on the card at a PCI address ("0000:01:00.0"); empty where Windows does not count."""
    found: dict[int, int] = {}
    places: dict[Luid, str | None] = {}
    for name, value in _counted():
        instance = gpu_instance(name)
        if instance is None:
            continue
        pid, luid = instance
        if luid not in places:
            places[luid] = _address(luid)
        if places[luid] == address:
            found[pid] = found.get(pid, 0) + value
    return found


def _counted() -> Iterator[tuple[str, int]]:
    """The counter's instances and their values."""
    pdh = ctypes.WinDLL("pdh")
    with _query(pdh) as query:
        counter = wintypes.HANDLE()
        if query is None or _code(pdh.PdhAddEnglishCounterW(query, COUNTER, None, ctypes.byref(counter))):
            return
        if _code(pdh.PdhCollectQueryData(query)):
            return
        size, count = wintypes.DWORD(), wintypes.DWORD()
        sizes = ctypes.byref(size), ctypes.byref(count)
        if _code(pdh.PdhGetFormattedCounterArrayW(counter, PDH_FMT_LARGE, *sizes, None)) != PDH_MORE_DATA:
            return
        # The names lie behind the items, in the same piece of memory.
        memory = ctypes.create_string_buffer(size.value)
        if _code(pdh.PdhGetFormattedCounterArrayW(counter, PDH_FMT_LARGE, *sizes, memory)):
            return
        items = ctypes.cast(memory, ctypes.POINTER(_Item))
        for at in range(count.value):
            item = items[at]
            if item.name and not item.value.status:
                yield item.name, item.value.large


@contextmanager
def _query(pdh: ctypes.WinDLL) -> Iterator[wintypes.HANDLE | None]:
    query = wintypes.HANDLE()
    opened = not _code(pdh.PdhOpenQueryW(None, None, ctypes.byref(query)))
    try:
        yield query if opened else None
    finally:
        if opened:
            pdh.PdhCloseQuery(query)


def _code(status: int) -> int:
    return status & 0xFFFFFFFF


def _address(luid: Luid) -> str | None:
    gdi = ctypes.WinDLL("gdi32")
    low, high = luid
    adapter = _Open(low=low, high=high)
    if gdi.D3DKMTOpenAdapterFromLuid(ctypes.byref(adapter)):
        return None
    place = _Address()
    to = ctypes.cast(ctypes.pointer(place), ctypes.c_void_p)
    query = _Query(adapter=adapter.adapter, what=ADAPTER_ADDRESS, to=to, size=ctypes.sizeof(place))
    try:
        if gdi.D3DKMTQueryAdapterInfo(ctypes.byref(query)):
            return None
    finally:
        gdi.D3DKMTCloseAdapter(ctypes.byref(wintypes.UINT(adapter.adapter)))
    return f"0000:{place.bus:02x}:{place.device:02x}.{place.function:x}"
