"""Tests the cards: looks at them through the driver while `child.py` works in the environment's own Python.

What a test says first: its verdict, and whether a card was tested at all; pure.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from ..core.errors import AppError, Cancelled, UsageError
from ..core.jobs import JobContext
from ..core.results import Check, Checks, CheckState, GpuSample, HealthTestCurve, Sample
from ..core.types import Value, device_name
from ..system.base import KILLED_RETURNCODE
from ..system.processes import DeadlineEvent, run_json_lines
from ..verify.job import worst_state
from . import checks as health_checks
from .baselines import FormFactor
from .checks import CASE_NO_GPU, REASON_NO_GPU, PostTestChecks, gpu_index, make_check, with_gpu_name
from .child_protocol import HealthChildMessage, HealthChildState, HealthProgress
from .monitor import HealthMonitor, select_test_rules
from .safety import SAMPLE_INTERVAL_S, SafetyMonitor, SamplerProtocol, stop_temperature

if TYPE_CHECKING:
    from ..catalog.records.health import HealthRules
    from ..system.base import System


CHILD = Path(__file__).with_name("child.py")
LEVELS = (1, 2, 3)

# What each level looks at, in this order; the texts say each (`health.area.<id>`).
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
CPU_CAPABLE_AREAS = (
    "matmul-bits",
    "memory-test",
    "load",
)  # what the processor can do as well; its areas are `<id>-cpu`
NEVER_COVERED = ("graphics", "rare")  # whatever the level
# What a verdict lacks most where it was not looked at: told before the rest.
PRIORITY_AREAS = ("device-compute", "matmul-bits", "memory-test", "load", "copy-bandwidth")
DRIVER_ONLY_S = 2.5 * SAMPLE_INTERVAL_S  # how long the driver alone is asked, where there is nothing to compute with
DRIVER_TIMEOUT_S = (
    20.0  # how long a driver that has yet to answer is waited for: until the sampler calls it hung, and some more
)

CHILD_FAILURE_REASONS = {
    "program-endless": "@verify.reason.garbage",
    "program-missing": "@verify.reason.not-started",
    "program-refused": "@verify.reason.not-started",
}


class HealthJob:
    """One test of a level: 1 takes seconds, 2 minutes, 3 `load_seconds` more. News are `Check` and `HealthProgress`.

    `device` ("cpu", "cuda:0") leaves the others out; without it all cards are tested, where there is none the
    processor. `allowed` tells the highest temperature in °C that a card's maker allows, `form` what a card is built
    into, `lanes` how many it has by its maker. `looks` is used here alone. PyTorch has `start_limit` seconds to load
    (None: there is no such limit), then everything has `time_limit`. Without an environment (level 1 alone) nothing is
    computed: the driver is asked.
    """

    def __init__(
        self,
        environment: Path | None,
        system: System,
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
        self._time_limit = time_limit or rules.tests.limits_seconds[level - 1] + extra_seconds

    def run(self, context: JobContext[Any]) -> Checks:
        """All checks of the level; what is broken is a failed check.

        Raises AppError("environment-missing"), CallError("health-no-device") and Cancelled: then nothing runs any more.
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
        with self._system.keep_awake("health test"), self._safety_monitor(context.cancel) as safety:
            child_state = HealthChildState(
                report_program_check,
                lambda news: context.report(_with_gpu_readings(news, child_state, safety)),
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
                context.cancel.wait(DRIVER_ONLY_S)
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
            # One that answered at first may have fallen silent meanwhile.
            driver_reported = any(check.id == "driver" for check in results)
            if driver_check not in results and (driver_check.state == "fail" or not driver_reported):
                report(driver_check)
        curves = self._post_test_checks.run(tuple(results), child_state, safety, report)
        return self._make_result(results, curves)

    def _safety_monitor(self, cancel: threading.Event) -> SafetyMonitor:
        return SafetyMonitor(self._sampler, cancel, self._stop_temperature, self._monitor)

    def _run_child(
        self,
        interpreter: Path,
        child_state: HealthChildState,
        safety: SafetyMonitor,
        report: Callable[[Check], None],
        context: JobContext[Any],
    ) -> None:
        """Run the child to its end, or to the stop of the user, of heat or of a lost card."""
        deadline = DeadlineEvent(safety.stop, self._start_limit)

        def handle_message(message: HealthChildMessage) -> None:
            if message.start is not None:
                deadline.extend(self._time_limit)
            child_state.handle(message)

        try:
            process_result = run_json_lines(
                self._system,
                [interpreter, CHILD, *self._child_arguments()],
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
            # What was under way is not to blame; heat and loss are checks of their own.
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
                # What was under way is not to blame.
                report(_interrupted_check(child_state, "@health.reason.killed", state="skip"))
                report(make_check("test-end", "fail"))
                return
            is_garbage = not process_result.returncode and not child_state.has_checks
            reason = "@verify.reason.garbage" if is_garbage else "@verify.reason.crashed"
            report(_interrupted_check(child_state, reason))

    def _check_device(self, latest: Sample | None) -> None:
        """Without a program to name its devices, those that the driver numbers are there."""
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
        # What the processor alone did says nothing of a card.
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
            # Where nothing was tested, nothing has passed.
            verdict="warn" if worst_verdict == "pass" and not covers else worst_verdict,
            checks=tuple(results),
            level=self._level,
            covers=covers,
            leaves_out=(
                *(area for area in dict.fromkeys((*PRIORITY_AREAS, *areas)) if area not in covered),
                *NEVER_COVERED,
            ),
            curves=curves,
        )


def _with_gpu_readings(
    progress: HealthProgress, child_state: HealthChildState, safety: SafetyMonitor
) -> HealthProgress:
    """The same news with what the card says; the one card, where it is not known which."""
    device = child_state.find_device(progress.device) if progress.device is not None else None
    index = gpu_index(device, safety) if device is not None else 0
    readings = safety.readings.get(index) if index is not None else None
    if not readings or progress.device == "cpu":
        return progress
    gpu = readings[-1][1]
    return replace(progress, temp=gpu.temp, power_w=gpu.power_w)


def _interrupted_check(child_state: HealthChildState, reason: str, *, state: CheckState = "fail") -> Check:
    """What it was about when it ended."""
    return make_check(
        child_state.current_check, state, device=child_state.device, reason=reason, dtype=child_state.dtype
    )


def _elapsed_clock(started: float) -> Callable[[], float]:
    return lambda: time.monotonic() - started


Headline = Literal[
    "nothing",
    "no-card",
    "besides",
    "besides-no-card",
    "untold",
    "asked",
    "asked-warn",
    "pass",
    "warn",
    "fail",
    "unused",
    "unused-warn",
    "no-torch",
    "ended",
]

# What can also be said of the processor.
CPU_ONLY_AREAS = {"driver", "cpu-compute", "matmul-bits-cpu", "memory-test-cpu", "load-cpu"}
# What a card tells of itself, besides that it is there.
REPORTED_AREAS = {"card-link", "card-memory", "card-errors", "card-xid", "card-fan", "card-heat", "card-held-back"}
# Faults of the setup, and of the test itself: no card is to blame for them.
SETUP_CHECKS = {"torch-import", "torch-build", "torch-cuda"}
END_CHECKS = {"test-end"}
COMPUTED_AREAS = {"device-compute", "copy-bandwidth", "matmul-bits", "memory-test", "load"}


def select_headline(checks: Checks) -> Headline:
    """The text `health.verdict.<headline>`. "no-card": a driver, but no card; "besides": no card was tested, the rest
    is right ("besides-no-card": there is none); "untold": the driver was asked, and knows of the card no more than that
    it is there; "asked": what it tells is right, and nothing was computed. What failed but says nothing against a card:
    "unused" (PyTorch cannot use it), "no-torch" (no card was there to be used), "ended" (the test was ended).
    """
    check_warnings = [check for check in checks.checks if check.state == "warn"]
    if checks.verdict == "fail":
        return _headline_for_failure(checks, check_warnings)
    if check_warnings and all(check.data.get("case") == CASE_NO_GPU for check in check_warnings):
        return "no-card"
    driver_only = not COMPUTED_AREAS.intersection(checks.covers)
    if checks.verdict == "warn" and (check_warnings or checks.covers):  # else it is one because nothing was tested
        return "asked-warn" if driver_only else "warn"
    if CPU_ONLY_AREAS.issuperset(checks.covers):
        return _headline_without_gpu(checks)
    if driver_only:
        return "asked" if REPORTED_AREAS.intersection(checks.covers) else "untold"
    return "pass"


def _headline_without_gpu(checks: Checks) -> Headline:
    if not checks.covers:
        return "nothing"
    return "besides-no-card" if any(_is_no_gpu_check(check) for check in checks.checks) else "besides"


def _headline_for_failure(checks: Checks, check_warnings: list[Check]) -> Headline:
    failed = {check.id for check in checks.checks if check.state == "fail"}
    if failed <= END_CHECKS:
        return "ended"
    if not failed <= SETUP_CHECKS:
        return "fail"
    if not any(check.id == "card-answers" for check in checks.checks):
        return "no-torch"
    return "unused-warn" if check_warnings else "unused"


def _is_no_gpu_check(check: Check) -> bool:
    return check.id == "driver" and check.data.get("reason") == REASON_NO_GPU


def blames_gpu(headline: Headline) -> bool:
    """Whether what failed may be the card."""
    return headline == "fail"


def has_tested_gpu(headline: Headline) -> bool:
    """Whether any card was tested."""
    return headline not in ("nothing", "no-card", "besides", "besides-no-card", "untold")
