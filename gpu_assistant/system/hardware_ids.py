"""What identifiers in hardware mean: chassis types and vendor names of SMBIOS, PCI ids, names of architectures. Pure.

Sources: the SMBIOS specification (DSP0134), 7.4.1 "System Enclosure or Chassis Types"; the vendor names of virtual
machines are those that systemd's detect-virt knows, the names of clouds those of cloud-init's ds-identify.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Literal

from ..core.machine import Cloud, Vendor

# Portable, laptop, notebook, hand held, sub notebook, tablet, convertible, detachable
_PORTABLE_CHASSIS = {8, 9, 10, 11, 14, 30, 31, 32}
# Desktop, low profile, pizza box, mini tower, tower, all in one, space saving, the kinds of servers, mini PC
_STATIONARY_CHASSIS = {3, 4, 5, 6, 7, 13, 15, 16, 17, 22, 23, 24, 25, 28, 29, 35, 36}

# What a vendor's or a product's name begins with in virtual machines only.
_VIRTUAL_PREFIXES = (
    *("qemu", "kvm", "vmware", "virtualbox", "innotek", "xen", "bochs", "parallels", "bhyve", "openstack"),
    *("google compute engine", "apple virtualization", "virtual machine", "hvm domu"),
)
# What the firmware's vendor, product or asset tag begins with in a cloud.
_AZURE_ASSET_TAG = "7783-7084-3265-9085-8269-3286-77"
_CLOUD_BY_PREFIX: dict[str, Cloud] = {
    _AZURE_ASSET_TAG: "azure",
    "amazon ec2": "aws",
    "google": "gcp",
    "alibaba cloud": "aliyun",
    **dict.fromkeys(
        (
            *("digitalocean", "hetzner", "linode", "vultr", "scaleway", "upcloud", "exoscale", "oraclecloud"),
            *("tencent cloud", "huaweicloud", "openstack", "akamai", "e24cloud", "cloudsigma"),
        ),
        "other",
    ),
}
# What cloud providers' kernels of Ubuntu and its relatives end with ("6.8.0-1021-azure").
_CLOUD_BY_KERNEL: dict[str, Cloud] = {"azure": "azure", "aws": "aws", "gcp": "gcp", "oracle": "other"}
_EC2_PREFIX = "amazon ec2"  # virtual and bare-metal computers have this vendor; the product tells them apart

# Vendor ids as the PCI-SIG assigned them.
_VENDOR_BY_ID: dict[str, Vendor] = {"10de": "nvidia", "1002": "amd", "1022": "amd", "8086": "intel", "106b": "apple"}
# Brands as they are printed on the box; pci.ids has the companies' full names.
_BRANDS = {"10de": "NVIDIA", "1002": "AMD", "1022": "AMD", "8086": "Intel"}

_ARCHITECTURES: dict[str, Literal["x86_64", "arm64"]] = {
    "x86_64": "x86_64",
    "amd64": "x86_64",
    "aarch64": "arm64",
    "arm64": "arm64",
}


def is_laptop(chassis: int | None, *, has_battery: bool | None) -> bool | None:
    """Whether a computer is portable: by its chassis type, else by its battery; None where neither tells."""
    if chassis in _PORTABLE_CHASSIS:
        return True
    if chassis in _STATIONARY_CHASSIS:
        return False
    return True if has_battery else None


def is_virtual_machine(vendor: str | None, product: str | None) -> bool | None:
    """Whether the firmware's vendor and product names are a virtual machine's; None where there are no names."""
    names = [name.strip().lower() for name in (vendor, product) if name and name.strip()]
    if not names:
        return None
    if names[0].startswith(_EC2_PREFIX):
        return not names[-1].endswith("metal") and "metal-" not in names[-1]
    return any(name.startswith(_VIRTUAL_PREFIXES) for name in names)


def cloud_provider(names: Iterable[str | None], kernel: str | None = None) -> Cloud | None:
    """Whose rented computer this is, by the firmware's vendor, product and asset tag, else by the kernel's flavour."""
    for name in names:
        text = (name or "").strip().lower()
        cloud = next((cloud for prefix, cloud in _CLOUD_BY_PREFIX.items() if text.startswith(prefix)), None)
        if cloud is not None:
            return cloud
    return _CLOUD_BY_KERNEL.get((kernel or "").rpartition("-")[2])


def normalize_architecture(machine: str) -> Literal["x86_64", "arm64"] | None:
    """The processor's architecture by the name that `uname` or Windows uses; None for others."""
    return _ARCHITECTURES.get(machine.lower())


def vendor_by_id(vendor_id: str) -> Vendor:
    """The vendor by its PCI id in lower-case hex ("10de")."""
    return _VENDOR_BY_ID.get(vendor_id, "other")


def is_display_adapter(device_class: str, vendor_id: str) -> bool:
    """Whether a PCI class code in hex ("030000") is a display controller.

    AMD's Instinct boards have the class of processing accelerators (12).
    """
    return device_class.startswith("03") or (device_class.startswith("12") and vendor_by_id(vendor_id) == "amd")


def read_device_names(lines: Iterable[str], requested: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Names of the requested (vendor id, device id), from the lines of pci.ids.

    Its format: "vendor  name", a tab and "device  name", two tabs below that. The text in brackets is the name on the
    box: "AD107 [GeForce RTX 4060]". A device that shares its id with others keeps all their names, as the list has
    them.
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
                brand = _BRANDS.get(vendor_id) or vendor_name
                device_names[vendor_id, device_id] = f"{brand} {product[1] if product else name}"
    return device_names
