"""Is there room, may we write, and is the place free? Asked before anything is fetched."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import ClassVar

from ...core.errors import AppError
from ...core.json import storage_error
from ...core.machine import Disk, Machine
from ...core.names import Value
from ...core.plan import Plan, Step
from .. import journal
from ..draft import Draft
from ..occupied import refuse_files, refuse_strangers
from ..place import Ground
from ..planner import total
from ..removal import delete, finish, trash_path
from ..work import Outcome, Work
from .kind import Kind, refuse_fields


class CheckSpace(Kind):
    """Changes nothing but what a killed run left half made."""

    name: ClassVar[str] = "check-space"
    codes: ClassVar[tuple[str, ...]] = (
        "check-space",
        "check-space-short",
        "check-space-about",
        "check-space-about-short",
        "check-space-unknown",
    )

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step, planned last: it knows what all the others take, and says so where that is too much."""
        from . import KINDS

        kept = total(step.disk_bytes for step in draft.steps if not KINDS[step.kind].apart)
        fetched = total(step.bytes for step in draft.steps if step.files or not KINDS[step.kind].apart)
        # What is downloaded lies on the disk, too.
        needed = kept + fetched if kept is not None and fetched is not None else None
        near = draft.near_sizes
        about = near.disk_bytes if near.disk_bytes is not None else near.download_bytes
        least, code = (needed, "check-space") if needed is not None else (about, "check-space-about")
        data: dict[str, Value] = {"env": str(draft.environment), "disk_bytes": least}
        disk = _disk(draft.machine, str(draft.environment), simulated=draft.simulated)
        if least is None:
            code = "check-space-unknown"
        elif disk is not None and (disk.free_bytes or 0) < least:
            code, data["disk"], data["free_bytes"] = f"{code}-short", disk.path.lstrip("@"), disk.free_bytes
        return (Step(id="space", kind=self.name, code=code, data=data, bytes=0, disk_bytes=0, minutes=0.0),)

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:  # noqa: ARG002
        """Nothing in it has an effect."""
        refuse_fields(step)

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises AppError: environment-occupied, not-a-folder, folder-unwritable, disk-too-small."""
        env = work.environment
        refuse_files(env)
        refuse_strangers(env, work.data)
        known = env in journal.environments(work.data)
        if not known and (work.partial.exists() or trash_path(env).exists()):
            raise AppError("environment-occupied", path=str(work.partial))
        if known:
            # What a killed run left behind; nothing counts it as whole, and its room is free again.
            delete(work.partial)
        _check_room(work)
        _check_writable(work.data.root)
        work.folder(step, env.parent)
        _check_writable(env.parent)
        if known:
            finish(env)
            refuse_strangers(env, work.data)
        return Outcome()


def _disk(machine: Machine, folder: str, *, simulated: bool) -> Disk | None:
    """The disk of a folder; of a machine whose folders are not known here the one with the most room."""
    known = [disk for disk in machine.disks or () if disk.free_bytes is not None]
    if simulated:
        return max(known, key=lambda disk: disk.free_bytes or 0, default=None)

    def plain(path: str) -> str:
        return path.replace("\\", "/").lower() if machine.os.system == "windows" else path

    there = plain(folder).rstrip("/") + "/"
    fitting = [disk for disk in known if there.startswith(plain(disk.path).rstrip("/") + "/")]
    return max(fitting, key=lambda disk: len(disk.path), default=None)


def _check_room(work: Work) -> None:
    """What the plan needs, added up for each disk; what is unknown is not guessed."""
    needs: dict[int, tuple[Path, int]] = {}
    keep = sum(step.disk_bytes or 0 for step in work.plan.steps)
    fetch = sum(step.bytes or 0 for step in work.plan.steps)
    for folder, count in ((work.environment.parent, keep), (work.data.files, fetch)):
        place = _standing(folder)
        device = place.stat().st_dev
        needs[device] = (place, needs.get(device, (place, 0))[1] + count)
    for place, count in needs.values():
        free = shutil.disk_usage(place).free
        if count + work.limits.reserve_bytes > free:
            raise AppError("disk-too-small", path=str(place), needed_bytes=count, free_bytes=free)


def _standing(folder: Path) -> Path:
    """The folder, or the nearest one above that is there."""
    return next(place for place in (folder, *folder.parents) if place.is_dir())


def _check_writable(folder: Path) -> None:
    probe = folder / ".gpu-assistant-probe"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise storage_error(error, folder) from error
