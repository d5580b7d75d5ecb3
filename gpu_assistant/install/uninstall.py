"""Takes back what the journal says that an install did, in reverse order, and nothing else."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import AppError, Cancelled, RightsRefused
from ..core.jobs import JobContext
from ..core.paths import DataDir
from ..core.plan import Step, StepState
from ..system.base import System
from .reporter import Reporter, end_state

if TYPE_CHECKING:
    from .journal import Journal, Why
    from .place import Place
    from .takeback import Item


class UninstallJob:
    """Takes back all that was done for one environment. News are the same events as an install's.

    What another environment needs stays until the last one that needs it goes.
    """

    def __init__(self, environment: Path, data: DataDir, system: System) -> None:
        self.environment = environment
        self._data = data
        self._system = system

    def steps(self) -> tuple[Step, ...]:
        """What it would do just now, in order; raises what `run` raises."""
        place = self._place(Reporter(JobContext()), threading.Event())
        return tuple(item.step for item in self._items(place) if not item.needed)

    def run(self, context: JobContext[Any]) -> Path:
        """The folder that is gone. Raises AppError: environment-missing, -not-ours, -in-use, already-running.

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

    def _items(self, place: Place) -> tuple[Item, ...]:
        from .takeback import items

        found = items(place, self.environment)
        if all(_nothing(item) for item in found):
            code = "environment-not-ours" if self.environment.exists() else "environment-missing"
            raise AppError(code, path=str(self.environment))
        return found

    def _remove(self, place: Place, context: JobContext[Any]) -> None:
        from .journal import Journal
        from .ledger import settle
        from .single import one_at_a_time

        context.check_cancelled()
        place.reporter.plan(tuple(item.step for item in self._items(place)))
        with one_at_a_time(self._data):
            self._items(place)  # another process may have been quicker
            with Journal(self._data, env=str(self.environment)) as journal:
                settle(place, journal)
                take_back(self._items(place), place, journal)


def _nothing(item: Item) -> bool:
    """Whether it alone is no reason for a removal: a folder for others, or what stayed at the last one already."""
    from .effects import FolderMade

    plain = isinstance(item.effects[0].effect, FolderMade)
    return plain or (item.needed and all(each.kept for each in item.effects))


def take_back(found: tuple[Item, ...], place: Place, journal: Journal, *, go_on: bool = False) -> None:
    """Take everything back, each with its two lines in the journal; raises AppError, Cancelled.

    Where rights are refused the rest goes on, and RightsRefused("rights-left-out") comes at the end; with `go_on`
    so does any other error.
    """
    left_out: list[str] = []
    trouble: AppError | None = None
    try:
        for item in found:
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
        place.reporter.step(step.id, "skipped", code="progress.left-needed")
        return
    try:
        for each in item.effects:
            journal.undoes(each.run, each.n)
            kind = KINDS.get(each.kind)
            why = kind.undo(each.effect, place) if kind is not None else revert(each.effect, place)
            if why == "needed":
                journal.kept(each.run, each.n)
            else:
                journal.undid(each.run, each.n, why)
    except AppError as error:
        place.reporter.failed(step.id, error)
        raise
    state: StepState = "skipped" if why == "needed" else "done"
    place.reporter.step(step.id, state, code=f"progress.left-{why}" if why else None, data=step.data if why else None)
