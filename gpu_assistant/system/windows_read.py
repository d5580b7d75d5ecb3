"""What Windows writes about itself, from its words to ours. Nothing here touches the machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PureWindowsPath

from ..core.errors import AppError
from ..core.machine import Gpu
from . import pci
from .services import Power

FIRST_WINDOWS_11 = 22000  # build; its registry goes on saying "Windows 10"
DISPLAY_CLASS = "{4d36e968-e325-11ce-bfc1-08002be10318}"

# Programs that know no long paths stop at 259 characters (MAX_PATH with its closing zero), and the longest
# path inside a torch wheel has 127. "Lib\site-packages\" and the environment's own name take some 40 more.
LONGEST_ENVIRONMENTS = 90
SHORT_ENVIRONMENTS = "C:\\AI"

# Windows' own window for environment variables takes no longer value: the user could not mend it there any more.
LONGEST_PATH = 2047

# winbase.h, SYSTEM_POWER_STATUS
NO_BATTERY, UNKNOWN = 128, 255

_PCI_ID = re.compile(r"VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", re.IGNORECASE)
_PCI_CLASS = re.compile(r"CC_([0-9A-F]{4,6})", re.IGNORECASE)
_GPU_INSTANCE = re.compile(r"pid_(\d+)_luid_0x([0-9A-F]+)_0x([0-9A-F]+)_phys_\d+.*", re.IGNORECASE)
_BASIC_DRIVER = "basicdisplay"

Luid = tuple[int, int]  # Windows' number of an adapter until the next start: low and high half


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


def path_with(path: str | None, folder: str, expand: bool, expanded: Callable[[str], str]) -> str | None:
    """PATH's text with a folder at its end; None where the folder is in it already.

    `expand` tells whether Windows fills names in, `expanded` does so. What stands there stays as it is, and
    `path_without` finds the way back to it: a text that ends in ";" goes on doing so, and one that is empty
    (not None: not there at all) gets ";" first. Raises AppError("path-not-addable", "path-too-long").
    """

    def same(entry: str) -> str:
        text = (expanded(entry) if expand else entry).strip().strip('"')
        return str(PureWindowsPath(text)).casefold() if text else ""

    if ";" in folder or '"' in folder or (expand and expanded(folder) != folder):
        raise AppError("path-not-addable", folder=folder)
    wanted = str(PureWindowsPath(folder)).casefold()
    if any(same(entry) == wanted for entry in (path or "").split(";")):
        return None
    if path is None:
        text = folder
    elif path.endswith(";"):
        text = f"{path}{folder};"
    else:
        text = f"{path};{folder}"
    if len(text) > LONGEST_PATH:
        raise AppError("path-too-long", folder=folder, length=len(text), limit=LONGEST_PATH)
    return text


def path_without(path: str, folder: str) -> str | None:
    """PATH's text without the folder that `path_with` added; None where there was none before."""
    if path == folder:
        return None
    entries = path.split(";")
    if folder in entries:
        # The last one: ours was added at the end.
        del entries[len(entries) - 1 - entries[::-1].index(folder)]
    return ";".join(entries)


def power(line: int, battery: int, percent: int, saver: int) -> Power:
    """SYSTEM_POWER_STATUS in our words."""
    return Power(
        source="battery" if line == 0 else "mains" if line == 1 else None,
        percent=None if percent == UNKNOWN or battery in (NO_BATTERY, UNKNOWN) else percent,
        saving=saver == 1,
    )


def nvidia_version(windows_version: str | None) -> str | None:
    """NVIDIA's number of a driver from Windows' number: "32.0.15.6603" is 566.03, its last five digits."""
    parts = (windows_version or "").split(".")
    if len(parts) != 4 or not all(part.isdecimal() for part in parts):
        return None
    digits = f"{parts[2]}{parts[3]:0>4}"[-5:]
    return f"{int(digits[:-2])}.{digits[-2:]}" if len(digits) == 5 else None


def gpu_instance(name: str) -> tuple[int, Luid] | None:
    """Process and adapter of an instance of Windows' counters: "pid_1234_luid_0x00000000_0x0000C9D1_phys_0"."""
    found = _GPU_INSTANCE.fullmatch(name)
    return (int(found[1]), (int(found[3], 16), int(found[2], 16))) if found is not None else None
