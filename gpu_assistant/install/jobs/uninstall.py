"""Takes back what the journal says that an install did, in reverse order, and nothing else.

What a removal takes back, in reverse order, and what it leaves because something else needs it.

What a removal will find when its turn comes: what goes, what stays and why, said before and after in one way.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Container, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from ...core.errors import AppError, Cancelled, ElevationDenied
from ...core.jobs import JobContext
from ...core.json import storage_error
from ...core.paths import DataDir
from ...core.plan import Step
from ...core.types import Value
from ...system.base import System
from ...system.locks import check_no_install_running, data_folder_lock
from ..environment.location import check_not_shared, has_lost_metadata
from ..files import inventory, staging
from ..files.inventory import MAX_NAMED, ForeignFiles, find_foreign_files, format_names, has_content
from ..files.staging import partial_path, trash_path
from ..host import Host
from ..journal.log import (
    ENVIRONMENT_KINDS,
    Effect,
    FilesAdded,
    FileWritten,
    FolderCreated,
    FolderMoved,
    Journal,
    LoginCommandSet,
    PathEntryAdded,
    ProgramInstalled,
    RetentionReason,
    TreeCreated,
    VariableSet,
    effect_key,
    interrupted_install,
)
from ..journal.recovery import ActiveEffect, active_effects, observe_state, recover
from ..journal.revert import revert
from ..progress import ProgressReporter, end_state
from ..steps.registry import STEP_KINDS


class UninstallItem(Struct, frozen=True, kw_only=True):
    """One thing in the world and all that was done to it, the last first; `needed` where it stays for now.

    `by` is the other environment that needs it, or something inside of it.
    """

    step: Step
    effects: tuple[ActiveEffect, ...]
    is_needed: bool
    by: str | None = None


def plan_uninstall(host: Host, environment: Path | None) -> tuple[UninstallItem, ...]:
    """What is to be taken back for one environment (None: for all), the last first; raises AppError."""
    all_effects = active_effects(host.data)
    env = None if environment is None else str(environment)
    own_effects = [active for active in all_effects if env is None or active.env == env or active.kept]
    present_effects: dict[tuple[str, str], list[ActiveEffect]] = {}
    for active in reversed(own_effects):
        # What we keep everything in goes with the program; a program that stayed was told of when it did.
        if (isinstance(active.effect, FolderCreated) and _contains(active.effect.path, str(host.data.root))) or (
            isinstance(active.effect, ProgramInstalled) and active.kept
        ):
            continue
        state = observe_state(active, host, STEP_KINDS)
        # A folder of somebody's own that took the place of ours is none of our business.
        if state != "before" and not (isinstance(active.effect, TreeCreated) and state == "changed"):
            present_effects.setdefault(effect_key(active.effect), []).append(active)
    other_effects = [active for active in all_effects if active not in own_effects]
    items_found = []
    # What was added to a folder goes before the folder, which may have been repaired after that.
    last_first = sorted(present_effects.values(), key=lambda effects: not isinstance(effects[0].effect, FilesAdded))
    for number, effects in enumerate(last_first, 1):
        first = effects[0]
        step = Step(
            id="environment"
            if isinstance(first.effect, TreeCreated) and first.effect.path == env
            else f"back-{number}",
            kind=first.kind,
            code=step_code(first),
            data=step_data(first.effect),
        )
        dependent = _dependent_effect(first, other_effects)
        if dependent is not None and all(active.kept for active in effects):
            continue
        inner_environment = (
            _environment_inside(first, other_effects) if isinstance(first.effect, FolderCreated) else None
        )
        item = UninstallItem(
            step=step,
            effects=tuple(effects),
            is_needed=dependent is not None,
            by=dependent.env if dependent else inner_environment,
        )
        items_found.append(item)
    return tuple(items_found)


STEP_CODES: dict[type[Effect], str] = {
    TreeCreated: "remove-folder",
    FolderCreated: "remove-empty",
    FolderMoved: "move-back",
    FilesAdded: "remove-files",
    FileWritten: "restore-file",
    VariableSet: "restore-variable",
    PathEntryAdded: "remove-path-entry",
    LoginCommandSet: "clear-login",
}


def step_code(active: ActiveEffect) -> str:
    """The texts' key for taking it back; a program never is, and the forecast has its words."""
    is_environment = isinstance(active.effect, TreeCreated) and active.kind in ENVIRONMENT_KINDS
    return "remove-environment" if is_environment else STEP_CODES.get(type(active.effect), "leave-needed")


def step_data(effect: Effect) -> dict[str, Value]:
    """What the texts name of it."""
    match effect:
        case TreeCreated() | FolderCreated() | FilesAdded() | FileWritten():
            return {"thing": effect.path, "env": effect.path, "path": effect.path}
        case FolderMoved():
            return {"thing": effect.to, "path": effect.path}
        case VariableSet():
            return {"thing": effect.name, "name": effect.name, "before": effect.before}
        case PathEntryAdded():
            return {"thing": effect.folder, "path": effect.folder}
        case LoginCommandSet():
            return {"thing": "@remove.login"}
        case ProgramInstalled():
            return {"thing": effect.name, "version": effect.after}


def _dependent_effect(active: ActiveEffect, other_effects: Sequence[ActiveEffect]) -> ActiveEffect | None:
    """What stays and was made on top of it, or is of another environment whose plan has the very same step."""
    later = (other for other in other_effects if (other.run, other.number) > (active.run, active.number))
    same_target = next((other for other in later if effect_key(other.effect) == effect_key(active.effect)), None)
    # Whether a plain folder is empty is seen when its turn comes.
    if (
        same_target is not None
        or isinstance(active.effect, FolderCreated)
        or active.step is None
        or active.kind in ENVIRONMENT_KINDS
    ):
        return same_target
    if not active.step.spec and not active.step.files:
        return None
    step = active.step
    return next((other for other in other_effects if _uses_step(other, step)), None)


def _environment_inside(active: ActiveEffect, other_effects: Sequence[ActiveEffect]) -> str | None:
    """The other environment of which something lies in a folder."""
    folder = effect_key(active.effect)[1]
    targets = ((*effect_key(other.effect), other.env) for other in other_effects if other.env is not None)
    return next(
        (environment for kind, path, environment in targets if kind in ("place", "files") and _contains(folder, path)),
        None,
    )


def _contains(folder: str, path: str) -> bool:
    """Whether a folder is above another path, or that path itself."""
    return Path(folder) in (Path(path), *Path(path).parents)


def _uses_step(other: ActiveEffect, step: Step) -> bool:
    return any(
        (own_step.kind, own_step.spec, own_step.files) == (step.kind, step.spec, step.files) for own_step in other.steps
    )


class UninstallState(Struct):
    """How it will be when the turn of a thing comes: files and folders of which nothing is left by then, new files that
    stand by then, and the folders that another environment needs, and which.
    """

    removed: set[Path] = field(default_factory=set)
    created: set[Path] = field(default_factory=set)
    retained: dict[Path, str] = field(default_factory=dict)


def preview(
    items: tuple[UninstallItem, ...], host: Host, state: UninstallState | None = None
) -> tuple[UninstallItem, ...]:
    """The same items with the words for what will come of them; changes nothing. Raises AppError.

    `turn` is then how it is after all of them.
    """
    state = UninstallState() if state is None else state
    return tuple(_preview_item(item, host, state) for item in items)


def _preview_item(item: UninstallItem, host: Host, state: UninstallState) -> UninstallItem:
    removed, retained = state.removed, state.retained
    first, effect = item.effects[0], item.effects[0].effect
    if item.is_needed:
        needed_by = item.by or str(host.data.root)
        if isinstance(effect, TreeCreated | FilesAdded | FileWritten | FolderCreated):
            retained[Path(effect.path)] = needed_by
        return _with_code(item, "leave-needed", by=needed_by)
    if isinstance(effect, ProgramInstalled):
        code, data = STEP_KINDS[first.kind].uninstall_notice(effect, first.step)
        return _with_code(item, code, **data)
    effect_state = observe_state(first, host, STEP_KINDS)
    if effect_state == "changed" and not isinstance(effect, FolderCreated):
        return _with_code(item, "leave-changed")
    match effect:
        case TreeCreated():
            foreign = find_foreign_files(Path(effect.path), removed) if effect_state == "made" else ForeignFiles()
            if not foreign.user_files:
                _mark_removed(Path(effect.path), removed)
            item = _with_foreign_files(item, foreign)
            if foreign.records:
                list_text = inventory.format_user_packages(Path(effect.path), foreign.records)
                list_path = inventory.user_packages_path(Path(effect.path), list_text)
                state.created.add(list_path)
                item = _with_code(item, item.step.code, list=str(list_path))
        case FilesAdded():
            folder = Path(effect.path)
            changed_names = staging.changed_files(folder, effect.receipt)
            removed |= {
                folder / name
                for name in {effect.receipt, *staging.merged_files(folder, effect.receipt)} - {*changed_names}
            }
            item = _with_foreign_files(item, ForeignFiles(user_files=changed_names))
        case FolderMoved():
            original = Path(effect.path)
            if has_content(original) and original not in removed:
                return _with_code(item, "leave-taken")
            removed.add(Path(effect.to))
            removed.discard(original)
        case FolderCreated():
            item = _preview_folder(item, Path(effect.path), state)
        case FileWritten(before=None):
            removed.add(Path(effect.path))
    return item


def _preview_folder(item: UninstallItem, folder: Path, state: UninstallState) -> UninstallItem:
    try:
        remaining = tuple(islice(remaining_names(folder, state.removed, state.created), MAX_NAMED + 1))
    except OSError as error:
        raise storage_error(error, folder) from error
    if not remaining:
        _mark_removed(folder, state.removed)
        return item
    needed_by = item.by or next(
        (needed_by for path, needed_by in state.retained.items() if folder in (path, *path.parents)), None
    )
    if needed_by is not None:
        return _with_code(replace(item, by=needed_by), "leave-needed", by=needed_by)
    return _with_code(item, "leave-filled", files=format_names(remaining))


def remaining_names(folder: Path, removed: Container[Path], created: Collection[Path] = ()) -> Iterator[str]:
    """What in a folder of ours will be there when these are `gone` and these are `new`, by its name in it; raises
    OSError.
    """
    yield from sorted(path.name for path in created if path.parent == folder and not os.path.lexists(path))
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            path = folder / entry.name
            if path in removed:
                continue
            if not entry.is_dir(follow_symlinks=False):
                yield entry.name
            elif not any(path.iterdir()) or next(remaining_names(path, removed, created), None) is not None:
                yield f"{entry.name}/"


def _mark_removed(folder: Path, removed: set[Path]) -> None:
    removed |= {folder, partial_path(folder), trash_path(folder)}


def remaining_data(effect: TreeCreated | FolderCreated) -> dict[str, Value]:
    """What is still there of somebody else's, after it was taken back."""
    folder = Path(effect.path)
    try:
        names = tuple(remaining_names(folder, frozenset()))
    except OSError as error:
        raise storage_error(error, folder) from error
    return {"files": format_names(names), "kept": len(names)}


def _with_foreign_files(item: UninstallItem, foreign: ForeignFiles) -> UninstallItem:
    """With the one of its sentences that says all of this."""
    suffix = ("-packages" if foreign.packages else "") + ("-files" if foreign.user_files else "")
    return _with_code(
        item,
        item.step.code + suffix,
        packages=format_names(foreign.packages),
        count=len(foreign.packages),
        files=format_names(foreign.user_files),
        kept=len(foreign.user_files),
    )


def _with_code(item: UninstallItem, code: str, **data: Value) -> UninstallItem:
    return replace(item, step=replace(item.step, code=code, data={**item.step.data, **data}))


# Taken back another time, or never.
RETAINED_REASONS = ("needed", "filled", "taken", "system")


class UninstallJob:
    """Takes back all that was done for one environment. News are the same events as an install's.

    What another environment needs stays until the last one that needs it goes. With `dry_run` nothing is changed.
    """

    def __init__(self, environment: Path, data: DataDir, system: System, *, dry_run: bool = False) -> None:
        self.environment = environment
        self._data = data
        self._host = Host(system, data)
        self._dry_run = dry_run

    def steps(self) -> tuple[Step, ...]:
        """What would become of each thing just now, in order, also of what stays; raises what `run` raises."""
        check_not_shared(self.environment)
        return tuple(item.step for item in preview(self._plan_items(), self._host))

    def run(self, context: JobContext[Any]) -> Path:
        """The folder that is gone. Raises AppError: environment-missing, -not-yet, -not-ours, -without-notes, -in-use,
        already-running.

        Raises CallError("folder-shared") before any news.
        """
        check_not_shared(self.environment)
        reporter = ProgressReporter(context)
        environment = str(self.environment)
        try:
            self._uninstall(reporter, context)
        except AppError as error:
            reporter.fail_run(environment, error)
            raise
        reporter.end_run("done", environment)
        return self.environment

    def _plan_items(self, *, is_locked: bool = False) -> tuple[UninstallItem, ...]:
        """`held`: the data folder is, by us."""
        uninstall_items = plan_uninstall(self._host, self.environment)
        if not all(_is_plain_folder(item) for item in uninstall_items):
            return uninstall_items
        if not is_locked:
            check_no_install_running(self._data)
        code, interrupted_run = "environment-missing", interrupted_install(self._data)
        if has_lost_metadata(self.environment, self._data):
            code = "environment-without-notes"
        elif self.environment.exists():
            code = "environment-not-ours"
        elif interrupted_run is not None and interrupted_run.plan.env == str(self.environment):
            code = "environment-not-yet"
        raise AppError(code, path=str(self.environment))

    def _uninstall(self, reporter: ProgressReporter, context: JobContext[Any]) -> None:
        context.check_cancelled()
        if self._dry_run:
            preview_items = preview(self._plan_items(), self._host)
            reporter.report_plan(tuple(item.step for item in preview_items))
            for item in preview_items:
                reporter.report_step(item.step.id, "skipped")
            return
        self._plan_items()
        # What is told is what is found while nobody else can change it.
        with data_folder_lock(self._data):
            self._plan_items(is_locked=True)  # another process may have been quicker
            with Journal(self._data, environment=str(self.environment)) as journal:
                recover(self._host, journal, STEP_KINDS)
                preview_items = preview(self._plan_items(is_locked=True), self._host)
                reporter.report_plan(tuple(item.step for item in preview_items))
                revert_items(preview_items, self._host, journal, reporter, context.cancel)


def _is_plain_folder(item: UninstallItem) -> bool:
    """Whether it alone is no reason for a removal: a folder for others."""
    return isinstance(item.effects[0].effect, FolderCreated)


def revert_items(
    items: tuple[UninstallItem, ...],
    host: Host,
    journal: Journal,
    reporter: ProgressReporter,
    cancel: threading.Event,
    *,
    continue_on_error: bool = False,
) -> None:
    """Take everything back, each with its two lines in the journal; raises AppError, Cancelled.

    `told` is the forecast: what is said of each.
    Where rights are refused the rest goes on, and RightsRefused("rights-left-out") comes at the end; with `go_on`
    so does any other error.
    """
    skipped: list[str] = []
    first_error: AppError | None = None
    try:
        for item in items:
            if cancel.is_set():
                raise Cancelled
            try:
                _revert_item(item, host, journal, reporter)
            except ElevationDenied:
                skipped.append(item.step.id)
            except Cancelled:
                raise
            except AppError as error:
                if not continue_on_error:
                    raise
                first_error = first_error or error
        if first_error is not None:
            raise first_error
        if skipped:
            raise ElevationDenied("rights-left-out", steps=", ".join(skipped))
    except AppError as error:
        journal.end_run(end_state(error), error.code)
        raise
    journal.end_run("done")


def _revert_item(item: UninstallItem, host: Host, journal: Journal, reporter: ProgressReporter) -> None:
    step = item.step
    reason: RetentionReason | None = None
    reporter.report_step(step.id, "running")
    if item.is_needed:
        for active in item.effects:
            journal.retain_effect(active.run, active.number)
        reporter.report_step(step.id, "skipped", code="progress.left-needed", data=step.data)
        return
    try:
        for active in item.effects:
            journal.start_undo(active.run, active.number)
            kind = STEP_KINDS.get(active.kind)
            retained = kind.revert(active.effect, host) if kind is not None else revert(active.effect, host)
            if retained in RETAINED_REASONS:
                journal.retain_effect(active.run, active.number)
            else:
                journal.finish_undo(active.run, active.number, retained)
            # Of what several runs did, the last one's end is what is seen of it.
            reason = reason or retained
        code, data = _item_message(item, reason)
    except AppError as error:
        reporter.fail_step(step.id, error)
        raise
    reporter.report_step(step.id, "skipped" if reason in RETAINED_REASONS else "done", code=code, data=data)


def _item_message(item: UninstallItem, reason: RetentionReason | None) -> tuple[str | None, dict[str, Value] | None]:
    """What is told of it at the end: what stayed and why, and what of the user's went with it."""
    step, effect = item.step, item.effects[0].effect
    has_packages = bool(step.data.get("packages")) and isinstance(effect, TreeCreated)
    if reason is None:
        return ("progress.gone-packages", step.data) if has_packages else (None, None)
    if reason == "system":
        return f"step.{step.code}.what", step.data
    if reason == "filled" and item.by is not None:
        return "progress.left-needed", step.data
    is_unforeseen = reason in ("files", "filled") and not step.data.get("files")
    remaining = remaining_data(effect) if is_unforeseen and isinstance(effect, TreeCreated | FolderCreated) else {}
    suffix = "-packages" if reason == "files" and has_packages else ""
    return f"progress.left-{reason}{suffix}", step.data | remaining
