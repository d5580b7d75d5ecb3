"""Takes away what the program keeps for itself, when it is removed from the computer."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import AppError, Cancelled
from ..core.jobs import JobContext
from ..core.paths import DataDir
from ..core.plan import Step
from ..system.base import System
from . import own
from .reporter import Reporter

if TYPE_CHECKING:
    from .place import Place

KEPT = "environments"


class FarewellJob:
    """Removes settings, downloads, results and logs, and takes back all that was installed, unless it is kept.

    Environments that are kept keep what they stand on, and the journal, by which a later installation knows them.
    News are the events of a removal; with `dry_run` nothing is changed.
    """

    def __init__(self, data: DataDir, system: System, *, keep_environments: bool, dry_run: bool = False) -> None:
        self._data = data
        self._system = system
        self._keep = keep_environments
        self._dry_run = dry_run

    def steps(self) -> tuple[Step, ...]:
        """What would become of each thing just now, in order, also of what stays; raises AppError."""
        from .forecast import Turn, forecast
        from .takeback import items

        data = self._data
        if not data.root.is_dir():
            return ()
        place = self._place(Reporter(JobContext()), threading.Event())
        turn = Turn()
        stays = self._keep and self._stays(place)
        taken: tuple[Step, ...] = (self._kept(),) if stays else ()
        if not self._keep:
            taken = tuple(item.step for item in forecast(items(place, None), place, turn))
        found = own.kept(data, caches=own.inhabited(data), journal=not stays)
        turn.gone |= {path for each in found for path in (*each.folders, *each.files)}
        return (*taken, *(each.step for each in found), *self._root(turn.gone, turn.new, stays=stays))

    def run(self, context: JobContext[Any]) -> Path:
        """The data folder; gone where nothing in it was kept.

        Raises AppError: already-running, or, after everything else is gone, what could not be taken back.
        """
        reporter, root = Reporter(context), str(self._data.root)
        try:
            steps = self.steps()
            reporter.plan(steps)
            if self._dry_run:
                for step in steps:
                    reporter.step(step.id, "skipped")
            elif steps:
                self._leave(self._place(reporter, context.cancel), steps)
        except AppError as error:
            reporter.ended(root, error)
            raise
        reporter.end("done", root)
        return self._data.root

    def _leave(self, place: Place, steps: tuple[Step, ...]) -> None:
        from ..system.single import one_at_a_time

        data, reporter = self._data, place.reporter
        # Asked before we write into it ourselves.
        ours = own.inhabited(data)
        with one_at_a_time(data):
            if place.cancel.is_set():
                raise Cancelled
            trouble = None if self._keep else self._take_back(place)
            stays = self._stays(place)
        found = {each.id: each for each in own.kept(data, caches=ours, journal=not stays)}
        for step in steps:
            if step.kind == own.KIND and step.id in found:
                reporter.step(step.id, "running")
                trouble = _dropped(found[step.id], reporter) or trouble
            elif step.id == KEPT or step.kind == own.KIND:
                # Where something could not be taken back, the journal says so to the next try.
                reporter.step(step.id, "skipped")
        told = {step.id for step in steps}
        for name, each in found.items():
            if name not in told:  # this run's own log
                each.drop()
        own.tidy(data)
        self._told_of_root(reporter, told, stays=stays)
        if trouble is not None:
            raise trouble

    def _root(self, gone: set[Path], new: set[Path], *, stays: bool) -> tuple[Step, ...]:
        """What becomes of the data folder when these have gone and are new; nothing where only what is kept stays."""
        data = self._data
        places = {data.environments, data.pythons, data.toolkits, data.journal} if stays else set()
        step = own.left(data, gone | places, new)
        return () if stays and step.code != own.FILLED else (step,)

    def _told_of_root(self, reporter: Reporter, told: set[str], *, stays: bool) -> None:
        if not self._data.root.is_dir():
            reporter.step(own.ROOT, "done")
            return
        filled = [step for step in self._root(set(), set(), stays=stays) if step.code == own.FILLED]
        if filled:
            reporter.step(own.ROOT, "skipped", code="progress.left-filled", data=filled[0].data)
        elif own.ROOT in told:
            reporter.step(own.ROOT, "skipped")

    def _place(self, reporter: Reporter, cancel: threading.Event) -> Place:
        from .place import Place

        return Place(self._system, self._data, reporter=reporter, cancel=cancel)

    def _kept(self) -> Step:
        """That the environments stay, and which these are."""
        from .environments import known
        from .strangers import named

        names = named(tuple(each.path for each in known(self._data)))
        figures = {"files": names, "path": str(self._data.root)}
        return Step(id=KEPT, kind="kept", code="leave-environments", data={**figures})

    def _take_back(self, place: Place) -> AppError | None:
        """What went wrong, after everything that could be taken back was; raises Cancelled."""
        from .forecast import forecast
        from .journal import Journal
        from .ledger import settle
        from .takeback import items
        from .uninstall import take_back

        if not items(place, None):
            return None
        try:
            with Journal(self._data) as journal:
                settle(place, journal)
                take_back(forecast(items(place, None), place), place, journal, go_on=True)
        except Cancelled:
            raise
        except AppError as error:
            return error
        return None

    def _stays(self, place: Place) -> bool:
        """Whether anything stands that only the journal knows how to take back; a driver is its own installer's."""
        from .effects import FolderMade, ProgramInstalled
        from .takeback import items

        return any(not isinstance(item.effects[0].effect, FolderMade | ProgramInstalled) for item in items(place, None))


def _dropped(each: own.Own, reporter: Reporter) -> AppError | None:
    """What went wrong when it was taken away."""
    try:
        each.drop()
    except AppError as error:
        reporter.failed(each.id, error)
        return error
    reporter.step(each.id, "done")
    return None
