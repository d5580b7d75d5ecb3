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
        """The folder that is gone. Raises AppError: environment-not-ours, environment-in-use, already-running."""
        reporter = Reporter(context)
        env = str(self.environment)
        step = Step(id=STEP, kind="python-packages", code="remove-environment", data={"env": env})
        reporter.plan((step,))
        reporter.step(STEP, "running")
        try:
            self._remove(context)
        except AppError as error:
            reporter.failed(STEP, error)
            reporter.ended(env, error)
            raise
        reporter.step(STEP, "done")
        reporter.end("done", env)
        return self.environment

    def _remove(self, context: JobContext[Any]) -> None:
        from .journal import Journal, environments
        from .occupied import ours
        from .removal import delete, remove, trash_path
        from .single import one_at_a_time

        env = self.environment
        context.check_cancelled()
        with one_at_a_time(self._data):
            trash = trash_path(env)
            left = env in environments(self._data) and trash.is_dir() and not env.exists()
            if not left and ours(env, self._data) is None:
                raise AppError("environment-not-ours", path=str(env))
            with Journal(self._data) as journal:
                journal.removes("environment", env)
                if left:
                    delete(trash)
                else:
                    remove(env)
                journal.ended("done")
