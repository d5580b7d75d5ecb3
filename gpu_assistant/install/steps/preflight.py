"""Checks before anything is downloaded: disk space, write access, and the environment's folder.

The environment takes space on its own disk, downloads on that of their folder, everything else on the data folder's.
Unpacked packages take space on the environment's and the downloads' disk: uv and conda unpack into their caches first,
and can link files only on the same disk.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from msgspec import Struct, structs

from ...core import filesystem
from ...core.errors import InsufficientDiskSpace, storage_errors
from ...core.machine import Disk, find_disk, home_disk, larger_disk_data
from ...core.paths import DataDir
from ...core.plan import CurrentState, Plan, Step
from ...core.plan_cost import minimum_disk_bytes, step_cost, total
from ...core.types import Value
from ..environment.location import (
    check_available,
    check_not_foreign,
    has_leftovers,
    location_state,
    pending_verification,
)
from ..files.inventory import has_content
from ..files.staging import aside_path, delete_folder, discard_unfinished, finish_removal, partial_path, read_mark
from ..host import PreviewContext
from ..journal import log
from ..journal.log import Effect, FolderCreated, FolderMoved
from ..journal.validation import is_above, is_child, is_same
from .base import StepKind
from .conda_environment import CondaEnvironment
from .context import InstallContext, Outcome
from .plan_builder import PlanBuilder

# Steps whose disk space is the environment's; steps that an environment which is built already does not need.
ENVIRONMENT_STEPS = frozenset({"python-packages", "conda-environment"})
BUILD_STEPS = frozenset({"download", "python-packages"})
# Of the text's code where nothing is downloaded.
BUNDLE_SUFFIX = "-bundle"
DiskTarget = Literal["data", "env"]
# Names for the folder that is proposed on a disk with more space.
FOLDER_NAMES: dict[DiskTarget, str] = {"data": "gpu-assistant", "env": "pytorch"}


class DiskNeeds(Struct, frozen=True, kw_only=True):
    """Bytes that a plan keeps and downloads, at least, and those of the environment alone; None if unknown. `is_exact`:
    the sizes of all steps are known.
    """

    kept_bytes: int | None
    download_bytes: int
    environment_bytes: int | None
    is_exact: bool

    @property
    def total_bytes(self) -> int | None:
        """Kept and downloaded files together."""
        return self.kept_bytes + self.download_bytes if self.kept_bytes is not None else None


def disk_needs(builder: PlanBuilder) -> DiskNeeds:
    """The needs of the steps planned so far, from their own sizes, else from those measured on similar packages."""
    keeping_steps, download_steps = disk_steps(builder.steps, builder.external)
    if builder.bundle is not None:
        download_steps = []  # a bundle's files are read where they lie
    kept_bytes, download_bytes = (
        total(step.disk_bytes for step in keeping_steps),
        total(step.bytes for step in download_steps) if download_steps else 0,
    )
    environment_bytes = (
        builder.sizes.disk_bytes if builder.sizes.disk_bytes is not None else builder.estimated_disk_bytes
    )
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
    """The steps that keep files on our disks, and those that download files to them. `external` are the ids of steps of
    external installers.
    """
    keeping_steps = [step for step in steps if step.id not in external]
    return keeping_steps, [step for step in steps if step.files or step.id not in external]


def disk_shortage(disk_need: DiskNeeds, builder: PlanBuilder) -> dict[str, Value]:
    """The texts' data about a disk with too little space: its name, its free and the needed bytes, and a disk with more
    space if there is one (`larger_disk_data`); empty if no disk is known to be too small.
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
    """The bytes that each disk needs."""
    machine = builder.machine
    if builder.simulated:
        # Where the folders would be on another computer is unknown.
        return [("data", home_disk(machine), disk_need.total_bytes)]
    downloads_disk, environment_disk, data_disk = (
        find_disk(machine, str(folder)) for folder in (builder.data.downloads, builder.environment, builder.data.root)
    )
    if downloads_disk is None or environment_disk is None or downloads_disk == environment_disk == data_disk:
        return [("data", environment_disk, disk_need.total_bytes)]
    needs: list[tuple[DiskTarget, Disk | None, int | None]] = []
    kept, environment = disk_need.kept_bytes, disk_need.environment_bytes
    other_bytes = None if kept is None or environment is None else kept - environment
    if data_disk in (None, downloads_disk):
        needs.append(("data", downloads_disk, disk_need.total_bytes))
    else:
        needs.append(("data", downloads_disk, disk_need.download_bytes + (environment or 0)))
        if data_disk != environment_disk:
            needs.append(("data", data_disk, other_bytes))
    if environment_disk != downloads_disk:
        needs.append(("env", environment_disk, kept if environment_disk == data_disk else environment))
    return needs


def check_disk_space(context: InstallContext, *, is_built: bool) -> None:
    """Compare the needs with each disk's free space; unknown sizes count with their minimum, and an environment that
    `is_built` needs nothing more. Raises InsufficientDiskSpace.
    """
    pending = [step for step in context.plan.steps if not (is_built and step.kind in BUILD_STEPS)]
    kept_bytes = sum(minimum_disk_bytes(step) or 0 for step in pending)
    environment_bytes = sum(minimum_disk_bytes(step) or 0 for step in pending if step.kind in ENVIRONMENT_STEPS)
    needs: list[tuple[Path, DiskTarget, int]] = [
        (context.data.files, "data", environment_bytes + sum(step.bytes or 0 for step in pending)),
        (context.data.root, "data", kept_bytes - environment_bytes),
        (context.environment.parent, "env", environment_bytes),
    ]
    by_disk: dict[int, tuple[Path, DiskTarget, int]] = {}
    for folder, target, needed_bytes in needs:
        existing = _nearest_existing(folder)
        first = by_disk.get(existing.stat().st_dev, (existing, target, 0))
        # Packages are linked where the environment is on the disk on which they were unpacked.
        is_linked = target == "env" and first[:2] == (_nearest_existing(context.data.files), "data")
        by_disk[existing.stat().st_dev] = (*first[:2], first[2] + (0 if is_linked else needed_bytes))
    for existing, target, needed_bytes in by_disk.values():
        _check_free_space(existing, needed_bytes, target, context)


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
    """The folder, or the nearest existing one above."""
    return next(parent for parent in (folder, *folder.parents) if parent.is_dir())


class Preflight(StepKind):
    """Also removes what a killed run left of the environment, and moves aside what an uninstall left there."""

    name: ClassVar[str] = "check-space"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step, planned after all others; its text says if the disk space is known to be too small."""
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
        elif builder.bundle is not None:
            code += BUNDLE_SUFFIX
        return (Step(id="space", kind=self.name, code=code, data=data, bytes=0, disk_bytes=0, minutes=0.0),)

    def inspect(self, step: Step, plan: Plan, context: PreviewContext) -> CurrentState | None:  # noqa: ARG002
        return location_state(plan, context)

    def could_have_made(self, effect: Effect, environment: str | None, data: DataDir) -> bool:  # noqa: ARG002
        match effect:
            case FolderCreated(path=path):
                return environment is not None and is_above(path, Path(environment).parent)
            case FolderMoved(path=path, to=to):
                folder = None if environment is None else Path(environment)
                return (
                    folder is not None
                    and is_same(path, folder)
                    and is_child(to, folder.parent)
                    and Path(to).name.startswith(f"{folder.name}-kept")
                )
            case _:
                return False

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: environment-occupied, not-a-folder, folder-unwritable, disk-read-only, disk-too-small."""
        environment = context.environment
        check_available(environment, context.data)
        is_known = environment in log.environment_paths(context.data)
        pending = pending_verification(context.plan, context.journal) if is_known else None
        if is_known and pending is None:
            # An incomplete environment of a killed run; its disk space is free again.
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
    """The step with new figures, for a plan in which some steps need nothing any more."""
    keeping_steps, download_steps = disk_steps(remaining_steps, external)
    known_sizes = [each.disk_bytes for each in keeping_steps], [each.bytes for each in download_steps]
    kept_bytes: int | None = sum(minimum_disk_bytes(each) or 0 for each in keeping_steps)
    download_bytes = sum(step_cost(each.code, each.bytes, each.data).bytes for each in download_steps)
    if any(each.kind == "python-packages" and each.disk_bytes is None for each in keeping_steps):
        # The plan's figure includes the size measured on similar packages.
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
    elif step.code.endswith(BUNDLE_SUFFIX):
        code += BUNDLE_SUFFIX
    return structs.replace(step, code=code, data={**step.data, "kept_bytes": kept_bytes, "disk_bytes": needed_bytes})


def _move_leftovers_aside(environment: Path, step: Step, context: InstallContext) -> Outcome:
    """Move what an uninstall left of the user's out of the way of the new environment."""
    if not (has_leftovers(environment, context.data) and has_content(environment)):
        return Outcome()
    aside = aside_path(environment)
    moved = FolderMoved(path=str(environment), to=str(aside))
    with context.effect(step, moved), storage_errors(environment, permission_code="environment-in-use"):
        filesystem.rename(environment, aside)
    return Outcome(code="progress.moved-aside", data={"path": str(environment), "to": str(aside)})


def _environment_bytes(keeping_steps: Sequence[Step]) -> int:
    """The minimum size of the environment alone."""
    return sum(minimum_disk_bytes(step) or 0 for step in keeping_steps if step.kind in ENVIRONMENT_STEPS)


def _disk_suffix(shortage: Mapping[str, Value]) -> str:
    """The suffix of a text's code that proposes a disk with more space; empty if there is none."""
    return f"-{shortage['goes']}" if "goes" in shortage else ""


def _probe_writable(folder: Path) -> None:
    probe = folder / ".gpu-assistant-probe"
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        filesystem.unlink(probe)
