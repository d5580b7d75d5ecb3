"""What fits in memory: measured in the environment's own Python on small steps, projected to any batch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..core.errors import AppError, CallError, Cancelled
from ..core.results import FitVariant, MemoryFit, MemoryFits
from ..system.json_lines import run_child
from .lines import NOTE, REASONS, Line
from .places import CHILD

if TYPE_CHECKING:
    from ..core.jobs import JobContext
    from ..system.base import System

LIMIT_S = 600.0
FitModel = Literal["resnet50", "bert-base", "language-model"]


class FitJob:
    """What a training step of `model` needs of `device` ("cpu", "cuda:0") with `batch` examples. News are `MemoryFit`.

    `time_limit` in seconds.
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
    ) -> None:
        self.environment = environment
        self._system = system
        self._model, self._batch, self._device = model, batch, device
        self._time_limit = time_limit

    def run(self, context: JobContext[Any]) -> MemoryFits:
        """Measure. Raises AppError("environment-missing", "bench-no-torch", "bench-no-device", "bench-stopped")."""
        interpreter = self._system.environment_python(self.environment)
        if not interpreter.is_file():
            raise AppError("environment-missing", path=str(self.environment))
        lines: list[Line] = []
        fits: list[MemoryFit] = []

        def line(line: Line) -> None:
            lines.append(line)
            if line.fit is not None:
                fits.append(line.fit)
                context.report(line.fit)

        cores = self._system.cpu().cores
        argv: list[str | Path] = [interpreter, CHILD, "--fit", self._model, "--batch", str(self._batch)]
        argv += ["--device", self._device]
        argv += ["--cores", str(cores)] if cores else []
        with self._system.keep_awake("benchmark"):
            try:
                run_child(
                    self._system,
                    argv,
                    Line,
                    line,
                    timeout=self._time_limit,
                    cancel=context.cancel,
                    log=context.log,
                )
            except Cancelled:
                raise
            except AppError as error:
                # What was measured before the time was up is still true.
                if error.code != "program-timeout" or not fits:
                    raise
        left = {
            each.variant: NOTE + each.left
            for each in lines
            if each.variant is not None and each.left is not None and each.left in REASONS
        }
        if not fits:
            raise self._trouble(lines, left)
        if not any(each.end for each in lines):
            known = {*left, *(fit.variant for fit in fits)}
            left.update({variant: NOTE + "stopped" for variant in get_args(FitVariant) if variant not in known})
        torch = next((each.torch for each in lines if each.torch is not None), "")
        return MemoryFits(schema="gpu-assistant/memory/1", torch=torch, fits=tuple(fits), left_out=left)

    def _trouble(self, lines: list[Line], left: dict[str, str]) -> AppError:
        for line in lines:
            if line.broken is not None:
                return AppError("bench-no-torch", path=str(self.environment), reason=line.broken)
            if line.missing is not None:
                return CallError("bench-no-device", device=line.missing, have=", ".join(line.have))
        return AppError("bench-stopped", reason=f"@{next(iter(left.values()), NOTE + 'stopped')}")
