"""What fits in memory: measured in the environment's own Python on small steps, projected to any batch."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..catalog.fitting import load_memory_planning
from ..core.errors import AppError, UsageError
from ..core.memory import MemoryProfile, FitVariant, MemoryFits
from ..system.json_lines import DeadlineEvent
from .alone import benchmark_lock
from .lines import NOTE_PREFIX, SKIP_REASONS, MemoryFitProgress, ChildMessage, TorchLoading
from .listen import ChildExit, torch_load_error, child_exit_error, run_benchmark_child
from .places import CHILD_PROGRAM
from .projection import project_memory

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..core.jobs import JobContext
    from ..core.paths import DataDir
    from ..system.base import System

TIME_LIMIT_S = 600.0
TIME_OVER = "over"  # the time limit came first
LARGEST_GPU_DEVICE = "cuda"  # the device that stands for the card with the most memory
FitModel = Literal["resnet50", "bert-base", "language-model"]


class MemoryFitJob:
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
        time_limit: float = TIME_LIMIT_S,
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
            raise UsageError("bench-simulated")
        interpreter = self._system.environment_python(self.environment)
        if not interpreter.is_file():
            raise AppError("environment-missing", path=str(self.environment))
        with benchmark_lock(self._data, context.log):
            return self._measure(interpreter, context)

    def _measure(self, interpreter: Path, context: JobContext[Any]) -> MemoryFits:
        started_at = time.monotonic()
        lines: list[ChildMessage] = []
        steps: list[MemoryProfile] = []
        started_variants: list[FitVariant] = []
        deadline = DeadlineEvent(context.cancel, self._start_limit)
        context.report(TorchLoading(limit_s=self._start_limit))

        def handle_message(message: ChildMessage) -> None:
            lines.append(message)
            if message.start is not None:
                deadline.extend(self._time_limit)
                context.report(message.start)
            if message.fit is not None:
                steps.append(message.fit)
                context.report(project_memory(message.fit, self._batch))
            elif message.variant is not None and message.left is None:
                started_variants.append(message.variant)
                total = len(get_args(FitVariant))
                context.report(MemoryFitProgress(index=len(started_variants), total=total, variant=message.variant))

        with self._system.keep_awake("benchmark"):
            # What was measured before the time was up is still true.
            child_exit = run_benchmark_child(self._system, self._argv(interpreter), handle_message, deadline=deadline, log=context.log)
        skipped_variants: dict[str, str] = {
            each.variant: NOTE_PREFIX + each.left
            for each in lines
            if each.variant is not None and each.left is not None and each.left in SKIP_REASONS
        }
        if not steps:
            raise self._failure(lines, skipped_variants, child_exit, deadline)
        if not any(each.end for each in lines):
            handled = {*skipped_variants, *(each.variant for each in steps)}
            reason = NOTE_PREFIX + (TIME_OVER if deadline.is_set() else child_exit.reason)
            skipped_variants.update({variant: reason for variant in get_args(FitVariant) if variant not in handled})
        start_message = next((each.start for each in lines if each.start is not None), None)
        return MemoryFits(
            schema="gpu-assistant/memory/1",
            torch=start_message.torch if start_message is not None else "",
            fits=tuple(project_memory(each, self._batch) for each in steps),
            steps=tuple(steps),
            left_out=skipped_variants,
            devices=start_message.devices if start_message is not None else (),
            seconds=time.monotonic() - started_at,
        )

    def _argv(self, interpreter: Path) -> list[str | Path]:
        cores = self._system.cpu().cores
        argv: list[str | Path] = [interpreter, CHILD_PROGRAM, "--fit", self._model]
        argv += ["--device", self._device]
        device_kind: Literal["cpu", "gpu"] = "cpu" if self._device == "cpu" else "gpu"
        memory_reserve = load_memory_planning(self._catalog).find_reserve(device_kind, self._system.name)
        argv += ["--spare-share", str(memory_reserve.share), "--spare-least", str(memory_reserve.least_bytes)] if memory_reserve else []
        return [*argv, *(["--cores", str(cores)] if cores else [])]

    def _failure(self, messages: list[ChildMessage], skipped_variants: dict[str, str], child_exit: ChildExit, deadline: DeadlineEvent) -> AppError:
        for message in messages:
            if message.broken is not None:
                return torch_load_error(self.environment, message.broken)
            if message.missing is not None:
                return UsageError("bench-no-device", device=message.missing, have=", ".join(message.have))
        if not skipped_variants or not any(message.end for message in messages):
            return child_exit_error(self.environment, child_exit, deadline)
        return AppError("bench-stopped", reason=f"@{next(iter(skipped_variants.values()))}")
