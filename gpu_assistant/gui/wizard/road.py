"""The wizard at work: starts the jobs, hears their news, keeps the flow, and tells the pages."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ...core.errors import AppError, Cancelled
from ...core.jobs import Later
from ...core.machine import Machine
from ...core.names import EnvironmentKind
from ...core.plan import EndEvent, Event, Interrupted, Plan
from ...core.recommendation import Alternative, Channel, Goal, Recommendation
from ...core.results import Benchmark, Checks
from ..language import Language
from .activity import Activity
from .flow import PageName
from .progress import Progress
from .tasks import AskInterrupted, Reckon, Reckoning, SavePlan

if TYPE_CHECKING:
    from ...app import App


class Road(Activity):
    """One walk: every answer of a page goes through here."""

    def __init__(self, app: App, language: Language, parent: QObject | None = None) -> None:
        super().__init__(app, language, parent)
        self._again = False
        self._end: EndEvent | None = None
        self._looker.done.connect(self._found)
        self._reckoner.done.connect(self._reckoned)
        self._reckoner.finished.connect(self._reckon_again)
        self._asker.done.connect(self._asked)
        self._installer.done.connect(self._ended)
        self._installer.news.connect(self._step)
        self._prover.done.connect(self._proven)
        self._measurer.done.connect(self._measured)
        self._saver.done.connect(self._written)
        self._pricer.done.connect(self._priced)
        self._price_of: Recommendation | None = None

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
        self.errors.pop("save", None)
        self.saved = None
        self._reckoner.start(Reckon(self.app, facts, facts.machine))
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
        if self.flow.locked:
            return
        self.flow.unwish()
        self.reckon()

    def undo(self) -> None:
        """Take the last change of versions back."""
        if self.flow.locked:
            return
        self.flow.undo()
        self.reckon()

    def want(self, *, goal: Goal | None = None, channel: Channel | None = None) -> None:
        """The user sets up for something else, or wants the other kind of driver."""
        if self.flow.locked:
            return
        self.flow.wish(goal=goal, channel=channel)
        self.reckon()

    def make_by(self, maker: EnvironmentKind) -> None:
        """The user says what shall make the environment."""
        if self.flow.locked:
            return
        self.flow.wish(made_by=maker)
        self.reckon()

    def choose_by_hand(self) -> None:
        """The user wants to choose versions."""
        if self.flow.locked:
            return
        self.flow.choose_by_hand()
        self.reckon()

    def pick(self, part: str, value: str | None) -> None:
        """The user picks a part's version; None leaves it to us again."""
        self._pick(part, value, alone=False)

    def pick_alone(self, part: str, value: str) -> None:
        """The user picks a part's version and lets go of all that was picked before."""
        self._pick(part, value, alone=True)

    def _pick(self, part: str, value: str | None, *, alone: bool) -> None:
        if self.flow.locked:
            return
        self.flow.picked(part, value, alone=alone)
        self.reckon()

    def use_bundle(self, folder: Path | None) -> None:
        """Set up from a folder that was prepared for it; None is from the internet again."""
        if self.flow.locked:
            return
        self.flow.use_bundle(str(folder) if folder is not None else None)
        if folder is not None:
            self.go("computer")
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
        if self.flow.facts.plan is None:
            return
        plan = self.flow.begin()
        self.progress = Progress(plan)
        self.lines.clear()
        self._end = None
        self.errors.pop("install", None)
        self._pricer.cancel()
        words = self.app.resume_words(window=True)
        pace = self.pace = self.app.download_pace()
        dry = self.flow.simulated
        self._installer.start(Later(partial(self.app.install, plan, dry_run=dry, resume=words, pace=pace)))
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

    def hold(self, held: bool) -> None:
        """Hold the downloads, or let them go on."""
        if self.pace is not None:
            (self.pace.pause if held else self.pace.resume)()
        self.changed.emit()

    def limit(self, rate: int | None) -> None:
        """How fast downloads may go, in bytes per second; from now on and for later ones."""
        if self.pace is not None:
            self.pace.most = rate
        self.limited.emit(rate)

    # Proving, measuring

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

    def save_plan(self, path: Path) -> None:
        """Write the plan down as JSON, to be looked at or carried out elsewhere."""
        plan = self.flow.facts.plan
        if plan is None or self._saver.running:
            return
        self.saved = None
        self.errors.pop("save", None)
        self._saver.start(SavePlan(self.language.texts().plan(plan), path))

    # What comes back

    def _found(self, machine: Machine) -> None:
        self.look_seconds = time.monotonic() - self._began
        self.flow.found(machine)
        self.changed.emit()
        self.reckon()

    def _reckoned(self, reckoning: Reckoning) -> None:
        # An answer to a question that was withdrawn meanwhile is no answer.
        if not self._again:
            self.flow.reckoned(
                reckoning.recommendation,
                reckoning.plan,
                settled=reckoning.settled,
                obstacle=reckoning.obstacle,
                options=reckoning.options,
                notes=reckoning.notes,
                fell=reckoning.fell,
            )

            self._ask_price(reckoning.plan)

    def _ask_price(self, plan: Plan | None) -> None:
        """Ask once for each recommendation what it costs; nobody has to wait for the answer."""
        machine = self.flow.facts.machine
        if plan is None or plan.bundle is not None or machine is None or self.app.simulated or self._pricer.running:
            return
        if plan.bytes is None and plan.recommendation != self._price_of:
            self._price_of = plan.recommendation
            self._pricer.start(Later(partial(self.app.price, machine, plan)))

    def _priced(self, _prices: object) -> None:
        if not self.flow.locked:
            self.reckon()

    def _reckon_again(self) -> None:
        if self._again:
            self._again = False
            self.reckon()
        self.changed.emit()

    def _asked(self, stopped: Interrupted | None) -> None:
        self.interrupted = stopped
        # Started at login to go on after the restart: the user has agreed already.
        if self.app.resuming:
            self.app.resuming = False
            self.resume()
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

    def _written(self, path: Path) -> None:
        self.saved = path
        self.changed.emit()

    def _measured(self, benchmark: Benchmark) -> None:
        self.flow.measured(benchmark)
        self.changed.emit()

    def _failed(self, what: str, error: AppError) -> None:
        # Without an answer the price stays unknown, and says so.
        if not isinstance(error, Cancelled) and what != "price":
            self.errors[what] = error
        if what == "install":
            self.flow.failed(error)
            if self.progress is not None:
                self.progress.stop("cancelled" if isinstance(error, Cancelled) else "failed")
        self.changed.emit()
