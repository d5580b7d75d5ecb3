"""Reverts what the journal says was done for an environment, in reverse order, and nothing else.

    journal/recovery.py active_effects ─► plan_uninstall ─► UninstallItem: one thing and all effects on it, newest
                                                            first; `is_needed` if another environment uses it
      ─► preview ─► the same items with the text of what will happen to each, and to the files of others in it
      ─► revert_items: UndoStarted ─► STEP_KINDS[kind].revert ─► UndoDone, or EffectRetained for what stays

`UninstallJob` holds the data folder's lock from the preview that it reports until the last effect is reverted.
`purge.py` uses the same functions for all environments.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Container, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from ...core.errors import AppError, Cancelled, ElevationDenied, storage_errors
from ...core.jobs import JobContext
from ...core.paths import DataDir
from ...core.plan import Step
from ...core.types import Value
from ...system.base import System
from ...system.locks import check_no_install_running, data_folder_lock, environment_lock
from ..environment.location import check_not_shared, has_lost_metadata
from ..files import staging
from ..files.installed_packages import format_user_packages, present_packages, user_packages_path
from ..files.inventory import MAX_NAMED, ForeignFiles, find_foreign_files, format_names, has_content, read_manifest
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
    PackagesAdded,
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
from ..journal.validation import has_own_name
from ..progress import ProgressReporter, end_state
from ..steps.context import RemovalContext
from ..steps.kinds import STEP_KINDS

if TYPE_CHECKING:
    from ...catalog.store import Catalog

# Reasons for which the whole effect stays, not only foreign files in it.
RETAINED_REASONS = ("needed", "filled", "taken", "system")


STEP_CODES: dict[type[Effect], str] = {
    TreeCreated: "remove-folder",
    FolderCreated: "remove-empty",
    FolderMoved: "move-back",
    FilesAdded: "remove-files",
    PackagesAdded: "remove-packages",
    FileWritten: "restore-file",
    VariableSet: "restore-variable",
    PathEntryAdded: "remove-path-entry",
    LoginCommandSet: "clear-login",
}


class UninstallJob:
    """Reverts all effects of one environment; reports the same events as an install.

    What another environment needs stays until the last one that needs it is uninstalled. With `dry_run` nothing is
    changed. With `driver_catalog` the packages of a driver that we installed go, too, with administrator rights.
    """

    def __init__(
        self,
        environment: Path,
        data: DataDir,
        system: System,
        *,
        dry_run: bool = False,
        driver_catalog: Catalog | None = None,
    ) -> None:
        self.environment = environment
        self._driver_catalog = driver_catalog
        self._data = data
        self._host = Host(system, data)
        self._dry_run = dry_run

    def steps(self) -> tuple[Step, ...]:
        """What `run` would do with each thing now, in order, and what would stay; raises what `run` raises."""
        check_not_shared(self.environment)
        return tuple(item.step for item in preview(self._plan_items(), self._host))

    def run(self, context: JobContext[Any]) -> Path:
        """The environment's folder. Raises AppError: environment-missing, -not-yet, -not-ours, -without-notes, -in-use,
        already-running; UsageError("folder-shared") before any event.
        """
        check_not_shared(self.environment)
        reporter = ProgressReporter(context)
        environment = str(self.environment)
        try:
            with reporter.show_busy_files():
                self._uninstall(reporter, context)
        except AppError as error:
            reporter.fail_run(environment, error)
            raise
        reporter.end_run("done", environment)
        return self.environment

    def _plan_items(self, *, is_locked: bool = False) -> tuple[UninstallItem, ...]:
        """Raises AppError if there is nothing to uninstall; `is_locked`: the caller holds the data folder's lock."""
        items = plan_uninstall(self._host, self.environment, with_driver=self._driver_catalog is not None)
        if not all(_is_plain_folder(item) for item in items):
            return items
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
        with data_folder_lock(self._data), environment_lock(self.environment):
            self._plan_items(is_locked=True)  # another process may have uninstalled it meanwhile
            with Journal(self._data, environment=str(self.environment)) as journal:
                recover(self._host, journal, STEP_KINDS)
                preview_items = preview(self._plan_items(is_locked=True), self._host)
                reporter.report_plan(tuple(item.step for item in preview_items))
                revert_items(
                    preview_items,
                    self._host,
                    journal,
                    reporter,
                    context.cancel,
                    removal=removal_context(self._host, self._driver_catalog, reporter, context.cancel),
                )


def _is_plain_folder(item: UninstallItem) -> bool:
    """Whether it is a folder for others, which alone is nothing to uninstall."""
    return isinstance(item.effects[0].effect, FolderCreated)


class UninstallItem(Struct, frozen=True, kw_only=True):
    """One thing and all effects on it, newest first. `step` is what is shown of it.

    `is_needed`: it stays, because the environment `needed_by` uses it. For a folder, `needed_by` uses something in it.
    `removes_program`: a program that otherwise stays is taken away, too.
    """

    step: Step
    effects: tuple[ActiveEffect, ...]
    is_needed: bool
    needed_by: str | None = None
    removes_program: bool = False


def removal_context(
    host: Host, catalog: Catalog | None, reporter: ProgressReporter, cancel: threading.Event
) -> RemovalContext | None:
    """What programs are taken away with; None without a catalog: they stay."""
    return RemovalContext(host, catalog, reporter, cancel) if catalog is not None else None


def plan_uninstall(host: Host, environment: Path | None, *, with_driver: bool = False) -> tuple[UninstallItem, ...]:
    """What is to be reverted for one environment (None: for all), newest first; raises AppError."""
    all_effects = active_effects(host.data)
    path = None if environment is None else str(environment)
    own_effects = [active for active in all_effects if path is None or active.environment == path or active.is_retained]
    present_effects: dict[tuple[str, str], list[ActiveEffect]] = {}
    for active in reversed(own_effects):
        # The data folder goes when the program is purged; a program that stays was reported when it was retained.
        if (isinstance(active.effect, FolderCreated) and _contains(active.effect.path, str(host.data.root))) or (
            isinstance(active.effect, ProgramInstalled)
            and active.is_retained
            and not (with_driver and _is_removable(active))
        ):
            continue
        state = observe_state(active, host, STEP_KINDS)
        # A foreign folder in the place of ours is left alone.
        if state != "absent" and not (isinstance(active.effect, TreeCreated) and state == "modified"):
            present_effects.setdefault(effect_key(active.effect), []).append(active)
    other_effects = [active for active in all_effects if active not in own_effects]
    items = []
    # Files that were added to a folder go before the folder, which may have been repaired after they were added.
    last_first = sorted(
        present_effects.values(), key=lambda effects: not isinstance(effects[0].effect, FilesAdded | PackagesAdded)
    )
    for number, effects in enumerate(last_first, 1):
        first = effects[0]
        step = Step(
            id="environment"
            if isinstance(first.effect, TreeCreated) and first.effect.path == path
            else f"back-{number}",
            kind=first.kind,
            code=step_code(first),
            data=step_data(first.effect),
        )
        dependent = _dependent_effect(first, other_effects)
        if dependent is not None and all(active.is_retained for active in effects):
            continue
        removes_program = with_driver and dependent is None and any(map(_is_removable, effects))
        inner_environment = (
            _environment_inside(first, other_effects) if isinstance(first.effect, FolderCreated) else None
        )
        items.append(
            UninstallItem(
                step=step,
                effects=tuple(effects),
                is_needed=dependent is not None,
                needed_by=dependent.environment if dependent is not None else inner_environment,
                removes_program=removes_program,
            )
        )
    return tuple(items)


def _is_removable(active: ActiveEffect) -> bool:
    kind = STEP_KINDS.get(active.kind)
    return kind is not None and isinstance(active.effect, ProgramInstalled) and kind.is_removable(active.effect)


def step_code(active: ActiveEffect) -> str:
    """The code of the text for reverting it; a program is never reverted, and `uninstall_notice` has its text."""
    is_environment = isinstance(active.effect, TreeCreated) and active.kind in ENVIRONMENT_KINDS
    return "remove-environment" if is_environment else STEP_CODES.get(type(active.effect), "leave-needed")


def step_data(effect: Effect) -> dict[str, Value]:  # noqa: PLR0911 - one for each effect
    """The data for the texts about an effect."""
    match effect:
        case TreeCreated() | FolderCreated() | FilesAdded() | FileWritten():
            return {"thing": effect.path, "env": effect.path, "path": effect.path}
        case PackagesAdded():
            names = tuple(each.replace("==", " ") for each in effect.packages)
            return {"thing": format_names(names), "path": effect.path, "count": len(names)}
        case FolderMoved():
            return {"thing": effect.to, "path": effect.path}
        case VariableSet():
            return {"thing": effect.name, "name": effect.name, "before": effect.previous}
        case PathEntryAdded():
            return {"thing": effect.folder, "path": effect.folder}
        case LoginCommandSet():
            return {"thing": "@remove.login"}
        case ProgramInstalled():
            return {"thing": effect.name, "version": effect.version}


def _dependent_effect(active: ActiveEffect, other_effects: Sequence[ActiveEffect]) -> ActiveEffect | None:
    """An effect of another environment on the same thing, or of a plan with the very same step; None without one."""
    later = (other for other in other_effects if (other.run, other.number) > (active.run, active.number))
    same_target = next((other for other in later if effect_key(other.effect) == effect_key(active.effect)), None)
    # A folder for others is removed only if it is empty by then.
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
    """Another environment that has something in a folder."""
    folder = effect_key(active.effect)[1]
    targets = (
        (*effect_key(other.effect), other.environment) for other in other_effects if other.environment is not None
    )
    return next(
        (environment for kind, path, environment in targets if kind in ("path", "files") and _contains(folder, path)),
        None,
    )


def _contains(folder: str, path: str) -> bool:
    """Whether a path is in a folder, or the folder itself."""
    return Path(folder) in (Path(path), *Path(path).parents)


def _uses_step(other: ActiveEffect, step: Step) -> bool:
    def identity(each: Step) -> tuple[object, ...]:
        return each.kind, each.spec, [(file.url, file.name, file.sha256) for file in each.files]

    return any(identity(own_step) == identity(step) for own_step in other.steps)


class UninstallState(Struct):
    """What the items so far will have changed: paths that are `removed` completely, files that are `created`, and the
    paths that are `retained`, with the environment that needs them.
    """

    removed: set[Path] = field(default_factory=set)
    created: set[Path] = field(default_factory=set)
    retained: dict[Path, str] = field(default_factory=dict)


def preview(
    items: tuple[UninstallItem, ...], host: Host, state: UninstallState | None = None
) -> tuple[UninstallItem, ...]:
    """The same items with the texts of what will happen to them; changes nothing but `state`. Raises AppError."""
    state = UninstallState() if state is None else state
    return tuple(_preview_item(item, host, state) for item in items)


def _preview_item(  # noqa: PLR0912 - one for each effect
    item: UninstallItem, host: Host, state: UninstallState
) -> UninstallItem:
    removed, retained = state.removed, state.retained
    first, effect = item.effects[0], item.effects[0].effect
    if item.is_needed:
        needed_by = item.needed_by or str(host.data.root)
        if isinstance(effect, TreeCreated | FilesAdded | FileWritten | FolderCreated):
            retained[Path(effect.path)] = needed_by
        return _with_code(item, "leave-needed", by=needed_by)
    if isinstance(effect, ProgramInstalled):
        code, data = STEP_KINDS[first.kind].uninstall_notice(effect, first.step)
        code = "remove-driver" if item.removes_program else code
        return _with_code(item, code, **data)
    effect_state = observe_state(first, host, STEP_KINDS)
    if effect_state == "modified" and not isinstance(effect, FolderCreated):
        return _with_code(item, "leave-changed")
    match effect:
        case TreeCreated():
            foreign = find_foreign_files(Path(effect.path), removed) if effect_state == "applied" else ForeignFiles()
            if not foreign.user_files:
                _mark_removed(Path(effect.path), removed)
            item = _with_foreign_files(item, foreign)
            name, size = Path(effect.path).name, _tree_bytes(Path(effect.path))
            item = _with_code(item, item.step.code, name=name, bytes=size)
            if foreign.records:
                list_text = format_user_packages(Path(effect.path), foreign.records)
                list_path = user_packages_path(Path(effect.path), list_text)
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
        case PackagesAdded():
            folder = Path(effect.path)
            present = present_packages(folder, effect.packages).values()
            removed |= {folder / effect.lock, *(folder / name for package in present for name in package.files)}
        case FolderMoved():
            original = Path(effect.path)
            if has_content(original) and original not in removed:
                return _with_code(item, "leave-taken")
            removed.add(Path(effect.to))
            removed.discard(original)
        case FolderCreated():
            item = _preview_folder(item, Path(effect.path), state)
        case FileWritten() if effect.previous is None or has_own_name(Path(effect.path)):
            removed.add(Path(effect.path))
    return item


def _tree_bytes(folder: Path) -> int:
    """About how much a folder of ours holds, whatever name it has now: by its manifest, else by the files there."""
    manifest = read_manifest(folder)
    if manifest is not None and manifest.bytes is not None:
        return manifest.bytes
    total = 0
    for place in (folder, partial_path(folder), trash_path(folder)):
        if place == folder or staging.is_ours(place):
            for root, _folders, names in os.walk(place):
                for name in names:
                    with suppress(OSError):
                        total += os.lstat(os.path.join(root, name)).st_size  # noqa: PTH118 - tens of thousands
    return total


def _preview_folder(item: UninstallItem, folder: Path, state: UninstallState) -> UninstallItem:
    with storage_errors(folder):
        remaining = tuple(islice(remaining_names(folder, state.removed, state.created), MAX_NAMED + 1))
    if not remaining:
        _mark_removed(folder, state.removed)
        return item
    needed_by = item.needed_by or next(
        (needed_by for path, needed_by in state.retained.items() if folder in (path, *path.parents)), None
    )
    if needed_by is not None:
        return _with_code(replace(item, needed_by=needed_by), "leave-needed", by=needed_by)
    return _with_code(item, "leave-filled", files=format_names(remaining))


def remaining_names(folder: Path, removed: Container[Path], created: Collection[Path] = ()) -> Iterator[str]:
    """The names of what will be in a folder when some paths are `removed` and some `created`; raises OSError."""
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
    """The texts' data about foreign files that stay in a folder after it was reverted."""
    folder = Path(effect.path)
    with storage_errors(folder):
        names = tuple(remaining_names(folder, frozenset()))
    return {"files": format_names(names), "kept": len(names)}


def _with_foreign_files(item: UninstallItem, foreign: ForeignFiles) -> UninstallItem:
    """The item with the variant of its text that mentions foreign packages and files."""
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


def revert_items(
    items: tuple[UninstallItem, ...],
    host: Host,
    journal: Journal,
    reporter: ProgressReporter,
    cancel: threading.Event,
    *,
    continue_on_error: bool = False,
    removal: RemovalContext | None = None,
) -> None:
    """Revert all items, as returned by `preview`; raises AppError, Cancelled. Programs go by `removal`.

    If rights are refused for one, the others are still reverted before ElevationDenied("rights-left-out") is raised;
    with `continue_on_error` so it is for any other error.
    """
    skipped: list[str] = []
    first_error: AppError | None = None
    try:
        for item in items:
            if cancel.is_set():
                raise Cancelled
            try:
                _revert_item(item, host, journal, reporter, removal)
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


def _revert_item(
    item: UninstallItem, host: Host, journal: Journal, reporter: ProgressReporter, removal: RemovalContext | None
) -> None:
    step = item.step
    reason: RetentionReason | None = None
    reporter.report_step(step.id, "running")
    if item.is_needed:
        for active in item.effects:
            journal.retain_effect(active.run, active.number)
        reporter.report_step(step.id, "skipped", code="progress.left-needed", data=step.data)
        return
    try:
        if item.removes_program and removal is not None:
            _remove_program(item, journal, removal)
            reporter.report_step(step.id, "done", code="progress.driver-removed", data=step.data)
            return
        for active in item.effects:
            journal.start_undo(active.run, active.number)
            kind = STEP_KINDS.get(active.kind)
            retained = kind.revert(active.effect, host) if kind is not None else revert(active.effect, host)
            if retained in RETAINED_REASONS:
                journal.retain_effect(active.run, active.number)
            else:
                journal.finish_undo(active.run, active.number, retained)
            # Of several effects on one thing the newest tells why it stays.
            reason = reason or retained
        code, data = _item_message(item, reason)
    except AppError as error:
        reporter.fail_step(step.id, error)
        raise
    reporter.report_step(step.id, "skipped" if reason in RETAINED_REASONS else "done", code=code, data=data)


def _remove_program(item: UninstallItem, journal: Journal, removal: RemovalContext) -> None:
    """All effects of the item at once: what one run began, another one went on with."""
    effects = [active.effect for active in item.effects if isinstance(active.effect, ProgramInstalled)]
    step = next((active.step for active in item.effects if active.step is not None), None)
    for active in item.effects:
        journal.start_undo(active.run, active.number)
    STEP_KINDS[item.step.kind].remove_program(effects, step, removal)
    for active in item.effects:
        journal.finish_undo(active.run, active.number)


def _item_message(item: UninstallItem, reason: RetentionReason | None) -> tuple[str | None, dict[str, Value] | None]:
    """The code and data of the final text: what stays and why, and which user packages were removed."""
    step, effect = item.step, item.effects[0].effect
    has_packages = bool(step.data.get("packages")) and isinstance(effect, TreeCreated)
    if reason is None:
        return ("progress.gone-packages", step.data) if has_packages else (None, None)
    if reason == "system":
        return f"step.{step.code}.what", step.data
    if reason == "filled" and item.needed_by is not None:
        return "progress.left-needed", step.data
    is_unforeseen = reason in ("files", "filled") and not step.data.get("files")
    remaining = remaining_data(effect) if is_unforeseen and isinstance(effect, TreeCreated | FolderCreated) else {}
    suffix = "-packages" if reason == "files" and has_packages else ""
    return f"progress.left-{reason}{suffix}", step.data | remaining
