"""Carries a plan out, step by step; whatever happens, an `end` comes last and the journal tells the truth."""

from __future__ import annotations

import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import AppError, Cancelled
from ..core.jobs import Job, JobContext
from ..core.json import storage_error
from ..core.paths import DataDir
from ..core.plan import Plan, Step, StepState
from ..core.results import Checks
from ..fetch.limits import Limits
from ..system.base import System
from .reporter import Reporter, outcome
from .work import Verifier

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from .journal import Journal


def verify_job(environment: Path, system: System) -> Job[Checks]:
    """The proof that is used unless another is given."""
    from ..verify.job import VerifyJob

    return VerifyJob(environment, system)


class InstallJob:
    """One install. News are `PlanEvent`, `StepEvent`s, `LogEvent`s and always one `EndEvent`, the last.

    With `dry_run` every step is skipped and nothing is touched; a simulated plan never does anything else.
    """

    def __init__(
        self,
        plan: Plan,
        system: System,
        data: DataDir,
        catalog: Catalog,
        *,
        dry_run: bool = False,
        verifier: Verifier = verify_job,
        limits: Limits | None = None,
    ) -> None:
        self.plan = plan
        self._system = system
        self._data = data
        self._catalog = catalog
        self._dry_run = dry_run or plan.simulated
        self._verifier = verifier
        self._limits = limits or Limits()

    def run(self, context: JobContext[Any]) -> Path:
        """The environment's folder. Raises AppError and its family, nothing else."""
        from . import untrusted

        reporter = Reporter(context)
        env = self.plan.env
        try:
            reporter.plan(self.plan.steps)
            untrusted.check(self.plan, self._system, self._data, self._catalog)
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

    def _walk(self, reporter: Reporter) -> None:
        for step in self.plan.steps:
            reporter.step(step.id, "skipped")

    def _carry_out(self, cancel: threading.Event, reporter: Reporter) -> None:
        from .journal import Journal
        from .single import one_at_a_time
        from .work import Work

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
            )
            try:
                for step in self.plan.steps:
                    _one(step, work)
            except BaseException as error:
                _note_end(journal, error)
                if isinstance(error, Cancelled) and work.partial.is_dir():
                    raise Cancelled("cancelled-half-made") from error
                raise
            finally:
                _tidy(self._data.uv_cache)
            journal.ended("done")


def _one(step: Step, work: Any) -> None:  # noqa: ANN401 - the class is loaded late
    from .steps import KINDS

    if work.cancel.is_set():
        raise Cancelled
    work.journal.step_began(step.id)
    work.reporter.step(step.id, "running")
    try:
        result = KINDS[step.kind](step, work)
    except BaseException as error:
        work.reporter.failed(step.id, error)
        with suppress(AppError):  # the disk may be full; the error itself is what counts
            work.journal.step_ended(step.id, outcome(error))
        raise
    state: StepState = "skipped" if result.skipped else "done"
    work.journal.step_ended(step.id, state)
    work.reporter.step(step.id, state, code=result.code, data=result.data)


def _tidy(cache: Path) -> None:
    """What a stopped uv was unpacking; nothing else uses our cache while the install is held."""
    for left in cache.glob(".tmp*"):
        shutil.rmtree(left, ignore_errors=True)


def _note_end(journal: Journal, error: BaseException) -> None:
    code = error.code if isinstance(error, AppError) else type(error).__name__
    with suppress(AppError):
        journal.ended(outcome(error), code)
