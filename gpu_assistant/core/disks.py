"""Which of a machine's disks a folder lies on."""

from __future__ import annotations

from .machine import Disk, Machine


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


def _known(machine: Machine) -> list[Disk]:
    return [disk for disk in machine.disks or () if disk.free_bytes is not None]
