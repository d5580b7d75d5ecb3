"""The wizard at work: starts the jobs, hears their news, keeps the flow, and tells the pages."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from ...core.errors import AppError, Cancelled
from ...core.jobs import Later
from ...core.machine import Machine
from ...core.plan import EndEvent, Event, Plan
from ...core.recommendation import Alternative
from ...core.results import Benchmark, Checks
from ..language import Language
from ..worker import JobRunner
from .flow import Flow, PageName
from .progress import Progress
from .tasks import AskInterrupted, OpenPlace, Reckon, Reckoning

if TYPE_CHECKING:
    from ...app import App


class Road(QObject):
    """One walk. `changed` says that facts or activity changed, `moved` that another page is on."""

    changed = Signal()
    moved = Signal()
    looked_at = Signal(object)
    stepped = Signal(object)
    logged = Signal(list)
    measuring_news = Signal(object)
    complained = Signal(object)

    def __init__(self, app: App, language: Language, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.app = app
        self.language = language
        self.flow = Flow(simulated=app.simulated)
        self.interrupted: Plan | None = None
        self.progress: Progress | None = None
        self.lines: list[str] = []
        self.look_seconds: float | None = None
        self.errors: dict[str, AppError] = {}
        self._began = 0.0
        self._again = False
        self._end: EndEvent | None = None
        self._looker = self._runner("look", self._found)
        self._reckoner = self._runner("reckon", self._reckoned)
        self._asker = self._runner("ask", self._asked)
        self._installer = self._runner("install", self._ended)
        self._prover = self._runner("prove", self._proven)
        self._measurer = self._runner("measure", self._measured)
        self._opener = self._runner("open", lambda _: None)
        self._looker.news.connect(self.looked_at)
        self._installer.news.connect(self._step)
        self._installer.logged.connect(self.lines.extend)
        self._installer.logged.connect(self.logged)
        self._measurer.news.connect(self.measuring_news)
        self._reckoner.finished.connect(self._reckon_again)

    def _runner(self, what: str, done: Any) -> JobRunner:  # noqa: ANN401 - a slot for each job's own result
        runner = JobRunner(self)
        runner.setObjectName(what)
        runner.done.connect(done)
        runner.failed.connect(lambda error: self._failed(what, error))
        runner.cancelled.connect(lambda: self._failed(what, Cancelled()))
        return runner

    # What is going on

    @property
    def busy(self) -> bool:
        """Whether anything runs."""
        return any(runner.running for runner in self.findChildren(JobRunner))

    @property
    def looking(self) -> bool:
        """Whether the machine is being looked at."""
        return self._looker.running

    @property
    def reckoning(self) -> bool:
        """Whether a recommendation is on its way."""
        return self._reckoner.running

    @property
    def installer(self) -> JobRunner:
        """What installs; its news are the install's events."""
        return self._installer

    @property
    def measurer(self) -> JobRunner:
        """What measures; its news are `BenchProgress` and results."""
        return self._measurer

    @property
    def proving(self) -> bool:
        """Whether the environment is being proven."""
        return self._prover.running

    @property
    def measuring(self) -> bool:
        """Whether the devices are being measured."""
        return self._measurer.running

    def look_spent(self, now: float) -> float:
        """Seconds since the look began, `now` on the monotonic clock."""
        return max(now - self._began, 0.0)

    @property
    def environment(self) -> Path | None:
        """The folder that is worked on."""
        plan = self.flow.facts.plan
        return Path(plan.env) if plan is not None else None

    # Moving

    def go(self, page: PageName) -> None:
        """Enter a page, if that is allowed."""
        if self.flow.go(page):
            self._arrived()

    def back(self) -> None:
        """One page back, if that is allowed."""
        if self.flow.back():
            self._arrived()

    def next(self) -> None:
        """One page on, if that is allowed."""
        if self.flow.next():
            self._arrived()

    def _arrived(self) -> None:
        facts = self.flow.facts
        if self.flow.page == "computer" and facts.machine is None:
            self.look()
        elif self.flow.page == "recommendation" and facts.recommendation is None:
            self.reckon()
        elif self.flow.page == "done" and facts.checks is None:
            self.prove()
        # Showing a page draws it: no `changed` besides.
        self.moved.emit()

    # Looking, reckoning

    def ask_interrupted(self) -> None:
        """Find out whether an install was interrupted; a simulated machine has none."""
        if not self.app.simulated and not self._asker.running:
            self._asker.start(AskInterrupted(self.app))

    def look(self) -> None:
        """Look at the machine, again if need be."""
        if self._looker.running or self.flow.locked:
            return
        self.errors.pop("look", None)
        self._began = time.monotonic()
        self.look_seconds = None
        self._looker.start(Later(self.app.detect))
        self.changed.emit()

    def reckon(self) -> None:
        """Find what suits the machine; while that is on its way, it is asked once more afterwards."""
        facts = self.flow.facts
        if facts.machine is None:
            return
        if self._reckoner.running:
            self._again = True
            return
        self.errors.pop("reckon", None)
        self._reckoner.start(Reckon(self.app, facts.machine, facts.goal, facts.choice, facts.environment))
        self.changed.emit()

    def take(self, offer: Alternative) -> None:
        """The user takes an alternative, here or after a failure."""
        if self.flow.locked:
            return
        self.flow.offered(offer)
        self.go("recommendation")
        self.reckon()

    def ours_again(self) -> None:
        """Back to what we recommend."""
        self.flow.unwish()
        self.reckon()

    def set_folder(self, folder: str) -> None:
        """Install somewhere else."""
        if self.flow.locked:
            return
        self.flow.wish(environment=folder)
        self.go("recommendation")
        self.reckon()

    # Installing

    def install(self) -> None:
        """Carry the plan out; what is already there is only proven."""
        if self.flow.facts.settled:
            self.prove()
            return
        plan = self.flow.begin()
        self.progress = Progress(plan)
        self.lines.clear()
        self._end = None
        self.errors.pop("install", None)
        self._installer.start(Later(partial(self.app.install, plan, dry_run=self.flow.simulated)))
        self.moved.emit()
        self.changed.emit()

    def resume(self) -> None:
        """Take up the interrupted install."""
        if self.interrupted is not None:
            self.flow.resumed(self.interrupted)
            self.interrupted = None
            self.install()

    def stop(self) -> None:
        """Ask the install to stop."""
        self.flow.stopping()
        self._installer.cancel()
        self.changed.emit()

    # Proving, measuring, opening

    def prove(self) -> None:
        """Prove the environment; a simulated one does not exist."""
        environment = self.environment
        if environment is None or self.app.simulated or self._prover.running:
            return
        self.errors.pop("prove", None)
        self._prover.start(Later(partial(self.app.verify, environment)))
        self.changed.emit()

    def measure(self) -> None:
        """Measure the environment's devices, quickly."""
        environment = self.environment
        if environment is None or self.app.simulated or self._measurer.running:
            return
        self.errors.pop("measure", None)
        self._measurer.start(Later(partial(self.app.bench, environment)))
        self.changed.emit()

    def stop_measuring(self) -> None:
        """Ask the benchmark to stop."""
        self._measurer.cancel()

    def open(self, *, terminal: bool) -> None:
        """Open a terminal with the environment ready, or its folder."""
        environment = self.environment
        if environment is not None and not self._opener.running:
            self._opener.start(OpenPlace(self.app, environment, terminal=terminal))

    # What comes back

    def _found(self, machine: Machine) -> None:
        self.look_seconds = time.monotonic() - self._began
        self.flow.found(machine)
        self.changed.emit()
        self.reckon()

    def _reckoned(self, reckoning: Reckoning) -> None:
        # An answer to a question that was withdrawn meanwhile is no answer.
        if not self._again:
            self.flow.reckoned(reckoning.recommendation, reckoning.plan, settled=reckoning.settled)

    def _reckon_again(self) -> None:
        if self._again:
            self._again = False
            self.reckon()
        self.changed.emit()

    def _asked(self, plan: Plan | None) -> None:
        self.interrupted = plan
        self.changed.emit()

    def _step(self, news: Event) -> None:
        if isinstance(news, EndEvent):
            self._end = news
        elif self.progress is not None:
            self.progress.take(news)
            self.stepped.emit(news)

    def _ended(self, environment: Path) -> None:
        self.flow.ended(self._end or EndEvent(state="done", env=str(environment)))
        # What was simulated stays to be looked at; what was installed is proven next.
        if self.flow.facts.stage == "done" and not self.flow.simulated:
            self.next()
        self.changed.emit()

    def _proven(self, checks: Checks) -> None:
        self.flow.checked(checks)
        if self.flow.page == "recommendation":
            self.go("done")
        self.changed.emit()

    def _measured(self, benchmark: Benchmark) -> None:
        self.flow.measured(benchmark)
        self.changed.emit()

    def _failed(self, what: str, error: AppError) -> None:
        if not isinstance(error, Cancelled):
            self.errors[what] = error
        if what == "install":
            self.flow.failed(error)
            if self.progress is not None:
                self.progress.stop("cancelled" if isinstance(error, Cancelled) else "failed")
        elif what == "open":
            self.complained.emit(error)
        self.changed.emit()
