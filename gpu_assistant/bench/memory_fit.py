"""What a training step needs of a device's memory: measured with small batches, projected to any batch.

    MemoryFitJob -> child (memory_fit) -> StepMemory -> MemoryProfile -> project_memory -> MemoryFit

`install_command` installs a package of the example programs in the release that belongs to an environment's PyTorch.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from msgspec.structs import asdict

from ..catalog.estimates import load_memory_planning
from ..core.errors import AppError, UsageError
from ..core.results import BenchDevice, FitVariant, MemoryFit, MemoryFits, MemoryProfile, StepMemory
from ..system.locks import environment_lock
from ..system.processes import ChildExit, DeadlineEvent, run_child, torch_load_error
from .child_protocol import (
    CHILD_PROGRAM,
    NOTE_PREFIX,
    SKIP_REASONS,
    ChildMessage,
    MemoryFitProgress,
    TorchLoading,
    child_exit_error,
)
from .job import benchmark_lock

if TYPE_CHECKING:
    from ..catalog.store import Catalog
    from ..core.jobs import JobContext
    from ..core.machine import OperatingSystem
    from ..core.paths import DataDir
    from ..system.base import System


MAX_BATCH = 2**20  # upper bound of the search for the largest batch
ACCUMULATION_STEPS = 4  # micro-batches of a batch with gradient accumulation, as in `child/memory_fit.py`


class _MemoryParts(NamedTuple):
    """Bytes at the peak, by purpose."""

    parameters: int
    gradients: int
    optimizer: int
    activations: int
    temporary: int
    cache: int


def project_memory(steps: MemoryProfile, batch: int) -> MemoryFit:
    """The projected peak memory of a step with `batch` examples, and the largest batch that fits."""
    parts = _memory_parts(steps, batch)
    return MemoryFit(
        model=steps.model,
        device=steps.device,
        variant=steps.variant,
        dtype=steps.dtype,
        batch=batch,
        **parts._asdict(),
        peak=sum(parts),
        capacity=steps.capacity,
        reserve=steps.reserve,
        largest_batch=_largest_fitting_batch(steps),
        exact=steps.exact,
    )


def is_batch_fitting(fit: MemoryFit) -> bool | None:
    """Whether its batch fits into the capacity less the reserve; None where the free memory is unknown."""
    return None if fit.largest_batch is None else fit.batch <= fit.largest_batch


def practical_batch(fit: MemoryFit) -> int | None:
    """The largest batch that fits, rounded down to its first four binary digits times the number of micro-batches.

    None where the free memory is unknown; below one example for each micro-batch it is not rounded.
    """
    parts = ACCUMULATION_STEPS if fit.variant in ("accumulation", "together") else 1
    if fit.largest_batch is None:
        return None
    steps_count = fit.largest_batch // parts
    if steps_count == 0:
        return fit.largest_batch
    step = 1 << max(steps_count.bit_length() - 4, 0)
    return steps_count // step * step * parts


def _memory_parts(steps: MemoryProfile, batch: int) -> _MemoryParts:
    micro_batch = -(-batch // steps.micro_batches)  # examples of one forward and backward pass
    peak = max(steps.peaks, key=lambda each: (each.constant + each.example * micro_batch, each.example))
    peak_bytes = peak.constant + peak.example * micro_batch
    # With accumulation, gradients are allocated before the step measured here.
    accumulated_gradients = steps.gradients if steps.micro_batches > 1 else 0
    new_gradients = 0 if accumulated_gradients else min(peak.gradients, max(peak_bytes, 0))
    other_bytes = peak_bytes - new_gradients
    memory = _MemoryParts(
        parameters=steps.parameters,
        gradients=accumulated_gradients + new_gradients,
        optimizer=steps.optimizer,
        activations=micro_batch * steps.example + (0 if peak.updating else other_bytes),
        temporary=other_bytes if peak.updating else 0,
        cache=0,
    )
    return memory._replace(cache=int(sum(memory) * steps.cached))


def _largest_fitting_batch(steps: MemoryProfile) -> int | None:
    """0 where not even one example fits."""
    if steps.capacity is None or steps.reserve is None:
        return None
    usable = steps.capacity - steps.reserve
    fitting, too_large = 0, 1
    while too_large <= MAX_BATCH and sum(_memory_parts(steps, too_large)) <= usable:
        fitting, too_large = too_large, too_large * 2
    while too_large - fitting > 1:
        middle = (fitting + too_large) // 2
        if sum(_memory_parts(steps, middle)) <= usable:
            fitting = middle
        else:
            too_large = middle
    return fitting


TIME_LIMIT_S = 600.0
TIME_OVER = "over"  # the time limit came first
LARGEST_GPU_DEVICE = "cuda"  # stands for the GPU with the most memory
FitModel = Literal["resnet50", "bert-base", "language-model"]


class MemoryFitJob:
    """Measures the memory of `device` ("cpu", "cuda:0", or "cuda" for the GPU with the most memory) that a training
    step of `model` with `batch` examples needs. Reports `TorchLoading`, `MemoryFitProgress`, `MemoryFit`, and once
    `ChildStart` with the devices.

    The catalog says how much of the memory is kept in reserve. `time_limit` in seconds starts once torch has
    loaded, for which it has `start_limit` seconds (None: no limit).
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
        """Measure. Raises UsageError where the machine is a simulated one or has no such device, and
        AppError("environment-missing", "bench-running", "bench-stopped", "catalog-broken", and those of
        `run_child`, `child_exit_error` and `torch_load_error`).
        """
        if self._simulated:
            raise UsageError("bench-simulated")
        interpreter = self._system.environment_python(self.environment)
        if not interpreter.is_file():
            raise AppError("environment-missing", path=str(self.environment))
        with benchmark_lock(self._data, context.log), environment_lock(self.environment):
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
                devices = [device for each in lines if each.start is not None for device in each.start.bench_devices]
                steps.append(self._with_reserve(message.fit, devices))
                context.report(project_memory(steps[-1], self._batch))
            elif message.variant is not None and message.left is None:
                started_variants.append(message.variant)
                total = len(get_args(FitVariant))
                context.report(MemoryFitProgress(index=len(started_variants), total=total, variant=message.variant))

        with self._system.keep_awake("benchmark"):
            # Results from before the time limit are valid.
            child_exit = run_child(
                self._system,
                self.child_argv(interpreter),
                ChildMessage,
                handle_message,
                deadline=deadline,
                log=context.log,
            )
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
            devices=start_message.bench_devices if start_message is not None else (),
            seconds=time.monotonic() - started_at,
        )

    def child_argv(self, interpreter: Path) -> list[str | Path]:
        cores = self._system.cpu().cores
        argv: list[str | Path] = [interpreter, CHILD_PROGRAM, "--fit", self._model, "--device", self._device]
        return [*argv, *(["--cores", str(cores)] if cores else [])]

    def _with_reserve(self, measurement: StepMemory, devices: Sequence[BenchDevice]) -> MemoryProfile:
        """With the reserve of the device that was measured, as `model_memory.usable_memory` has it."""
        return MemoryProfile(**asdict(measurement), reserve=self._reserve(measurement, devices))

    def _reserve(self, measurement: StepMemory, devices: Sequence[BenchDevice]) -> int | None:
        if measurement.capacity is None:
            return None
        device_kind: Literal["cpu", "gpu"] = "cpu" if self._device == "cpu" else "gpu"
        reserve = load_memory_planning(self._catalog).find_reserve(device_kind, self._system.name)
        total = next((each.memory_bytes for each in devices if each.id == measurement.device), None)
        memory = max(total or 0, measurement.capacity)
        return reserve.bytes_of_free(measurement.capacity, memory) if reserve is not None else 0

    def _failure(
        self,
        messages: list[ChildMessage],
        skipped_variants: dict[str, str],
        child_exit: ChildExit,
        deadline: DeadlineEvent,
    ) -> AppError:
        for message in messages:
            if message.broken is not None:
                return torch_load_error(self.environment, message.broken)
            if message.missing is not None:
                return UsageError("bench-no-device", device=message.missing, have=", ".join(message.have))
        if not skipped_variants or not any(message.end for message in messages):
            return child_exit_error(self.environment, child_exit, deadline)
        return AppError("bench-stopped", reason=f"@{next(iter(skipped_variants.values()))}")


TORCHVISION = "torchvision"  # built against one release of PyTorch and loads with that one only


def install_command(
    package: str, python: Path, torch: str | None, catalog: Catalog, system: OperatingSystem
) -> tuple[str, ...] | None:
    """The pip command that installs `package` with the interpreter `python`; `torch` is the version there, as
    "2.13.0+cu126".

    None where the package must match PyTorch and the catalog lacks the matching release.
    """
    pip_command = (str(python), "-m", "pip", "install")
    if package != TORCHVISION:
        return (*pip_command, package)
    version, _, tag = (torch or "").partition("+")
    release = catalog.release(version)
    if release is None or release.torchvision is None or system.arch is None:
        return None
    variant = tag or catalog.default_variant(version, system.system, system.arch)
    build = catalog.build(version, variant, system.system, system.arch) if variant is not None else None
    if build is None or build.alone:
        return None
    index_options = ("--index-url", build.index_url) if build.index_url is not None else ()
    # The same local version as torch: pip's configuration may name further indexes, and other builds do not load.
    local_version = f"+{tag}" if tag else ""
    return (*pip_command, f"{package}=={release.torchvision}{local_version}", *index_options)
