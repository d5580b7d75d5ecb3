"""PCI numbers: who made a display adapter, and which devices are display adapters."""

from __future__ import annotations

from ..core.machine import Vendor

# Vendor numbers as the PCI-SIG gave them out.
_VENDORS: dict[str, Vendor] = {"10de": "nvidia", "1002": "amd", "1022": "amd", "8086": "intel", "106b": "apple"}


def vendor(number: str) -> Vendor:
    """The maker by its PCI vendor number in lower-case hex."""
    return _VENDORS.get(number, "other")


def is_display(device_class: str, vendor_number: str) -> bool:
    """Whether a PCI class code in hex ("030000") is a display controller.

    AMD's Instinct cards call themselves processing accelerators (class 12).
    """
    return device_class.startswith("03") or (device_class.startswith("12") and vendor(vendor_number) == "amd")
