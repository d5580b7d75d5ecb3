"""Carries a plan out, step by step; whatever happens, an `end` comes last and the journal tells the truth."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import AppError, Cancelled, RebootRequired, ElevationDenied
from ..core.jobs import Job, JobContext
from ..core.json import storage_error
from ..core.names import MirrorUse
from ..core.paths import DataDir
from ..core.plan import Plan, Step, StepState
from ..core.results import Checks
from ..fetch.limits import Limits
from ..fetch.pace import Pace
from ..system.base import System
from .reporter import ProgressReporter, end_state, failure_state
from .work import Verifier

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from .bundle.shelf import BundleSource
    from .journal import Journal
    from .work import InstallContext


def make_verify_job(environment: Path, system: System) -> Job[Checks]:
    """The proof that is used unless another is given."""
    from ..verify.job import VerifyJob

    return VerifyJob(environment, system)


class InstallJob:
    """One install. News are `PlanEvent`, `StepEvent`s, `LogEvent`s and always one `EndEvent`, the last.

    With `dry_run` every step is skipped and nothing is touched; a simulated plan never does anything else. `resume`
    are the words of the command that goes on after a restart; `pace` holds or slows its downloads.
    """

    def __init__(
        self,
        plan: Plan,
        system: System,
        data: DataDir,
        catalog: Catalog,
        *,
        dry_run: bool = False,
        login_command: Sequence[str] = (),
        verifier: Verifier = make_verify_job,
        limits: Limits | None = None,
        mirrors: MirrorUse = "when-slow",
        rate_limiter: Pace | None = None,
    ) -> None:
        self.plan = plan
        self._mirrors: MirrorUse = mirrors
        self._system = system
        self._data = data
        self._catalog = catalog
        self._dry_run = dry_run or plan.simulated
        self._login_command = tuple(login_command)
        self._verifier = verifier
        self._limits = limits or Limits()
        self._rate_limiter = rate_limiter or Pace()

    def run(self, context: JobContext[Any]) -> Path:
        """The environment's folder. Raises AppError and its family, nothing else: RebootNeeded("restart-needed")
        where it goes on after a restart, RightsRefused("rights-left-out") after all that could be done without.
        """
        from . import untrusted
        from .place import ValidationContext

        reporter = ProgressReporter(context)
        environment = self.plan.env
        try:
            reporter.report_plan(self.plan.steps)
            untrusted.validate_plan(self.plan, ValidationContext(self._system, self._data, self._catalog))
            if self._dry_run:
                self._report_dry_run(reporter)
            else:
                self._install(context.cancel, reporter)
        except AppError as error:
            reporter.fail_run(environment, error)
            raise
        except OSError as error:
            failure = storage_error(error, Path(error.filename or environment))
            reporter.fail_run(environment, failure)
            raise failure from error
        except Exception as error:
            failure = AppError("internal", detail=f"{type(error).__name__}: {error}")
            reporter.fail_run(environment, failure)
            raise failure from error
        reporter.end_run("done", environment)
        return Path(environment)

    def _open_bundle(self) -> BundleSource | None:
        """The bundle that everything comes from; raises CallError, AppError for one that cannot serve."""
        if self.plan.bundle is None:
            return None
        from .bundle.shelf import BundleSource
        from .target import platform_for

        bundle = BundleSource(Path(self.plan.bundle))
        bundle.check_plan(self.plan, platform_for(self._system.operating_system(), bundle.contents.wish.label))
        return bundle

    def _report_dry_run(self, reporter: ProgressReporter) -> None:
        for step in self.plan.steps:
            reporter.report_step(step.id, "skipped")

    def _install(self, cancel: threading.Event, reporter: ProgressReporter) -> None:
        from ..system.single import data_folder_lock
        from .journal import Journal
        from .ledger import recover
        from .work import InstallContext

        bundle = self._open_bundle()
        with (
            data_folder_lock(self._data),
            self._system.keep_awake("PyTorch is being installed"),
            Journal(self._data, self.plan) as journal,
        ):
            context = InstallContext(
                self.plan,
                self._system,
                self._data,
                self._catalog,
                reporter=reporter,
                journal=journal,
                cancel=cancel,
                verifier=self._verifier,
                limits=self._limits,
                mirrors=self._mirrors,
                rate_limiter=self._rate_limiter,
                bundle=bundle,
            )
            try:
                recover(context, journal)
                self._run_steps(context)
            except BaseException as error:
                _record_end(journal, error)
                if isinstance(error, Cancelled) and context.staging_path.is_dir():
                    raise Cancelled("cancelled-half-made") from error
                raise
            finally:
                _clean_uv_cache(self._data.uv_cache)
            journal.end_run("done")

    def _run_steps(self, context: InstallContext) -> None:
        from .login import clear_login_command, resume_at_login

        clear_login_command(context, context.journal)
        skipped: dict[str, AppError] = {}
        for step in self.plan.steps:
            if not skipped.keys().isdisjoint(step.needs):
                skipped[step.id] = skipped[next(need for need in step.needs if need in skipped)]
                context.journal.finish_step(step.id, "failed")
                context.reporter.report_step(step.id, "skipped", code="progress.left-out")
                continue
            try:
                needs_restart = _run_step(step, context)
            except ElevationDenied as error:
                skipped[step.id] = error
                continue
            if needs_restart:
                raise RebootRequired(resume_at_login(self._login_command, context, context.journal))
        if skipped:
            raise ElevationDenied("rights-left-out", steps=", ".join(skipped)) from next(iter(skipped.values()))


def _run_step(step: Step, context: InstallContext) -> bool:
    """Whether the computer must be restarted before the next one."""
    from .steps import STEP_KINDS

    if context.cancel.is_set():
        raise Cancelled
    kind = STEP_KINDS[step.kind]
    context.journal.start_step(step.id)
    context.reporter.report_step(step.id, "running")
    try:
        satisfied = kind.is_satisfied(step, context)
        result = satisfied if satisfied is not None else kind.run(step, context)
    except BaseException as error:
        context.reporter.fail_step(step.id, error)
        with suppress(AppError):  # the disk may be full; the error itself is what counts
            context.journal.finish_step(step.id, failure_state(error))
        raise
    state: StepState = "skipped" if satisfied is not None else "done"
    context.journal.finish_step(step.id, state)
    context.reporter.report_step(step.id, state, code=result.code, data=result.data)
    return result.restart


def _clean_uv_cache(cache: Path) -> None:
    """What a stopped uv was unpacking; nothing else uses our cache while the install is held."""
    for stale in cache.glob(".tmp*"):
        shutil.rmtree(stale, ignore_errors=True)


def _record_end(journal: Journal, error: BaseException) -> None:
    code = error.code if isinstance(error, AppError) else type(error).__name__
    with suppress(AppError):
        journal.end_run(end_state(error), code)
