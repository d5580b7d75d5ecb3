"""What the firmware's tables say: the kind of computer, and whether there is a computer at all.

Source: SMBIOS specification (DSP0134), 7.4.1 "System enclosure or chassis types"; the makers' words are those that
systemd's detect-virt knows.
"""

from __future__ import annotations

# Portable, laptop, notebook, hand held, sub notebook, tablet, convertible, detachable
_PORTABLE_CHASSIS = {8, 9, 10, 11, 14, 30, 31, 32}
# Desktop, low profile, pizza box, mini tower, tower, all in one, space saving, servers' kinds, mini PC
_STATIONARY_CHASSIS = {3, 4, 5, 6, 7, 13, 15, 16, 17, 22, 23, 24, 25, 28, 29, 35, 36}

# The beginning of a maker's or a product's name that only virtual machines have.
_VIRTUAL_PREFIXES = (
    *("qemu", "kvm", "vmware", "virtualbox", "innotek", "xen", "bochs", "parallels", "bhyve", "openstack"),
    *("google compute engine", "apple virtualization", "virtual machine", "hvm domu"),
)
# Firms that name virtual and real computers alike; their real ones say so.
_EC2_PREFIX = "amazon ec2"


def is_laptop(chassis: int | None, *, has_battery: bool | None) -> bool | None:
    """By the kind of chassis, else by a battery; None where neither says."""
    if chassis in _PORTABLE_CHASSIS:
        return True
    if chassis in _STATIONARY_CHASSIS:
        return False
    return True if has_battery else None


def is_virtual_machine(vendor: str | None, product: str | None) -> bool | None:
    """By the makers' words; None where there are none."""
    names = [name.strip().lower() for name in (vendor, product) if name and name.strip()]
    if not names:
        return None
    if names[0].startswith(_EC2_PREFIX):
        return not names[-1].endswith("metal") and "metal-" not in names[-1]
    return any(name.startswith(_VIRTUAL_PREFIXES) for name in names)
