"""What Windows writes about itself, from its words to ours. Nothing here touches the machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PureWindowsPath

from ..core.machine import Gpu
from . import pci

FIRST_WINDOWS_11 = 22000  # build; its registry goes on saying "Windows 10"
DISPLAY_CLASS = "{4d36e968-e325-11ce-bfc1-08002be10318}"

# Programs that know no long paths stop at 259 characters (MAX_PATH with its closing zero), and the longest
# path inside a torch wheel has 127. "Lib\site-packages\" and the environment's own name take some 40 more.
LONGEST_ENVIRONMENTS = 90
SHORT_ENVIRONMENTS = "C:\\AI"

_PCI_ID = re.compile(r"VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", re.IGNORECASE)
_PCI_CLASS = re.compile(r"CC_([0-9A-F]{4,6})", re.IGNORECASE)
_BASIC_DRIVER = "basicdisplay"


def system_name(product: str | None, build: int) -> str | None:
    """The name that people know: "Windows 11 Pro" where the registry still says "Windows 10 Pro"."""
    if product and build >= FIRST_WINDOWS_11:
        return product.replace("Windows 10", "Windows 11")
    return product or None


def adapter(
    *,
    hardware_ids: Sequence[str],
    device_class: str | None,
    description: str | None,
    service: str | None,
    memory_bytes: int | None,
) -> Gpu | None:
    """A PCI device's entry as a display adapter; None for any other device.

    `hardware_ids` are its hardware and compatible ids. A device without a driver has no class, but its
    compatible ids tell the PCI class. Under Microsoft's basic driver the description is that driver's, not
    the card's: the name is then unknown.
    """
    numbers = next((match for text in hardware_ids if (match := _PCI_ID.search(text))), None)
    if numbers is None:
        return None
    maker, model = numbers[1].lower(), numbers[2].lower()
    codes = [match[1] for text in hardware_ids if (match := _PCI_CLASS.search(text))]
    if (device_class or "").lower() != DISPLAY_CLASS and not any(pci.is_display(code, maker) for code in codes):
        return None
    own_driver = bool(service) and (service or "").lower() != _BASIC_DRIVER
    return Gpu(
        vendor=pci.vendor(maker),
        name=description if own_driver else None,
        pci_id=f"{maker}:{model}",
        memory_bytes=memory_bytes if own_driver else None,
    )


def environments_folder(data_root: str) -> str:
    """The folder for new environments: below our data where that path is plain, not synced and short enough."""
    folder = PureWindowsPath(data_root) / "environments"
    text = str(folder)
    synced = any(part.lower().startswith("onedrive") for part in folder.parts)
    return text if text.isascii() and not synced and len(text) <= LONGEST_ENVIRONMENTS else SHORT_ENVIRONMENTS


def quoted(word: str) -> str:
    """A path as one word for cmd and PowerShell."""
    return f'"{word}"' if re.search(r"[\s&()^;,=%]", word) else word
