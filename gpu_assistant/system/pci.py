"""PCI numbers: who made a display adapter, and which devices are display adapters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ..core.machine import Vendor

# Vendor numbers as the PCI-SIG gave them out.
_VENDOR_BY_ID: dict[str, Vendor] = {"10de": "nvidia", "1002": "amd", "1022": "amd", "8086": "intel", "106b": "apple"}


# How pci.ids' makers are called on the box.
_VENDOR_NAMES = {"10de": "NVIDIA", "1002": "AMD", "1022": "AMD", "8086": "Intel"}


def vendor_by_id(vendor_id: str) -> Vendor:
    """The maker by its PCI vendor number in lower-case hex."""
    return _VENDOR_BY_ID.get(vendor_id, "other")


def is_display_adapter(device_class: str, vendor_id: str) -> bool:
    """Whether a PCI class code in hex ("030000") is a display controller.

    AMD's Instinct cards call themselves processing accelerators (class 12).
    """
    return device_class.startswith("03") or (device_class.startswith("12") and vendor_by_id(vendor_id) == "amd")


def read_device_names(lines: Iterable[str], requested: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Devices' names from the lines of pci.ids (its format: "vendor  name", a tab and "device  name", two tabs below).

    What stands in brackets is the name on the box: "AD107 [GeForce RTX 4060]". A device that shares its number with
    others keeps all their names, as the list has them.
    """
    device_names: dict[tuple[str, str], str] = {}
    vendor_id, vendor_name = "", ""
    vendor_ids = {pair[0] for pair in requested}
    for line in lines:
        if line[:1] in ("#", "\n", ""):
            continue
        if line[0] == "C":  # device classes, at the end
            break
        if line[0] != "\t":
            vendor_id, _, vendor_name = line.strip().partition("  ")
        elif line[1:2] != "\t" and vendor_id in vendor_ids:
            device_id, _, name = line.strip().partition("  ")
            if (vendor_id, device_id) in requested and name:
                product = re.search(r"\[(.+)\]", name)
                brand = _VENDOR_NAMES.get(vendor_id) or vendor_name
                device_names[vendor_id, device_id] = f"{brand} {product[1] if product else name}"
    return device_names
