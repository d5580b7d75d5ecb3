"""What a computer with Linux is made of, from sysfs; no card wakes to be read."""

from __future__ import annotations

import re
from pathlib import Path

from ..core.machine import Gpu
from . import firmware, pci

PCI_DEVICES = "sys/bus/pci/devices"
DMI_FOLDER = "sys/class/dmi/id"
# UEFI specification, EFI_GLOBAL_VARIABLE; the first four bytes are the variable's attributes.
SECURE_BOOT_VARIABLE = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
PCI_IDS_PATHS = ("usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids", "var/lib/pciutils/pci.ids")


def display_adapters(root: Path) -> tuple[Gpu, ...]:
    """By `class`, `vendor` and `device`, which the kernel keeps in memory; named from the system's own pci.ids."""
    adapters = []
    for device in sorted(root.glob(f"{PCI_DEVICES}/*")):
        device_class, vendor_id, device_id = (_read_text(device / name).removeprefix("0x").lower() for name in ("class", "vendor", "device"))
        if device_class and vendor_id and device_id and pci.is_display_adapter(device_class, vendor_id):
            adapters.append((vendor_id, device_id))
    device_names = _device_names(root, set(adapters))
    return tuple(
        Gpu(index=index, vendor=pci.vendor_by_id(vendor_id), name=device_names.get((vendor_id, device_id)), pci_id=f"{vendor_id}:{device_id}")
        for index, (vendor_id, device_id) in enumerate(adapters)
    )


def _device_names(root: Path, device_ids: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    for path in PCI_IDS_PATHS if device_ids else ():
        try:
            with (root / path).open(encoding="utf-8", errors="replace") as lines:
                return pci.read_device_names(lines, device_ids)
        except OSError:
            continue
    return {}


def is_laptop_chassis(root: Path) -> bool | None:
    """By the chassis, else by a battery of the computer's own (a mouse's has the scope "Device")."""
    chassis = _read_text(root / DMI_FOLDER / "chassis_type")
    power_supplies = root / "sys/class/power_supply"
    has_battery = any(
        _read_text(supply / "type") == "Battery" and _read_text(supply / "scope") != "Device" for supply in power_supplies.glob("*")
    )
    return firmware.is_laptop(int(chassis) if chassis.isdecimal() else None, has_battery=has_battery)


def detect_virtual_machine(root: Path) -> bool | None:
    """By the firmware's words, else by the sign that processors give to guests; None where neither is known."""
    by_firmware = firmware.is_virtual_machine(_read_text(root / DMI_FOLDER / "sys_vendor"), _read_text(root / DMI_FOLDER / "product_name"))
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
