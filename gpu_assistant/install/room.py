"""How much room a plan takes, and on which disk: the environment on its own, all else on the data folder's.

What packages become is on the data folder's disk even where the environment is on another one: uv and conda unpack
there first, and only on the same disk the two are one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from ..core.disks import find_disk, larger_disk_data, home_disk
from ..core.errors import InsufficientDiskSpace
from ..core.machine import Disk
from ..core.names import Value
from ..core.plan import Step
from ..core.price import minimum_disk_bytes, step_cost
from .draft import PlanBuilder
from .planner import sum_known

if TYPE_CHECKING:
    from .work import InstallContext

# What the environment itself becomes, and what one that is built already has behind it.
ENVIRONMENT_STEPS = frozenset({"python-packages", "conda-environment"})
BUILD_STEPS = frozenset({"download", "python-packages"})
DiskTarget = Literal["data", "env"]
# What the data folder, and an environment alone, are called on a disk with more room.
FOLDER_NAMES: dict[DiskTarget, str] = {"data": "gpu-assistant", "env": "pytorch"}


class DiskNeeds(Struct, frozen=True, kw_only=True):
    """Bytes that a plan keeps and fetches at the least, and those of the environment alone; None: nobody knows."""

    kept_bytes: int | None
    download_bytes: int
    environment_bytes: int | None
    is_exact: bool

    @property
    def total_bytes(self) -> int | None:
        """What is downloaded lies on the disk, too."""
        return self.kept_bytes + self.download_bytes if self.kept_bytes is not None else None


def disk_needs(builder: PlanBuilder) -> DiskNeeds:
    """Of the steps that are planned so far, by what is known of each and what was measured on such packages."""
    keeping_steps, download_steps = disk_steps(builder.steps)
    kept_bytes, download_bytes = sum_known(step.disk_bytes for step in keeping_steps), sum_known(step.bytes for step in download_steps)
    environment_bytes = builder.sizes.disk_bytes if builder.sizes.disk_bytes is not None else builder.estimated_disk_bytes
    if kept_bytes is not None and download_bytes is not None:
        return DiskNeeds(kept_bytes=kept_bytes, download_bytes=download_bytes, environment_bytes=environment_bytes, is_exact=True)
    download_bytes = sum(step_cost(step.code, step.bytes, step.data).bytes for step in download_steps)
    kept_bytes = sum(minimum_disk_bytes(step) or 0 for step in keeping_steps) if environment_bytes is not None else None
    if kept_bytes is not None and builder.sizes.disk_bytes is None:
        kept_bytes += environment_bytes or 0
    return DiskNeeds(kept_bytes=kept_bytes, download_bytes=download_bytes, environment_bytes=environment_bytes, is_exact=False)


def disk_steps(steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """The steps that keep something on the disk of the plan, and those that fetch something to it."""
    from .steps import STEP_KINDS

    keeping_steps = [step for step in steps if not STEP_KINDS[step.kind].external_installer]
    return keeping_steps, [step for step in steps if step.files or not STEP_KINDS[step.kind].external_installer]


def disk_shortage(disk_need: DiskNeeds, builder: PlanBuilder) -> dict[str, Value]:
    """The disk that has too little room: its name, what is free and what it is to hold, which of both goes there, and
    what `elsewhere` tells of another one; empty where none is known to be too small.
    """
    for target, disk, needed_bytes in _needs_by_disk(disk_need, builder):
        if disk is None or needed_bytes is None or (disk.free_bytes or 0) >= needed_bytes:
            continue
        shortage: dict[str, Value] = {"disk": disk.path.lstrip("@"), "free_bytes": disk.free_bytes, "disk_bytes": needed_bytes}
        disks, system = builder.machine.disks or (), builder.machine.os.system
        alternative = larger_disk_data(disks, disk.path, needed_bytes, system, FOLDER_NAMES[target])
        return shortage | alternative | ({"goes": target} if alternative else {})
    return {}


def _needs_by_disk(disk_need: DiskNeeds, builder: PlanBuilder) -> list[tuple[DiskTarget, Disk | None, int | None]]:
    """What goes to which disk."""
    machine = builder.machine
    if builder.simulated:
        # Of another machine's folders nothing is known here.
        return [("data", home_disk(machine), disk_need.total_bytes)]
    data_disk, environment_disk = find_disk(machine, str(builder.data.root)), find_disk(machine, str(builder.environment))
    if data_disk is None or environment_disk is None or data_disk == environment_disk:
        return [("data", environment_disk, disk_need.total_bytes)]
    return [("data", data_disk, disk_need.total_bytes), ("env", environment_disk, disk_need.environment_bytes)]


def check_disk_space(context: InstallContext, *, is_built: bool) -> None:
    """What the plan needs, added up for each disk; of what is unknown the least counts, of what is `built` nothing.
    Raises DiskTooSmall.
    """
    pending = [step for step in context.plan.steps if not (is_built and step.kind in BUILD_STEPS)]
    kept_bytes = sum(minimum_disk_bytes(step) or 0 for step in pending)
    environment_bytes = sum(minimum_disk_bytes(step) or 0 for step in pending if step.kind in ENVIRONMENT_STEPS)
    data_folder, environment_folder = _nearest_existing(context.data.files), _nearest_existing(context.environment.parent)
    _check_free_space(data_folder, kept_bytes + sum(step.bytes or 0 for step in pending), "data", context)
    if environment_folder.stat().st_dev != data_folder.stat().st_dev:
        _check_free_space(environment_folder, environment_bytes, "env", context)


def _check_free_space(existing_folder: Path, needed_bytes: int, target: DiskTarget, context: InstallContext) -> None:
    free_bytes = shutil.disk_usage(existing_folder).free
    required_bytes = needed_bytes + context.limits.reserve_bytes
    if required_bytes <= free_bytes:
        return
    device = existing_folder.stat().st_dev
    others = [disk for disk in context.system.disks() if not _is_on_device(disk.path, device)]
    alternative = larger_disk_data(others, "", required_bytes, context.system.name, FOLDER_NAMES[target])
    raise InsufficientDiskSpace(path=str(existing_folder), needed_bytes=needed_bytes, free_bytes=free_bytes, contents=target, other_disk=alternative)


def _is_on_device(path: str, device: int) -> bool:
    try:
        return os.stat(path).st_dev == device  # noqa: PTH116 - a disk's path, as the system names it
    except OSError:
        return True


def _nearest_existing(folder: Path) -> Path:
    """The folder, or the nearest one above that is there."""
    return next(parent for parent in (folder, *folder.parents) if parent.is_dir())
