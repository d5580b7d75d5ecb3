"""Removes the program's own data: settings, caches, results, logs, the journal, and on request all environments.

For when the program is uninstalled. The data folder may be a folder that also holds the user's files, so only folders
that bear our marker are looked into (`core/ownership.py`), and what is removed there is named by `AppDataGroup`: caches
whole, everything else by the names of our files. Environments are reverted by `uninstall.py`. The journal stays as long
as it is needed to uninstall something.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ...catalog.store import STAMP_NAME
from ...core import filesystem, json
from ...core.downloads_folder import RECORD_NAME
from ...core.errors import AppError, Cancelled, storage_errors
from ...core.jobs import JobContext
from ...core.ownership import MARKER_NAME, empty_owned_folder, is_real_folder, remove_marked_folder
from ...core.paths import JOURNAL_GLOB, DataDir
from ...core.plan import Step
from ...core.settings import Settings
from ...core.types import Value
from ...system.base import System
from ...system.locks import data_folder_lock, data_folder_lock_files, environment_lock
from ..environment.location import list_environments
from ..files.inventory import format_names
from ..host import Host
from ..journal.log import FolderCreated, Journal, ProgramInstalled
from ..journal.recovery import recover
from ..packages.uv import clear_cache
from ..progress import ProgressReporter
from ..steps.kinds import STEP_KINDS
from .install import starts_with_system
from .move_downloads import finish_move
from .uninstall import (
    UninstallItem,
    UninstallState,
    plan_uninstall,
    preview,
    remaining_names,
    removal_context,
    revert_items,
)

if TYPE_CHECKING:
    from ...catalog.store import Catalog

PURGE_KIND = "purge"
ROOT_STEP = "data"
NOT_EMPTY_CODE = "leave-filled"
CACHES_GROUP = "downloads"
JOURNAL_GROUP = "journal"
ENVIRONMENTS_STEP = "environments"
STARTUP_STEP = "startup"


class PurgeJob:
    """Removes the program's data and all environments. Reports the same events as an uninstall.

    With `keep_environments`, they stay with everything they need, and with the journal, by which a later installation
    of the program knows them. With `dry_run` nothing is changed. With `driver_catalog` the packages of a driver that we
    installed go with the environments, too.
    """

    def __init__(
        self,
        data: DataDir,
        system: System,
        *,
        keep_environments: bool,
        dry_run: bool = False,
        driver_catalog: Catalog | None = None,
    ) -> None:
        self._driver_catalog = driver_catalog
        self._data = data
        self._host = Host(system, data)
        self._keep_environments = keep_environments
        self._dry_run = dry_run

    def steps(self) -> tuple[Step, ...]:
        """What `run` would do with each thing now, in order, and what would stay; raises AppError."""
        data = self._data
        if not data.root.is_dir():
            return ()
        state = UninstallState()
        has_remaining = self._keep_environments and self._has_remaining_effects()
        uninstall_steps: tuple[Step, ...] = (self._environments_step(),) if has_remaining else ()
        if not self._keep_environments:
            uninstall_steps = tuple(item.step for item in preview(self._items(), self._host, state))
        groups = app_data_groups(data, include_journal=not has_remaining)
        state.removed |= {path for group in groups for path in (*group.folders, *group.files)}
        return (
            *self._startup_steps(),
            *uninstall_steps,
            *(group.step for group in groups),
            *self._root_steps(state.removed, state.created, has_remaining=has_remaining),
        )

    def _items(self) -> tuple[UninstallItem, ...]:
        return plan_uninstall(self._host, None, with_driver=self._driver_catalog is not None)

    def run(self, context: JobContext[Any]) -> Path:
        """The data folder, which is removed if nothing stays in it.

        Raises AppError("already-running") and, after everything else is removed, the first error of an environment or a
        cache.
        """
        reporter, root = ProgressReporter(context), str(self._data.root)
        try:
            steps = self.steps()
            reporter.report_plan(steps)
            if self._dry_run:
                for step in steps:
                    reporter.report_step(step.id, "skipped")
            elif steps:
                with reporter.show_busy_files():
                    self._purge(reporter, context.cancel, steps)
        except AppError as error:
            reporter.fail_run(root, error)
            raise
        reporter.end_run("done", root)
        return self._data.root

    def _startup_steps(self) -> tuple[Step, ...]:
        """The step for the command that starts the program with the computer; none where there is no such command."""
        with suppress(AppError):
            if starts_with_system(self._data, self._host.system):
                return (Step(id=STARTUP_STEP, kind=PURGE_KIND, code="clear-startup"),)
        return ()

    def _clear_startup(self, reporter: ProgressReporter) -> AppError | None:
        try:
            self._host.system.startup_command.clear()
        except AppError as error:
            reporter.fail_step(STARTUP_STEP, error)
            return error
        reporter.report_step(STARTUP_STEP, "done")
        return None

    def _purge(self, reporter: ProgressReporter, cancel: threading.Event, steps: tuple[Step, ...]) -> None:
        data = self._data
        with data_folder_lock(data):
            if cancel.is_set():
                raise Cancelled
            first_error = None if self._keep_environments else self._uninstall_all(reporter, cancel)
            with suppress(AppError):
                finish_move(data)
            has_remaining = self._has_remaining_effects()
            first_error = self._delete_groups(reporter, steps, has_remaining=has_remaining) or first_error
        remove_empty_folders(data)
        self._report_root(reporter, {step.id for step in steps}, has_remaining=has_remaining)
        if first_error is not None:
            raise first_error

    def _delete_groups(
        self, reporter: ProgressReporter, steps: tuple[Step, ...], *, has_remaining: bool
    ) -> AppError | None:
        """Delete the program's own data, as far as the `steps` announced it; returns the last error."""
        data, last_error = self._data, None
        groups = {group.id: group for group in app_data_groups(data, include_journal=not has_remaining)}
        for step in steps:
            if step.id == STARTUP_STEP:
                last_error = self._clear_startup(reporter) or last_error
            elif step.kind == PURGE_KIND and step.id in groups:
                reporter.report_step(step.id, "running")
                last_error = _delete_group(groups[step.id], data, reporter) or last_error
            elif step.id == ENVIRONMENTS_STEP or step.kind == PURGE_KIND:
                # The journal stays if something could not be reverted, for the next attempt.
                reporter.report_step(step.id, "skipped")
        step_ids = {step.id for step in steps}
        for name, group in groups.items():
            if name not in step_ids:  # this process's own log
                with suppress(AppError):
                    group.delete_files(data)
        return last_error

    def _root_steps(self, removed: set[Path], created: set[Path], *, has_remaining: bool) -> tuple[Step, ...]:
        """The step for the data folder; none if only what is kept stays in it."""
        data = self._data
        retained = {data.environments, data.pythons, data.toolkits, data.journal} if has_remaining else set()
        step = root_step(data, removed | retained, created)
        return () if has_remaining and step.code != NOT_EMPTY_CODE else (step,)

    def _report_root(self, reporter: ProgressReporter, step_ids: set[str], *, has_remaining: bool) -> None:
        if not self._data.root.is_dir():
            reporter.report_step(ROOT_STEP, "done")
            return
        not_empty = [
            step for step in self._root_steps(set(), set(), has_remaining=has_remaining) if step.code == NOT_EMPTY_CODE
        ]
        if not_empty:
            reporter.report_step(ROOT_STEP, "skipped", code="progress.left-filled", data=not_empty[0].data)
        elif ROOT_STEP in step_ids:
            reporter.report_step(ROOT_STEP, "skipped")

    def _environments_step(self) -> Step:
        """The step that names the environments that stay."""
        names = format_names(tuple(environment.path for environment in list_environments(self._data)))
        data = {"files": names, "path": str(self._data.root)}
        return Step(id=ENVIRONMENTS_STEP, kind="kept", code="leave-environments", data={**data})

    def _uninstall_all(self, reporter: ProgressReporter, cancel: threading.Event) -> AppError | None:
        """Revert everything that can be reverted; returns the first error. Raises Cancelled."""
        if not self._items():
            return None
        try:
            with ExitStack() as stack:
                for environment in list_environments(self._data):
                    stack.enter_context(environment_lock(Path(environment.path)))
                journal = stack.enter_context(Journal(self._data))
                recover(self._host, journal, STEP_KINDS)
                revert_items(
                    preview(self._items(), self._host),
                    self._host,
                    journal,
                    reporter,
                    cancel,
                    continue_on_error=True,
                    removal=removal_context(self._host, self._driver_catalog, reporter, cancel),
                )
        except Cancelled:
            raise
        except AppError as error:
            return error
        return None

    def _has_remaining_effects(self) -> bool:
        """Whether there is anything that only the journal can revert; programs have their own uninstallers."""
        return any(
            not isinstance(item.effects[0].effect, FolderCreated | ProgramInstalled)
            for item in plan_uninstall(self._host, None)
        )


def _delete_group(group: AppDataGroup, data: DataDir, reporter: ProgressReporter) -> AppError | None:
    """Delete a group; returns the error."""
    try:
        group.delete_files(data)
    except AppError as error:
        reporter.fail_step(group.id, error)
        return error
    reporter.report_step(group.id, "done")
    return None


class AppDataGroup(Struct, frozen=True, kw_only=True):
    """One kind of data, with the text `own.<name>`: whole `folders`, and `files` that are in `folder`."""

    name: str
    folder: Path
    folders: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()

    @property
    def id(self) -> str:
        """The step's id in events."""
        return f"own-{self.name}"

    @property
    def step(self) -> Step:
        """What is shown of it, with its size now; raises AppError."""
        with storage_errors(self.folder):
            total = sum(_tree_bytes(path) for path in (*self.folders, *self.files))
        data: dict[str, Value] = {"thing": f"@own.{self.name}", "path": str(self.folder), "bytes": total}
        return Step(id=self.id, kind=PURGE_KIND, code="remove-own", data=data)

    def delete_files(self, data: DataDir) -> None:
        """Raises AppError if a cache is in use."""
        for folder in self.folders:
            if folder == data.uv_cache:
                clear_cache(data)
            with storage_errors(folder, permission_code="environment-in-use"):
                empty_owned_folder(folder, data.marker_place(folder))
            remove_marked_folder(folder, data.marker_place(folder))
        for file in self.files:
            # The lock deletes its own files. On Windows this process's own log cannot be deleted while it is open.
            if file not in data_folder_lock_files(data):
                with suppress(OSError):
                    filesystem.unlink(file)


def app_data_groups(data: DataDir, *, include_journal: bool) -> tuple[AppDataGroup, ...]:
    """The groups that have files now, with or without the journal."""
    caches = tuple(folder for folder in data.caches if data.owns(folder))
    groups = (
        AppDataGroup(name=CACHES_GROUP, folder=data.downloads, folders=caches),
        *_file_groups(data),
        AppDataGroup(name="settings", folder=data.settings, files=_settings_files(data)),
    )
    return tuple(
        group for group in groups if (group.folders or group.files) and (include_journal or group.name != JOURNAL_GROUP)
    )


def remove_empty_folders(data: DataDir) -> None:
    """Remove our folders that are empty, and the data folder if it is empty."""
    for folder in _app_folders(data):
        if _is_ours(data, folder):
            with suppress(OSError):
                filesystem.rmdir(folder)  # the catalog's, which has no marker of its own
        remove_marked_folder(folder, data.marker_place(folder))
    remove_marked_folder(data.root)


def root_step(data: DataDir, removed: set[Path], created: Collection[Path] = ()) -> Step:
    """What will happen to the data folder itself when some paths are `removed` and some `created`; raises AppError."""
    with storage_errors(data.root):
        removed |= {data.root / MARKER_NAME} if data.owns(data.root) else set()
        # Our empty folders are removed with it.
        for folder in _app_folders(data):
            if _is_ours(data, folder) and {path for path in folder.iterdir() if path.name != MARKER_NAME} <= removed:
                removed.add(folder)
        names = tuple(remaining_names(data.root, removed, created))
    step_data: dict[str, Value] = {"thing": str(data.root), "path": str(data.root), "files": format_names(names)}
    return Step(id=ROOT_STEP, kind="root", code=NOT_EMPTY_CODE if names else "remove-emptied", data=step_data)


def _app_folders(data: DataDir) -> tuple[Path, ...]:
    """Our folders, each before the one that it is in."""
    group_folders = (folder for _name, folder, _globs in _file_patterns(data))
    return (*data.caches, data.downloads, data.cache, *group_folders, data.catalog)


def _file_patterns(data: DataDir) -> tuple[tuple[str, Path, tuple[str, ...]], ...]:
    """The group, folder and names of our files: the user may have put others beside them."""
    return (
        ("history", data.history, ("*s-[0-9]*.history*",)),
        ("benchmarks", data.benchmarks, ("[0-9]*T[0-9]*Z.json*",)),
        (
            "state",
            data.state,
            (
                *("install.*", "benchmark.*", "window.lock", "window.geometry*", "updates.json*", RECORD_NAME),
                "health-test.json*",
            ),
        ),
        ("catalog", data.catalog / "current", ("*.json*", STAMP_NAME)),
        (JOURNAL_GROUP, data.journal, (JOURNAL_GLOB,)),
        ("logs", data.logs, ("gpu-assistant.log*",)),
    )


def _file_groups(data: DataDir) -> tuple[AppDataGroup, ...]:
    return tuple(
        AppDataGroup(name=name, folder=folder, files=tuple(_matching_files(folder, globs)))
        for name, folder, globs in _file_patterns(data)
        if _is_ours(data, folder)
    )


def _is_ours(data: DataDir, folder: Path) -> bool:
    """Whether a folder bears our marker, or is the one in the catalog's folder that each refresh replaces."""
    if folder.parent == data.catalog:
        return data.owns(data.catalog) and is_real_folder(folder)
    return data.owns(folder)


def _matching_files(folder: Path, globs: tuple[str, ...]) -> Iterator[Path]:
    # A process that was killed while it wrote one left it under the name that `json.write_file` gives it.
    patterns = (pattern for glob in globs for pattern in (glob, f".{glob}.partial"))
    return (path for each in patterns for path in folder.glob(each) if path.is_file() and not path.is_symlink())


def _settings_files(data: DataDir) -> tuple[Path, ...]:
    return (data.settings,) if data.owns(data.root) and _is_settings_file(data.settings) else ()


def _is_settings_file(path: Path) -> bool:
    """Whether a file contains our settings and nothing else."""
    try:
        settings = json.decode(filesystem.read_bytes(path), dict[str, Any])
    except (OSError, ValueError):
        return False
    return bool(settings) and settings.keys() <= set(Settings.__struct_encode_fields__)


def _tree_bytes(path: Path) -> int:
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    # A download that is just ending may delete its files meanwhile.
    return sum(_file_bytes(Path(folder) / file) for folder, _, files in os.walk(path) for file in files)


def _file_bytes(path: Path) -> int:
    try:
        return path.lstat().st_size
    except FileNotFoundError:
        return 0
