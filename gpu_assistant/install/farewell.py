"""Takes away what the program keeps for itself, when it is removed from the computer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import json
from ..core.errors import AppError, Cancelled
from ..core.jobs import JobContext
from ..core.paths import DataDir
from ..core.plan import Step
from ..core.settings import Settings
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
        """What would become of each thing just now, in order, also of what stays; raises AppError."""
        from .forecast import forecast
        from .takeback import items

        place = self._place(JobContext())
        if self._keep or not self._data.root.is_dir():
            return ()
        return tuple(item.step for item in forecast(items(place, None), place))

    def run(self, context: JobContext[Any]) -> Path:
        """The data folder; gone where nothing in it was kept.

        Raises AppError: already-running, or, after everything else is gone, what could not be taken back.
        """
        from .removal import delete
        from .single import one_at_a_time

        data = self._data
        if not data.root.is_dir():
            return data.root
        # In somebody's own folder, in which we never kept anything but this run's log, there is no cache of ours.
        written = any(any(_ours(folder, names)) for folder, names in _written(data) if folder != data.logs)
        ours = written or _is_settings(data.settings)
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
        for cache in () if not ours else (data.files, data.uv_cache, data.conda, data.updates, data.locks, data.prices):
            delete(cache)
        for folder, names in _written(data):
            if folder not in kept:
                _delete_ours(folder, names)
        if _is_settings(data.settings):
            data.settings.unlink()
        for folder in (*sorted(places), data.files.parent, data.catalog, data.root):
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
        from .forecast import forecast
        from .journal import Journal
        from .ledger import settle
        from .takeback import items
        from .uninstall import take_back

        root, reporter = str(self._data.root), place.reporter
        found = items(place, None)
        if not found:
            return None
        reporter.plan(tuple(item.step for item in forecast(found, place)))
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


def _written(data: DataDir) -> tuple[tuple[Path, tuple[str, ...]], ...]:
    """The folders that people, too, may have named so, and how our own files in them are called.

    Somebody may have put the data folder among files of their own: what is called otherwise is theirs.
    """
    return (
        (data.history, ("*s-[0-9]*.history*",)),
        (data.benchmarks, ("[0-9]*T[0-9]*Z.json*",)),
        (data.state, ("install.lock", "install.pid", "window.lock", "window.json*", "updates.json*")),
        (data.catalog / "current", ("*.json*",)),
        (data.journal, ("[0-9]*-[0-9]*.jsonl",)),
        (data.logs, ("gpu-assistant.log*",)),
    )


def _ours(folder: Path, names: tuple[str, ...]) -> Iterator[Path]:
    return (path for name in names for path in folder.glob(name) if path.is_file() and not path.is_symlink())


def _delete_ours(folder: Path, names: tuple[str, ...]) -> None:
    # This very run may be writing its log, which Windows then keeps.
    for path in tuple(_ours(folder, names)):
        with suppress(OSError):
            path.unlink()
    with suppress(OSError):
        folder.rmdir()


def _is_settings(path: Path) -> bool:
    """Whether a file holds our settings and nothing else."""
    try:
        found = json.decode(path.read_bytes(), dict[str, Any])
    except (OSError, ValueError):
        return False
    return bool(found) and found.keys() <= set(Settings.__struct_fields__)
