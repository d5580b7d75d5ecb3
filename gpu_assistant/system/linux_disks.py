"""The disks of a Linux, asked so that a network disk whose server is gone holds nobody up."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ..core.machine import Disk
from .linux_read import Mount
from .patience import gather_with_timeout

DISK_TIMEOUT_S = 1.0  # for the home folder's real place, and again for all disks together

ReadDisk = Callable[[str, bool], Disk | None]


def read_disk(path: str, allow_read_only: bool) -> Disk | None:
    """A disk's sizes; None where it cannot be read, or not written to unless `whatever`."""
    if not allow_read_only and not os.access(path, os.W_OK):
        return None
    try:
        usage = shutil.disk_usage(path)
    except OSError:
        return None
    return Disk(path=path, free_bytes=usage.free, total_bytes=usage.total)


def list_disks(mounts: Sequence[Mount], home: Path, read: ReadDisk = read_disk, timeout_s: float = DISK_TIMEOUT_S) -> tuple[Disk, ...]:
    """Those that we may write to, and the one under the home folder; who does not answer has no sizes."""
    real_home = gather_with_timeout({"home": home.resolve}, timeout_s).get("home", home)
    ordered = sorted((mount for mount in mounts if mount.writable), key=lambda mount: len(mount.path))
    home_mount = next((mount for mount in reversed(ordered) if real_home.is_relative_to(mount.path)), None)
    answers = gather_with_timeout({mount: partial(read, mount.path, mount is home_mount) for mount in ordered}, timeout_s)
    disks_by_device: dict[str, Disk] = {}
    for mount in ordered:
        disk = answers.get(mount, Disk(path=mount.path))
        if disk is not None:
            # One disk mounted twice is listed once. overlay is a kind, not a device.
            disks_by_device.setdefault(mount.device if mount.device.startswith("/dev/") else mount.path, disk)
    return tuple(disks_by_device.values())
