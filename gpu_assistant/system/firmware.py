"""What the firmware's tables say: the kind of computer, and whether there is a computer at all.

Source: SMBIOS specification (DSP0134), 7.4.1 "System enclosure or chassis types"; the makers' words are those that
systemd's detect-virt knows.
"""

from __future__ import annotations

# Portable, laptop, notebook, hand held, sub notebook, tablet, convertible, detachable
_CARRIED = {8, 9, 10, 11, 14, 30, 31, 32}
# Desktop, low profile, pizza box, mini tower, tower, all in one, space saving, servers' kinds, mini PC
_STANDING = {3, 4, 5, 6, 7, 13, 15, 16, 17, 22, 23, 24, 25, 28, 29, 35, 36}

# The beginning of a maker's or a product's name that only virtual machines have.
_VIRTUAL = (
    *("qemu", "kvm", "vmware", "virtualbox", "innotek", "xen", "bochs", "parallels", "bhyve", "openstack"),
    *("google compute engine", "apple virtualization", "virtual machine", "hvm domu"),
)
# Firms that name virtual and real computers alike; their real ones say so.
_CLOUD = "amazon ec2"


def laptop(chassis: int | None, *, battery: bool | None) -> bool | None:
    """By the kind of chassis, else by a battery; None where neither says."""
    if chassis in _CARRIED:
        return True
    if chassis in _STANDING:
        return False
    return True if battery else None


def virtual(maker: str | None, product: str | None) -> bool | None:
    """By the makers' words; None where there are none."""
    words = [word.strip().lower() for word in (maker, product) if word and word.strip()]
    if not words:
        return None
    if words[0].startswith(_CLOUD):
        return not words[-1].endswith("metal") and "metal-" not in words[-1]
    return any(word.startswith(_VIRTUAL) for word in words)
