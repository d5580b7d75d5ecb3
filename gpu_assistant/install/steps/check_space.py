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
from ...core.plan import CurrentState, Plan, Step
from ...core.price import minimum_disk_bytes, step_cost
from .. import journal
from ..built import pending_verification
from ..draft import PlanBuilder
from ..effects import FolderMoved
from ..occupied import has_leftovers, check_not_foreign, check_available
from ..outlook import location_state
from ..place import ValidationContext
from ..removal import delete_folder, discard_unfinished, finish_removal, partial_path, read_mark
from ..replacing import aside_path
from ..room import ENVIRONMENT_STEPS, check_disk_space, disk_steps, disk_needs, disk_shortage
from ..sweeping import has_content
from ..work import Outcome, InstallContext
from .conda_environment import CondaEnvironment
from .kind import StepKind, check_fields


class Preflight(StepKind):
    """Changes nothing but what a killed run left half made."""

    name: ClassVar[str] = "check-space"
    has_variable_text: ClassVar[bool] = True
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

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step, planned last: it knows what all the others take, and says so where that is too much."""
        disk_need = disk_needs(builder)
        data: dict[str, Value] = {"env": str(builder.environment), "disk_bytes": disk_need.total_bytes, "kept_bytes": disk_need.kept_bytes}
        code = "check-space" if disk_need.is_exact else "check-space-about"
        shortage = disk_shortage(disk_need, builder)
        if disk_need.total_bytes is None:
            code = "check-space-unknown"
        elif shortage:
            code, data = f"{code}-short{_disk_suffix(shortage)}", data | shortage
        return (Step(id="space", kind=self.name, code=code, data=data, bytes=0, disk_bytes=0, minutes=0.0),)

    def replan(self, step: Step, builder: PlanBuilder) -> Step:
        """With the disk and the room that it names: how much is free is looked at again when it runs."""
        path, free_bytes = step.data.get("disk"), step.data.get("free_bytes")
        if isinstance(path, str) and isinstance(free_bytes, int):
            disks = (Disk(path=path, free_bytes=free_bytes),)
            builder.machine = structs.replace(builder.machine, disks=disks)
        return super().replan(step, builder)

    def validate(self, step: Step, plan: Plan, context: ValidationContext) -> None:  # noqa: ARG002
        """Nothing in it has an effect."""
        check_fields(step)

    def inspect(self, step: Step, plan: Plan, context: ValidationContext) -> CurrentState | None:  # noqa: ARG002
        """What stands in the place and gives way."""
        return location_state(plan, context)

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: environment-occupied, not-a-folder, folder-unwritable, disk-read-only, disk-too-small."""
        environment = context.environment
        check_available(environment, context.data)
        is_known = environment in journal.environment_paths(context.data)
        pending = pending_verification(context.plan, context.journal) if is_known else None
        if is_known and pending is None:
            # What a killed run left behind; nothing counts it as whole, and its room is free again.
            delete_folder(partial_path(environment))
            if not (read_mark(environment) and any(step.kind == CondaEnvironment.name for step in context.plan.steps)):
                discard_unfinished(environment)
        check_disk_space(context, is_built=pending is not None)
        _probe_writable(context.data.root)
        context.make_folder(step, environment.parent)
        _probe_writable(environment.parent)
        if is_known:
            finish_removal(environment)
            check_not_foreign(environment, context.data)
        return _move_leftovers_aside(environment, step, context)


def update_preflight(step: Step, original_steps: Sequence[Step], remaining_steps: Sequence[Step]) -> Step:
    """The look at the room, of a plan in which some steps need none any more."""
    keeping_steps, download_steps = disk_steps(remaining_steps)
    known_sizes = [each.disk_bytes for each in keeping_steps], [each.bytes for each in download_steps]
    kept_bytes: int | None = sum(minimum_disk_bytes(each) or 0 for each in keeping_steps)
    download_bytes = sum(step_cost(each.code, each.bytes, each.data).bytes for each in download_steps)
    if any(each.kind == "python-packages" and each.disk_bytes is None for each in keeping_steps):
        # Of the packages' room something was told by what was measured on others.
        measured_bytes = step.data.get("kept_bytes")
        saved_bytes = sum(minimum_disk_bytes(each) or 0 for each in disk_steps(original_steps)[0]) - (kept_bytes or 0)
        kept_bytes = measured_bytes - saved_bytes if isinstance(measured_bytes, int) else None
    needed_bytes = kept_bytes + download_bytes if kept_bytes is not None else None
    free_bytes, code = step.data.get("free_bytes"), "check-space-about" if None in (*known_sizes[0], *known_sizes[1]) else "check-space"
    if needed_bytes is None:
        code = "check-space-unknown"
    elif isinstance(free_bytes, int) and free_bytes < (needed_bytes if step.data.get("goes") != "env" else _environment_bytes(keeping_steps)):
        code = f"{code}-short{_disk_suffix(step.data)}"
    return structs.replace(step, code=code, data={**step.data, "kept_bytes": kept_bytes, "disk_bytes": needed_bytes})


def _move_leftovers_aside(environment: Path, step: Step, context: InstallContext) -> Outcome:
    """What a removal left of the user's moves aside, whole: the new environment needs the place for itself."""
    if not (has_leftovers(environment, context.data) and has_content(environment)):
        return Outcome()
    aside = aside_path(environment)
    with context.record_effect(step, FolderMoved(path=str(environment), to=str(aside))):
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
