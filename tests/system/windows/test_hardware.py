"""GPUs that sleep by Windows' device database, on the GPU that the rig plants; folders of toolkits; power."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

import pytest

if sys.platform != "win32":
    pytest.skip("Windows' device database; tests/nvml and tests/system/linux have Linux's", allow_module_level=True)

import ctypes
import winreg
from ctypes import wintypes
from pathlib import Path
from typing import Any

from gpu_assistant.core.machine import Driver
from gpu_assistant.system.nvml.monitor import NvmlMonitor
from gpu_assistant.system.windows import hardware
from gpu_assistant.system.windows.com import guid_from_text
from gpu_assistant.system.windows.facts import TOOLKITS_KEY
from gpu_assistant.system.windows.parsing import DISPLAY_CLASS
from gpu_assistant.system.windows.structures import CounterValueItem, DevicePropertyKey
from gpu_assistant.system.windows.system import WindowsSystem

pytestmark = pytest.mark.windows
SYSTEM = WindowsSystem()
WINE = "WINELOADERNOEXEC" in os.environ or "WINEPREFIX" in os.environ
UINT32, BINARY = 0x07, 0x1003  # devpropdef.h
D0, D3 = 1, 4
NUMBER = ctypes.POINTER(wintypes.DWORD)


class Laptop(WindowsSystem):
    """The planted computer has no battery."""

    def laptop(self) -> bool | None:
        return True


Put = Callable[[int, int, bytes], None]


def power(state: int) -> bytes:
    """CM_POWER_DATA as Windows fills it: its size, the state, and what nobody here asks for."""
    return (56).to_bytes(4, "little") + state.to_bytes(4, "little") + bytes(48)


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Iterator[Put]:
    """Writes a property of the planted card, through SetupAPI."""
    if not WINE or not hardware.nvidia_devices():
        pytest.skip("only the rig's planted card can be told to sleep (run with -g in the rig)")

    def written(number: int, kind: int, data: bytes) -> None:
        for device in hardware.pci_devices(DISPLAY_CLASS):
            if "VEN_10DE" not in (device.registry_text(hardware.SPDRP_HARDWAREID) or ""):
                continue
            key = DevicePropertyKey(guid_from_text(hardware.DEVICE_PROPERTIES), number)
            write = ctypes.WinDLL("setupapi").SetupDiSetDevicePropertyW
            write.argtypes = (
                *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, wintypes.DWORD),
                *(ctypes.c_void_p, wintypes.DWORD, wintypes.DWORD),
            )
            place = ctypes.byref(device.info), ctypes.byref(key)
            assert write(device.device_list, *place, kind, data or None, len(data), 0)

    written(hardware.BUS_NUMBER, UINT32, (1).to_bytes(4, "little"))
    written(hardware.ADDRESS, UINT32, (0).to_bytes(4, "little"))
    yield written
    written(hardware.POWER_DATA, BINARY, power(D0))


def test_gpu_without_power_data_is_awake() -> None:
    for card in hardware.nvidia_devices():
        assert card.is_asleep in (True, False)
        assert card.driver_version is None or float(card.driver_version) > 300
    assert isinstance(SYSTEM.are_gpus_asleep(), bool)


def test_sleeping_gpu_is_not_woken(put: Put) -> None:
    put(hardware.POWER_DATA, BINARY, power(D3))
    assert SYSTEM.are_gpus_asleep()
    assert SYSTEM.is_gpu_asleep("0000:01:00.0")
    assert not SYSTEM.is_gpu_asleep("0000:02:00.0")
    # Windows' 32.0.15.6094 of the planted card.
    assert SYSTEM.sleeping_driver() == Driver(version="560.94")
    with NvmlMonitor(SYSTEM) as nvml:
        [sample] = nvml.sample()
        assert nvml.state == "asleep"
        assert (sample.name, sample.util) == ("NVIDIA GeForce RTX 4060", None)
        assert not nvml.is_open


def test_process_memory_of_uncounted_gpu_is_empty() -> None:
    assert SYSTEM.gpu_memory_by_process("0000:ff:00.0") == {}


class Counters:
    """In place of pdh.dll, with the instances that Windows has: two adapters of process 7, and others."""

    def __init__(self) -> None:
        self.path = ""
        self.instances = [
            ("pid_7_luid_0x00000000_0x0000C9D1_phys_0", 3 << 30),
            ("pid_7_luid_0x00000000_0x0000D001_phys_0", 1 << 20),
            ("pid_77_luid_0x00000000_0x0000C9D1_phys_0", 5 << 30),
            ("_Total", 9 << 30),
        ]

    def PdhOpenQueryW(self, *_: Any) -> int:
        return 0

    def PdhAddEnglishCounterW(self, query: Any, path: str, *_: Any) -> int:
        self.path = path
        return 0

    PdhCollectQueryData = PdhCloseQuery = PdhOpenQueryW

    def PdhGetFormattedCounterArrayW(self, counter: Any, kind: int, size: Any, count: Any, items: Any) -> int:
        if items is None:
            ctypes.cast(size, NUMBER)[0] = len(self.instances) * ctypes.sizeof(CounterValueItem)
            return hardware.PDH_MORE_DATA
        for index, (name, value) in enumerate(self.instances):
            items[index].szName = name
            items[index].FmtValue.largeValue = value
        ctypes.cast(count, NUMBER)[0] = len(self.instances)
        return 0


def test_memory_that_windows_lends_to_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    counters = Counters()
    monkeypatch.setattr(hardware, "pdh", counters)
    assert SYSTEM.gpu_shared_memory(7) == (3 << 30) + (1 << 20)
    assert counters.path == r"\GPU Process Memory(*)\Shared Usage"
    assert SYSTEM.gpu_shared_memory(8) is None


def test_memory_that_windows_lends_to_all_programs_on_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "pdh", Counters())
    addresses = {0xC9D1: "0000:01:00.0", 0xD001: "0000:02:00.0"}
    monkeypatch.setattr(hardware, "_adapter_pci_address", lambda luid: addresses[luid[0]])
    assert SYSTEM.shared_gpu_memory("0000:01:00.0") == 8 << 30
    assert SYSTEM.shared_gpu_memory("0000:02:00.0") == 1 << 20
    assert SYSTEM.shared_gpu_memory("0000:03:00.0") is None


def test_awake_gpu_is_queried(put: Put) -> None:
    put(hardware.POWER_DATA, BINARY, power(D0))
    assert not SYSTEM.are_gpus_asleep()
    assert not SYSTEM.is_gpu_asleep("0000:01:00.0")
    assert SYSTEM.sleeping_driver() is None


def test_gpu_falls_asleep_while_sampled(put: Put) -> None:
    put(hardware.POWER_DATA, BINARY, power(D0))
    with NvmlMonitor(Laptop()) as nvml:
        assert nvml.sample()[0].mem_total
        put(hardware.POWER_DATA, BINARY, power(D3))
        assert nvml.sample()[0].mem_total is None


def test_unknown_pci_address() -> None:
    four = (4).to_bytes(4, "little")
    assert hardware.format_pci_address(b"", four) is None
    assert hardware.format_pci_address((0x101).to_bytes(4, "little"), four) is None
    assert hardware.format_pci_address((0x2B).to_bytes(4, "little"), (0x1E0003).to_bytes(4, "little")) == "0000:2b:1e.3"


@pytest.mark.skipif(not WINE, reason="writes where NVIDIA's installer does")
def test_toolkits_from_registry_and_variables(tmp_path: Path) -> None:
    usual = tmp_path / "NVIDIA GPU Computing Toolkit/CUDA/v12.6"
    elsewhere, named = tmp_path / "own" / "v12.4", tmp_path / "own" / "v11.8"
    for folder in (usual, elsewhere, named):
        folder.mkdir(parents=True)
    key = f"{TOOLKITS_KEY}\\v12.4"
    with winreg.CreateKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
        winreg.SetValueEx(opened, "InstallDir", 0, winreg.REG_SZ, str(elsewhere))
    try:
        environ = {"ProgramFiles": str(tmp_path), "CUDA_PATH_V11_8": str(named), "CUDA_PATH": str(usual)}
        assert WindowsSystem(environ).cuda_folders() == (usual, elsewhere, named)
    finally:
        winreg.DeleteKey(winreg.HKEY_LOCAL_MACHINE, key)


def test_power() -> None:
    result = SYSTEM.power()
    assert result.source in ("mains", "battery")
    assert result.percent is None or 0 <= result.percent <= 100
    assert result.power_saving is not None
