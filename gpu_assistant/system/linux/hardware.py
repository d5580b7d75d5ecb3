"""What a computer with Linux is made of, from sysfs; no card wakes to be read.

The disks of a Linux, asked so that a network disk whose server is gone holds nobody up.

Which NVIDIA cards sleep, read from Linux's runtime power management without waking them.

Source: the kernel's Documentation/ABI/testing/sysfs-devices-power, `runtime_status` and `control`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ...core.machine import Disk, Gpu
from .. import probes
from ..processes import gather_with_timeout
from .parsing import Mount

PCI_DEVICES = "sys/bus/pci/devices"
DMI_FOLDER = "sys/class/dmi/id"
# UEFI specification, EFI_GLOBAL_VARIABLE; the first four bytes are the variable's attributes.
SECURE_BOOT_VARIABLE = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
PCI_IDS_PATHS = ("usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids", "var/lib/pciutils/pci.ids")


def display_adapters(root: Path) -> tuple[Gpu, ...]:
    """By `class`, `vendor` and `device`, which the kernel keeps in memory; named from the system's own pci.ids."""
    adapters = []
    for device in sorted(root.glob(f"{PCI_DEVICES}/*")):
        device_class, vendor_id, device_id = (
            _read_text(device / name).removeprefix("0x").lower() for name in ("class", "vendor", "device")
        )
        if device_class and vendor_id and device_id and probes.is_display_adapter(device_class, vendor_id):
            adapters.append((vendor_id, device_id))
    device_names = _device_names(root, set(adapters))
    return tuple(
        Gpu(
            index=index,
            vendor=probes.vendor_by_id(vendor_id),
            name=device_names.get((vendor_id, device_id)),
            pci_id=f"{vendor_id}:{device_id}",
        )
        for index, (vendor_id, device_id) in enumerate(adapters)
    )


def _device_names(root: Path, device_ids: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    for path in PCI_IDS_PATHS if device_ids else ():
        try:
            with (root / path).open(encoding="utf-8", errors="replace") as lines:
                return probes.read_device_names(lines, device_ids)
        except OSError:
            continue
    return {}


def is_laptop_chassis(root: Path) -> bool | None:
    """By the chassis, else by a battery of the computer's own (a mouse's has the scope "Device")."""
    chassis = _read_text(root / DMI_FOLDER / "chassis_type")
    power_supplies = root / "sys/class/power_supply"
    has_battery = any(
        _read_text(supply / "type") == "Battery" and _read_text(supply / "scope") != "Device"
        for supply in power_supplies.glob("*")
    )
    return probes.is_laptop(int(chassis) if chassis.isdecimal() else None, has_battery=has_battery)


def detect_virtual_machine(root: Path) -> bool | None:
    """By the firmware's words, else by the sign that processors give to guests; None where neither is known."""
    by_firmware = probes.is_virtual_machine(
        _read_text(root / DMI_FOLDER / "sys_vendor"), _read_text(root / DMI_FOLDER / "product_name")
    )
    flags = re.search(r"^flags\s*:(.*)$", _read_text(root / "proc/cpuinfo"), re.MULTILINE)
    by_processor = "hypervisor" in flags[1].split() if flags else None
    return by_firmware if by_firmware is not None and (by_firmware or not by_processor) else by_processor


def is_secure_boot_enabled(root: Path) -> bool | None:
    """From the firmware's variable; a computer that started without UEFI has none."""
    try:
        return (root / SECURE_BOOT_VARIABLE).read_bytes()[4] == 1
    except (OSError, IndexError):
        pass
    firmware_tables = root / "sys/firmware"
    started_by_bios = (firmware_tables / "acpi").is_dir() and not (firmware_tables / "efi").exists()
    return False if started_by_bios else None


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


DISK_TIMEOUT_S = 1.0  # for the home folder's real place, and again for all disks together

ReadDisk = Callable[[str, bool], Disk | None]


def read_disk(path: str, allow_read_only: bool) -> Disk | None:
    """A disk's sizes; None where it cannot be read, or not written to unless `whatever`."""
    if not allow_read_only and not os.access(path, os.W_OK):
        return None
    try:
        usage = shutil.disk_usage(path)
    except OSError:
        return None
    return Disk(path=path, free_bytes=usage.free, total_bytes=usage.total)


def list_disks(
    mounts: Sequence[Mount], home: Path, read: ReadDisk = read_disk, timeout_s: float = DISK_TIMEOUT_S
) -> tuple[Disk, ...]:
    """Those that we may write to, and the one under the home folder; who does not answer has no sizes."""
    real_home = gather_with_timeout({"home": home.resolve}, timeout_s).get("home", home)
    ordered = sorted((mount for mount in mounts if mount.writable), key=lambda mount: len(mount.path))
    home_mount = next((mount for mount in reversed(ordered) if real_home.is_relative_to(mount.path)), None)
    answers = gather_with_timeout(
        {mount: partial(read, mount.path, mount is home_mount) for mount in ordered}, timeout_s
    )
    disks_by_device: dict[str, Disk] = {}
    for mount in ordered:
        disk = answers.get(mount, Disk(path=mount.path))
        if disk is not None:
            # One disk mounted twice is listed once. overlay is a kind, not a device.
            disks_by_device.setdefault(mount.device if mount.device.startswith("/dev/") else mount.path, disk)
    return tuple(disks_by_device.values())


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
