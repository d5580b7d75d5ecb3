"""The wizard at work: starts jobs, puts their results into the flow, and tells the pages what changed.

    page (click) -> WizardController -> WizardFlow        rules and state, without Qt (flow.py, state.py)
                          |
                          v
                     JobRunners -> JobRunner (gui/worker.py) -> thread: jobs.py, app/
                          |             |
                          |             `- reports, at most 10 times a second -> InstallProgress
                          v
                     `done` / `failed` -> WizardFlow -> `changed`, `page_changed` -> pages draw the state

Jobs of different kinds may run at the same time. Every error of a job is kept under its kind in `errors`, until a job
of this kind is started again.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from ...core.errors import AppError, Cancelled
from ...core.jobs import LazyJob
from ...core.machine import Machine
from ...core.plan import EndEvent, Event, InterruptedInstall, Plan
from ...core.recommendation import Alternative, Choice, Recommendation
from ...core.results import Benchmark, Checks
from ...core.types import Channel, EnvironmentKind, Goal, WayName
from ..language import Language
from ..machine_facts import InstalledEnvironment
from ..worker import JobRunner
from .elevation_prompt import WindowElevationPrompt
from .flow import PageName, WizardFlow
from .jobs import CheckFolderJob, FindInterruptedJob, RecommendationResult, RecommendJob, SavePlanJob
from .pages.install.progress import InstallProgress
from .state import is_usable

if TYPE_CHECKING:
    from ...app import App
    from ...app.available_plan import AvailableSetup, SourceRetry
    from ...fetch.rate import RateLimiter


JobKind = Literal[
    "detect",
    "recommend",
    "check-folder",
    "find-interrupted",
    "install",
    "verify",
    "benchmark",
    "save-plan",
    "probe-sizes",
    "check-sources",
]
# What is asked while the recommendation is read: nobody waits for it, and no answer is no error.
BACKGROUND_JOBS: tuple[JobKind, ...] = ("probe-sizes", "check-sources")
# Errors of an install by which a source no longer gives what it said that it has.
GONE_CODES = ("file-gone", "source-refused", "release-unavailable", "release-nowhere")


class SourceRequest(NamedTuple):
    """The options by which the sources were asked."""

    goal: Goal
    channel: Channel
    choice: Choice | None


class JobRunners(QObject):
    """One JobRunner for each kind of work. `failed` brings the kind and the AppError, which is `Cancelled` for a job
    that was stopped.
    """

    failed = Signal(str, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.detect = self._create_runner("detect")
        self.recommend = self._create_runner("recommend")
        self.check_folder = self._create_runner("check-folder")
        self.find_interrupted = self._create_runner("find-interrupted")
        self.install = self._create_runner("install")
        self.verify = self._create_runner("verify")
        self.benchmark = self._create_runner("benchmark")
        self.save_plan = self._create_runner("save-plan")
        self.probe_sizes = self._create_runner("probe-sizes")
        self.check_sources = self._create_runner("check-sources")

    @property
    def busy(self) -> bool:
        """Whether a job runs that the user waits for."""
        runners = self.findChildren(JobRunner)
        return any(runner.running for runner in runners if runner.objectName() not in BACKGROUND_JOBS)

    def _create_runner(self, kind: JobKind) -> JobRunner:
        runner = JobRunner(self)
        runner.setObjectName(kind)
        runner.failed.connect(lambda error: self.failed.emit(kind, error))
        runner.cancelled.connect(lambda: self.failed.emit(kind, Cancelled()))
        return runner


class WizardController(QObject):
    """One walk through the wizard. All paths are absolute, speeds are bytes per second.

    `changed` comes when the state or what runs changed, `page_changed` when another page is current.
    """

    changed = Signal()
    page_changed = Signal()
    detection_progress = Signal(object)  # a Machine, as far as it is known
    step_changed = Signal(object)  # an event of the install, after `progress` took it in
    lines_logged = Signal(object)  # a list of lines
    benchmark_progress = Signal(object)
    speed_limit_changed = Signal(object)  # bytes per second, None for no limit
    environment_verified = Signal(object)  # the path of an environment that works
    environment_named = Signal(str, str)  # the path of the one that is installed, and what the user calls it

    def __init__(self, app: App, language: Language, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.app = app
        self.language = language
        self.flow = WizardFlow(simulated=app.simulated)
        self.runners = JobRunners(self)
        self.errors: dict[JobKind, AppError] = {}
        self.interrupted_install: InterruptedInstall | None = None
        self.rate_limiter: RateLimiter | None = None
        self.progress: InstallProgress | None = None
        self.log_lines: list[str] = []
        self.saved_path: Path | None = None
        self.detection_seconds: float | None = None
        self._detection_started_at = 0.0
        self._recommend_again = False
        self._chosen_folder: str | None = None
        self.environments: tuple[InstalledEnvironment, ...] = ()  # all that exist
        self.environment_name: str | None = None  # as entered here; None: as it was
        self._probed_recommendation: Recommendation | None = None
        self._checked_request: SourceRequest | None = None
        self._is_file_gone = False
        self._is_source_retry = False
        self.was_source_check_stopped = False
        self._end_event: EndEvent | None = None
        self._connect_runners()

    def _connect_runners(self) -> None:
        runners = self.runners
        runners.failed.connect(self._on_failed)
        runners.detect.reported.connect(self.detection_progress)
        runners.detect.done.connect(self._on_detected)
        runners.recommend.done.connect(self._on_recommended)
        runners.recommend.finished.connect(self._on_recommend_finished)
        runners.check_folder.done.connect(self._on_folder_checked)
        runners.check_folder.finished.connect(self._check_chosen_folder)
        runners.find_interrupted.done.connect(self._on_interrupted_found)
        runners.install.logged.connect(self.log_lines.extend)
        runners.install.logged.connect(self.lines_logged)
        runners.install.reported.connect(self._on_install_event)
        runners.install.done.connect(self._on_installed)
        runners.verify.done.connect(self._on_verified)
        runners.benchmark.reported.connect(self.benchmark_progress)
        runners.benchmark.done.connect(self._on_benchmarked)
        runners.save_plan.done.connect(self._on_plan_saved)
        runners.probe_sizes.done.connect(self._on_sizes_probed)
        runners.check_sources.reported.connect(self._on_source_retry)
        runners.check_sources.done.connect(self._on_sources_checked)

    # What runs

    @property
    def busy(self) -> bool:
        """Whether a job runs that the user waits for."""
        return self.runners.busy

    @property
    def is_detecting(self) -> bool:
        """Whether the machine is being detected."""
        return self.runners.detect.running

    @property
    def is_recommending(self) -> bool:
        """Whether a recommendation is being computed."""
        return self.runners.recommend.running

    @property
    def is_checking_sources(self) -> bool:
        """Whether the sources are being asked what they have."""
        return self.runners.check_sources.running

    @property
    def awaits_sources(self) -> bool:
        """Whether the sources are being asked for the first time, which ends after a few seconds with or without their
        answers: until then what is recommended may be a build that none of them has.
        """
        return self.is_checking_sources and not self._is_source_retry

    @property
    def is_retrying_sources(self) -> bool:
        """Whether no source answered in time, and all are being asked once more."""
        return self.is_checking_sources and self._is_source_retry

    @property
    def is_verifying(self) -> bool:
        """Whether the environment is being verified."""
        return self.runners.verify.running

    @property
    def is_benchmarking(self) -> bool:
        """Whether a benchmark runs."""
        return self.runners.benchmark.running

    def detection_elapsed(self, now: float) -> float:
        """Seconds since the detection began; `now` is on the monotonic clock."""
        return max(now - self._detection_started_at, 0.0)

    @property
    def environment(self) -> Path | None:
        """The folder of the plan's environment."""
        plan = self.flow.state.plan
        return Path(plan.env) if plan is not None else None

    # Pages

    def go_to(self, page: PageName) -> None:
        """Enter a page, if the flow allows it."""
        if self.flow.go_to(page):
            self._start_page_job()

    def go_back(self) -> None:
        """Go to the previous page, if the flow allows it."""
        if self.flow.go_back():
            self._start_page_job()

    def go_next(self) -> None:
        """Go to the next page, if the flow allows it."""
        if self.flow.go_next():
            self._start_page_job()

    def _start_page_job(self) -> None:
        state = self.flow.state
        if self.flow.page == "computer" and state.machine is None:
            self.detect()
        elif self.flow.page == "recommendation" and state.recommendation is None:
            self.recommend()
        elif self.flow.page == "recommendation" and self._is_file_gone:
            # What was not there when it was to be downloaded may have to give way to something else.
            self._is_file_gone = False
            self.check_sources()
        elif self.flow.page == "done" and state.checks is None:
            self.verify()
        # A page draws itself when it is shown: no `changed` besides.
        self.page_changed.emit()

    # Detection

    def find_interrupted_install(self) -> None:
        """Look for an install that was interrupted; a simulated computer has none."""
        if not self.app.simulated and not self.runners.find_interrupted.running:
            self.runners.find_interrupted.start(FindInterruptedJob(self.app))

    def _on_interrupted_found(self, interrupted: InterruptedInstall | None) -> None:
        self.interrupted_install = interrupted if not self.flow.is_locked else None  # it runs again meanwhile
        # Started at login to continue after a restart: the user has agreed already.
        if self.app.resuming:
            self.app.resuming = False
            self.resume()
        self.changed.emit()

    def detect(self) -> None:
        """Detect the machine, again if need be."""
        if self.is_detecting or self.flow.is_locked:
            return
        self.errors.pop("detect", None)
        self._detection_started_at = time.monotonic()
        self.detection_seconds = None
        self.runners.detect.start(LazyJob(self.app.setup.detect))
        self.changed.emit()

    def _on_detected(self, machine: Machine) -> None:
        self.detection_seconds = time.monotonic() - self._detection_started_at
        self.flow.set_machine(machine)
        self.changed.emit()
        self.recommend()

    # Recommendation

    def recommend(self) -> None:
        """Compute what suits the machine; while a recommendation is being computed, another one follows it."""
        state = self.flow.state
        if state.machine is None:
            return
        if self.is_recommending:
            self._recommend_again = True
            return
        self.errors.pop("recommend", None)
        self.errors.pop("save-plan", None)
        self.saved_path = None
        self.runners.recommend.start(RecommendJob(self.app, state, state.machine))
        self.changed.emit()

    def _on_recommended(self, result: RecommendationResult) -> None:
        # The options changed meanwhile: this result is for the old ones.
        if self._recommend_again:
            return
        self.environments = result.environments
        self.flow.set_recommendation(
            result.recommendation,
            result.plan,
            already_installed=result.already_installed,
            blocking_error=result.blocking_error,
            smaller_choice=result.smaller_choice,
            options=result.options,
            option_notes=result.option_notes,
            dropped_choices=result.dropped_choices,
        )
        if not self._check_sources(result):
            self._probe_sizes(result.plan)

    def _on_recommend_finished(self) -> None:
        if self._recommend_again:
            self._recommend_again = False
            self.recommend()
        self.changed.emit()

    def _probe_sizes(self, plan: Plan | None) -> None:
        """Ask the servers once for the file sizes of a recommendation whose download size is unknown."""
        machine = self.flow.state.machine
        if plan is None or machine is None or plan.bundle is not None or self.app.simulated:
            return
        is_probed = plan.bytes is not None or plan.recommendation == self._probed_recommendation
        if not is_probed and not self.runners.probe_sizes.running:
            self._probed_recommendation = plan.recommendation
            self.runners.probe_sizes.start(LazyJob(partial(self.app.setup.probe_sizes, machine, plan)))

    def _check_sources(self, result: RecommendationResult) -> bool:
        """Ask once, for each set of choices, whether what is recommended can be downloaded; returns whether that is
        being asked.
        """
        state, app = self.flow.state, self.app
        if result.plan is None or result.already_installed or state.machine is None or state.bundle is not None:
            return False
        if app.simulated or not app.may_ask_sources:
            return False
        request = self._source_request
        if self.is_checking_sources:
            # Nobody waits for the answers to a question that is no longer asked; the end of the job asks the new one.
            if request != self._checked_request:
                self.runners.check_sources.cancel()
            return True
        if request == self._checked_request:
            return False
        self._checked_request, self.was_source_check_stopped = request, False
        self._is_source_retry = False
        folder = app.setup.environment_path(state.environment, state.goal)
        job = partial(
            app.setup.available_setup,
            state.machine,
            folder,
            goal=state.goal,
            channel=state.channel,
            choice=state.choice,
            made_by=state.environment_kind,
            retries=True,
        )
        self.runners.check_sources.start(LazyJob(job))
        return True

    @property
    def _source_request(self) -> SourceRequest:
        state = self.flow.state
        return SourceRequest(state.goal, state.channel, state.choice)

    def _on_source_retry(self, _retry: SourceRetry) -> None:
        self._is_source_retry = True
        self.changed.emit()

    def check_sources(self) -> None:
        """Ask again what the sources have."""
        if not self.flow.is_locked and not self.is_checking_sources:
            self._checked_request = None
            self.flow.set_sources((), {})
            self.recommend()

    def stop_source_check(self) -> None:
        """Stop asking; the recommendation stays as it is."""
        self.runners.check_sources.cancel()

    def _on_sources_checked(self, found: AvailableSetup) -> None:
        if self.flow.is_locked:
            return
        if self._source_request == self._checked_request:
            self.flow.set_sources(found.recommendation.sources or (), found.files)
        self.recommend()

    def _on_sizes_probed(self, _sizes: object) -> None:
        if not self.flow.is_locked:
            self.recommend()

    # Options: each change computes a new recommendation

    def accept_alternative(self, alternative: Alternative) -> None:
        """Take an alternative, from the recommendation or from a failed install."""
        if not self.flow.is_locked:
            self.flow.accept_alternative(alternative)
            self.go_to("recommendation")
            self.recommend()

    def reset_choices(self) -> None:
        """Drop all chosen versions."""
        if not self.flow.is_locked:
            self.flow.reset_choices()
            self.recommend()

    def take_smaller_choice(self) -> None:
        """Choose what needs less disk space instead of the user's own choices."""
        if not self.flow.is_locked and self.flow.state.smaller_choice is not None:
            self.flow.take_smaller_choice()
            self.recommend()

    def undo(self) -> None:
        """Undo the last change of versions."""
        if not self.flow.is_locked:
            self.flow.undo()
            self.recommend()

    def change_options(self, *, goal: Goal | None = None, channel: Channel | None = None) -> None:
        """Set up for another goal, or with the other kind of driver."""
        if not self.flow.is_locked:
            self.flow.change_options(goal=goal, channel=channel)
            self.recommend()

    def set_environment_kind(self, kind: EnvironmentKind) -> None:
        """Choose what creates the environment."""
        if not self.flow.is_locked:
            self.flow.change_options(environment_kind=kind)
            self.recommend()

    def start_customizing(self) -> None:
        """Let the user choose versions."""
        if not self.flow.is_locked:
            self.flow.start_customizing()
            self.recommend()

    def choose_version(self, part: str, value: str | None, *, exclusive: bool = False) -> None:
        """Choose a part's version; None is the recommended one. `exclusive` drops all other chosen versions."""
        if not self.flow.is_locked:
            self.flow.choose_version(part, value, exclusive=exclusive)
            self.recommend()

    def choose_way(self, name: WayName | None) -> None:
        """Choose one of the two ways where a driver update is needed; None is the recommended one."""
        if not self.flow.is_locked:
            self.flow.choose_way(name)
            self.recommend()

    def use_bundle(self, folder: Path | None) -> None:
        """Set up from an offline folder; None is from the internet again."""
        if self.flow.is_locked:
            return
        self.flow.use_bundle(str(folder) if folder is not None else None)
        if folder is not None:
            self.go_to("computer")
        self.recommend()

    def set_folder(self, folder: str) -> None:
        """Install into another folder. One that cannot be used is not taken: `errors["check-folder"]` says why, and the
        recommendation stays as it is.
        """
        if self.flow.is_locked:
            return
        self.go_to("recommendation")
        self._chosen_folder = folder
        self._check_chosen_folder()
        self.changed.emit()

    def _check_chosen_folder(self) -> None:
        """Check the folder that was chosen last, in a thread: a network drive may take its time."""
        if self._chosen_folder is not None and not self.runners.check_folder.running:
            self.errors.pop("check-folder", None)
            job = CheckFolderJob(self.app, self._chosen_folder, self.flow.state.goal)
            self._chosen_folder = None
            self.runners.check_folder.start(job)

    def _on_folder_checked(self, folder: str) -> None:
        if self._chosen_folder is None:
            self.flow.change_options(environment=folder)
            self.recommend()

    def save_plan(self, path: Path) -> None:
        """Write the plan as a JSON file, in the user's language."""
        plan = self.flow.state.plan
        if plan is None or self.runners.save_plan.running:
            return
        self.saved_path = None
        self.errors.pop("save-plan", None)
        self.runners.save_plan.start(SavePlanJob(self.language.texts().localize_plan(plan), path))

    def _on_plan_saved(self, path: Path) -> None:
        self.saved_path = path
        self.changed.emit()

    # Install

    def install(self) -> None:
        """Carry out the plan; an environment that is installed already is only verified."""
        planned = self.flow.state.plan
        if planned is not None and self.environment_name is not None and not planned.simulated:
            # Before the install, which may go on after a restart.
            self.environment_named.emit(planned.env, self.environment_name)
        if self.flow.state.already_installed:
            self.verify()
            return
        if self.flow.state.plan is None:
            return
        plan = self.flow.begin_install()
        self.interrupted_install = None
        self.progress = InstallProgress(plan)
        self.log_lines.clear()
        self._end_event = None
        self.errors.pop("install", None)
        self.runners.probe_sizes.cancel()
        self.runners.check_sources.cancel()
        setup, rate_limiter = self.app.setup, self.app.rate_limiter()
        self.rate_limiter = rate_limiter
        resume, dry_run = setup.resume_command(window=True), self.flow.simulated
        prompt = self._elevation_prompt()
        self.runners.install.start(
            LazyJob(
                partial(setup.install, plan, dry_run=dry_run, resume=resume, rate_limiter=rate_limiter, prompt=prompt)
            )
        )
        self.page_changed.emit()
        self.changed.emit()

    def _elevation_prompt(self) -> WindowElevationPrompt | None:
        """Windows' question belongs to a window, and waits for two minutes only; that of Linux does neither."""
        wizard = self.parent()
        if self.app.system.name != "windows" or not isinstance(wizard, QWidget):
            return None
        return WindowElevationPrompt(wizard)

    def resume(self) -> None:
        """Continue the interrupted install."""
        if self.interrupted_install is not None:
            self.flow.resume_install(self.interrupted_install)
            self.install()

    def stop(self) -> None:
        """Request that the install stops."""
        self.flow.request_stop()
        self.runners.install.cancel()
        self.changed.emit()

    def set_paused(self, paused: bool) -> None:
        """Pause or resume the downloads."""
        if self.rate_limiter is not None:
            (self.rate_limiter.pause if paused else self.rate_limiter.resume)()
        self.changed.emit()

    def set_speed_limit(self, rate: int | None) -> None:
        """Limit the downloads of this install and of later ones."""
        if self.rate_limiter is not None:
            self.rate_limiter.limit = rate
        self.speed_limit_changed.emit(rate)

    def _on_install_event(self, event: Event) -> None:
        if isinstance(event, EndEvent):
            self._end_event = event
        elif self.progress is not None:
            self.progress.handle_event(event)
            self.step_changed.emit(event)

    def _on_installed(self, environment: Path) -> None:
        self.flow.finish_install(self._end_event or EndEvent(state="done", env=str(environment)))
        # A dry run stays on its page to be read; a real install is verified next.
        if not self.flow.simulated:
            self.go_next()
        self.changed.emit()

    # Verification and benchmark

    def verify(self) -> None:
        """Verify the environment; that of a simulated computer does not exist."""
        environment = self.environment
        if environment is None or self.app.simulated or self.is_verifying:
            return
        self.errors.pop("verify", None)
        self.runners.verify.start(LazyJob(partial(self.app.setup.verify, environment)))
        self.changed.emit()

    def _on_verified(self, checks: Checks) -> None:
        self.flow.set_checks(checks)
        if is_usable(checks, self.flow.state.recommendation):
            self.environment_verified.emit(self.environment)
        if self.flow.page == "recommendation":
            self.go_to("done")
        self.changed.emit()

    def run_benchmark(self) -> None:
        """Run the quick benchmark on the environment's devices."""
        environment = self.environment
        if environment is None or self.app.simulated or self.is_benchmarking:
            return
        self.errors.pop("benchmark", None)
        self.runners.benchmark.start(LazyJob(partial(self.app.monitoring.benchmark, environment)))
        self.changed.emit()

    def stop_benchmark(self) -> None:
        """Request that the benchmark stops."""
        self.runners.benchmark.cancel()

    def _on_benchmarked(self, benchmark: Benchmark) -> None:
        self.flow.set_benchmark(benchmark)
        self.changed.emit()

    def _on_failed(self, kind: JobKind, error: AppError) -> None:
        # Sizes that could not be probed are shown as unknown; that is no error.
        if not isinstance(error, Cancelled) and kind not in BACKGROUND_JOBS:
            self.errors[kind] = error
        if kind == "check-sources" and not self.flow.is_locked:
            if self._source_request != self._checked_request:
                self.recommend()
                return
            self.was_source_check_stopped = True
            self._probe_sizes(self.flow.state.plan)
        if kind == "install":
            self._is_file_gone = error.code in GONE_CODES
            self.flow.fail_install(error)
            if self.progress is not None:
                self.progress.end_running_step("cancelled" if isinstance(error, Cancelled) else "failed")
            self.find_interrupted_install()  # which the first page offers
        self.changed.emit()
