"""How much room a plan takes, and on which disk: the environment on its own, all else on the data folder's.

What packages become is on the data folder's disk even where the environment is on another one: uv and conda unpack
there first, and only on the same disk the two are one.

Is there room, may we write, and is the place free? Asked before anything is fetched.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from msgspec import Struct, structs

from ...core.errors import AppError, InsufficientDiskSpace
from ...core.json import storage_error
from ...core.machine import Disk, find_disk, home_disk, larger_disk_data
from ...core.plan import CurrentState, Plan, Step
from ...core.price import minimum_disk_bytes, step_cost, total
from ...core.types import Value
from ..environment.location import check_available, check_not_foreign, has_leftovers, pending_verification, place_now
from ..files.inventory import has_content
from ..files.staging import aside_path, delete_folder, discard_unfinished, finish_removal, partial_path, read_mark
from ..host import ValidationContext
from ..journal import log
from ..journal.log import FolderMoved
from .base import StepKind
from .conda_environment import CondaEnvironment
from .context import InstallContext, Outcome
from .plan_builder import PlanBuilder

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
    keeping_steps, download_steps = disk_steps(builder.steps, builder.external)
    kept_bytes, download_bytes = (
        total(step.disk_bytes for step in keeping_steps),
        total(step.bytes for step in download_steps),
    )
    environment_bytes = builder.sizes.disk_bytes if builder.sizes.disk_bytes is not None else builder.disk_about
    if kept_bytes is not None and download_bytes is not None:
        return DiskNeeds(
            kept_bytes=kept_bytes, download_bytes=download_bytes, environment_bytes=environment_bytes, is_exact=True
        )
    download_bytes = sum(step_cost(step.code, step.bytes, step.data).bytes for step in download_steps)
    kept_bytes = sum(minimum_disk_bytes(step) or 0 for step in keeping_steps) if environment_bytes is not None else None
    if kept_bytes is not None and builder.sizes.disk_bytes is None:
        kept_bytes += environment_bytes or 0
    return DiskNeeds(
        kept_bytes=kept_bytes, download_bytes=download_bytes, environment_bytes=environment_bytes, is_exact=False
    )


def disk_steps(steps: Sequence[Step], external: Container[str]) -> tuple[list[Step], list[Step]]:
    """The steps that keep something on the disk of the plan, and those that fetch something to it. `external` are the
    ids of those that the system's own installers carry out.
    """
    keeping_steps = [step for step in steps if step.id not in external]
    return keeping_steps, [step for step in steps if step.files or step.id not in external]


def disk_shortage(disk_need: DiskNeeds, builder: PlanBuilder) -> dict[str, Value]:
    """The disk that has too little room: its name, what is free and what it is to hold, which of both goes there, and
    what `elsewhere` tells of another one; empty where none is known to be too small.
    """
    for target, disk, needed_bytes in _needs_by_disk(disk_need, builder):
        if disk is None or needed_bytes is None or (disk.free_bytes or 0) >= needed_bytes:
            continue
        shortage: dict[str, Value] = {
            "disk": disk.path.lstrip("@"),
            "free_bytes": disk.free_bytes,
            "disk_bytes": needed_bytes,
        }
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
    data_disk, environment_disk = (
        find_disk(machine, str(builder.data.root)),
        find_disk(machine, str(builder.environment)),
    )
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
    data_folder, environment_folder = (
        _nearest_existing(context.data.files),
        _nearest_existing(context.environment.parent),
    )
    _check_free_space(data_folder, kept_bytes + sum(step.bytes or 0 for step in pending), "data", context)
    if environment_folder.stat().st_dev != data_folder.stat().st_dev:
        _check_free_space(environment_folder, environment_bytes, "env", context)


def _check_free_space(existing_folder: Path, needed_bytes: int, target: DiskTarget, context: InstallContext) -> None:
    free_bytes = shutil.disk_usage(existing_folder).free
    required_bytes = needed_bytes + context.downloads.limits.reserve_bytes
    if required_bytes <= free_bytes:
        return
    device = existing_folder.stat().st_dev
    others = [disk for disk in context.system.disks() if not _is_on_device(disk.path, device)]
    alternative = larger_disk_data(others, "", required_bytes, context.system.name, FOLDER_NAMES[target])
    raise InsufficientDiskSpace(
        path=str(existing_folder),
        needed_bytes=needed_bytes,
        free_bytes=free_bytes,
        contents=target,
        other_disk=alternative,
    )


def _is_on_device(path: str, device: int) -> bool:
    try:
        return os.stat(path).st_dev == device  # noqa: PTH116 - a disk's path, as the system names it
    except OSError:
        return True


def _nearest_existing(folder: Path) -> Path:
    """The folder, or the nearest one above that is there."""
    return next(parent for parent in (folder, *folder.parents) if parent.is_dir())


class Preflight(StepKind):
    """Changes nothing but what a killed run left half made."""

    name: ClassVar[str] = "check-space"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step, planned last: it knows what all the others take, and says so where that is too much."""
        disk_need = disk_needs(builder)
        data: dict[str, Value] = {
            "env": str(builder.environment),
            "disk_bytes": disk_need.total_bytes,
            "kept_bytes": disk_need.kept_bytes,
        }
        code = "check-space" if disk_need.is_exact else "check-space-about"
        shortage = disk_shortage(disk_need, builder)
        if disk_need.total_bytes is None:
            code = "check-space-unknown"
        elif shortage:
            code, data = f"{code}-short{_disk_suffix(shortage)}", data | shortage
        return (Step(id="space", kind=self.name, code=code, data=data, bytes=0, disk_bytes=0, minutes=0.0),)

    def inspect(self, step: Step, plan: Plan, context: ValidationContext) -> CurrentState | None:  # noqa: ARG002
        """What stands in the place and gives way."""
        return place_now(plan, context)

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: environment-occupied, not-a-folder, folder-unwritable, disk-read-only, disk-too-small."""
        environment = context.environment
        check_available(environment, context.data)
        is_known = environment in log.environment_paths(context.data)
        pending = pending_verification(context.plan, context.journal) if is_known else None
        if is_known and pending is None:
            # What a killed run left behind; nothing counts it as whole, and its room is free again.
            delete_folder(partial_path(environment))
            if not (read_mark(environment) and any(step.kind == CondaEnvironment.name for step in context.plan.steps)):
                discard_unfinished(environment)
        check_disk_space(context, is_built=pending is not None)
        _probe_writable(context.data.root)
        context.folder(step, environment.parent)
        _probe_writable(environment.parent)
        if is_known:
            finish_removal(environment)
            check_not_foreign(environment, context.data)
        return _move_leftovers_aside(environment, step, context)


def update_preflight(
    step: Step, original_steps: Sequence[Step], remaining_steps: Sequence[Step], external: Container[str]
) -> Step:
    """The look at the room, of a plan in which some steps need none any more."""
    keeping_steps, download_steps = disk_steps(remaining_steps, external)
    known_sizes = [each.disk_bytes for each in keeping_steps], [each.bytes for each in download_steps]
    kept_bytes: int | None = sum(minimum_disk_bytes(each) or 0 for each in keeping_steps)
    download_bytes = sum(step_cost(each.code, each.bytes, each.data).bytes for each in download_steps)
    if any(each.kind == "python-packages" and each.disk_bytes is None for each in keeping_steps):
        # Of the packages' room something was told by what was measured on others.
        measured_bytes = step.data.get("kept_bytes")
        saved_bytes = sum(minimum_disk_bytes(each) or 0 for each in disk_steps(original_steps, external)[0]) - (
            kept_bytes or 0
        )
        kept_bytes = measured_bytes - saved_bytes if isinstance(measured_bytes, int) else None
    needed_bytes = kept_bytes + download_bytes if kept_bytes is not None else None
    free_bytes, code = (
        step.data.get("free_bytes"),
        "check-space-about" if None in (*known_sizes[0], *known_sizes[1]) else "check-space",
    )
    if needed_bytes is None:
        code = "check-space-unknown"
    elif isinstance(free_bytes, int) and free_bytes < (
        needed_bytes if step.data.get("goes") != "env" else _environment_bytes(keeping_steps)
    ):
        code = f"{code}-short{_disk_suffix(step.data)}"
    return structs.replace(step, code=code, data={**step.data, "kept_bytes": kept_bytes, "disk_bytes": needed_bytes})


def _move_leftovers_aside(environment: Path, step: Step, context: InstallContext) -> Outcome:
    """What a removal left of the user's moves aside, whole: the new environment needs the place for itself."""
    if not (has_leftovers(environment, context.data) and has_content(environment)):
        return Outcome()
    aside = aside_path(environment)
    with context.effect(step, FolderMoved(path=str(environment), to=str(aside))):
        try:
            environment.rename(aside)
        except PermissionError as error:
            raise AppError("environment-in-use", path=str(environment)) from error
        except OSError as error:
            raise storage_error(error, environment) from error
    return Outcome(code="progress.moved-aside", data={"path": str(environment), "to": str(aside)})


def _environment_bytes(keeping_steps: Sequence[Step]) -> int:
    """What the environment alone takes at the least."""
    return sum(minimum_disk_bytes(step) or 0 for step in keeping_steps if step.kind in ENVIRONMENT_STEPS)


def _disk_suffix(shortage: Mapping[str, Value]) -> str:
    """What of a text's code tells the way to a disk with room; nothing where there is none."""
    return f"-{shortage['goes']}" if "goes" in shortage else ""


def _probe_writable(folder: Path) -> None:
    probe = folder / ".gpu-assistant-probe"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise storage_error(error, folder) from error
