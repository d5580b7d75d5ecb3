"""Carries a plan out, step by step; whatever happens, an `end` comes last and the journal tells the truth."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import AppError, Cancelled, RebootNeeded, RightsRefused
from ..core.jobs import Job, JobContext
from ..core.json import storage_error
from ..core.names import MirrorUse
from ..core.paths import DataDir
from ..core.plan import Plan, Step, StepState
from ..core.results import Checks
from ..fetch.limits import Limits
from ..fetch.pace import Pace
from ..system.base import System
from .reporter import Reporter, end_state, outcome
from .work import Verifier

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from .bundle.shelf import Shelf
    from .journal import Journal
    from .work import Work


def verify_job(environment: Path, system: System) -> Job[Checks]:
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
        resume: Sequence[str] = (),
        verifier: Verifier = verify_job,
        limits: Limits | None = None,
        mirrors: MirrorUse = "when-slow",
        pace: Pace | None = None,
    ) -> None:
        self.plan = plan
        self._mirrors: MirrorUse = mirrors
        self._system = system
        self._data = data
        self._catalog = catalog
        self._dry_run = dry_run or plan.simulated
        self._resume = tuple(resume)
        self._verifier = verifier
        self._limits = limits or Limits()
        self._pace = pace or Pace()

    def run(self, context: JobContext[Any]) -> Path:
        """The environment's folder. Raises AppError and its family, nothing else: RebootNeeded("restart-needed")
        where it goes on after a restart, RightsRefused("rights-left-out") after all that could be done without.
        """
        from . import untrusted
        from .place import Ground

        reporter = Reporter(context)
        env = self.plan.env
        try:
            reporter.plan(self.plan.steps)
            untrusted.check(self.plan, Ground(self._system, self._data, self._catalog))
            if self._dry_run:
                self._walk(reporter)
            else:
                self._carry_out(context.cancel, reporter)
        except AppError as error:
            reporter.ended(env, error)
            raise
        except OSError as error:
            failure = storage_error(error, Path(error.filename or env))
            reporter.ended(env, failure)
            raise failure from error
        except Exception as error:
            failure = AppError("internal", detail=f"{type(error).__name__}: {error}")
            reporter.ended(env, failure)
            raise failure from error
        reporter.end("done", env)
        return Path(env)

    def _shelf(self) -> Shelf | None:
        """The bundle that everything comes from; raises CallError, AppError for one that cannot serve."""
        if self.plan.bundle is None:
            return None
        from .bundle.shelf import Shelf
        from .target import target_of

        shelf = Shelf(Path(self.plan.bundle))
        shelf.refuse_strange(self.plan, target_of(self._system.operating_system(), shelf.contents.wish.label))
        return shelf

    def _walk(self, reporter: Reporter) -> None:
        for step in self.plan.steps:
            reporter.step(step.id, "skipped")

    def _carry_out(self, cancel: threading.Event, reporter: Reporter) -> None:
        from ..system.single import one_at_a_time
        from .journal import Journal
        from .ledger import settle
        from .work import Work

        shelf = self._shelf()
        with (
            one_at_a_time(self._data),
            self._system.keep_awake("PyTorch is being installed"),
            Journal(self._data, self.plan) as journal,
        ):
            work = Work(
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
                pace=self._pace,
                shelf=shelf,
            )
            try:
                settle(work, journal)
                self._all(work)
            except BaseException as error:
                _note_end(journal, error)
                if isinstance(error, Cancelled) and work.partial.is_dir():
                    raise Cancelled("cancelled-half-made") from error
                raise
            finally:
                _tidy(self._data.uv_cache)
            journal.ended("done")

    def _all(self, work: Work) -> None:
        from .login import clear_login, go_on_after_login

        clear_login(work, work.journal)
        left_out: dict[str, AppError] = {}
        for step in self.plan.steps:
            if not left_out.keys().isdisjoint(step.needs):
                left_out[step.id] = left_out[next(need for need in step.needs if need in left_out)]
                work.journal.step_ended(step.id, "failed")
                work.reporter.step(step.id, "skipped", code="progress.left-out")
                continue
            try:
                restart = _one(step, work)
            except RightsRefused as error:
                left_out[step.id] = error
                continue
            if restart:
                raise RebootNeeded(go_on_after_login(self._resume, work, work.journal))
        if left_out:
            raise RightsRefused("rights-left-out", steps=", ".join(left_out)) from next(iter(left_out.values()))


def _one(step: Step, work: Work) -> bool:
    """Whether the computer must be restarted before the next one."""
    from .steps import KINDS

    if work.cancel.is_set():
        raise Cancelled
    kind = KINDS[step.kind]
    work.journal.step_began(step.id)
    work.reporter.step(step.id, "running")
    try:
        stood = kind.done(step, work)
        result = stood if stood is not None else kind.run(step, work)
    except BaseException as error:
        work.reporter.failed(step.id, error)
        with suppress(AppError):  # the disk may be full; the error itself is what counts
            work.journal.step_ended(step.id, outcome(error))
        raise
    state: StepState = "skipped" if stood is not None else "done"
    work.journal.step_ended(step.id, state)
    work.reporter.step(step.id, state, code=result.code, data=result.data)
    return result.restart


def _tidy(cache: Path) -> None:
    """What a stopped uv was unpacking; nothing else uses our cache while the install is held."""
    for left in cache.glob(".tmp*"):
        shutil.rmtree(left, ignore_errors=True)


def _note_end(journal: Journal, error: BaseException) -> None:
    code = error.code if isinstance(error, AppError) else type(error).__name__
    with suppress(AppError):
        journal.ended(end_state(error), code)
