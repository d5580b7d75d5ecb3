"""What fits in memory: measured in the environment's own Python on small steps, projected to any batch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..core.errors import AppError, CallError
from ..core.results import FitVariant, MemoryFit, MemoryFits
from .lines import NOTE, REASONS, Line
from .listen import START_LIMIT_S, Ending, Patience, broken, ended, listen
from .places import CHILD

if TYPE_CHECKING:
    from ..core.jobs import JobContext
    from ..system.base import System

LIMIT_S = 600.0
FitModel = Literal["resnet50", "bert-base", "language-model"]


class FitJob:
    """What a training step of `model` needs of `device` ("cpu", "cuda:0") with `batch` examples. News are `MemoryFit`.

    `time_limit` in seconds, of which torch has `start_limit` to load.
    """

    def __init__(
        self,
        environment: Path,
        system: System,
        *,
        model: FitModel,
        batch: int,
        device: str,
        time_limit: float = LIMIT_S,
        start_limit: float = START_LIMIT_S,
        simulated: bool = False,
    ) -> None:
        self.environment = environment
        self._system = system
        self._model, self._batch, self._device = model, batch, device
        self._time_limit, self._start_limit = time_limit, start_limit
        self._simulated = simulated

    def run(self, context: JobContext[Any]) -> MemoryFits:
        """Measure. Raises CallError where the machine is a simulated one or has no such device, and
        AppError("environment-missing", "bench-stopped", and what `listen` finds).
        """
        if self._simulated:
            raise CallError("bench-simulated")
        interpreter = self._system.environment_python(self.environment)
        if not interpreter.is_file():
            raise AppError("environment-missing", path=str(self.environment))
        lines: list[Line] = []
        fits: list[MemoryFit] = []

        patience = Patience(context.cancel, self._start_limit)

        def line(line: Line) -> None:
            lines.append(line)
            if line.torch is not None:
                patience.give(self._time_limit)
            if line.fit is not None:
                fits.append(line.fit)
                context.report(line.fit)

        cores = self._system.cpu().cores
        argv: list[str | Path] = [interpreter, CHILD, "--fit", self._model, "--batch", str(self._batch)]
        argv += ["--device", self._device]
        argv += ["--cores", str(cores)] if cores else []
        with self._system.keep_awake("benchmark"):
            # What was measured before the time was up is still true.
            ending = listen(self._system, argv, line, patience=patience, log=context.log)
        left = {
            each.variant: NOTE + each.left
            for each in lines
            if each.variant is not None and each.left is not None and each.left in REASONS
        }
        if not fits:
            raise self._trouble(lines, left, ending, patience)
        if not any(each.end for each in lines):
            known = {*left, *(fit.variant for fit in fits)}
            left.update({variant: NOTE + "stopped" for variant in get_args(FitVariant) if variant not in known})
        torch = next((each.torch for each in lines if each.torch is not None), "")
        return MemoryFits(schema="gpu-assistant/memory/1", torch=torch, fits=tuple(fits), left_out=left)

    def _trouble(self, lines: list[Line], left: dict[str, str], ending: Ending, patience: Patience) -> AppError:
        for line in lines:
            if line.broken is not None:
                return broken(self.environment, line.broken)
            if line.missing is not None:
                return CallError("bench-no-device", device=line.missing, have=", ".join(line.have))
        if not left or not any(line.end for line in lines):
            return ended(self.environment, ending, patience)
        return AppError("bench-stopped", reason=f"@{next(iter(left.values()))}")
