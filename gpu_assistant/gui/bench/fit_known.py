"""What is known before anything is worked out: the devices of the last benchmark, how long it took elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ...catalog.fitting import Fitting, Took, fitting
from ...core.jobs import JobContext
from ...core.results import BenchDevice

if TYPE_CHECKING:
    from ...app import App


class FitKnown(Struct, frozen=True, kw_only=True):
    """`devices` are those of the newest benchmark that saw a GPU, by the names that its child gives them.

    `lacking` are packages that the environment does not have, each with what brings it (None: nobody knows).
    """

    fitting: Fitting | None = None
    devices: tuple[BenchDevice, ...] = ()
    lacking: dict[str, tuple[str, ...] | None] = {}

    def took(self, model: str) -> Took | None:
        """How long a model took on a processor, where that was measured."""
        return self.fitting.took_of(model) if self.fitting is not None else None


class FitKnownJob:
    """Reads catalog, kept benchmarks and which packages an environment has; raises AppError("catalog-broken")."""

    def __init__(self, app: App, environment: Path) -> None:
        self._app = app
        self._environment = environment

    def run(self, context: JobContext[Any]) -> FitKnown:
        """Read."""
        context.check_cancelled()
        seen = (each.devices for each in reversed(self._app.benchmarks().benchmarks))
        devices = next((each for each in seen if any(device.id != "cpu" for device in each)), ())
        lacking = self._app.lacking(self._environment)
        return FitKnown(fitting=fitting(self._app.catalog), devices=devices, lacking=lacking)
