"""What a computer with Linux is made of: adapters, chassis, firmware, power and disks, from sysfs and the mounts.

Reading these files wakes no GPU: the kernel keeps `class`, `vendor` and `device` in memory.

Sources: the kernel's Documentation/ABI/testing/sysfs-devices-power (`runtime_status`, `control`), sysfs-class-power,
sysfs-platform_profile; the UEFI specification, EFI_GLOBAL_VARIABLE.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from ...core.machine import Disk, Gpu
from .. import hardware_ids
from ..base import PowerStatus
from ..processes import gather_with_timeout
from .parsing import Mount

PCI_DEVICES = "sys/bus/pci/devices"
DMI_FOLDER = "sys/class/dmi/id"
POWER_SUPPLIES = "sys/class/power_supply"
POWER_SAVING_PROFILE = "low-power"
SECURE_BOOT_VARIABLE = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
EFI_ATTRIBUTE_BYTES = 4  # before the value of a variable
PCI_IDS_PATHS = ("usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids", "var/lib/pciutils/pci.ids")
DISK_TIMEOUT_S = 1.0  # to resolve the home folder's path, and again for all disks together

KERNEL_MODULES = "lib/modules"
# Below a kernel's folder: built by DKMS, signed by Ubuntu, packed for Fedora (kmod and akmod).
DRIVER_MODULE_PATTERNS = ("updates/dkms/nvidia*.ko*", "kernel/nvidia-*/nvidia.ko*", "extra/nvidia*/nvidia.ko*")
BOOT_TIME = re.compile(r"^btime (\d+)$", re.MULTILINE)

ReadDisk = Callable[[str, bool], Disk | None]


def display_adapters(root: Path) -> tuple[Gpu, ...]:
    """The display adapters on the PCI bus, with their names in the system's own pci.ids."""
    adapters = []
    for device in sorted(root.glob(f"{PCI_DEVICES}/*")):
        device_class, vendor_id, device_id = (
            _read_text(device / name).removeprefix("0x").lower() for name in ("class", "vendor", "device")
        )
        if device_class and vendor_id and device_id and hardware_ids.is_display_adapter(device_class, vendor_id):
            adapters.append((vendor_id, device_id))
    device_names = _device_names(root, set(adapters))
    return tuple(
        Gpu(
            index=index,
            vendor=hardware_ids.vendor_by_id(vendor_id),
            name=device_names.get((vendor_id, device_id)),
            pci_id=f"{vendor_id}:{device_id}",
        )
        for index, (vendor_id, device_id) in enumerate(adapters)
    )


def _device_names(root: Path, device_ids: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    for path in PCI_IDS_PATHS if device_ids else ():
        try:
            with (root / path).open(encoding="utf-8", errors="replace") as lines:
                return hardware_ids.read_device_names(lines, device_ids)
        except OSError:
            continue
    return {}


def is_device_asleep(pci_root: Path, address: str) -> bool:
    """Whether the device at an address like "0000:01:00.0" is suspended."""
    return _read_text(pci_root / address / "power" / "runtime_status") == "suspended"


def can_device_sleep(pci_root: Path, address: str) -> bool:
    """Whether the kernel suspends the device once nobody uses it."""
    return _read_text(pci_root / address / "power" / "control") == "auto"


def are_nvidia_devices_asleep(pci_root: Path) -> bool:
    """Whether there are NVIDIA display adapters and every one of them is suspended."""
    try:
        devices = list(pci_root.iterdir())
    except OSError:
        return False
    addresses = [
        device.name
        for device in devices
        if _read_text(device / "vendor") == "0x10de" and _read_text(device / "class").startswith("0x03")
    ]
    return bool(addresses) and all(is_device_asleep(pci_root, address) for address in addresses)


def kernel_without_driver(root: Path) -> str | None:
    """The newest installed kernel, where it has no module of an NVIDIA driver; None where it has one, or none is
    installed. A folder that holds no modules but built ones belongs to a kernel that was not installed here.
    """
    folders = [folder for folder in (root / KERNEL_MODULES).glob("*") if (folder / "kernel").is_dir()]
    newest = max(folders, key=lambda folder: _kernel_order(folder.name), default=None)
    return newest.name if newest is not None and not _driver_modules(newest) else None


def is_driver_waiting(root: Path) -> bool:
    """Whether an NVIDIA driver's module was put there since the computer started, and none is loaded."""
    started = BOOT_TIME.search(_read_text(root / "proc/stat"))
    if started is None or (root / "sys/module/nvidia").exists():
        return False
    modules = [path for folder in (root / KERNEL_MODULES).glob("*") for path in _driver_modules(folder)]
    try:
        return any(path.stat().st_ctime > int(started[1]) for path in modules)
    except OSError:
        return False


def _driver_modules(folder: Path) -> list[Path]:
    return [path for pattern in DRIVER_MODULE_PATTERNS for path in folder.glob(pattern)]


def _kernel_order(name: str) -> list[int]:
    """As the boot loader orders kernels: "6.1.0-56-amd64" is newer than "6.1.0-9-amd64"."""
    return [int(number) for number in re.findall(r"\d+", name)]


def is_laptop(root: Path) -> bool | None:
    """By the chassis, else by a battery; None where neither tells."""
    chassis = _read_text(root / DMI_FOLDER / "chassis_type")
    return hardware_ids.is_laptop(int(chassis) if chassis.isdecimal() else None, has_battery=bool(_batteries(root)))


def is_virtual_machine(root: Path) -> bool | None:
    """By the firmware's names, else by the flag that hypervisors set in guests' processors; None: neither is known."""
    by_firmware = hardware_ids.is_virtual_machine(
        _read_text(root / DMI_FOLDER / "sys_vendor"), _read_text(root / DMI_FOLDER / "product_name")
    )
    flags = re.search(r"^flags\s*:(.*)$", _read_text(root / "proc/cpuinfo"), re.MULTILINE)
    by_processor = "hypervisor" in flags[1].split() if flags else None
    return by_firmware if by_firmware is not None and (by_firmware or not by_processor) else by_processor


def is_secure_boot_enabled(root: Path) -> bool | None:
    """From the UEFI variable; False where the computer was started by a BIOS, None where it is not known."""
    try:
        return (root / SECURE_BOOT_VARIABLE).read_bytes()[EFI_ATTRIBUTE_BYTES] == 1
    except (OSError, IndexError):
        pass
    firmware_tables = root / "sys/firmware"
    started_by_bios = (firmware_tables / "acpi").is_dir() and not (firmware_tables / "efi").exists()
    return False if started_by_bios else None


def read_power_status(root: Path) -> PowerStatus:
    """Power source, charge and power saving, as power_supply and platform_profile tell."""
    batteries = _batteries(root)
    percentages = [int(text) for supply in batteries if (text := _read_text(supply / "capacity")).isdecimal()]
    profile = _read_text(root / "sys/firmware/acpi/platform_profile")
    return PowerStatus(
        source=_power_source(root, batteries),
        percent=round(sum(percentages) / len(percentages)) if percentages else None,
        power_saving=profile == POWER_SAVING_PROFILE if profile else None,
    )


def _power_source(root: Path, batteries: Sequence[Path]) -> Literal["mains", "battery"] | None:
    if not batteries:
        return "mains" if (root / POWER_SUPPLIES).is_dir() else None
    online_states = [_read_text(charger / "online") for charger in _power_supplies(root, "Mains", "USB", "Wireless")]
    if "1" in online_states:
        return "mains"
    states = {_read_text(battery / "status") for battery in batteries}
    if "Discharging" in states or "0" in online_states:
        return "battery"
    return "mains" if states & {"Charging", "Full", "Not charging"} else None


def _batteries(root: Path) -> list[Path]:
    return _power_supplies(root, "Battery")


def _power_supplies(root: Path, *types: str) -> list[Path]:
    """The computer's own; the scope of a mouse's battery is "Device"."""
    supplies = sorted((root / POWER_SUPPLIES).glob("*"))
    return [
        supply
        for supply in supplies
        if _read_text(supply / "type") in types and _read_text(supply / "scope") != "Device"
    ]


def read_disk(path: str, allow_read_only: bool) -> Disk | None:
    """A disk's sizes; None where it cannot be read, or we may not write to it and `allow_read_only` is False."""
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
    """The disks that we may write to, and the one under the home folder.

    A network disk whose server is gone blocks whoever asks it: it is listed without sizes.
    """
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
            # A disk mounted twice is listed once; "overlay" and the like name no device.
            disks_by_device.setdefault(mount.device if mount.device.startswith("/dev/") else mount.path, disk)
    return tuple(disks_by_device.values())


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
