"""Is there room, may we write, and is the place free? Asked before anything is fetched."""

from __future__ import annotations

import shutil
from pathlib import Path

from ...core.errors import AppError
from ...core.json import storage_error
from ...core.plan import Step
from .. import journal
from ..occupied import refuse_files, refuse_strangers
from ..removal import delete, trash_path
from ..work import Outcome, Work


def run(step: Step, work: Work) -> Outcome:  # noqa: ARG001 - every kind has this shape
    """Raises AppError: environment-occupied, not-a-folder, folder-unwritable, disk-too-small."""
    env = work.environment
    refuse_files(env)
    refuse_strangers(env, work.data)
    known = env in journal.environments(work.data)
    if not known and (work.partial.exists() or trash_path(env).exists()):
        raise AppError("environment-occupied", path=str(work.partial))
    _check_room(work)
    _check_writable(work.data.root)
    _check_writable(env.parent)
    if known:
        # What a killed run left behind; nothing counts it as whole.
        delete(work.partial)
        delete(trash_path(env))
    return Outcome()


def _check_room(work: Work) -> None:
    """What the plan needs, added up for each disk; what is unknown is not guessed."""
    needs: dict[int, tuple[Path, int]] = {}
    for folder, count in ((work.environment.parent, work.plan.disk_bytes), (work.data.files, work.plan.bytes)):
        place = _standing(folder)
        device = place.stat().st_dev
        needs[device] = (place, needs.get(device, (place, 0))[1] + (count or 0))
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
