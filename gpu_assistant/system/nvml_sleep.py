"""Which NVIDIA cards sleep, read from Linux's runtime power management without waking them.

Source: the kernel's Documentation/ABI/testing/sysfs-devices-power, `runtime_status` and `control`.
"""

from __future__ import annotations

from pathlib import Path


def is_device_asleep(pci_root: Path, address: str) -> bool:
    """Whether the device at an address like "0000:01:00.0" is suspended."""
    return _read_sysfs(pci_root / address / "power" / "runtime_status") == "suspended"


def are_nvidia_devices_asleep(pci_root: Path) -> bool:
    """Whether there are NVIDIA display adapters and every one of them sleeps."""
    try:
        devices = list(pci_root.iterdir())
    except OSError:
        return False
    addresses = [
        device.name
        for device in devices
        if _read_sysfs(device / "vendor") == "0x10de" and _read_sysfs(device / "class").startswith("0x03")
    ]
    return bool(addresses) and all(is_device_asleep(pci_root, address) for address in addresses)


def can_device_sleep(pci_root: Path, address: str) -> bool:
    """Whether the kernel lets the device fall asleep once nobody uses it."""
    return _read_sysfs(pci_root / address / "power" / "control") == "auto"


def _read_sysfs(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
