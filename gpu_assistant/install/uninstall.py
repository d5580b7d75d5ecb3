"""Takes back what the journal says that an install did, in reverse order, and nothing else."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import AppError, Cancelled, ElevationDenied
from ..core.jobs import JobContext
from ..core.names import Value
from ..core.paths import DataDir
from ..core.plan import Step
from ..system.base import System
from .reporter import ProgressReporter, end_state

if TYPE_CHECKING:
    from .journal import Journal, RetentionReason
    from .place import Host
    from .takeback import UninstallItem


# Taken back another time, or never.
RETAINED_REASONS = ("needed", "filled", "taken", "system")


class UninstallJob:
    """Takes back all that was done for one environment. News are the same events as an install's.

    What another environment needs stays until the last one that needs it goes. With `dry_run` nothing is changed.
    """

    def __init__(self, environment: Path, data: DataDir, system: System, *, dry_run: bool = False) -> None:
        self.environment = environment
        self._data = data
        self._system = system
        self._dry_run = dry_run

    def steps(self) -> tuple[Step, ...]:
        """What would become of each thing just now, in order, also of what stays; raises what `run` raises."""
        from .forecast import preview
        from .occupied import check_not_shared

        check_not_shared(self.environment)
        host = self._host(ProgressReporter(JobContext()), threading.Event())
        return tuple(item.step for item in preview(self._plan_items(host), host))

    def run(self, context: JobContext[Any]) -> Path:
        """The folder that is gone. Raises AppError: environment-missing, -not-yet, -not-ours, -without-notes, -in-use,
        already-running.

        Raises CallError("folder-shared") before any news.
        """
        from .occupied import check_not_shared

        check_not_shared(self.environment)
        reporter = ProgressReporter(context)
        environment = str(self.environment)
        host = self._host(reporter, context.cancel)
        try:
            self._uninstall(host, context)
        except AppError as error:
            reporter.fail_run(environment, error)
            raise
        reporter.end_run("done", environment)
        return self.environment

    def _host(self, reporter: ProgressReporter, cancel: threading.Event) -> Host:
        from .place import Host

        return Host(self._system, self._data, reporter=reporter, cancel=cancel)

    def _plan_items(self, host: Host, *, is_locked: bool = False) -> tuple[UninstallItem, ...]:
        """`held`: the data folder is, by us."""
        from ..system.single import check_no_install_running
        from .journal import interrupted_install
        from .occupied import has_lost_metadata
        from .takeback import plan_uninstall

        uninstall_items = plan_uninstall(host, self.environment)
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

    def _uninstall(self, host: Host, context: JobContext[Any]) -> None:
        from ..system.single import data_folder_lock
        from .forecast import preview
        from .journal import Journal
        from .ledger import recover

        context.check_cancelled()
        if self._dry_run:
            preview_items = preview(self._plan_items(host), host)
            host.reporter.report_plan(tuple(item.step for item in preview_items))
            for item in preview_items:
                host.reporter.report_step(item.step.id, "skipped")
            return
        self._plan_items(host)
        # What is told is what is found while nobody else can change it.
        with data_folder_lock(self._data):
            self._plan_items(host, is_locked=True)  # another process may have been quicker
            with Journal(self._data, environment=str(self.environment)) as journal:
                recover(host, journal)
                preview_items = preview(self._plan_items(host, is_locked=True), host)
                host.reporter.report_plan(tuple(item.step for item in preview_items))
                revert_items(preview_items, host, journal)


def _is_plain_folder(item: UninstallItem) -> bool:
    """Whether it alone is no reason for a removal: a folder for others."""
    from .effects import FolderCreated

    return isinstance(item.effects[0].effect, FolderCreated)


def revert_items(items: tuple[UninstallItem, ...], host: Host, journal: Journal, *, continue_on_error: bool = False) -> None:
    """Take everything back, each with its two lines in the journal; raises AppError, Cancelled.

    `told` is the forecast: what is said of each.
    Where rights are refused the rest goes on, and RightsRefused("rights-left-out") comes at the end; with `go_on`
    so does any other error.
    """
    skipped: list[str] = []
    first_error: AppError | None = None
    try:
        for item in items:
            if host.cancel.is_set():
                raise Cancelled
            try:
                _revert_item(item, host, journal)
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


def _revert_item(item: UninstallItem, host: Host, journal: Journal) -> None:
    from .steps import STEP_KINDS
    from .undoing import revert

    step = item.step
    reason: RetentionReason | None = None
    host.reporter.report_step(step.id, "running")
    if item.is_needed:
        for active in item.effects:
            journal.retain_effect(active.run, active.number)
        host.reporter.report_step(step.id, "skipped", code="progress.left-needed", data=step.data)
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
        host.reporter.fail_step(step.id, error)
        raise
    host.reporter.report_step(step.id, "skipped" if reason in RETAINED_REASONS else "done", code=code, data=data)


def _item_message(item: UninstallItem, reason: RetentionReason | None) -> tuple[str | None, dict[str, Value] | None]:
    """What is told of it at the end: what stayed and why, and what of the user's went with it."""
    from .effects import FolderCreated, TreeCreated
    from .forecast import remaining_data

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
