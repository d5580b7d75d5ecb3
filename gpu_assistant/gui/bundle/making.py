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
from ...core.names import Channel, Goal
from ...core.recommendation import Choice, Recommendation
from ..wizard.progress import Progress
from ..worker import JobRunner

if TYPE_CHECKING:
    from ...app import App
    from ...fetch.pace import Pace
    from ...install.bundle.contents import Contents

State = Literal["idle", "running", "stopping", "done", "failed", "stopped"]


class Order(Struct, frozen=True, kw_only=True):
    """What shall lie in `folder`: all for the recommendation that was made for `machine`, or, where `machine` is a
    file, all for what suits the computer that it tells of.
    """

    folder: Path
    machine: Machine | Path
    goal: Goal
    channel: Channel
    recommendation: Recommendation | None = None
    choice: Choice | None = None


class Made(Struct, frozen=True, kw_only=True):
    """A folder that is whole, and the sha256 of its list."""

    order: Order
    contents: Contents
    mark: str


class Make:
    """Carries an order out."""

    def __init__(self, app: App, order: Order, pace: Pace) -> None:
        self._app, self._order, self._pace = app, order, pace

    def run(self, context: JobContext[Any]) -> Made:
        """What lies there now. Raises CallError("machine-file"), what `recommend` and making a bundle raise."""
        from ...install.bundle.contents import fingerprint

        app, order = self._app, self._order
        machine, recommendation = order.machine, order.recommendation
        if isinstance(machine, Path):
            machine = json.read_file(machine, Machine, code="machine-file")
        if recommendation is None:
            recommendation = app.recommend(machine, goal=order.goal, channel=order.channel)
        job = app.create_bundle(
            machine,
            recommendation,
            order.folder,
            channel=order.channel,
            choice=order.choice,
            pace=self._pace,
        )
        contents = job.run(context)
        return Made(order=order, contents=contents, mark=fingerprint(order.folder))


class Making(QObject):
    """One order at a time; `changed` says that it stands otherwise, `stepped` brings each event."""

    changed = Signal()
    stepped = Signal(object)

    def __init__(self, app: App, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self.state: State = "idle"
        self.order: Order | None = None
        self.made: Made | None = None
        self.error: AppError | None = None
        self.progress: Progress | None = None
        self.pace: Pace | None = None
        self._runner = JobRunner(self)
        self._runner.news.connect(self._heard)
        self._runner.done.connect(self._done)
        self._runner.failed.connect(self._failed)
        self._runner.cancelled.connect(lambda: self._to("stopped"))

    @property
    def running(self) -> bool:
        """Whether a folder is being made."""
        return self.state in ("running", "stopping")

    @property
    def came(self) -> bool:
        """Whether anything was fetched into the folder."""
        return self.progress is not None and self.progress.came

    @property
    def runner(self) -> JobRunner:
        """What makes it; its news are events."""
        return self._runner

    @property
    def share(self) -> float | None:
        """0 to 1 of what is fetched; None before and after that, when nobody can tell."""
        step = self.progress.running if self.progress is not None else None
        return step.fraction if step is not None and step.unit == "bytes" else None

    def start(self, order: Order) -> None:
        """Carry an order out; what an earlier one left in the folder is gone on with."""
        if self._runner.running:
            return
        self.order, self.made, self.error = order, None, None
        self.progress, self.pace = Progress(None), self._app.download_pace()
        self._runner.start(Make(self._app, order, self.pace))
        self._to("running")

    def again(self) -> None:
        """Go on with what was stopped or failed."""
        if self.order is not None:
            self.start(self.order)

    def forget(self) -> None:
        """Make room for another order."""
        if not self._runner.running:
            self.order = self.made = self.error = self.progress = None
            self._to("idle")

    def stop(self) -> None:
        """Ask it to stop; what is downloaded is kept."""
        if self.state == "running":
            self._runner.cancel()
            self._to("stopping")

    def hold(self, held: bool) -> None:
        """Hold the downloads, or let them go on."""
        if self.pace is not None:
            (self.pace.pause if held else self.pace.resume)()
        self.changed.emit()

    def limit(self, rate: int | None) -> None:
        """How fast downloads may go, in bytes per second."""
        if self.pace is not None:
            self.pace.most = rate

    def _heard(self, news: Any) -> None:  # noqa: ANN401 - an event of the contract
        if self.progress is not None:
            self.progress.take(news)
            self.stepped.emit(news)

    def _done(self, made: Made) -> None:
        self.made = made
        self._to("done")

    def _failed(self, error: AppError) -> None:
        self.error = error
        self._to("failed")

    def _to(self, state: State) -> None:
        self.state = state
        self.changed.emit()
