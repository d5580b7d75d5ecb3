"""What a computer with Linux is made of, from sysfs; no card wakes to be read."""

from __future__ import annotations

import re
from pathlib import Path

from ..core.machine import Gpu
from . import firmware, pci

PCI_DEVICES = "sys/bus/pci/devices"
DMI = "sys/class/dmi/id"
# UEFI specification, EFI_GLOBAL_VARIABLE; the first four bytes are the variable's attributes.
SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
PCI_NAMES = ("usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids", "var/lib/pciutils/pci.ids")


def display_adapters(root: Path) -> tuple[Gpu, ...]:
    """By `class`, `vendor` and `device`, which the kernel keeps in memory; named from the system's own pci.ids."""
    found = []
    for device in sorted(root.glob(f"{PCI_DEVICES}/*")):
        kind, maker, model = (_text(device / name).removeprefix("0x").lower() for name in ("class", "vendor", "device"))
        if kind and maker and model and pci.is_display(kind, maker):
            found.append((maker, model))
    names = _names(root, set(found))
    return tuple(
        Gpu(index=index, vendor=pci.vendor(maker), name=names.get((maker, model)), pci_id=f"{maker}:{model}")
        for index, (maker, model) in enumerate(found)
    )


def _names(root: Path, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    for place in PCI_NAMES if wanted else ():
        try:
            with (root / place).open(encoding="utf-8", errors="replace") as lines:
                return pci.names(lines, wanted)
        except OSError:
            continue
    return {}


def laptop(root: Path) -> bool | None:
    """By the chassis, else by a battery of the computer's own (a mouse's has the scope "Device")."""
    chassis = _text(root / DMI / "chassis_type")
    supplies = root / "sys/class/power_supply"
    battery = any(
        _text(each / "type") == "Battery" and _text(each / "scope") != "Device" for each in supplies.glob("*")
    )
    return firmware.laptop(int(chassis) if chassis.isdecimal() else None, battery=battery)


def virtual_machine(root: Path) -> bool | None:
    """By the firmware's words, else by the sign that processors give to guests; None where neither is known."""
    told = firmware.virtual(_text(root / DMI / "sys_vendor"), _text(root / DMI / "product_name"))
    flags = re.search(r"^flags\s*:(.*)$", _text(root / "proc/cpuinfo"), re.MULTILINE)
    guest = "hypervisor" in flags[1].split() if flags else None
    return told if told is not None and (told or not guest) else guest


def secure_boot(root: Path) -> bool | None:
    """From the firmware's variable; a computer that started without UEFI has none."""
    try:
        return (root / SECURE_BOOT).read_bytes()[4] == 1
    except (OSError, IndexError):
        pass
    firmware_tables = root / "sys/firmware"
    started_by_bios = (firmware_tables / "acpi").is_dir() and not (firmware_tables / "efi").exists()
    return False if started_by_bios else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
