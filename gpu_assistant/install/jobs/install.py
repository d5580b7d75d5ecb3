"""Runs a plan, step by step.

    InstallJob.run ─► validate_plan ─► data_folder_lock ─► Journal ─► recover (what a killed run left unconfirmed)
      └─ for each step:  is_satisfied ─► Outcome: skipped
                         else run ─► Outcome: done; `produces` goes to the later steps through InstallContext
           ElevationDenied      the steps that need this one are skipped, the others still run
           a driver that the user installs is not there before the verification: as after Outcome.restart
           Outcome.restart      a command is set that runs at the next login (`resume_at_login`); the run ends with
                                RebootRequired. The next run starts over, and finds the earlier steps satisfied.
           any other error      ends the run

Whatever happens, the last event is an `EndEvent`, and every change is in the journal (`journal/log.py`) before it is
made.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core import filesystem, paths
from ...core.errors import AppError, Cancelled, ElevationDenied, RebootRequired, storage_error
from ...core.jobs import Job, JobContext
from ...core.paths import DataDir
from ...core.plan import VERIFY_AFTER_DRIVER, Plan, Step, StepState
from ...core.results import Checks
from ...core.types import MirrorUse
from ...fetch.rate import RateLimiter
from ...fetch.request import Limits
from ...system.base import System
from ...system.locks import data_folder_lock, environment_lock
from ..bundle.source import BundleSource
from ..elevation.client import ElevationPrompt
from ..host import Host
from ..journal.log import Journal, LoginCommandSet
from ..journal.recovery import active_effects, observe_state, recover
from ..journal.validation import LOGIN_KIND
from ..packages.requirements import platform_for
from ..packages.uv import cache_lock
from ..plan.validation import validate_plan
from ..progress import ProgressReporter, end_state, failure_state
from ..steps.context import DownloadContext, InstallContext, Verifier
from ..steps.kinds import STEP_KINDS
from .move_downloads import finish_move

if TYPE_CHECKING:
    from ...catalog.store import Catalog
    from ...verify.cuda_program import ToolkitProof


GUI_PROGRAM = "GPU Assistant"  # as installers/windows names it, beside the console program


def make_verify_job(environment: Path, system: System, toolkit: ToolkitProof | None) -> Job[Checks]:
    """The default `Verifier`."""
    from ...verify.job import VerifyJob

    return VerifyJob(environment, system, toolkit=toolkit)


LOGIN_FLAG = "--at-login"  # the first argument with which the program starts itself and ends (`__main__.py`)


class InstallJob:
    """One install. Reports `PlanEvent`, `StepEvent`s, `LogEvent`s and one `EndEvent`, the last.

    With `dry_run`, and always for a plan for another computer, every step is skipped and nothing is changed.
    `login_command` continues after a restart; `rate_limiter` pauses or limits the downloads; `prompt` is the window's
    part in the system's question about rights.
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
        rate_limiter: RateLimiter | None = None,
        prompt: ElevationPrompt | None = None,
    ) -> None:
        self.plan = plan
        self._prompt = prompt
        self._mirrors: MirrorUse = mirrors
        self._system = system
        self._data = data
        self._catalog = catalog
        self._dry_run = dry_run or plan.simulated
        self._login_command = tuple(login_command)
        self._verifier = verifier
        self._limits = limits or Limits()
        self._rate_limiter = rate_limiter or RateLimiter()

    def run(self, context: JobContext[Any]) -> Path:
        """The environment's folder. Raises only AppErrors: RebootRequired("restart-needed" or "restart-by-hand"),
        ElevationDenied("rights-left-out") after all steps that do not need the refused rights, and any step's error.
        """
        reporter = ProgressReporter(context)
        environment = self.plan.env
        try:
            reporter.report_plan(self.plan.steps)
            validate_plan(self.plan, self._data)
            if self._dry_run:
                self._report_dry_run(reporter)
            else:
                with reporter.show_busy_files():
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

    def _bundle_source(self) -> BundleSource | None:
        """The bundle of the plan; raises AppError if it is invalid or lacks a file."""
        if self.plan.bundle is None:
            return None
        source = BundleSource(Path(self.plan.bundle), self.plan.bundle_sha256 or None)
        source.check_plan(self.plan, platform_for(self._system.operating_system(), source.contents.request.label))
        return source

    def _report_dry_run(self, reporter: ProgressReporter) -> None:
        for step in self.plan.steps:
            reporter.report_step(step.id, "skipped")

    def _install(self, cancel: threading.Event, reporter: ProgressReporter) -> None:
        bundle = self._bundle_source()
        with (
            data_folder_lock(self._data),
            environment_lock(Path(self.plan.env)),
            self._system.keep_awake("PyTorch is being installed"),
            Journal(self._data, self.plan) as journal,
        ):
            host = Host(self._system, self._data)
            downloads = DownloadContext(
                host,
                self._catalog,
                reporter=reporter,
                cancel=cancel,
                limits=self._limits,
                mirrors=self._mirrors,
                rate_limiter=self._rate_limiter,
                bundle=bundle,
            )
            context = InstallContext(
                self.plan, downloads, journal=journal, verifier=self._verifier, prompt=self._prompt
            )
            try:
                recover(host, journal, STEP_KINDS)
                with suppress(AppError):
                    finish_move(self._data)
                self._run_steps(context)
            except BaseException as error:
                _record_end(journal, error)
                if isinstance(error, Cancelled) and context.partial.is_dir():
                    raise Cancelled("cancelled-half-made") from error
                raise
            finally:
                _clean_uv_cache(self._data)
            journal.end_run("done")

    def _run_steps(self, context: InstallContext) -> None:
        clear_login_command(context.host, context.journal)
        skipped: dict[str, AppError] = {}
        for step in self.plan.steps:
            if not skipped.keys().isdisjoint(step.needs):
                skipped[step.id] = skipped[next(need for need in step.needs if need in skipped)]
                context.journal.finish_step(step.id, "failed")
                context.reporter.report_step(step.id, "skipped", code="progress.left-out")
                continue
            if step.code == VERIFY_AFTER_DRIVER:
                self._await_driver(context)
            try:
                needs_restart = _run_step(step, context)
            except ElevationDenied as error:
                skipped[step.id] = error
                continue
            if needs_restart:
                raise RebootRequired(resume_at_login(self._login_command, context))
        if skipped:
            raise ElevationDenied("rights-left-out", steps=", ".join(skipped)) from next(iter(skipped.values()))

    def _await_driver(self, context: InstallContext) -> None:
        """Raise RebootRequired("driver-awaited" or "driver-awaited-by-hand") while the driver that the user installs is
        not there: what was built stays, and the next run goes on with the verification.
        """
        step = next((each for each in self.plan.steps if STEP_KINDS[each.kind].is_awaited(each, context)), None)
        if step is not None:
            goes_on = resume_at_login(self._login_command, context) == "restart-needed"
            code = "driver-awaited" if goes_on else "driver-awaited-by-hand"
            raise RebootRequired(code, commands=step.data.get("commands"))


def _run_step(step: Step, context: InstallContext) -> bool:
    """Run one step; returns whether the computer must be restarted before the next one."""
    if context.cancel.is_set():
        raise Cancelled
    kind = STEP_KINDS[step.kind]
    context.journal.start_step(step.id)
    context.reporter.report_step(step.id, "running")
    try:
        satisfied = kind.is_satisfied(step, context)
        result = satisfied if satisfied is not None else kind.run(step, context)
        context.provide(*result.produces)
    except BaseException as error:
        context.reporter.fail_step(step.id, error)
        with suppress(AppError):  # the disk may be full; the first error is the one to report
            context.journal.finish_step(step.id, failure_state(error))
        raise
    state: StepState = "skipped" if satisfied is not None else "done"
    context.journal.finish_step(step.id, state)
    context.reporter.report_step(step.id, state, code=result.code, data=result.data)
    return result.restart


def _clean_uv_cache(data: DataDir) -> None:
    """Delete what a killed uv was unpacking, unless another one is running."""
    if data.owns(data.uv_cache):
        with suppress(AppError, OSError), cache_lock(data):
            for stale in data.uv_cache.glob(".tmp*"):
                filesystem.rmtree(stale, ignore_errors=True)


def _record_end(journal: Journal, error: BaseException) -> None:
    code = error.code if isinstance(error, AppError) else type(error).__name__
    with suppress(AppError):
        journal.end_run(end_state(error), code)


def resume_at_login(command: Sequence[str], context: InstallContext) -> str:
    """Have the command run after the next login; returns the code of the error to end with.

    "restart-by-hand" if there is no command, or it could not be set.
    """
    if not command:
        return "restart-by-hand"
    try:
        with context.journal.effect(LOGIN_KIND, LoginCommandSet(command=tuple(command))):
            context.system.login_command.set(command)
    except AppError as error:
        context.reporter.log(f"{error.code}: {error.data}")
        return "restart-by-hand"
    return "restart-needed"


def clear_login_command(host: Host, journal: Journal) -> None:
    """Remove the login commands that earlier runs have set; raises AppError."""
    for active in active_effects(host.data):
        if isinstance(active.effect, LoginCommandSet):
            journal.start_undo(active.run, active.number)
            is_applied = observe_state(active, host, STEP_KINDS) == "applied"
            if is_applied:
                host.system.login_command.clear()
            journal.finish_undo(active.run, active.number, None if is_applied else "changed")


def resume_command(data: DataDir, system: System, *, gui: bool) -> tuple[str, ...]:
    """The command by which this copy of the program continues after a restart, with the same data folder.

    Windows waits for its end: there it starts the program and ends.
    """
    program, options = _program(system, gui=gui), _data_options(data)
    if system.name == "windows":
        program.append(LOGIN_FLAG)
    return (*program, *options, "--resume") if gui else (*program, "install", "--resume", "--yes", *options)


def startup_command(data: DataDir, system: System) -> tuple[str, ...]:
    """The command by which this copy of the program starts with the computer, minimised."""
    return (*_program(system, gui=True), *_data_options(data), "--minimized")


def starts_with_system(data: DataDir, system: System) -> bool:
    """Whether the command that runs after each login is for this data folder. Raises AppError."""
    command, options = system.startup_command.get() or (), (*_data_options(data), "--minimized")
    return command[-len(options) :] == options and (len(options) > 1 or "--data-dir" not in command)


def _program(system: System, *, gui: bool) -> list[str]:
    home = paths.install_dir()
    if home is None:
        return [sys.executable, "-m", "gpu_assistant"]
    name = GUI_PROGRAM if gui and system.name == "windows" else "gpu-assistant"
    return [str(home / system.executable(name))]


def _data_options(data: DataDir) -> list[str]:
    return [] if data.root == paths.data_dir(None, {}).root else ["--data-dir", str(data.root)]
