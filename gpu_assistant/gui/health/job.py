"""What the dialog lets run: what there is to test with, and the test itself with a sampler of its own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ...core.jobs import JobContext
from ...core.results import Checks
from ..main.facts import current_environment

if TYPE_CHECKING:
    from ...app import App


class HealthTestEnvironment(Struct, frozen=True, kw_only=True):
    """What a test stands on: the environment in use (None: the driver alone can be asked), whether its PyTorch computes
    on the processor only, the longest time that each level may take, without the load of level 3; seconds.
    """

    environment: Path | None
    cpu_only: bool
    limits: tuple[float, ...]


class HealthTestEnvironmentJob:
    """Reads what a test stands on."""

    def __init__(self, app: App) -> None:
        self._app = app

    def run(self, context: JobContext[Any]) -> HealthTestEnvironment:
        """A little of the disk."""
        context.check_cancelled()
        installed, tests = current_environment(self._app), self._app.health_rules.tests
        return HealthTestEnvironment(
            environment=installed.folder if installed is not None else None,
            cpu_only=installed is not None and installed.variant == "cpu",
            limits=tuple(float(each) for each in tests.limits_seconds),
        )


class HealthTestJob:
    """One test of a level, as `gpu-assistant health` runs it: of one `device` or of all, loading it for so many
    seconds. The window's own sampler goes on beside it.
    """

    def __init__(
        self,
        app: App,
        environment: Path | None,
        level: int,
        *,
        device: str | None = None,
        load_seconds: float | None = None,
    ) -> None:
        self._app, self._environment, self._level = app, environment, level
        self._device, self._load_seconds = device, load_seconds

    def run(self, context: JobContext[Any]) -> Checks:
        """The checks; raises what `HealthJob.run` raises."""
        with closing(self._app.sampler()) as sampler:
            job = self._app.health_test(
                self._environment, sampler, level=self._level, device=self._device, load_seconds=self._load_seconds
            )
            return job.run(context)
