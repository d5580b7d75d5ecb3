"""Measures the devices of an environment: runs the child in its own Python, evaluates and stores the result.

    BenchmarkJob -> run_child -> child/ (in the environment's Python)
         |              `-> ChildMessageCollector: progress, results, skipped workloads
         |-> gpu_log.GpuLogger        temperatures, clocks and throttling meanwhile
         |-> scaling.measure_parallel  several GPUs together
         `-> results                  expected ranges, causes, comparison

One measurement at a time (`benchmark_lock`): two would slow each other down.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ..core import filesystem, json
from ..core.errors import AppError, Cancelled, UsageError
from ..core.jobs import JobContext
from ..core.results import BenchDevice, BenchGpuLog, Benchmark, BenchResult, DType, GpuSample
from ..system.locks import data_folder_lock, environment_lock
from ..system.nvml.monitor import NvmlMonitor
from ..system.processes import ChildExit, DeadlineEvent, run_child, torch_load_error
from ..system.variables import falsifying_variables
from . import scaling
from .child_protocol import (
    CHILD_PROGRAM,
    EXIT_GRACE_S,
    NOTE_PREFIX,
    PARALLEL_FAILED_NOTE,
    UNSAVED_NOTE,
    VERDICT_PREFIX,
    BenchmarkProgress,
    ChildMessage,
    ChildMessageCollector,
    ChildStart,
    MeasurementStart,
    TorchLoading,
    child_exit_error,
)
from .device_comparison import gpu_speedups
from .expected_ranges import judge_benchmark
from .gpu_log import ABNORMAL_THROTTLE_REASONS, BUSY_CPU_PERCENT, BUSY_GPU_PERCENT, GpuLogger, read_cpu_load

if TYPE_CHECKING:
    from ..catalog.store import Catalog
    from ..core.paths import DataDir
    from ..system.base import System


ALREADY_RUNNING = "bench-running"


@contextmanager
def benchmark_lock(data: DataDir, log: Callable[[str], None]) -> Iterator[None]:
    """Lock the data folder for a measurement; raises AppError("bench-running", pid=…) while another one runs."""
    with ExitStack() as stack:
        try:
            stack.enter_context(data_folder_lock(data, "benchmark", ALREADY_RUNNING))
        except AppError as error:
            if error.code == ALREADY_RUNNING:
                raise
            log(f"{error.code}: {data.root}")  # measure anyway where the disk is full
        yield


__all__ = ["BenchmarkJob", "BenchmarkProgress"]

MAX_RESULT_BYTES = 256 * 1024  # about the largest result file


class BenchmarkJob:
    """One run; reports `TorchLoading`, `BenchmarkProgress` and `BenchResult`.

    `device` ("cpu", "cuda:0") limits it to one device, `workloads` to these names or families ("matmul", "copy",
    "training", "decode", "parallel"). `catalog` has the expected ranges. `read_gpus` samples the GPUs (by default the
    driver does), `read_cpu_load` gives the CPU's load in percent. A child that has not loaded torch after `start_limit`
    seconds (None: no limit), or exceeds its own limit afterwards, is terminated.
    """

    def __init__(
        self,
        environment: Path,
        system: System,
        data: DataDir,
        *,
        full: bool = False,
        device: str | None = None,
        workloads: Sequence[str] = (),
        catalog: Catalog | None = None,
        read_gpus: Callable[[], tuple[GpuSample, ...]] | None = None,
        read_cpu_load: Callable[[threading.Event], float | None] = read_cpu_load,
        start_limit: float | None = None,
        simulated: bool = False,
    ) -> None:
        self.environment = environment
        self._system = system
        self._data = data
        self._full = full
        self._device = device
        self._workloads = tuple(workloads)
        self._catalog = catalog
        self._read_gpus, self._read_cpu_load = read_gpus, read_cpu_load
        self._start_limit = start_limit
        self._simulated = simulated

    def run(self, context: JobContext[Any]) -> Benchmark:
        """Measure, and store the result in the data folder.

        If the child dies or hangs after its first results, or a full test is cancelled, the results so far are stored
        with a note. Raises Cancelled (nothing is stored), UsageError for a simulated machine or an unknown device,
        AppError("environment-missing", "bench-running"), and the errors of a full disk and of the child.
        """
        if self._simulated:
            raise UsageError("bench-simulated")
        interpreter = self._system.environment_python(self.environment)
        if not interpreter.is_file():
            raise AppError("environment-missing", path=str(self.environment))
        with benchmark_lock(self._data, context.log), environment_lock(self.environment):
            self._check_disk_space()
            return self._measure(interpreter, context)

    def _check_disk_space(self) -> None:
        """Check before the measurement that its result can be stored; raises AppError."""
        trial_file = self._data.claim(self._data.root) / "benchmark.room"
        json.write_file(trial_file, bytes(MAX_RESULT_BYTES))
        filesystem.unlink(trial_file, missing_ok=True)

    def _measure(self, interpreter: Path, context: JobContext[Any]) -> Benchmark:
        started = time.time()
        busy_cpu = (self._read_cpu_load(context.cancel) or 0.0) > BUSY_CPU_PERCENT
        context.check_cancelled()
        sleep_inhibitor, nvml = self._system.keep_awake("benchmark"), NvmlMonitor(self._system)
        # What is expensive to read is not used, and would disturb what is being timed.
        gpu_logger = GpuLogger(
            self._read_gpus or partial(nvml.sample, detailed=False, processes=False), self._system.gpu_shared_memory
        )
        collector = ChildMessageCollector(
            context.report,
            context.log,
            lambda start: len(self._parallel_models(start)),
            extra_limit_s=scaling.parallel_limit_s(full=self._full),
            busy_cpu=busy_cpu,
            read_clock=gpu_logger.clock_during,
            was_memory_lent=gpu_logger.was_memory_lent,
        )
        deadline = DeadlineEvent(context.cancel, self._start_limit)
        context.report(TorchLoading(limit_s=self._start_limit))
        power = self._system.power()
        was_cancelled = False
        with sleep_inhibitor, nvml, gpu_logger:
            try:
                child_exit = self._run_child(
                    interpreter, collector, deadline, context, gpu_logger, started=started, busy_cpu=busy_cpu
                )
                if collector.is_complete:
                    self._measure_parallel(interpreter, collector, context)
                else:
                    context.check_cancelled()  # Ctrl+C in a terminal may end the child first
            except Cancelled:
                if not (self._full and collector.results):
                    raise
                child_exit, was_cancelled = ChildExit(None, 0, ""), True
        if collector.start is None or not collector.results:
            raise self._failure(collector, child_exit, deadline)
        if was_cancelled or not collector.is_complete:
            collector.skip_remaining("cancelled" if was_cancelled else child_exit.reason)
        gpu_logs = gpu_logger.gpu_logs({each.uuid: each.id for each in collector.start.devices if each.uuid})
        on_battery = None if power.source is None else power.source == "battery"
        has_gpu_results = any(result.device != "cpu" for result in collector.results)
        for note in _unfair_conditions(
            gpu_logs if has_gpu_results else (), on_battery=on_battery, power_saving=power.power_saving
        ):
            collector.notes[NOTE_PREFIX + note] = None
        benchmark = Benchmark(
            schema="gpu-assistant/benchmark/1",
            torch=collector.start.torch,
            devices=self._name_devices(collector.start.bench_devices),
            cleared=falsifying_variables(os.environ),
            results=tuple(collector.results),
            speedup=gpu_speedups(collector.results),
            started=started,
            seconds=time.time() - started,
            notes=tuple(collector.notes),
            scope="full" if self._full else "quick",
            versions={**collector.start.versions, **({"driver": nvml.driver} if nvml.driver else {})},
            left_out=tuple(collector.skipped),
            watched=gpu_logs,
            on_battery=on_battery,
        )
        return self._store(self._add_verdict(benchmark, power_saving=power.power_saving), context)

    def _run_child(
        self,
        interpreter: Path,
        collector: ChildMessageCollector,
        deadline: DeadlineEvent,
        context: JobContext[Any],
        gpu_logger: GpuLogger,
        *,
        started: float,
        busy_cpu: bool,
    ) -> ChildExit:
        cores = self._system.cpu().cores
        argv: list[str | Path] = [interpreter, CHILD_PROGRAM, "--since", repr(started)]
        argv += ["--full"] if self._full else []
        # With other programs running, OpenMP's waiting threads must not occupy cores.
        argv += ["--yielding"] if busy_cpu else []
        argv += ["--device", self._device] if self._device else []
        for name in self._workloads:
            argv += ["--only", name]
        argv += ["--cores", str(cores)] if cores else []

        def handle_message(message: ChildMessage) -> None:
            collector.receive(message)
            if message.start is not None:
                gpu_logger.watched_pid = message.start.pid
                deadline.extend(message.start.limit_s + EXIT_GRACE_S)

        return run_child(self._system, argv, ChildMessage, handle_message, deadline=deadline, log=context.log)

    def _parallel_models(self, start: ChildStart) -> tuple[str, ...]:
        """The models that all GPUs train together, if there are several."""
        has_several_gpus = sum(device.id != "cpu" for device in start.devices) > 1
        if not has_several_gpus or self._device is not None or (self._workloads and "parallel" not in self._workloads):
            return ()
        return scaling.parallel_models(full=self._full)

    def _measure_parallel(self, interpreter: Path, collector: ChildMessageCollector, context: JobContext[Any]) -> None:
        """Measure the training step on all GPUs together, each in the format in which it was measured alone."""
        if collector.start is None:
            return
        gpu_count = sum(device.id != "cpu" for device in collector.start.devices)
        for index, model in enumerate(self._parallel_models(collector.start), collector.start.total + 1):
            gpus = [device.id for device in collector.start.devices if device.id != "cpu"]
            dtypes = tuple(_training_dtype(gpu, model, collector.results) for gpu in gpus)
            size = next((each.size for each in collector.results if each.id == model), ())
            collector.report_progress(
                MeasurementStart(n=index, workload=f"{model}-parallel", device="cuda", dtype=dtypes[0], size=size)
            )
            limit_s = scaling.parallel_limit_s(full=self._full)
            result = scaling.measure_parallel(
                self._system, interpreter, context, processes=gpu_count, model=model, dtypes=dtypes, limit_s=limit_s
            )
            if result is None:
                collector.notes[PARALLEL_FAILED_NOTE] = None
            else:
                collector.add_result(result)

    def _add_verdict(self, benchmark: Benchmark, *, power_saving: bool | None) -> Benchmark:
        """The benchmark with judgements by the expected ranges of these GPUs, if they are known, and the verdict."""
        if all(result.device == "cpu" for result in benchmark.results):
            return replace(benchmark, verdict=VERDICT_PREFIX + self._cpu_verdict(benchmark))
        if self._catalog is None:
            return replace(benchmark, verdict=VERDICT_PREFIX + "measured")
        return judge_benchmark(benchmark, self._catalog, power_saving=power_saving)

    def _cpu_verdict(self, benchmark: Benchmark) -> str:
        """Why no GPU was measured: there is none, torch cannot use it, it was not requested, or it failed."""
        has_gpu = any(device.id != "cpu" for device in benchmark.devices)
        if not has_gpu and not benchmark.watched:
            return "cpu-only"
        if self._device == "cpu":
            return "cpu-chosen"
        if has_gpu:
            return "card-failed"
        return "card-unseen" if {"cuda", "hip"} & set(benchmark.versions) else "cpu-build"

    def _failure(self, collector: ChildMessageCollector, child_exit: ChildExit, deadline: DeadlineEvent) -> AppError:
        if collector.broken is not None:
            return torch_load_error(self.environment, collector.broken)
        if collector.missing is not None:
            return UsageError(
                "bench-no-device", device=collector.missing.missing, have=", ".join(collector.missing.have)
            )
        if not collector.is_complete:
            return child_exit_error(self.environment, child_exit, deadline)
        reason = next((skipped.why for skipped in collector.skipped), None)
        if reason is None:
            return AppError("bench-garbled", path=str(self.environment))
        return AppError("bench-stopped", reason=f"@{reason}")

    def _name_devices(self, devices: Sequence[BenchDevice]) -> tuple[BenchDevice, ...]:
        """Add the CPU's name, which torch does not know."""
        name = self._system.cpu().name
        return tuple(replace(device, name=name) if device.id == "cpu" else device for device in devices)

    def _store(self, benchmark: Benchmark, context: JobContext[Any]) -> Benchmark:
        started_at = datetime.fromtimestamp(benchmark.started or 0, UTC)
        path = self._data.benchmarks / f"{started_at:%Y%m%dT%H%M%S.%fZ}.json"
        try:
            self._data.claim(self._data.benchmarks)
            json.write_file(path, json.encode_pretty(benchmark) + "\n")
        except AppError as error:
            context.log(f"{error.code}: {path}")
            return replace(benchmark, notes=(*benchmark.notes, UNSAVED_NOTE))
        return benchmark


def _training_dtype(device: str, model: str, results: Sequence[BenchResult]) -> DType:
    """The format in which a GPU trains this model alone: mixed precision where it was measured."""
    dtypes = [each.dtype for each in results if each.id == model and each.device == device]
    return next((dtype for dtype in dtypes if dtype.startswith("mixed-")), "float32")


def _unfair_conditions(
    gpu_logs: Sequence[BenchGpuLog], *, on_battery: bool | None, power_saving: bool | None
) -> tuple[str, ...]:
    """The codes of conditions that make the results lower than they should be."""
    conditions = {
        "battery": on_battery is True,
        "saving": power_saving is True,
        "busy": any(gpu_log.util_before is not None and gpu_log.util_before > BUSY_GPU_PERCENT for gpu_log in gpu_logs),
        "throttled": any(ABNORMAL_THROTTLE_REASONS & set(gpu_log.throttle) for gpu_log in gpu_logs),
    }
    return tuple(code for code, is_present in conditions.items() if is_present)
