"""Takes away what the program keeps for itself, when it is removed from the computer."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import AppError, Cancelled
from ..core.jobs import JobContext
from ..core.paths import DataDir
from ..core.plan import Step
from ..system.base import System
from . import own
from .reporter import ProgressReporter

if TYPE_CHECKING:
    from .place import Host

ENVIRONMENTS_STEP = "environments"


class PurgeJob:
    """Removes settings, downloads, results and logs, and takes back all that was installed, unless it is kept.

    Environments that are kept keep what they stand on, and the journal, by which a later installation knows them.
    News are the events of a removal; with `dry_run` nothing is changed.
    """

    def __init__(self, data: DataDir, system: System, *, keep_environments: bool, dry_run: bool = False) -> None:
        self._data = data
        self._system = system
        self._keep_environments = keep_environments
        self._dry_run = dry_run

    def steps(self) -> tuple[Step, ...]:
        """What would become of each thing just now, in order, also of what stays; raises AppError."""
        from .forecast import UninstallState, preview
        from .takeback import plan_uninstall

        data = self._data
        if not data.root.is_dir():
            return ()
        host = self._host(ProgressReporter(JobContext()), threading.Event())
        state = UninstallState()
        has_remaining = self._keep_environments and self._has_remaining_effects(host)
        uninstall_steps: tuple[Step, ...] = (self._environments_step(),) if has_remaining else ()
        if not self._keep_environments:
            uninstall_steps = tuple(item.step for item in preview(plan_uninstall(host, None), host, state))
        groups = own.app_data_groups(data, include_caches=own.has_app_data(data), include_journal=not has_remaining)
        state.removed |= {path for group in groups for path in (*group.folders, *group.files)}
        return (*uninstall_steps, *(group.step for group in groups), *self._root_steps(state.removed, state.created, has_remaining=has_remaining))

    def run(self, context: JobContext[Any]) -> Path:
        """The data folder; gone where nothing in it was kept.

        Raises AppError: already-running, or, after everything else is gone, what could not be taken back.
        """
        reporter, root = ProgressReporter(context), str(self._data.root)
        try:
            steps = self.steps()
            reporter.report_plan(steps)
            if self._dry_run:
                for step in steps:
                    reporter.report_step(step.id, "skipped")
            elif steps:
                self._purge(self._host(reporter, context.cancel), steps)
        except AppError as error:
            reporter.fail_run(root, error)
            raise
        reporter.end_run("done", root)
        return self._data.root

    def _purge(self, host: Host, steps: tuple[Step, ...]) -> None:
        from ..system.single import data_folder_lock

        data, reporter = self._data, host.reporter
        # Asked before we write into it ourselves.
        has_caches = own.has_app_data(data)
        with data_folder_lock(data):
            if host.cancel.is_set():
                raise Cancelled
            first_error = None if self._keep_environments else self._uninstall_all(host)
            has_remaining = self._has_remaining_effects(host)
        groups = {group.id: group for group in own.app_data_groups(data, include_caches=has_caches, include_journal=not has_remaining)}
        for step in steps:
            if step.kind == own.PURGE_KIND and step.id in groups:
                reporter.report_step(step.id, "running")
                first_error = _delete_group(groups[step.id], reporter) or first_error
            elif step.id == ENVIRONMENTS_STEP or step.kind == own.PURGE_KIND:
                # Where something could not be taken back, the journal says so to the next try.
                reporter.report_step(step.id, "skipped")
        step_ids = {step.id for step in steps}
        for name, group in groups.items():
            if name not in step_ids:  # this run's own log
                group.delete_files()
        own.remove_empty_folders(data)
        self._report_root(reporter, step_ids, has_remaining=has_remaining)
        if first_error is not None:
            raise first_error

    def _root_steps(self, removed: set[Path], created: set[Path], *, has_remaining: bool) -> tuple[Step, ...]:
        """What becomes of the data folder when these have gone and are new; nothing where only what is kept stays."""
        data = self._data
        retained = {data.environments, data.pythons, data.toolkits, data.journal} if has_remaining else set()
        step = own.root_step(data, removed | retained, created)
        return () if has_remaining and step.code != own.NOT_EMPTY_CODE else (step,)

    def _report_root(self, reporter: ProgressReporter, step_ids: set[str], *, has_remaining: bool) -> None:
        if not self._data.root.is_dir():
            reporter.report_step(own.ROOT_STEP, "done")
            return
        not_empty = [step for step in self._root_steps(set(), set(), has_remaining=has_remaining) if step.code == own.NOT_EMPTY_CODE]
        if not_empty:
            reporter.report_step(own.ROOT_STEP, "skipped", code="progress.left-filled", data=not_empty[0].data)
        elif own.ROOT_STEP in step_ids:
            reporter.report_step(own.ROOT_STEP, "skipped")

    def _host(self, reporter: ProgressReporter, cancel: threading.Event) -> Host:
        from .place import Host

        return Host(self._system, self._data, reporter=reporter, cancel=cancel)

    def _environments_step(self) -> Step:
        """That the environments stay, and which these are."""
        from .environments import list_environments
        from .strangers import format_names

        names = format_names(tuple(environment.path for environment in list_environments(self._data)))
        data = {"files": names, "path": str(self._data.root)}
        return Step(id=ENVIRONMENTS_STEP, kind="kept", code="leave-environments", data={**data})

    def _uninstall_all(self, host: Host) -> AppError | None:
        """What went wrong, after everything that could be taken back was; raises Cancelled."""
        from .forecast import preview
        from .journal import Journal
        from .ledger import recover
        from .takeback import plan_uninstall
        from .uninstall import revert_items

        if not plan_uninstall(host, None):
            return None
        try:
            with Journal(self._data) as journal:
                recover(host, journal)
                revert_items(preview(plan_uninstall(host, None), host), host, journal, continue_on_error=True)
        except Cancelled:
            raise
        except AppError as error:
            return error
        return None

    def _has_remaining_effects(self, host: Host) -> bool:
        """Whether anything stands that only the journal knows how to take back; a driver is its own installer's."""
        from .effects import FolderCreated, ProgramInstalled
        from .takeback import plan_uninstall

        return any(not isinstance(item.effects[0].effect, FolderCreated | ProgramInstalled) for item in plan_uninstall(host, None))


def _delete_group(group: own.AppDataGroup, reporter: ProgressReporter) -> AppError | None:
    """What went wrong when it was taken away."""
    try:
        group.delete_files()
    except AppError as error:
        reporter.fail_step(group.id, error)
        return error
    reporter.report_step(group.id, "done")
    return None
