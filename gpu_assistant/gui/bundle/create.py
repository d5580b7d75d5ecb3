"""Creates an offline folder (a bundle) in a thread, independent of the page that is shown.

CreateBundlePage -> BundleOrder -> BundleCreator -> JobRunner -> BundleOrderJob -> app.bundles.create
                                       `- state, progress, `changed`, `step_changed` -> page, task bar
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from ...core import json
from ...core.errors import AppError
from ...core.jobs import JobContext
from ...core.machine import Machine, OperatingSystem
from ...core.recommendation import Choice, Recommendation
from ...core.types import Channel, Goal
from ..wizard.pages.install.progress import InstallProgress
from ..worker import JobRunner

if TYPE_CHECKING:
    from ...app import App
    from ...fetch.rate import RateLimiter
    from ...install.bundle.format import BundleContents
    from ...install.bundle.missing_driver import MissingDriver

CreationState = Literal["idle", "running", "stopping", "done", "failed", "stopped"]


class BundleCreator(QObject):
    """Carries out one order at a time. `changed` comes with each new `state`, `step_changed` brings each event."""

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
        """Whether an order is being carried out."""
        return self.state in ("running", "stopping")

    @property
    def has_downloads(self) -> bool:
        """Whether anything was downloaded into the folder."""
        return self.progress is not None and self.progress.has_downloads

    @property
    def runner(self) -> JobRunner:
        """The runner of the order; it reports events."""
        return self._runner

    @property
    def download_fraction(self) -> float | None:
        """The done part of the download, 0 to 1; None before and after it."""
        step = self.progress.running_step if self.progress is not None else None
        return step.fraction if step is not None and step.unit == "bytes" else None

    def start(self, order: BundleOrder) -> None:
        """Carry out an order; what an earlier one left in the folder is continued."""
        if self._runner.running:
            return
        self.order, self.bundle, self.error = order, None, None
        self.progress, self.rate_limiter = InstallProgress(None), self._app.rate_limiter()
        self._runner.start(BundleOrderJob(self._app, order, self.rate_limiter))
        self._set_state("running")

    def retry(self) -> None:
        """Carry out the last order again, after it was stopped or failed."""
        if self.order is not None:
            self.start(self.order)

    def reset(self) -> None:
        """Forget the last order."""
        if not self._runner.running:
            self.order = self.bundle = self.error = self.progress = None
            self._set_state("idle")

    def stop(self) -> None:
        """Request that the order stops; downloaded files are kept."""
        if self.state == "running":
            self._runner.cancel()
            self._set_state("stopping")

    def set_paused(self, paused: bool) -> None:
        """Pause or resume the downloads."""
        if self.rate_limiter is not None:
            (self.rate_limiter.pause if paused else self.rate_limiter.resume)()
        self.changed.emit()

    def set_speed_limit(self, rate: int | None) -> None:
        """Limit the downloads, in bytes per second; None is no limit."""
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


class BundleOrder(Struct, frozen=True, kw_only=True):
    """What to put into `folder`: the files of `recommendation`, which was made for `machine`; or, where `machine` is a
    machine file, those of a recommendation made for the computer that it describes.
    """

    folder: Path
    machine: Machine | Path
    goal: Goal
    channel: Channel
    recommendation: Recommendation | None = None
    choice: Choice | None = None


class CreatedBundle(Struct, frozen=True, kw_only=True):
    """A complete folder, the SHA-256 of its list of files, and the recommendation that it was made for, on a computer
    with `os`. `driver` is the one that the other computer needs and the folder lacks.
    """

    order: BundleOrder
    os: OperatingSystem
    contents: BundleContents
    checksum: str
    recommendation: Recommendation
    driver: MissingDriver | None = None


class DescribedComputer(Struct, frozen=True, kw_only=True):
    """The computer that a machine file describes, what suits it, and how many bytes of files that takes."""

    machine: Machine
    recommendation: Recommendation
    needed_bytes: int


class MachineFileJob:
    """Reads a machine file."""

    def __init__(self, app: App, file: Path, goal: Goal, channel: Channel) -> None:
        self._app, self._file, self._goal, self._channel = app, file, goal, channel

    def run(self, context: JobContext[Any]) -> DescribedComputer:
        """Raises UsageError("machine-file"), and what `recommend` raises."""
        context.check_cancelled()
        machine = json.read_file(self._file, Machine, code="machine-file")
        recommendation = self._app.setup.recommend(machine, goal=self._goal, channel=self._channel)
        needed_bytes = self._app.bundles.needed_bytes(machine, recommendation)
        return DescribedComputer(machine=machine, recommendation=recommendation, needed_bytes=needed_bytes)


class BundleOrderJob:
    """Carries out an order."""

    def __init__(self, app: App, order: BundleOrder, rate_limiter: RateLimiter) -> None:
        self._app, self._order, self._rate_limiter = app, order, rate_limiter

    def run(self, context: JobContext[Any]) -> CreatedBundle:
        """The sources are asked first, for what was shown, else for what suits the machine. Raises
        UsageError("machine-file"), and what `recommend`, the answers and `app.bundles.create` raise.
        """
        from ...install.bundle.format import list_hash
        from ...install.bundle.missing_driver import find_missing_driver

        app, order = self._app, self._order
        machine, recommendation = order.machine, order.recommendation
        if isinstance(machine, Path):
            machine = json.read_file(machine, Machine, code="machine-file")
        if app.may_ask_sources:
            recommendation = self._available(machine, context)
        elif recommendation is None:
            recommendation = app.setup.recommend(machine, goal=order.goal, channel=order.channel, choice=order.choice)
        job = app.bundles.create(
            machine,
            recommendation,
            order.folder,
            channel=order.channel,
            choice=order.choice,
            rate_limiter=self._rate_limiter,
        )
        contents = job.run(context)
        return CreatedBundle(
            order=order,
            os=machine.os,
            contents=contents,
            checksum=list_hash(order.folder),
            recommendation=recommendation,
            driver=find_missing_driver(
                recommendation,
                job.plan,
                app.catalog,
                excluded_codes=contents.excluded_codes,
                system=contents.platform.system,
            ),
        )

    def _available(self, machine: Machine, context: JobContext[Any]) -> Recommendation:
        order, shown = self._order, self._order.recommendation
        choice = order.choice
        if shown is not None and shown.pytorch is not None:
            # Nothing may step in for a build that the user has read.
            choice = replace(
                choice or Choice(), pytorch=shown.pytorch.version, variant=shown.pytorch.variant, python=shown.python
            )
        job = self._app.bundles.available_setup(machine, goal=order.goal, channel=order.channel, choice=choice)
        # Its one report, that it asks a second time, is no step of the order.
        found = job.run(JobContext(log=context.log, cancel=context.cancel))
        if (error := self._app.setup.availability_error(found.plan)) is not None:
            raise error
        return found.recommendation
