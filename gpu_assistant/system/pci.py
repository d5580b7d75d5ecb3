"""PCI numbers: who made a display adapter, and which devices are display adapters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ..core.machine import Vendor

# Vendor numbers as the PCI-SIG gave them out.
_VENDORS: dict[str, Vendor] = {"10de": "nvidia", "1002": "amd", "1022": "amd", "8086": "intel", "106b": "apple"}


# How pci.ids' makers are called on the box.
_MAKERS = {"10de": "NVIDIA", "1002": "AMD", "1022": "AMD", "8086": "Intel"}


def vendor(number: str) -> Vendor:
    """The maker by its PCI vendor number in lower-case hex."""
    return _VENDORS.get(number, "other")


def is_display(device_class: str, vendor_number: str) -> bool:
    """Whether a PCI class code in hex ("030000") is a display controller.

    AMD's Instinct cards call themselves processing accelerators (class 12).
    """
    return device_class.startswith("03") or (device_class.startswith("12") and vendor(vendor_number) == "amd")


def names(lines: Iterable[str], wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Devices' names from the lines of pci.ids (its format: "vendor  name", a tab and "device  name", two tabs below).

    What stands in brackets is the name on the box: "AD107 [GeForce RTX 4060]". A device that shares its number with
    others keeps all their names, as the list has them.
    """
    found: dict[tuple[str, str], str] = {}
    maker, maker_name = "", ""
    makers = {pair[0] for pair in wanted}
    for line in lines:
        if line[:1] in ("#", "\n", ""):
            continue
        if line[0] == "C":  # device classes, at the end
            break
        if line[0] != "\t":
            maker, _, maker_name = line.strip().partition("  ")
        elif line[1:2] != "\t" and maker in makers:
            model, _, name = line.strip().partition("  ")
            if (maker, model) in wanted and name:
                boxed = re.search(r"\[(.+)\]", name)
                own = _MAKERS.get(maker) or maker_name
                found[maker, model] = f"{own} {boxed[1] if boxed else name}"
    return found
