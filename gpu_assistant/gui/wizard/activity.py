"""What runs for the wizard: one runner for each kind of work, and what the pages ask about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ...core.errors import AppError, Cancelled
from ...core.plan import InterruptedInstall
from ..language import Language
from ..worker import JobRunner
from .flow import WizardFlow
from .progress import InstallProgress

if TYPE_CHECKING:
    from ...app import App
    from ...fetch.pace import Pace


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
        self.rate_limiter: Pace | None = None
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
