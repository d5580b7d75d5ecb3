"""Which of a machine's disks a folder lies on, and which other one has room."""

from __future__ import annotations

from collections.abc import Sequence

from .machine import Disk, Machine, SystemName
from .names import Value


def disk_of(machine: Machine, folder: str) -> Disk | None:
    """The disk of a folder, among those whose free space is known; None where it is on none of them."""

    def plain(path: str) -> str:
        return path.replace("\\", "/").lower() if machine.os.system == "windows" else path

    there = plain(folder).rstrip("/") + "/"
    fitting = [disk for disk in _known(machine) if there.startswith(plain(disk.path).rstrip("/") + "/")]
    return max(fitting, key=lambda disk: len(disk.path), default=None)


def home_disk(machine: Machine) -> Disk | None:
    """Where environments go unless the user chooses a folder: the disk of the user's own folder; where that is not
    known the one with the most room, so that nobody is warned without need.
    """
    home = machine.user.home if machine.user is not None else None
    found = disk_of(machine, home) if home is not None else None
    return found or max(_known(machine), key=lambda disk: disk.free_bytes or 0, default=None)


def elsewhere(disks: Sequence[Disk], small: str, needed: int, system: SystemName, folder: str) -> dict[str, Value]:
    """What is told of the disk with the most room where the one at the path `small` has too little for `needed` bytes:
    its name, its room, and there a new `folder`; empty where no other one has enough.
    """
    fitting = [disk for disk in disks if disk.path != small and (disk.free_bytes or 0) >= needed]
    other = max(fitting, key=lambda disk: disk.free_bytes or 0, default=None)
    if other is None:
        return {}
    path, between = other.path.lstrip("@"), "\\" if system == "windows" else "/"
    there = path.rstrip("\\/") + between + folder
    return {"other": path, "other_free_bytes": other.free_bytes, "there": there}


def _known(machine: Machine) -> list[Disk]:
    return [disk for disk in machine.disks or () if disk.free_bytes is not None]
