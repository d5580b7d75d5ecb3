"""Makes such a folder on a thread of its own, wherever the user looks meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from ...core import json
from ...core.errors import AppError
from ...core.jobs import JobContext
from ...core.machine import Machine
from ...core.recommendation import Choice, Recommendation
from ...core.types import Channel, Goal
from ..wizard.pages.install.progress import InstallProgress
from ..worker import JobRunner

if TYPE_CHECKING:
    from ...app import App
    from ...fetch.rate import RateLimiter
    from ...install.bundle.format import BundleContents


CreationState = Literal["idle", "running", "stopping", "done", "failed", "stopped"]


class BundleOrder(Struct, frozen=True, kw_only=True):
    """What shall lie in `folder`: all for the recommendation that was made for `machine`, or, where `machine` is a
    file, all for what suits the computer that it tells of.
    """

    folder: Path
    machine: Machine | Path
    goal: Goal
    channel: Channel
    recommendation: Recommendation | None = None
    choice: Choice | None = None


class CreatedBundle(Struct, frozen=True, kw_only=True):
    """A folder that is whole, and the sha256 of its list."""

    order: BundleOrder
    contents: BundleContents
    checksum: str


class BundleOrderJob:
    """Carries an order out."""

    def __init__(self, app: App, order: BundleOrder, rate_limiter: RateLimiter) -> None:
        self._app, self._order, self._rate_limiter = app, order, rate_limiter

    def run(self, context: JobContext[Any]) -> CreatedBundle:
        """What lies there now. Raises CallError("machine-file"), what `recommend` and making a bundle raise."""
        from ...install.bundle.format import list_hash

        app, order = self._app, self._order
        machine, recommendation = order.machine, order.recommendation
        if isinstance(machine, Path):
            machine = json.read_file(machine, Machine, code="machine-file")
        if recommendation is None:
            recommendation = app.setup.recommend(machine, goal=order.goal, channel=order.channel)
        job = app.bundles.create(
            machine,
            recommendation,
            order.folder,
            channel=order.channel,
            choice=order.choice,
            pace=self._rate_limiter,
        )
        contents = job.run(context)
        return CreatedBundle(order=order, contents=contents, checksum=list_hash(order.folder))


class BundleCreator(QObject):
    """One order at a time; `changed` says that it stands otherwise, `stepped` brings each event."""

    changed = Signal()
    step_changed = Signal(object)

    def __init__(self, app: App, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self.state: CreationState = "idle"
        self.order: BundleOrder | None = None
        self.bundle: CreatedBundle | None = None
        self.error: AppError | None = None
        self.progress: InstallProgress | None = None
        self.rate_limiter: RateLimiter | None = None
        self._runner = JobRunner(self)
        self._runner.reported.connect(self._on_event)
        self._runner.done.connect(self._on_created)
        self._runner.failed.connect(self._on_failed)
        self._runner.cancelled.connect(lambda: self._set_state("stopped"))

    @property
    def is_running(self) -> bool:
        """Whether a folder is being made."""
        return self.state in ("running", "stopping")

    @property
    def has_downloads(self) -> bool:
        """Whether anything was fetched into the folder."""
        return self.progress is not None and self.progress.has_downloads

    @property
    def runner(self) -> JobRunner:
        """What makes it; its news are events."""
        return self._runner

    @property
    def download_fraction(self) -> float | None:
        """0 to 1 of what is fetched; None before and after that, when nobody can tell."""
        step = self.progress.running_step if self.progress is not None else None
        return step.fraction if step is not None and step.unit == "bytes" else None

    def start(self, order: BundleOrder) -> None:
        """Carry an order out; what an earlier one left in the folder is gone on with."""
        if self._runner.running:
            return
        self.order, self.bundle, self.error = order, None, None
        self.progress, self.rate_limiter = InstallProgress(None), self._app.rate_limiter()
        self._runner.start(BundleOrderJob(self._app, order, self.rate_limiter))
        self._set_state("running")

    def retry(self) -> None:
        """Go on with what was stopped or failed."""
        if self.order is not None:
            self.start(self.order)

    def reset(self) -> None:
        """Make room for another order."""
        if not self._runner.running:
            self.order = self.bundle = self.error = self.progress = None
            self._set_state("idle")

    def stop(self) -> None:
        """Ask it to stop; what is downloaded is kept."""
        if self.state == "running":
            self._runner.cancel()
            self._set_state("stopping")

    def set_paused(self, paused: bool) -> None:
        """Hold the downloads, or let them go on."""
        if self.rate_limiter is not None:
            (self.rate_limiter.pause if paused else self.rate_limiter.resume)()
        self.changed.emit()

    def set_speed_limit(self, rate: int | None) -> None:
        """How fast downloads may go, in bytes per second."""
        if self.rate_limiter is not None:
            self.rate_limiter.limit = rate

    def _on_event(self, event: Any) -> None:  # noqa: ANN401 - an event of the contract
        if self.progress is not None:
            self.progress.handle_event(event)
            self.step_changed.emit(event)

    def _on_created(self, bundle: CreatedBundle) -> None:
        self.bundle = bundle
        self._set_state("done")

    def _on_failed(self, error: AppError) -> None:
        self.error = error
        self._set_state("failed")

    def _set_state(self, state: CreationState) -> None:
        self.state = state
        self.changed.emit()
