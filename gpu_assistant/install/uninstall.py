"""Takes an environment back that install made, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..core.errors import AppError
from ..core.jobs import JobContext
from ..core.paths import DataDir
from ..core.plan import Step
from .reporter import Reporter

STEP = "remove"


class UninstallJob:
    """Removes one environment. News are the same events as an install's."""

    def __init__(self, environment: Path, data: DataDir) -> None:
        self.environment = environment
        self._data = data

    def run(self, context: JobContext[Any]) -> Path:
        """The folder that is gone. Raises AppError: environment-missing, -not-ours, -in-use, already-running.

        Raises CallError("folder-shared") before any news.
        """
        from .occupied import refuse_shared

        refuse_shared(self.environment)
        reporter = Reporter(context)
        env = str(self.environment)
        step = Step(id=STEP, kind="python-packages", code="remove-environment", data={"env": env})
        reporter.plan((step,))
        running = False
        try:
            self._refuse_strangers()
            running = True
            reporter.step(STEP, "running")
            self._remove(context)
        except AppError as error:
            if running:
                reporter.failed(STEP, error)
            reporter.ended(env, error)
            raise
        reporter.step(STEP, "done")
        reporter.end("done", env)
        return self.environment

    def _left(self) -> bool:
        """Whether there is no environment, but what a stopped install or removal of ours left of it."""
        from .journal import environments
        from .removal import partial_path, trash_path

        env = self.environment
        left = partial_path(env).is_dir() or trash_path(env).is_dir()
        return left and env in environments(self._data) and not _holds_anything(env)

    def _refuse_strangers(self) -> None:
        from .occupied import ours

        env = self.environment
        if self._left() or ours(env, self._data) is not None:
            return
        raise AppError("environment-not-ours" if env.exists() else "environment-missing", path=str(env))

    def _remove(self, context: JobContext[Any]) -> None:
        from ..core.json import storage_error
        from .journal import Journal, stood_before
        from .removal import delete, partial_path, remove, trash_path
        from .single import one_at_a_time

        env = self.environment
        context.check_cancelled()
        with one_at_a_time(self._data):
            self._refuse_strangers()  # another process may have been quicker
            with Journal(self._data) as journal:
                journal.removes("environment", env)
                left = self._left()
                delete(partial_path(env))
                if left:
                    delete(trash_path(env))
                else:
                    remove(env)
                if stood_before(self._data, env):
                    try:
                        env.mkdir(exist_ok=True)
                    except OSError as error:
                        raise storage_error(error, env) from error
                journal.ended("done")


def _holds_anything(folder: Path) -> bool:
    """Whether anything but an empty folder is there."""
    return os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir()))
