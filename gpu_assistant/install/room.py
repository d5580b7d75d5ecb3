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

from ..core.disks import disk_of, elsewhere, home_disk
from ..core.errors import DiskTooSmall
from ..core.machine import Disk
from ..core.names import Value
from ..core.plan import Step
from ..core.price import kept_least, share
from .draft import Draft
from .planner import total

if TYPE_CHECKING:
    from .work import Work

# What the environment itself becomes, and what one that is built already has behind it.
ENVIRONMENT = frozenset({"python-packages", "conda-environment"})
BUILDING = frozenset({"download", "python-packages"})
Goes = Literal["data", "env"]
# What the data folder, and an environment alone, are called on a disk with more room.
FOLDERS: dict[Goes, str] = {"data": "gpu-assistant", "env": "pytorch"}


class Needs(Struct, frozen=True, kw_only=True):
    """Bytes that a plan keeps and fetches at the least, and those of the environment alone; None: nobody knows."""

    kept: int | None
    fetched: int
    environment: int | None
    exact: bool

    @property
    def all(self) -> int | None:
        """What is downloaded lies on the disk, too."""
        return self.kept + self.fetched if self.kept is not None else None


def needs(draft: Draft) -> Needs:
    """Of the steps that are planned so far, by what is known of each and what was measured on such packages."""
    keeping, fetching = counted(draft.steps)
    kept, fetched = total(step.disk_bytes for step in keeping), total(step.bytes for step in fetching)
    environment = draft.sizes.disk_bytes if draft.sizes.disk_bytes is not None else draft.disk_about
    if kept is not None and fetched is not None:
        return Needs(kept=kept, fetched=fetched, environment=environment, exact=True)
    fetched = sum(share(step.code, step.bytes, step.data).bytes for step in fetching)
    kept = sum(kept_least(step) or 0 for step in keeping) if environment is not None else None
    if kept is not None and draft.sizes.disk_bytes is None:
        kept += environment or 0
    return Needs(kept=kept, fetched=fetched, environment=environment, exact=False)


def counted(steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """The steps that keep something on the disk of the plan, and those that fetch something to it."""
    from .steps import KINDS

    keeping = [step for step in steps if not KINDS[step.kind].apart]
    return keeping, [step for step in steps if step.files or not KINDS[step.kind].apart]


def short(found: Needs, draft: Draft) -> dict[str, Value]:
    """The disk that has too little room: its name, what is free and what it is to hold, which of both goes there, and
    what `elsewhere` tells of another one; empty where none is known to be too small.
    """
    for goes, disk, count in _on_disks(found, draft):
        if disk is None or count is None or (disk.free_bytes or 0) >= count:
            continue
        told: dict[str, Value] = {"disk": disk.path.lstrip("@"), "free_bytes": disk.free_bytes, "disk_bytes": count}
        disks, system = draft.machine.disks or (), draft.machine.os.system
        other = elsewhere(disks, disk.path, count, system, FOLDERS[goes])
        return told | other | ({"goes": goes} if other else {})
    return {}


def _on_disks(found: Needs, draft: Draft) -> list[tuple[Goes, Disk | None, int | None]]:
    """What goes to which disk."""
    machine = draft.machine
    if draft.simulated:
        # Of another machine's folders nothing is known here.
        return [("data", home_disk(machine), found.all)]
    data, env = disk_of(machine, str(draft.data.root)), disk_of(machine, str(draft.environment))
    if data is None or env is None or data == env:
        return [("data", env, found.all)]
    return [("data", data, found.all), ("env", env, found.environment)]


def check_room(work: Work, *, built: bool) -> None:
    """What the plan needs, added up for each disk; of what is unknown the least counts, of what is `built` nothing.
    Raises DiskTooSmall.
    """
    todo = [step for step in work.plan.steps if not (built and step.kind in BUILDING)]
    keep = sum(kept_least(step) or 0 for step in todo)
    own = sum(kept_least(step) or 0 for step in todo if step.kind in ENVIRONMENT)
    data, env = _standing(work.data.files), _standing(work.environment.parent)
    _refuse_small(data, keep + sum(step.bytes or 0 for step in todo), "data", work)
    if env.stat().st_dev != data.stat().st_dev:
        _refuse_small(env, own, "env", work)


def _refuse_small(place: Path, count: int, goes: Goes, work: Work) -> None:
    free = shutil.disk_usage(place).free
    wanted = count + work.limits.reserve_bytes
    if wanted <= free:
        return
    device = place.stat().st_dev
    others = [disk for disk in work.system.disks() if not _on(disk.path, device)]
    other = elsewhere(others, "", wanted, work.system.name, FOLDERS[goes])
    raise DiskTooSmall(path=str(place), needed_bytes=count, free_bytes=free, goes=goes, other=other)


def _on(path: str, device: int) -> bool:
    try:
        return os.stat(path).st_dev == device  # noqa: PTH116 - a disk's path, as the system names it
    except OSError:
        return True


def _standing(folder: Path) -> Path:
    """The folder, or the nearest one above that is there."""
    return next(place for place in (folder, *folder.parents) if place.is_dir())
