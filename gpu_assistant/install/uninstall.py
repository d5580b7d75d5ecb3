"""Takes back what the journal says that an install did, in reverse order, and nothing else."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import AppError, Cancelled, RightsRefused
from ..core.jobs import JobContext
from ..core.names import Value
from ..core.paths import DataDir
from ..core.plan import Step
from ..system.base import System
from .reporter import Reporter, end_state

if TYPE_CHECKING:
    from .journal import Journal, Why
    from .place import Place
    from .takeback import Item


# Taken back another time, or never.
STAYS = ("needed", "filled", "taken", "system")


class UninstallJob:
    """Takes back all that was done for one environment. News are the same events as an install's.

    What another environment needs stays until the last one that needs it goes. With `dry_run` nothing is changed.
    """

    def __init__(self, environment: Path, data: DataDir, system: System, *, dry_run: bool = False) -> None:
        self.environment = environment
        self._data = data
        self._system = system
        self._dry_run = dry_run

    def steps(self) -> tuple[Step, ...]:
        """What would become of each thing just now, in order, also of what stays; raises what `run` raises."""
        from .forecast import forecast
        from .occupied import refuse_shared

        refuse_shared(self.environment)
        place = self._place(Reporter(JobContext()), threading.Event())
        return tuple(item.step for item in forecast(self._items(place), place))

    def run(self, context: JobContext[Any]) -> Path:
        """The folder that is gone. Raises AppError: environment-missing, -not-yet, -not-ours, -without-notes, -in-use,
        already-running.

        Raises CallError("folder-shared") before any news.
        """
        from .occupied import refuse_shared

        refuse_shared(self.environment)
        reporter = Reporter(context)
        env = str(self.environment)
        place = self._place(reporter, context.cancel)
        try:
            self._remove(place, context)
        except AppError as error:
            reporter.ended(env, error)
            raise
        reporter.end("done", env)
        return self.environment

    def _place(self, reporter: Reporter, cancel: threading.Event) -> Place:
        from .place import Place

        return Place(self._system, self._data, reporter=reporter, cancel=cancel)

    def _items(self, place: Place, *, held: bool = False) -> tuple[Item, ...]:
        """`held`: the data folder is, by us."""
        from ..system.single import refuse_running
        from .journal import interrupted
        from .occupied import without_notes
        from .takeback import items

        found = items(place, self.environment)
        if not all(_nothing(item) for item in found):
            return found
        if not held:
            refuse_running(self._data)
        code, stopped = "environment-missing", interrupted(self._data)
        if without_notes(self.environment, self._data):
            code = "environment-without-notes"
        elif self.environment.exists():
            code = "environment-not-ours"
        elif stopped is not None and stopped.plan.env == str(self.environment):
            code = "environment-not-yet"
        raise AppError(code, path=str(self.environment))

    def _remove(self, place: Place, context: JobContext[Any]) -> None:
        from ..system.single import one_at_a_time
        from .forecast import forecast
        from .journal import Journal
        from .ledger import settle

        context.check_cancelled()
        if self._dry_run:
            told = forecast(self._items(place), place)
            place.reporter.plan(tuple(item.step for item in told))
            for item in told:
                place.reporter.step(item.step.id, "skipped")
            return
        self._items(place)
        # What is told is what is found while nobody else can change it.
        with one_at_a_time(self._data):
            self._items(place, held=True)  # another process may have been quicker
            with Journal(self._data, env=str(self.environment)) as journal:
                settle(place, journal)
                told = forecast(self._items(place, held=True), place)
                place.reporter.plan(tuple(item.step for item in told))
                take_back(told, place, journal)


def _nothing(item: Item) -> bool:
    """Whether it alone is no reason for a removal: a folder for others."""
    from .effects import FolderMade

    return isinstance(item.effects[0].effect, FolderMade)


def take_back(told: tuple[Item, ...], place: Place, journal: Journal, *, go_on: bool = False) -> None:
    """Take everything back, each with its two lines in the journal; raises AppError, Cancelled.

    `told` is the forecast: what is said of each.
    Where rights are refused the rest goes on, and RightsRefused("rights-left-out") comes at the end; with `go_on`
    so does any other error.
    """
    left_out: list[str] = []
    trouble: AppError | None = None
    try:
        for item in told:
            if place.cancel.is_set():
                raise Cancelled
            try:
                _one(item, place, journal)
            except RightsRefused:
                left_out.append(item.step.id)
            except Cancelled:
                raise
            except AppError as error:
                if not go_on:
                    raise
                trouble = trouble or error
        if trouble is not None:
            raise trouble
        if left_out:
            raise RightsRefused("rights-left-out", steps=", ".join(left_out))
    except AppError as error:
        journal.ended(end_state(error), error.code)
        raise
    journal.ended("done")


def _one(item: Item, place: Place, journal: Journal) -> None:
    from .steps import KINDS
    from .undoing import revert

    step = item.step
    why: Why | None = None
    place.reporter.step(step.id, "running")
    if item.needed:
        for each in item.effects:
            journal.kept(each.run, each.n)
        place.reporter.step(step.id, "skipped", code="progress.left-needed", data=step.data)
        return
    try:
        for each in item.effects:
            journal.undoes(each.run, each.n)
            kind = KINDS.get(each.kind)
            now = kind.undo(each.effect, place) if kind is not None else revert(each.effect, place)
            if now in STAYS:
                journal.kept(each.run, each.n)
            else:
                journal.undid(each.run, each.n, now)
            # Of what several runs did, the last one's end is what is seen of it.
            why = why or now
        code, data = _said(item, why)
    except AppError as error:
        place.reporter.failed(step.id, error)
        raise
    place.reporter.step(step.id, "skipped" if why in STAYS else "done", code=code, data=data)


def _said(item: Item, why: Why | None) -> tuple[str | None, dict[str, Value] | None]:
    """What is told of it at the end: what stayed and why, and what of the user's went with it."""
    from .effects import FolderMade, TreeMade
    from .forecast import left_in

    step, effect = item.step, item.effects[0].effect
    packages = bool(step.data.get("packages")) and isinstance(effect, TreeMade)
    if why is None:
        return ("progress.gone-packages", step.data) if packages else (None, None)
    if why == "system":
        return f"step.{step.code}.what", step.data
    if why == "filled" and item.by is not None:
        return "progress.left-needed", step.data
    unforeseen = why in ("files", "filled") and not step.data.get("files")
    left = left_in(effect) if unforeseen and isinstance(effect, TreeMade | FolderMade) else {}
    ending = "-packages" if why == "files" and packages else ""
    return f"progress.left-{why}{ending}", step.data | left
