"""The disks of a Linux, asked so that a network disk whose server is gone holds nobody up."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ..core.machine import Disk
from .linux_read import Mount
from .patience import answered

LIMIT_S = 1.0  # for the home folder's real place, and again for all disks together

Ask = Callable[[str, bool], Disk | None]


def ask(path: str, whatever: bool) -> Disk | None:
    """A disk's sizes; None where it cannot be read, or not written to unless `whatever`."""
    if not whatever and not os.access(path, os.W_OK):
        return None
    try:
        usage = shutil.disk_usage(path)
    except OSError:
        return None
    return Disk(path=path, free_bytes=usage.free, total_bytes=usage.total)


def disks(mounts: Sequence[Mount], home: Path, ask: Ask = ask, limit: float = LIMIT_S) -> tuple[Disk, ...]:
    """Those that we may write to, and the one under the home folder; who does not answer has no sizes."""
    real = answered({"home": home.resolve}, limit).get("home", home)
    ordered = sorted((mount for mount in mounts if mount.writable), key=lambda mount: len(mount.path))
    under_home = next((mount for mount in reversed(ordered) if real.is_relative_to(mount.path)), None)
    told = answered({mount: partial(ask, mount.path, mount is under_home) for mount in ordered}, limit)
    found: dict[str, Disk] = {}
    for mount in ordered:
        disk = told.get(mount, Disk(path=mount.path))
        if disk is not None:
            # One disk mounted twice is listed once. overlay is a kind, not a device.
            found.setdefault(mount.device if mount.device.startswith("/dev/") else mount.path, disk)
    return tuple(found.values())
