"""Which of a machine's disks a folder lies on, and which other one has room."""

from __future__ import annotations

from collections.abc import Sequence

from .machine import Disk, Machine, SystemName
from .names import Value


def find_disk(machine: Machine, folder: str) -> Disk | None:
    """The disk of a folder, among those whose free space is known; None where it is on none of them."""

    def normalize(path: str) -> str:
        return path.replace("\\", "/").lower() if machine.os.system == "windows" else path

    target = normalize(folder).rstrip("/") + "/"
    candidates = [disk for disk in _disks_with_known_space(machine) if target.startswith(normalize(disk.path).rstrip("/") + "/")]
    return max(candidates, key=lambda disk: len(disk.path), default=None)


def home_disk(machine: Machine) -> Disk | None:
    """Where environments go unless the user chooses a folder: the disk of the user's own folder; where that is not
    known the one with the most room, so that nobody is warned without need.
    """
    home = machine.user.home if machine.user is not None else None
    disk_with_home = find_disk(machine, home) if home is not None else None
    return disk_with_home or max(_disks_with_known_space(machine), key=lambda disk: disk.free_bytes or 0, default=None)


def larger_disk_data(disks: Sequence[Disk], small_path: str, needed_bytes: int, system: SystemName, folder: str) -> dict[str, Value]:
    """What is told of the disk with the most room where the one at the path `small` has too little for `needed` bytes:
    its name, its room, and there a new `folder`; empty where no other one has enough.
    """
    candidates = [disk for disk in disks if disk.path != small_path and (disk.free_bytes or 0) >= needed_bytes]
    larger = max(candidates, key=lambda disk: disk.free_bytes or 0, default=None)
    if larger is None:
        return {}
    path, separator = larger.path.lstrip("@"), "\\" if system == "windows" else "/"
    suggested_folder = path.rstrip("\\/") + separator + folder
    return {"other": path, "other_free_bytes": larger.free_bytes, "there": suggested_folder}


def _disks_with_known_space(machine: Machine) -> list[Disk]:
    return [disk for disk in machine.disks or () if disk.free_bytes is not None]
