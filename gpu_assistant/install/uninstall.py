"""Takes an environment back that install made, and nothing else."""

from __future__ import annotations

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
        """Whether a removal was killed between the rename and the end."""
        from .journal import environments
        from .removal import trash_path

        env = self.environment
        return env in environments(self._data) and trash_path(env).is_dir() and not env.exists()

    def _refuse_strangers(self) -> None:
        from .occupied import ours

        env = self.environment
        if self._left() or ours(env, self._data) is not None:
            return
        raise AppError("environment-not-ours" if env.exists() else "environment-missing", path=str(env))

    def _remove(self, context: JobContext[Any]) -> None:
        from .journal import Journal
        from .removal import delete, remove, trash_path
        from .single import one_at_a_time

        context.check_cancelled()
        with one_at_a_time(self._data):
            self._refuse_strangers()  # another process may have been quicker
            with Journal(self._data) as journal:
                journal.removes("environment", self.environment)
                if self._left():
                    delete(trash_path(self.environment))
                else:
                    remove(self.environment)
                journal.ended("done")
