"""What runs for the wizard: one runner for each kind of work, and what the pages ask about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ...core.errors import AppError, Cancelled
from ...core.plan import Interrupted
from ..language import Language
from ..worker import JobRunner
from .flow import Flow
from .progress import Progress

if TYPE_CHECKING:
    from ...app import App
    from ...fetch.pace import Pace


class Activity(QObject):
    """The wizard's jobs. `changed` says that facts or activity changed, `moved` that another page is on."""

    changed = Signal()
    moved = Signal()
    looked_at = Signal(object)
    stepped = Signal(object)
    logged = Signal(object)
    measuring_news = Signal(object)
    limited = Signal(object)

    def __init__(self, app: App, language: Language, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.app = app
        self.language = language
        self.flow = Flow(simulated=app.simulated)
        self.interrupted: Interrupted | None = None
        self.pace: Pace | None = None
        self.progress: Progress | None = None
        self.saved: Path | None = None
        self.lines: list[str] = []
        self.look_seconds: float | None = None
        self.errors: dict[str, AppError] = {}
        self._began = 0.0
        self._looker = self._runner("look")
        self._reckoner = self._runner("reckon")
        self._asker = self._runner("ask")
        self._installer = self._runner("install")
        self._prover = self._runner("prove")
        self._measurer = self._runner("measure")
        self._saver = self._runner("save")
        self._pricer = self._runner("price")
        self._looker.news.connect(self.looked_at)
        self._installer.logged.connect(self.lines.extend)
        self._installer.logged.connect(self.logged)
        self._measurer.news.connect(self.measuring_news)

    def _runner(self, what: str) -> JobRunner:
        runner = JobRunner(self)
        runner.setObjectName(what)
        runner.failed.connect(lambda error: self._failed(what, error))
        runner.cancelled.connect(lambda: self._failed(what, Cancelled()))
        return runner

    def _failed(self, what: str, error: AppError) -> None:
        """A job came to no good end; what was asked for again, or left to run, says so in its own way."""
        raise NotImplementedError

    # What is going on

    @property
    def busy(self) -> bool:
        """Whether anything runs that somebody waits for: a price comes when it comes."""
        return any(runner.running for runner in self.findChildren(JobRunner) if runner is not self._pricer)

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
