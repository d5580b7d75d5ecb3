"""The health test: watches the GPUs through the driver while a program puts them under load.

HealthJob
  SafetyMonitor         a thread: samples each second, stops the test before a GPU is too hot     safety.py
    HealthMonitor       the rules, on these samples                                               monitor.py
  child/program.py      computes on the devices, in the environment's own Python
  HealthChildState      reads its JSON lines                                                      child_protocol.py
  PostTestChecks        checks from all readings, and from the alarms                             checks.py
Checks
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import replace

from ..core.errors import AppError, Cancelled, UsageError
from ..core.jobs import JobContext
from ..core.results import Check, Checks, CheckState, GpuSample, HealthTestCurve, Sample
from ..core.types import Value, device_name
from ..system.base import KILLED_RETURNCODE, Desktop, Hardware, Processes
from ..system.locks import environment_lock
from ..system.processes import DeadlineEvent, run_json_lines
from ..system.variables import falsifying_variables
from ..verify.job import worst_state
from . import checks as health_checks
from .alarm_checks import select_test_rules
from .checks import PostTestChecks, gpu_index, make_check, with_gpu_name
from .child_protocol import HealthChildMessage, HealthChildState, HealthProgress
from .monitor import HealthMonitor
from .rules import FormFactor
from .safety import SAMPLE_INTERVAL_S, SafetyMonitor, SamplerProtocol, stop_temperature

if TYPE_CHECKING:
    from ..catalog.records.health import HealthRules


CHILD_PROGRAM = Path(__file__).with_name("child") / "program.py"
LEVELS = (1, 2, 3)

# What each level tests, in this order; texts `health.area.<id>`.
AREAS_BY_LEVEL = {
    1: (
        "driver",
        "card-answers",
        "card-link",
        "card-memory",
        "card-errors",
        "card-xid",
        "card-fan",
        "cpu-compute",
        "device-compute",
    ),
    2: ("copy-bandwidth", "link-speed", "matmul-bits", "memory-test", "card-heat", "card-held-back"),
    3: ("load", "load-speed"),
}
# The same in the order in which a test comes to them: what the program computes, device by device, the load on all
# devices at once, then what is read from the samples of the whole test.
PROGRAM_AREAS = ("driver", "cpu-compute", "device-compute", "copy-bandwidth", "matmul-bits", "memory-test", "load")
SAMPLED_AREAS = (
    *("card-answers", "card-link", "card-memory", "card-errors", "card-xid", "card-heat", "card-fan"),
    *("card-held-back", "link-speed", "load-speed"),
)
CPU_CAPABLE_AREAS = ("matmul-bits", "memory-test", "load")  # tested on the CPU they are `<id>-cpu`
NEVER_COVERED = ("graphics", "rare")  # by no level
# The most important areas among those that were not covered: listed first.
PRIORITY_AREAS = ("device-compute", "matmul-bits", "memory-test", "load", "copy-bandwidth")
DRIVER_ONLY_SAMPLES = 2.5  # intervals of a test without an environment, which only samples
DRIVER_TIMEOUT_S = 20.0  # for the driver's first answer: longer than the sampler needs to call it hung

CHILD_FAILURE_REASONS = {
    "program-endless": "@verify.reason.garbage",
    "program-missing": "@verify.reason.not-started",
    "program-refused": "@verify.reason.not-started",
}


class HealthTestSystem(Hardware, Processes, Desktop, Protocol):
    """The roles of the operating system that a health test uses."""


class HealthJob:
    """A test of a level: 1 takes seconds, 2 minutes, 3 `load_seconds` more. Reports `Check` and `HealthProgress`.

    `device` ("cpu", "cuda:0") is the only one that is tested; without it all GPUs are, or the CPU where there is none.
    `max_temperature` is the highest temperature in °C by the GPU's vendor, `lanes` its PCI Express lanes by its vendor;
    the job uses `sampler` alone. PyTorch has `start_limit` seconds to load (None: no limit), then everything has
    `time_limit` seconds. The GPUs are sampled each `sample_interval` seconds. Without an environment (level 1 only)
    nothing is computed, only the driver is asked. `record` gets the result and the GPUs that were tested.
    """

    def __init__(
        self,
        environment: Path | None,
        system: HealthTestSystem,
        rules: HealthRules,
        sampler: SamplerProtocol,
        *,
        level: int = 1,
        device: str | None = None,
        load_seconds: float | None = None,
        max_temperature: Callable[[GpuSample], float | None] = lambda _: None,
        form_factor: Callable[[GpuSample], FormFactor] = lambda _: "any",
        lanes: Callable[[GpuSample], int | None] = lambda _: None,
        start_limit: float | None = None,
        time_limit: float | None = None,
        sample_interval: float = SAMPLE_INTERVAL_S,
        record: Callable[[Checks, tuple[GpuSample, ...]], None] = lambda *_: None,
    ) -> None:
        if level not in LEVELS:
            raise ValueError(f"there is no level {level}")
        if environment is None and level > 1:
            raise ValueError(f"level {level} wants an environment")
        self.environment = environment
        self._system = system
        self._rules, self._tests = rules, rules.tests
        self._monitor = HealthMonitor(
            select_test_rules(rules), max_temperature=max_temperature, form_factor=form_factor, lanes=lanes
        )
        self._sampler = sampler
        self._level = level
        self._device = device
        self._load_seconds = load_seconds or rules.tests.load_seconds
        self._max_temperature = max_temperature
        self._post_test_checks = PostTestChecks(
            rules, level=level, device=device, max_temperature=max_temperature, form_factor=form_factor
        )
        extra_seconds = self._load_seconds if level == 3 else 0.0
        self._start_limit = start_limit
        self._sample_interval = sample_interval
        self._record = record
        self._time_limit = time_limit or rules.tests.limits_seconds[level - 1] + extra_seconds

    def run(self, context: JobContext[Any]) -> Checks:
        """All checks of the level; a fault is a failed check.

        Raises AppError("environment-missing"), UsageError("health-no-device") and Cancelled; nothing is running then.
        """
        interpreter = None
        if self.environment is not None:
            interpreter = self._system.environment_python(self.environment)
            if not interpreter.is_file():
                raise AppError("environment-missing", path=str(self.environment))
        results: list[Check] = []

        def report(check: Check) -> None:
            results.append(check)
            context.report(check)

        def report_program_check(check: Check) -> None:
            report(with_gpu_name(check, child_state, safety))

        started = time.monotonic()
        # The first level only looks for a few seconds.
        locked = environment_lock(self.environment) if self.environment and self._level > 1 else nullcontext()
        with locked, self._system.keep_awake("health test"), self._safety_monitor(context.cancel) as safety:
            child_state = HealthChildState(
                report_program_check,
                lambda progress: context.report(_with_gpu_readings(progress, child_state, safety)),
                _elapsed_clock(started),
            )
            first_sample = safety.latest
            if first_sample is not None and not health_checks.is_driver_pending(first_sample):
                report(health_checks.check_driver(first_sample, self._rules, has_adapter=self._has_adapter()))
            if self._level > 1:
                report(health_checks.check_power_source(self._system.power()))
            if interpreter is not None:
                self._run_child(interpreter, child_state, safety, report_program_check, context)
            else:
                context.cancel.wait(DRIVER_ONLY_SAMPLES * self._sample_interval)
                safety.wait_until(lambda sample: sample.nvml not in ("untried", "slow"), DRIVER_TIMEOUT_S)
                context.check_cancelled()
                self._check_device(safety.latest)
                report(make_check("torch-import", "skip", reason="@health.reason.no-environment"))
            safety.wait_for_alarms(self._tests.settle_seconds)
            context.check_cancelled()
        if child_state.missing_device is not None:
            available = ", ".join(child_state.missing_device.have)
            raise UsageError("health-no-device", device=child_state.missing_device.missing, have=available)
        latest = safety.latest
        if latest is not None:
            driver_check = health_checks.check_driver(latest, self._rules, has_adapter=self._has_adapter())
            # A driver that answered at first may be silent by now.
            driver_reported = any(check.id == "driver" for check in results)
            if driver_check not in results and (driver_check.state == "fail" or not driver_reported):
                report(driver_check)
        curves = self._post_test_checks.run(tuple(results), child_state, safety, report)
        result = self._make_result(results, curves)
        self._record(result, self._tested_gpus(child_state, safety))
        return result

    def _tested_gpus(self, child_state: HealthChildState, safety: SafetyMonitor) -> tuple[GpuSample, ...]:
        """The GPUs on which the program computed, as they were last; those that respond where only the driver was
        asked.
        """
        gpus = safety.latest.gpus if safety.latest is not None else ()
        if child_state.start is None:
            return tuple(gpu for gpu in gpus if gpu.state == "ready" and self._device in (None, f"cuda:{gpu.index}"))
        devices = (device for device in child_state.start.devices if self._device in (None, device.id))
        indexes = {gpu_index(device, safety) for device in devices}
        return tuple(gpu for gpu in gpus if gpu.index in indexes)

    def _safety_monitor(self, cancel: threading.Event) -> SafetyMonitor:
        return SafetyMonitor(
            self._sampler, cancel, self._stop_temperature, self._monitor, interval=self._sample_interval
        )

    def _run_child(
        self,
        interpreter: Path,
        child_state: HealthChildState,
        safety: SafetyMonitor,
        report: Callable[[Check], None],
        context: JobContext[Any],
    ) -> None:
        """Run the program to its end, or until the user, heat or a lost GPU stops it."""
        deadline = DeadlineEvent(safety.stop, self._start_limit)

        def handle_message(message: HealthChildMessage) -> None:
            if message.start is not None:
                deadline.extend(self._time_limit)
            child_state.handle(message)

        try:
            process_result = run_json_lines(
                self._system,
                [interpreter, CHILD_PROGRAM, *self._child_arguments()],
                HealthChildMessage,
                handle_message,
                timeout=threading.TIMEOUT_MAX,
                cancel=deadline,
                log=context.log,
            )
        except Cancelled:
            context.check_cancelled()
            if not deadline.cancelled:
                report(_interrupted_check(child_state, "@verify.reason.timeout"))
                return
            reason = "@health.reason.too-hot" if safety.overheating is not None else "@health.reason.lost"
            # The interrupted check did not fail; heat and loss have checks of their own.
            report(_interrupted_check(child_state, reason, state="skip"))
            return
        except AppError as error:
            if error.code not in CHILD_FAILURE_REASONS:
                raise
            report(_interrupted_check(child_state, CHILD_FAILURE_REASONS[error.code]))
            return
        context.check_cancelled()
        if not child_state.has_ended and child_state.missing_device is None:
            if process_result.returncode == KILLED_RETURNCODE:
                # The interrupted check did not fail.
                report(_interrupted_check(child_state, "@health.reason.killed", state="skip"))
                report(make_check("test-end", "fail"))
                return
            is_garbage = not process_result.returncode and not child_state.has_checks
            reason = "@verify.reason.garbage" if is_garbage else "@verify.reason.crashed"
            report(_interrupted_check(child_state, reason))

    def _check_device(self, latest: Sample | None) -> None:
        """Raise UsageError for a device that the driver does not list; there is no program that lists devices."""
        available = ("cpu", *(f"cuda:{gpu.index}" for gpu in (latest.gpus if latest is not None else ())))
        if self._device is not None and self._device not in available:
            raise UsageError("health-no-device", device=self._device, have=", ".join(available))

    def _child_arguments(self) -> list[str]:
        tests, cores = self._tests, self._system.cpu().cores
        options = {
            "--level": self._level,
            "--device": self._device,
            "--cores": cores,
            "--cpu-bytes": tests.cpu_memory_bytes,
            "--memory-share": tests.memory_share,
            "--product-seconds": tests.product_seconds,
            "--load-seconds": self._load_seconds,
        }
        return [argument for name, value in options.items() if value is not None for argument in (name, str(value))]

    def _stop_temperature(self, gpu: GpuSample) -> float:
        return stop_temperature(gpu, self._tests, self._max_temperature)

    def _has_adapter(self) -> bool:
        return any(gpu.vendor == "nvidia" for gpu in self._system.display_adapters())

    def _make_result(self, results: list[Check], curves: tuple[HealthTestCurve, ...]) -> Checks:
        devices_by_check: dict[str, set[Value]] = {}
        for check in results:
            if check.state != "skip":
                devices_by_check.setdefault(check.id, set()).add(check.data.get("device"))
        processor = device_name("cpu")
        # An area that was tested on the CPU only is not covered.
        cpu_only_areas = {area for area in CPU_CAPABLE_AREAS if devices_by_check.get(area) == {processor}}
        covered = devices_by_check.keys() - cpu_only_areas
        areas = [area for level in LEVELS for area in AREAS_BY_LEVEL[level]]
        covers = tuple(
            f"{area}-cpu" if area in cpu_only_areas else area
            for area in areas
            if area in covered or area in cpu_only_areas
        )
        worst_verdict = worst_state(results)
        return Checks(
            schema="gpu-assistant/checks/1",
            # Where nothing was tested, nothing passed.
            verdict="warn" if worst_verdict == "pass" and not covers else worst_verdict,
            checks=tuple(results),
            level=self._level,
            covers=covers,
            leaves_out=(
                *(area for area in dict.fromkeys((*PRIORITY_AREAS, *areas)) if area not in covered),
                *NEVER_COVERED,
            ),
            curves=curves,
            cleared=falsifying_variables(os.environ) if self.environment is not None else (),
        )


def _with_gpu_readings(
    progress: HealthProgress, child_state: HealthChildState, safety: SafetyMonitor
) -> HealthProgress:
    """The progress with temperature and power of its GPU; of GPU 0 where the device is unknown."""
    device = child_state.find_device(progress.device) if progress.device is not None else None
    index = gpu_index(device, safety) if device is not None else 0
    readings = safety.readings.get(index) if index is not None else None
    if not readings or progress.device == "cpu":
        return progress
    gpu = readings[-1][1]
    return replace(progress, temp=gpu.temp, power_w=gpu.power_w)


def _interrupted_check(child_state: HealthChildState, reason: str, *, state: CheckState = "fail") -> Check:
    """The check that was running when the program ended."""
    return make_check(
        child_state.current_check, state, device=child_state.device, reason=reason, dtype=child_state.dtype
    )


def _elapsed_clock(started: float) -> Callable[[], float]:
    return lambda: time.monotonic() - started
