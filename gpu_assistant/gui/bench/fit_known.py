"""What is known before anything is worked out: the devices of the last benchmark, how long it took elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ...catalog.fitting import MemoryPlanningCatalog, PlanningDuration, load_memory_planning
from ...core.jobs import JobContext
from ...core.results import BenchDevice

if TYPE_CHECKING:
    from ...app import App


class FitInputs(Struct, frozen=True, kw_only=True):
    """`devices` are those of the newest benchmark that saw a GPU, by the names that its child gives them.

    `lacking` are packages that the environment does not have, each with what brings it (None: nobody knows).
    """

    fitting: MemoryPlanningCatalog | None = None
    devices: tuple[BenchDevice, ...] = ()
    missing: dict[str, tuple[str, ...] | None] = {}

    def measured_time(self, model: str) -> PlanningDuration | None:
        """How long a model took on a processor, where that was measured."""
        return self.fitting.find_duration(model) if self.fitting is not None else None


class FitInputsJob:
    """Reads catalog, kept benchmarks and which packages an environment has; raises AppError("catalog-broken")."""

    def __init__(self, app: App, environment: Path) -> None:
        self._app = app
        self._environment = environment

    def run(self, context: JobContext[Any]) -> FitInputs:
        """Read."""
        context.check_cancelled()
        device_lists = (each.devices for each in reversed(self._app.stored_benchmarks().benchmarks))
        devices = next((each for each in device_lists if any(device.id != "cpu" for device in each)), ())
        missing = self._app.missing_example_packages(self._environment)
        return FitInputs(fitting=load_memory_planning(self._app.catalog), devices=devices, missing=missing)
