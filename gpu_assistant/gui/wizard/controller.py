"""What runs for the wizard: one runner for each kind of work, and what the pages ask about it.

The wizard at work: starts the jobs, hears their news, keeps the flow, and tells the pages.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ...core.errors import AppError, Cancelled
from ...core.jobs import LazyJob
from ...core.machine import Machine
from ...core.plan import EndEvent, Event, InterruptedInstall, Plan
from ...core.recommendation import Alternative, Recommendation
from ...core.results import Benchmark, Checks
from ...core.types import Channel, EnvironmentKind, Goal
from ..language import Language
from ..worker import JobRunner
from .flow import PageName, WizardFlow
from .jobs import FindInterruptedJob, RecommendationResult, RecommendJob, SavePlanJob
from .pages.install.progress import InstallProgress

if TYPE_CHECKING:
    from ...app import App
    from ...fetch.rate import RateLimiter


class JobRunners(QObject):
    """The wizard's jobs. `changed` says that facts or activity changed, `moved` that another page is on."""

    changed = Signal()
    page_changed = Signal()
    detection_progress = Signal(object)
    step_changed = Signal(object)
    lines_logged = Signal(object)
    benchmark_progress = Signal(object)
    speed_limit_changed = Signal(object)

    def __init__(self, app: App, language: Language, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.app = app
        self.language = language
        self.flow = WizardFlow(simulated=app.simulated)
        self.interrupted_install: InterruptedInstall | None = None
        self.rate_limiter: RateLimiter | None = None
        self.progress: InstallProgress | None = None
        self.saved_path: Path | None = None
        self.log_lines: list[str] = []
        self.detection_seconds: float | None = None
        self.errors: dict[str, AppError] = {}
        self._detection_started_at = 0.0
        self._detect_runner = self._create_runner("look")
        self._recommend_runner = self._create_runner("reckon")
        self._interrupted_runner = self._create_runner("ask")
        self._install_runner = self._create_runner("install")
        self._verify_runner = self._create_runner("prove")
        self._benchmark_runner = self._create_runner("measure")
        self._save_plan_runner = self._create_runner("save")
        self._size_probe_runner = self._create_runner("price")
        self._detect_runner.reported.connect(self.detection_progress)
        self._install_runner.logged.connect(self.log_lines.extend)
        self._install_runner.logged.connect(self.lines_logged)
        self._benchmark_runner.reported.connect(self.benchmark_progress)

    def _create_runner(self, name: str) -> JobRunner:
        runner = JobRunner(self)
        runner.setObjectName(name)
        runner.failed.connect(lambda error: self._on_failed(name, error))
        runner.cancelled.connect(lambda: self._on_failed(name, Cancelled()))
        return runner

    def _on_failed(self, name: str, error: AppError) -> None:
        """A job came to no good end; what was asked for again, or left to run, says so in its own way."""
        raise NotImplementedError

    # What is going on

    @property
    def busy(self) -> bool:
        """Whether anything runs that somebody waits for: a price comes when it comes."""
        return any(runner.running for runner in self.findChildren(JobRunner) if runner is not self._size_probe_runner)

    @property
    def is_detecting(self) -> bool:
        """Whether the machine is being looked at."""
        return self._detect_runner.running

    @property
    def is_recommending(self) -> bool:
        """Whether a recommendation is on its way."""
        return self._recommend_runner.running

    @property
    def install_runner(self) -> JobRunner:
        """What installs; its news are the install's events."""
        return self._install_runner

    @property
    def benchmark_runner(self) -> JobRunner:
        """What measures; its news are `BenchProgress` and results."""
        return self._benchmark_runner

    @property
    def is_verifying(self) -> bool:
        """Whether the environment is being proven."""
        return self._verify_runner.running

    @property
    def is_benchmarking(self) -> bool:
        """Whether the devices are being measured."""
        return self._benchmark_runner.running

    def detection_elapsed(self, now: float) -> float:
        """Seconds since the look began, `now` on the monotonic clock."""
        return max(now - self._detection_started_at, 0.0)

    @property
    def environment(self) -> Path | None:
        """The folder that is worked on."""
        plan = self.flow.state.plan
        return Path(plan.env) if plan is not None else None


class WizardController(JobRunners):
    """One walk: every answer of a page goes through here."""

    def __init__(self, app: App, language: Language, parent: QObject | None = None) -> None:
        super().__init__(app, language, parent)
        self._recommend_again = False
        self._end_event: EndEvent | None = None
        self._detect_runner.done.connect(self._on_detected)
        self._recommend_runner.done.connect(self._on_recommended)
        self._recommend_runner.finished.connect(self._on_recommend_finished)
        self._interrupted_runner.done.connect(self._on_interrupted_found)
        self._install_runner.done.connect(self._on_installed)
        self._install_runner.reported.connect(self._on_install_event)
        self._verify_runner.done.connect(self._on_verified)
        self._benchmark_runner.done.connect(self._on_benchmarked)
        self._save_plan_runner.done.connect(self._on_plan_saved)
        self._size_probe_runner.done.connect(self._on_sizes_probed)
        self._probed_recommendation: Recommendation | None = None

    # Moving

    def go_to(self, page: PageName) -> None:
        """Enter a page, if that is allowed."""
        if self.flow.go_to(page):
            self._start_page_job()

    def go_back(self) -> None:
        """One page back, if that is allowed."""
        if self.flow.go_back():
            self._start_page_job()

    def go_next(self) -> None:
        """One page on, if that is allowed."""
        if self.flow.go_next():
            self._start_page_job()

    def _start_page_job(self) -> None:
        state = self.flow.state
        if self.flow.page == "computer" and state.machine is None:
            self.detect()
        elif self.flow.page == "recommendation" and state.recommendation is None:
            self.recommend()
        elif self.flow.page == "done" and state.checks is None:
            self.verify()
        # Showing a page draws it: no `changed` besides.
        self.page_changed.emit()

    # Looking, reckoning

    def find_interrupted_install(self) -> None:
        """Find out whether an install was interrupted; a simulated machine has none."""
        if not self.app.simulated and not self._interrupted_runner.running:
            self._interrupted_runner.start(FindInterruptedJob(self.app))

    def detect(self) -> None:
        """Look at the machine, again if need be."""
        if self._detect_runner.running or self.flow.is_locked:
            return
        self.errors.pop("look", None)
        self._detection_started_at = time.monotonic()
        self.detection_seconds = None
        self._detect_runner.start(LazyJob(self.app.setup.detect))
        self.changed.emit()

    def recommend(self) -> None:
        """Find what suits the machine; while that is on its way, it is asked once more afterwards."""
        state = self.flow.state
        if state.machine is None:
            return
        if self._recommend_runner.running:
            self._recommend_again = True
            return
        self.errors.pop("reckon", None)
        self.errors.pop("save", None)
        self.saved_path = None
        self._recommend_runner.start(RecommendJob(self.app, state, state.machine))
        self.changed.emit()

    def accept_alternative(self, alternative: Alternative) -> None:
        """The user takes an alternative, here or after a failure."""
        if self.flow.is_locked:
            return
        self.flow.accept_alternative(alternative)
        self.go_to("recommendation")
        self.recommend()

    def reset_choices(self) -> None:
        """Back to what we recommend."""
        if self.flow.is_locked:
            return
        self.flow.reset_choices()
        self.recommend()

    def undo(self) -> None:
        """Take the last change of versions back."""
        if self.flow.is_locked:
            return
        self.flow.undo()
        self.recommend()

    def change_options(self, *, goal: Goal | None = None, channel: Channel | None = None) -> None:
        """The user sets up for something else, or wants the other kind of driver."""
        if self.flow.is_locked:
            return
        self.flow.change_options(goal=goal, channel=channel)
        self.recommend()

    def set_environment_kind(self, kind: EnvironmentKind) -> None:
        """The user says what shall make the environment."""
        if self.flow.is_locked:
            return
        self.flow.change_options(environment_kind=kind)
        self.recommend()

    def start_customizing(self) -> None:
        """The user wants to choose versions."""
        if self.flow.is_locked:
            return
        self.flow.start_customizing()
        self.recommend()

    def choose_version(self, part: str, value: str | None) -> None:
        """The user picks a part's version; None leaves it to us again."""
        self._choose_version(part, value, exclusive=False)

    def choose_only_version(self, part: str, value: str) -> None:
        """The user picks a part's version and lets go of all that was picked before."""
        self._choose_version(part, value, exclusive=True)

    def _choose_version(self, part: str, value: str | None, *, exclusive: bool) -> None:
        if self.flow.is_locked:
            return
        self.flow.choose_version(part, value, exclusive=exclusive)
        self.recommend()

    def use_bundle(self, folder: Path | None) -> None:
        """Set up from a folder that was prepared for it; None is from the internet again."""
        if self.flow.is_locked:
            return
        self.flow.use_bundle(str(folder) if folder is not None else None)
        if folder is not None:
            self.go_to("computer")
        self.recommend()

    def set_folder(self, folder: str) -> None:
        """Install somewhere else."""
        if self.flow.is_locked:
            return
        self.flow.change_options(environment=folder)
        self.go_to("recommendation")
        self.recommend()

    # Installing

    def install(self) -> None:
        """Carry the plan out; what is already there is only proven."""
        if self.flow.state.already_installed:
            self.verify()
            return
        if self.flow.state.plan is None:
            return
        plan = self.flow.begin_install()
        self.progress = InstallProgress(plan)
        self.log_lines.clear()
        self._end_event = None
        self.errors.pop("install", None)
        self._size_probe_runner.cancel()
        resume_command = self.app.setup.resume_command(window=True)
        rate_limiter = self.rate_limiter = self.app.rate_limiter()
        dry_run = self.flow.simulated
        self._install_runner.start(
            LazyJob(partial(self.app.setup.install, plan, dry_run=dry_run, resume=resume_command, pace=rate_limiter))
        )
        self.page_changed.emit()
        self.changed.emit()

    def resume(self) -> None:
        """Take up the interrupted install."""
        if self.interrupted_install is not None:
            self.flow.resume_install(self.interrupted_install)
            self.interrupted_install = None
            self.install()

    def stop(self) -> None:
        """Ask the install to stop."""
        self.flow.request_stop()
        self._install_runner.cancel()
        self.changed.emit()

    def set_paused(self, paused: bool) -> None:
        """Hold the downloads, or let them go on."""
        if self.rate_limiter is not None:
            (self.rate_limiter.pause if paused else self.rate_limiter.resume)()
        self.changed.emit()

    def set_speed_limit(self, rate: int | None) -> None:
        """How fast downloads may go, in bytes per second; from now on and for later ones."""
        if self.rate_limiter is not None:
            self.rate_limiter.limit = rate
        self.speed_limit_changed.emit(rate)

    # Proving, measuring

    def verify(self) -> None:
        """Prove the environment; a simulated one does not exist."""
        environment = self.environment
        if environment is None or self.app.simulated or self._verify_runner.running:
            return
        self.errors.pop("prove", None)
        self._verify_runner.start(LazyJob(partial(self.app.setup.verify, environment)))
        self.changed.emit()

    def run_benchmark(self) -> None:
        """Measure the environment's devices, quickly."""
        environment = self.environment
        if environment is None or self.app.simulated or self._benchmark_runner.running:
            return
        self.errors.pop("measure", None)
        self._benchmark_runner.start(LazyJob(partial(self.app.monitoring.benchmark, environment)))
        self.changed.emit()

    def stop_benchmark(self) -> None:
        """Ask the benchmark to stop."""
        self._benchmark_runner.cancel()

    def save_plan(self, path: Path) -> None:
        """Write the plan down as JSON, to be looked at or carried out elsewhere."""
        plan = self.flow.state.plan
        if plan is None or self._save_plan_runner.running:
            return
        self.saved_path = None
        self.errors.pop("save", None)
        self._save_plan_runner.start(SavePlanJob(self.language.texts().localize_plan(plan), path))

    # What comes back

    def _on_detected(self, machine: Machine) -> None:
        self.detection_seconds = time.monotonic() - self._detection_started_at
        self.flow.set_machine(machine)
        self.changed.emit()
        self.recommend()

    def _on_recommended(self, result: RecommendationResult) -> None:
        # An answer to a question that was withdrawn meanwhile is no answer.
        if not self._recommend_again:
            self.flow.set_recommendation(
                result.recommendation,
                result.plan,
                already_installed=result.already_installed,
                blocking_error=result.blocking_error,
                options=result.options,
                option_notes=result.option_notes,
                dropped_choices=result.dropped_choices,
            )

            self._probe_sizes(result.plan)

    def _probe_sizes(self, plan: Plan | None) -> None:
        """Ask once for each recommendation what it costs; nobody has to wait for the answer."""
        machine = self.flow.state.machine
        if (
            plan is None
            or plan.bundle is not None
            or machine is None
            or self.app.simulated
            or self._size_probe_runner.running
        ):
            return
        if plan.bytes is None and plan.recommendation != self._probed_recommendation:
            self._probed_recommendation = plan.recommendation
            self._size_probe_runner.start(LazyJob(partial(self.app.setup.probe_sizes, machine, plan)))

    def _on_sizes_probed(self, _sizes: object) -> None:
        if not self.flow.is_locked:
            self.recommend()

    def _on_recommend_finished(self) -> None:
        if self._recommend_again:
            self._recommend_again = False
            self.recommend()
        self.changed.emit()

    def _on_interrupted_found(self, interrupted: InterruptedInstall | None) -> None:
        self.interrupted_install = interrupted
        # Started at login to go on after the restart: the user has agreed already.
        if self.app.resuming:
            self.app.resuming = False
            self.resume()
        self.changed.emit()

    def _on_install_event(self, event: Event) -> None:
        if isinstance(event, EndEvent):
            self._end_event = event
        elif self.progress is not None:
            self.progress.handle_event(event)
            self.step_changed.emit(event)

    def _on_installed(self, environment: Path) -> None:
        self.flow.finish_install(self._end_event or EndEvent(state="done", env=str(environment)))
        # What was simulated stays to be looked at; what was installed is proven next.
        if self.flow.state.stage == "done" and not self.flow.simulated:
            self.go_next()
        self.changed.emit()

    def _on_verified(self, checks: Checks) -> None:
        self.flow.set_checks(checks)
        if self.flow.page == "recommendation":
            self.go_to("done")
        self.changed.emit()

    def _on_plan_saved(self, path: Path) -> None:
        self.saved_path = path
        self.changed.emit()

    def _on_benchmarked(self, benchmark: Benchmark) -> None:
        self.flow.set_benchmark(benchmark)
        self.changed.emit()

    def _on_failed(self, name: str, error: AppError) -> None:
        # Without an answer the price stays unknown, and says so.
        if not isinstance(error, Cancelled) and name != "price":
            self.errors[name] = error
        if name == "install":
            self.flow.fail_install(error)
            if self.progress is not None:
                self.progress.end_running_step("cancelled" if isinstance(error, Cancelled) else "failed")
        self.changed.emit()
