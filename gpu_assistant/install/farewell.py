"""Takes away what the program keeps for itself, when it is removed from the computer."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from ..core.errors import AppError, Cancelled
from ..core.jobs import JobContext
from ..core.paths import DataDir
from .journal import environments
from .uninstall import UninstallJob


class FarewellJob:
    """Removes settings, downloads, results and logs; the environments too, unless they are kept.

    Environments that are kept keep the Pythons they stand on, and the journal, by which a later
    installation knows them. News are the events of each environment's removal.
    """

    def __init__(self, data: DataDir, *, keep_environments: bool) -> None:
        self._data = data
        self._keep = keep_environments

    def run(self, context: JobContext[Any]) -> Path:
        """The data folder; gone where nothing in it was kept.

        Raises AppError: already-running, or, after everything else is gone, what kept an environment here.
        """
        from .removal import delete
        from .single import one_at_a_time

        data = self._data
        if not data.root.is_dir():
            return data.root
        with one_at_a_time(data):
            context.check_cancelled()
        troubles = [] if self._keep else self._take_back(context)
        needed = {data.environments, data.pythons, data.journal} if self._standing() else set()
        # Only what is ours by name: somebody may have put the data folder among files of their own.
        for path in sorted(set(vars(data).values()) - needed - {data.root, data.logs}):
            if path.is_dir():
                delete(path)
            else:
                path.unlink(missing_ok=True)
        # This very run may be writing its log.
        with suppress(AppError):
            delete(data.logs)
        for folder in (data.files.parent, data.root):
            with suppress(OSError):
                folder.rmdir()
        if troubles:
            raise troubles[0]
        return data.root

    def _take_back(self, context: JobContext[Any]) -> list[AppError]:
        """Remove the environments; what could not be removed, and why."""
        troubles = []
        for environment in self._standing():
            try:
                UninstallJob(environment, self._data).run(context)
            except Cancelled:
                raise
            except AppError as error:
                # A folder of the user's own that took the place of ours is none of our business.
                if error.code != "environment-not-ours":
                    troubles.append(error)
        return troubles

    def _standing(self) -> list[Path]:
        """The environments of which anything is left."""
        from .removal import partial_path, trash_path

        return [
            path
            for path in environments(self._data)
            if any(left.is_dir() for left in (path, partial_path(path), trash_path(path)))
        ]
