"""What Windows' registry values, device ids, paths and counters mean, parsed. Pure: nothing here calls Windows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import PureWindowsPath
from urllib.parse import urlsplit

from ...core.errors import AppError
from ...core.machine import Gpu
from ..base import PowerStatus
from ..hardware_ids import is_display_adapter, vendor_by_id

FIRST_WINDOWS_11_BUILD = 22000  # its registry still says "Windows 10"
DISPLAY_CLASS = "{4d36e968-e325-11ce-bfc1-08002be10318}"

# Programs without support for long paths stop at 259 characters (MAX_PATH less its terminating zero), and the longest
# path inside a torch wheel has 127. "Lib\site-packages\" and the environment's own name take some 40 more.
MAX_ENVIRONMENTS_PATH = 90
SHORT_ENVIRONMENTS_FOLDER = "C:\\AI"

# The longest value that Windows' own dialog for environment variables accepts: the user must be able to edit it there.
MAX_PATH_VARIABLE = 2047

# Where our data lies below a profile, and environments below it.
ENVIRONMENTS_BELOW_HOME = r"\AppData\Local\gpu-assistant\environments"

# winbase.h, SYSTEM_POWER_STATUS
BATTERY_NONE, POWER_UNKNOWN = 128, 255

_PCI_ID = re.compile(r"VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", re.IGNORECASE)
_PCI_CLASS = re.compile(r"CC_([0-9A-F]{4,6})", re.IGNORECASE)
_GPU_INSTANCE = re.compile(r"pid_(\d+)_luid_0x([0-9A-F]+)_0x([0-9A-F]+)_phys_\d+.*", re.IGNORECASE)
_BASIC_DRIVER = "basicdisplay"
FIRST_BUILD_WITH_AVX_ANSWERS = 19041  # Windows 10 2004; an older one says "no" to a question that it does not know

Luid = tuple[int, int]  # identifies an adapter until the next start of Windows: low and high half


def windows_product_name(product: str | None, build: int) -> str | None:
    """The product's name: "Windows 11 Pro" where the registry still says "Windows 10 Pro"."""
    if product and build >= FIRST_WINDOWS_11_BUILD:
        return product.replace("Windows 10", "Windows 11")
    return product or None


def parse_display_adapter(
    *,
    hardware_ids: Sequence[str],
    device_class: str | None,
    description: str | None,
    service: str | None,
    memory_bytes: int | None,
) -> Gpu | None:
    """A PCI device as a display adapter; None for any other device.

    `hardware_ids` are its hardware and compatible ids. A device without a driver has no class, but its compatible ids
    have the PCI class. Under Microsoft's basic driver the description is that driver's, not the GPU's: the name is then
    unknown.
    """
    pci_id = next((match for text in hardware_ids if (match := _PCI_ID.search(text))), None)
    if pci_id is None:
        return None
    vendor_id, device_id = pci_id[1].lower(), pci_id[2].lower()
    class_codes = [match[1] for text in hardware_ids if (match := _PCI_CLASS.search(text))]
    if (device_class or "").lower() != DISPLAY_CLASS and not any(
        is_display_adapter(code, vendor_id) for code in class_codes
    ):
        return None
    has_vendor_driver = bool(service) and (service or "").lower() != _BASIC_DRIVER
    return Gpu(
        vendor=vendor_by_id(vendor_id),
        name=description if has_vendor_driver else None,
        pci_id=f"{vendor_id}:{device_id}",
        memory_bytes=memory_bytes if has_vendor_driver else None,
    )


def environments_folder(data_root: str) -> str:
    """The folder for new environments: in our data folder where that is ASCII, not synchronized and short enough."""
    folder = PureWindowsPath(data_root) / "environments"
    text = str(folder)
    is_synchronized = any(part.lower().startswith("onedrive") for part in folder.parts)
    return (
        text
        if text.isascii() and not is_synchronized and len(text) <= MAX_ENVIRONMENTS_PATH
        else SHORT_ENVIRONMENTS_FOLDER
    )


def quote_for_shell(path_text: str) -> str:
    """A path as one argument in cmd and PowerShell."""
    return f'"{path_text}"' if re.search(r"[\s&()^;,=%]", path_text) else path_text


def powershell_script_line(path_text: str) -> str:
    """One line for PowerShell that runs a script although the policy is Restricted, as it is on Windows clients.

    learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_execution_policies
    """
    quoted = "'" + path_text.replace("'", "''") + "'"
    return f"Set-ExecutionPolicy -Scope Process RemoteSigned -Force; & {quoted}"


def append_to_path(path: str | None, folder: str, expand: bool, expand_names: Callable[[str], str]) -> str | None:
    """The value of PATH with a folder appended; None where the folder is in it already.

    `expand` is whether Windows expands names in the value, `expand_names` does so. Existing text is unchanged, and
    `remove_folder_from_path` restores it exactly: a value that ends in ";" still does, and an empty one (unlike None,
    a missing one) begins with ";". Raises AppError("path-not-addable", "path-too-long").
    """

    def normalize(entry: str) -> str:
        text = (expand_names(entry) if expand else entry).strip().strip('"')
        return str(PureWindowsPath(text)).casefold() if text else ""

    if ";" in folder or '"' in folder or (expand and expand_names(folder) != folder):
        raise AppError("path-not-addable", folder=folder)
    normalized_folder = str(PureWindowsPath(folder)).casefold()
    if any(normalize(entry) == normalized_folder for entry in (path or "").split(";")):
        return None
    if path is None:
        text = folder
    elif path.endswith(";"):
        text = f"{path}{folder};"
    else:
        text = f"{path};{folder}"
    if len(text) > MAX_PATH_VARIABLE:
        raise AppError("path-too-long", folder=folder, length=len(text), limit=MAX_PATH_VARIABLE)
    return text


def remove_folder_from_path(path: str, folder: str) -> str | None:
    """The value of PATH without the folder that `append_to_path` added; None where there was no PATH before."""
    if path == folder:
        return None
    entries = path.split(";")
    if folder in entries:
        # The last occurrence: ours was appended.
        del entries[len(entries) - 1 - entries[::-1].index(folder)]
    return ";".join(entries)


def parse_power_status(line: int, battery: int, percent: int, saver: int) -> PowerStatus:
    """The fields of SYSTEM_POWER_STATUS."""
    return PowerStatus(
        source="battery" if line == 0 else "mains" if line == 1 else None,
        percent=None if percent == POWER_UNKNOWN or battery in (BATTERY_NONE, POWER_UNKNOWN) else percent,
        power_saving=saver == 1,
    )


def parse_processor_feature(present: bool, build: int, *, arm: bool) -> bool | None:
    """Whether an x86 processor has a vector instruction; None where a "no" may mean that Windows does not know."""
    if present:
        return True
    return None if arm or build < FIRST_BUILD_WITH_AVX_ANSWERS else False


def nvidia_driver_version(windows_version: str | None) -> str | None:
    """NVIDIA's version of a driver from Windows' version: "32.0.15.6603" is 566.03, its last five digits."""
    parts = (windows_version or "").split(".")
    if len(parts) != 4 or not all(part.isdecimal() for part in parts):
        return None
    digits = f"{parts[2]}{parts[3]:0>4}"[-5:]
    return f"{int(digits[:-2])}.{digits[-2:]}" if len(digits) == 5 else None


def parse_proxy_list(text: str) -> str | None:
    """The first proxy for HTTP of WinHTTP's list ("proxy:8080;http=other:80"), else the first SOCKS proxy
    ("socks4://proxy:1080"); None where there is none.
    """
    socks: str | None = None
    for entry in text.replace(";", " ").split():
        kind, _, address = entry.lower().rpartition("=")
        scheme, _, host = address.rpartition("://")
        if "socks" in (kind + scheme):
            version = 5 if "socks5" in (kind, scheme) else 4  # "socks" is read as urllib.request reads it
            socks = socks or f"socks{version}://{host}"
        elif kind in ("", "http", "https"):
            return address if scheme else f"http://{host}"
    return socks


def select_proxy_setting(servers: str, scheme: str) -> str:
    """The proxy for http or https in Windows' settings, which have one address for all or "http=host:port;https=…"; a
    SOCKS proxy where there is no other; "" for none.
    """
    by_scheme = dict(part.strip().split("=", 1) for part in servers.split(";") if "=" in part)
    if not by_scheme:
        return servers
    if address := by_scheme.get(scheme) or by_scheme.get("http"):
        return address
    socks = by_scheme.get("socks", "")
    return socks if not socks or "://" in socks else f"socks4://{socks}"  # Windows' own kind


def is_proxy_bypassed(url: str, overrides: str) -> bool:
    """Whether an address is reached without the proxy, by the exceptions in Windows' settings: names with wildcards,
    "<local>" for names without a dot; this computer always.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in ("localhost", "127.0.0.1", "::1"):
        return True
    for entry in overrides.lower().replace(";", " ").split():
        pattern = entry.rpartition("://")[2]
        if pattern == "<local>" and "." not in host and ":" not in host:
            return True
        if fnmatchcase(host, pattern) or fnmatchcase(parts.netloc.rpartition("@")[2].lower(), pattern):
            return True
    return False


def parse_restore_points(text: str) -> frozenset[int]:
    """The sequence numbers that PowerShell lists, one a line."""
    return frozenset(int(line) for line in text.split() if line.isdecimal())


def parse_gpu_instance(name: str) -> tuple[int, Luid] | None:
    """Process id and adapter of a performance counter's instance: "pid_1234_luid_0x00000000_0x0000C9D1_phys_0"."""
    match = _GPU_INSTANCE.fullmatch(name)
    return (int(match[1]), (int(match[3], 16), int(match[2], 16))) if match is not None else None


def is_home_too_long(home: str) -> bool:
    """Whether environments below this profile would have longer paths than programs support."""
    return len(home) + len(ENVIRONMENTS_BELOW_HOME) > MAX_ENVIRONMENTS_PATH
