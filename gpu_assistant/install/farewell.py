"""Takes away what the program keeps for itself, when it is removed from the computer."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import AppError, Cancelled
from ..core.jobs import JobContext
from ..core.paths import DataDir
from ..core.plan import Step
from ..system.base import System
from .reporter import Reporter

if TYPE_CHECKING:
    from .place import Place


class FarewellJob:
    """Removes settings, downloads, results and logs, and takes back all that was installed, unless it is kept.

    Environments that are kept keep what they stand on, and the journal, by which a later installation knows them.
    News are the events of a removal.
    """

    def __init__(self, data: DataDir, system: System, *, keep_environments: bool) -> None:
        self._data = data
        self._system = system
        self._keep = keep_environments

    def steps(self) -> tuple[Step, ...]:
        """What it would take back just now, in order; raises AppError."""
        from .takeback import items

        place = self._place(JobContext())
        return () if self._keep or not self._data.root.is_dir() else tuple(item.step for item in items(place, None))

    def run(self, context: JobContext[Any]) -> Path:
        """The data folder; gone where nothing in it was kept.

        Raises AppError: already-running, or, after everything else is gone, what could not be taken back.
        """
        from .removal import delete
        from .single import one_at_a_time

        data = self._data
        if not data.root.is_dir():
            return data.root
        place = self._place(context)
        trouble: AppError | None = None
        with one_at_a_time(data):
            context.check_cancelled()
            if not self._keep:
                trouble = self._take_back(place)
            stays = self._stays(place)
        # What the journal took back is gone from these; what is left in them is the user's.
        places = {data.environments, data.pythons, data.toolkits}
        kept = places | ({data.journal} if stays else set())
        # Only what is ours by name: somebody may have put the data folder among files of their own.
        for path in sorted(set(vars(data).values()) - kept - {data.root, data.logs}):
            if path.is_dir():
                delete(path)
            else:
                path.unlink(missing_ok=True)
        # This very run may be writing its log.
        with suppress(AppError):
            delete(data.logs)
        for folder in (*sorted(places), data.files.parent, data.root):
            with suppress(OSError):
                folder.rmdir()
        if trouble is not None:
            raise trouble
        return data.root

    def _place(self, context: JobContext[Any]) -> Place:
        from .place import Place

        return Place(self._system, self._data, reporter=Reporter(context), cancel=context.cancel)

    def _take_back(self, place: Place) -> AppError | None:
        """What went wrong, after everything that could be taken back was."""
        from .journal import Journal
        from .ledger import settle
        from .takeback import items
        from .uninstall import take_back

        root, reporter = str(self._data.root), place.reporter
        found = items(place, None)
        if not found:
            return None
        reporter.plan(tuple(item.step for item in found))
        try:
            with Journal(self._data) as journal:
                settle(place, journal)
                take_back(items(place, None), place, journal, go_on=True)
        except Cancelled as error:
            reporter.ended(root, error)
            raise
        except AppError as error:
            reporter.ended(root, error)
            return error
        reporter.end("done", root)
        return None

    def _stays(self, place: Place) -> bool:
        """Whether anything stands that only the journal knows how to take back; a driver is its own installer's."""
        from .effects import FolderMade, ProgramInstalled
        from .takeback import items

        return any(not isinstance(item.effects[0].effect, FolderMade | ProgramInstalled) for item in items(place, None))
