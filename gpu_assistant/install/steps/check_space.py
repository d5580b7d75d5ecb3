"""Is there room, may we write, and is the place free? Asked before anything is fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec import structs

from ...core.errors import AppError
from ...core.json import storage_error
from ...core.machine import Disk
from ...core.names import Value
from ...core.plan import Now, Plan, Step
from ...core.price import kept_least, share
from .. import journal
from ..built import built
from ..draft import Draft
from ..effects import FolderMoved
from ..occupied import left_over, refuse_strangers, refuse_taken
from ..outlook import place_now
from ..place import Ground
from ..removal import delete, discard, finish, partial_path, said
from ..replacing import kept_path
from ..room import ENVIRONMENT, check_room, counted, needs, short
from ..sweeping import holds_anything
from ..work import Outcome, Work
from .conda_environment import CondaEnvironment
from .kind import Kind, refuse_fields


class CheckSpace(Kind):
    """Changes nothing but what a killed run left half made."""

    name: ClassVar[str] = "check-space"
    by_figures: ClassVar[bool] = True
    codes: ClassVar[tuple[str, ...]] = (
        "check-space",
        "check-space-short",
        "check-space-short-data",
        "check-space-short-env",
        "check-space-about",
        "check-space-about-short",
        "check-space-about-short-data",
        "check-space-about-short-env",
        "check-space-unknown",
    )

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step, planned last: it knows what all the others take, and says so where that is too much."""
        found = needs(draft)
        data: dict[str, Value] = {"env": str(draft.environment), "disk_bytes": found.all, "kept_bytes": found.kept}
        code = "check-space" if found.exact else "check-space-about"
        small = short(found, draft)
        if found.all is None:
            code = "check-space-unknown"
        elif small:
            code, data = f"{code}-short{_way(small)}", data | small
        return (Step(id="space", kind=self.name, code=code, data=data, bytes=0, disk_bytes=0, minutes=0.0),)

    def told(self, step: Step, draft: Draft) -> Step:
        """With the disk and the room that it names: how much is free is looked at again when it runs."""
        path, free = step.data.get("disk"), step.data.get("free_bytes")
        if isinstance(path, str) and isinstance(free, int):
            disks = (Disk(path=path, free_bytes=free),)
            draft.machine = structs.replace(draft.machine, disks=disks)
        return super().told(step, draft)

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:  # noqa: ARG002
        """Nothing in it has an effect."""
        refuse_fields(step)

    def find(self, step: Step, plan: Plan, ground: Ground) -> Now | None:  # noqa: ARG002
        """What stands in the place and gives way."""
        return place_now(plan, ground)

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises AppError: environment-occupied, not-a-folder, folder-unwritable, disk-read-only, disk-too-small."""
        env = work.environment
        refuse_taken(env, work.data)
        known = env in journal.environments(work.data)
        waiting = built(work.plan, work.journal) if known else None
        if known and waiting is None:
            # What a killed run left behind; nothing counts it as whole, and its room is free again.
            delete(partial_path(env))
            if not (said(env) and any(step.kind == CondaEnvironment.name for step in work.plan.steps)):
                discard(env)
        check_room(work, built=waiting is not None)
        _check_writable(work.data.root)
        work.folder(step, env.parent)
        _check_writable(env.parent)
        if known:
            finish(env)
            refuse_strangers(env, work.data)
        return _clear(env, step, work)


def relieved(step: Step, before: Sequence[Step], after: Sequence[Step]) -> Step:
    """The look at the room, of a plan in which some steps need none any more."""
    keeping, fetching = counted(after)
    known = [each.disk_bytes for each in keeping], [each.bytes for each in fetching]
    kept: int | None = sum(kept_least(each) or 0 for each in keeping)
    fetched = sum(share(each.code, each.bytes, each.data).bytes for each in fetching)
    if any(each.kind == "python-packages" and each.disk_bytes is None for each in keeping):
        # Of the packages' room something was told by what was measured on others.
        told = step.data.get("kept_bytes")
        gone = sum(kept_least(each) or 0 for each in counted(before)[0]) - (kept or 0)
        kept = told - gone if isinstance(told, int) else None
    least = kept + fetched if kept is not None else None
    free, code = step.data.get("free_bytes"), "check-space-about" if None in (*known[0], *known[1]) else "check-space"
    if least is None:
        code = "check-space-unknown"
    elif isinstance(free, int) and free < (least if step.data.get("goes") != "env" else _own(keeping)):
        code = f"{code}-short{_way(step.data)}"
    return structs.replace(step, code=code, data={**step.data, "kept_bytes": kept, "disk_bytes": least})


def _clear(env: Path, step: Step, work: Work) -> Outcome:
    """What a removal left of the user's moves aside, whole: the new environment needs the place for itself."""
    if not (left_over(env, work.data) and holds_anything(env)):
        return Outcome()
    to = kept_path(env)
    with work.effect(step, FolderMoved(path=str(env), to=str(to))):
        try:
            env.rename(to)
        except PermissionError as error:
            raise AppError("environment-in-use", path=str(env)) from error
        except OSError as error:
            raise storage_error(error, env) from error
    return Outcome(code="progress.moved-aside", data={"path": str(env), "to": str(to)})


def _own(keeping: Sequence[Step]) -> int:
    """What the environment alone takes at the least."""
    return sum(kept_least(step) or 0 for step in keeping if step.kind in ENVIRONMENT)


def _way(small: Mapping[str, Value]) -> str:
    """What of a text's code tells the way to a disk with room; nothing where there is none."""
    return f"-{small['goes']}" if "goes" in small else ""


def _check_writable(folder: Path) -> None:
    probe = folder / ".gpu-assistant-probe"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise storage_error(error, folder) from error
