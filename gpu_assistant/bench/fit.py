"""What fits in memory: measured in the environment's own Python on small steps, projected to any batch."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..catalog.fitting import fitting
from ..core.errors import AppError, CallError
from ..core.memory import FitSteps, FitVariant, MemoryFits
from ..system.json_lines import Patience
from .alone import alone
from .lines import NOTE, REASONS, FitProgress, Line, Loading
from .listen import Ending, broken, ended, listen
from .places import CHILD
from .projection import projected

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..core.jobs import JobContext
    from ..core.paths import DataDir
    from ..system.base import System

LIMIT_S = 600.0
OVER = "over"  # the time limit came first
LARGEST_GPU = "cuda"  # the device that stands for the card with the most memory
FitModel = Literal["resnet50", "bert-base", "language-model"]


class FitJob:
    """What a training step of `model` needs of `device` ("cpu", "cuda:0", "cuda" for the card with the most memory)
    with `batch` examples. News are `Loading`, `FitProgress`, `MemoryFit`, and once the devices that there are as
    `Start`.

    The catalog says how much of the free memory is not planned with. `time_limit` in seconds, before it torch has
    `start_limit` to load (None: there is no such limit).
    """

    def __init__(
        self,
        environment: Path,
        system: System,
        data: DataDir,
        catalog: Catalog,
        *,
        model: FitModel,
        batch: int,
        device: str,
        time_limit: float = LIMIT_S,
        start_limit: float | None = None,
        simulated: bool = False,
    ) -> None:
        self.environment = environment
        self._system, self._data, self._catalog = system, data, catalog
        self._model, self._batch, self._device = model, batch, device
        self._time_limit, self._start_limit = time_limit, start_limit
        self._simulated = simulated

    def run(self, context: JobContext[Any]) -> MemoryFits:
        """Measure. Raises CallError where the machine is a simulated one or has no such device, and
        AppError("environment-missing", "bench-running", "bench-stopped", "catalog-broken", and what `listen` finds).
        """
        if self._simulated:
            raise CallError("bench-simulated")
        interpreter = self._system.environment_python(self.environment)
        if not interpreter.is_file():
            raise AppError("environment-missing", path=str(self.environment))
        with alone(self._data, context.log):
            return self._measured(interpreter, context)

    def _measured(self, interpreter: Path, context: JobContext[Any]) -> MemoryFits:
        began = time.monotonic()
        lines: list[Line] = []
        steps: list[FitSteps] = []
        begun: list[FitVariant] = []
        patience = Patience(context.cancel, self._start_limit)
        context.report(Loading(limit_s=self._start_limit))

        def line(line: Line) -> None:
            lines.append(line)
            if line.start is not None:
                patience.give(self._time_limit)
                context.report(line.start)
            if line.fit is not None:
                steps.append(line.fit)
                context.report(projected(line.fit, self._batch))
            elif line.variant is not None and line.left is None:
                begun.append(line.variant)
                of = len(get_args(FitVariant))
                context.report(FitProgress(n=len(begun), of=of, variant=line.variant))

        with self._system.keep_awake("benchmark"):
            # What was measured before the time was up is still true.
            ending = listen(self._system, self._argv(interpreter), line, patience=patience, log=context.log)
        left: dict[str, str] = {
            each.variant: NOTE + each.left
            for each in lines
            if each.variant is not None and each.left is not None and each.left in REASONS
        }
        if not steps:
            raise self._trouble(lines, left, ending, patience)
        if not any(each.end for each in lines):
            known = {*left, *(each.variant for each in steps)}
            why = NOTE + (OVER if patience.is_set() else ending.how)
            left.update({variant: why for variant in get_args(FitVariant) if variant not in known})
        start = next((each.start for each in lines if each.start is not None), None)
        return MemoryFits(
            schema="gpu-assistant/memory/1",
            torch=start.torch if start is not None else "",
            fits=tuple(projected(each, self._batch) for each in steps),
            steps=tuple(steps),
            left_out=left,
            devices=start.devices if start is not None else (),
            seconds=time.monotonic() - began,
        )

    def _argv(self, interpreter: Path) -> list[str | Path]:
        cores = self._system.cpu().cores
        argv: list[str | Path] = [interpreter, CHILD, "--fit", self._model]
        argv += ["--device", self._device]
        kind: Literal["cpu", "gpu"] = "cpu" if self._device == "cpu" else "gpu"
        spare = fitting(self._catalog).spare_of(kind, self._system.name)
        argv += ["--spare-share", str(spare.share), "--spare-least", str(spare.least_bytes)] if spare else []
        return [*argv, *(["--cores", str(cores)] if cores else [])]

    def _trouble(self, lines: list[Line], left: dict[str, str], ending: Ending, patience: Patience) -> AppError:
        for line in lines:
            if line.broken is not None:
                return broken(self.environment, line.broken)
            if line.missing is not None:
                return CallError("bench-no-device", device=line.missing, have=", ".join(line.have))
        if not left or not any(line.end for line in lines):
            return ended(self.environment, ending, patience)
        return AppError("bench-stopped", reason=f"@{next(iter(left.values()))}")
