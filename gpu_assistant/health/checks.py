"""The checks of a health test that come from samples of the GPUs: pure functions, and `PostTestChecks`, which collects
them once the test program has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ..core.machine import is_mig_name
from ..core.results import Check, CheckState, GpuSample, HealthTestCurve, Sample
from ..core.types import Value, device_name
from . import alarm_checks
from .child_protocol import HealthChildState, TestedDevice, speed_loss
from .curves import THROTTLE_RULES, Readings, make_curve
from .rules import FormFactor, advice_codes, fan_speed, gpu_display_name, hot_temperature, temperature_limit
from .safety import SafetyMonitor, stop_temperature

if TYPE_CHECKING:
    from ..catalog.records.health import HealthRules, HealthTestSettings, XidKind
    from ..system.base import PowerStatus


CheckFactory = Callable[..., Check]

ReportCheck = Callable[[Check], None]

CASE_NO_GPU = "no-card"  # `case` of the driver's check where there is a driver and no GPU
REASON_NO_GPU = "@health.reason.no-card"  # where there is neither
OWN_SOURCE = "own"  # the rules' name for our own experience as a source
MIN_READINGS = 2  # one reading may be wrong


def make_check(
    check_id: str, state: CheckState, *, value: Value = None, expected: Value = None, **data: Value
) -> Check:
    """A check; `data` fills its texts."""
    parameters = {"reason": None, "device": None, "value": value, "expected": expected, **data}
    return Check(id=check_id, state=state, value=value, expected=expected, data=parameters)


def own_threshold_data(tests: HealthTestSettings) -> dict[str, Value]:
    """Data of a check whose threshold is our own, without a public source: its text says so."""
    return {"own": tests.source == OWN_SOURCE}


def check_power_source(power: PowerStatus) -> Check:
    """Whether the computer runs on mains: on battery a GPU is throttled."""
    if power.source is None:
        return make_check("mains", "skip", reason="@health.reason.unknown")
    return make_check("mains", "warn" if power.source == "battery" else "pass", value=power.percent)


def is_driver_pending(sample: Sample) -> bool:
    """Whether the driver has not answered yet: a sleeping GPU is woken by the test."""
    return sample.nvml in ("untried", "asleep", "resting", "slow")


def check_driver(sample: Sample, rules: HealthRules, *, has_adapter: bool) -> Check:
    """Whether the driver answers and finds a GPU; `has_adapter`: the system has an NVIDIA adapter."""
    if sample.nvml in ("asleep", "resting"):
        return make_check("driver", "skip", reason="@health.reason.asleep")
    if sample.nvml == "ready" and not sample.gpus:
        # A driver without a GPU is no fault; a GPU that it does not find is one.
        case = "unfound" if has_adapter else CASE_NO_GPU
        return make_check("driver", "fail" if has_adapter else "warn", value=sample.driver, case=case)
    # A lost GPU has a check of its own; where the driver lists none, the driver does not work.
    if sample.nvml == "ready" or (sample.nvml == "lost" and sample.gpus):
        return make_check("driver", "pass", value=sample.driver)
    if sample.nvml == "absent":
        if not has_adapter:
            return make_check("driver", "skip", reason=REASON_NO_GPU)
        return make_check("driver", "fail", case="absent")
    rule = alarm_checks.find_driver_rule(rules, sample.nvml)
    state = "fail" if rule is None else alarm_checks.STATE_BY_LEVEL[rule.level]
    return make_check("driver", state, reason=f"@health.nvml.{sample.nvml}", advice=None if rule is None else rule.id)


def check_response(gpu: GpuSample, *, has_several: bool, form_factor: FormFactor) -> Check:
    """Whether a GPU answers at all."""
    state: CheckState = "fail" if gpu.state in ("lost", "gone") else "pass"
    case = {"case": "gone"} if gpu.state == "gone" else {}
    return _check_factory(gpu, has_several=has_several, form_factor=form_factor)("card-answers", state, **case)


def check_gpu(
    readings: Readings,
    rules: HealthRules,
    limit: float,
    *,
    was_loaded: bool,
    xids: Mapping[int, XidKind],
    max_temperature: Callable[[GpuSample], float | None],
    has_several: bool,
    form_factor: FormFactor,
) -> Iterator[Check]:
    """All checks of one GPU. `was_loaded`: the test put it under load; `limit`: °C at which the test stops;
    `max_temperature`: °C by its vendor.
    """
    initial, latest, tests = readings[0][1], readings[-1][1], rules.tests
    factory = _check_factory(latest, has_several=has_several, form_factor=form_factor)
    yield _check_link(factory, readings, tests)
    yield _check_free_memory(factory, initial, tests, was_loaded=was_loaded)
    yield _check_memory_errors(factory, latest, rules)
    yield _check_xid(factory, latest, xids)
    yield _check_temperature(factory, readings, limit, temperature_limit(latest, max_temperature), rules)
    yield _check_fan(factory, readings)
    if was_loaded or _loaded_readings(readings, tests):
        yield _check_throttling(factory, readings, rules, form_factor)


def _check_factory(gpu: GpuSample, *, has_several: bool, form_factor: FormFactor) -> CheckFactory:
    """`make_check` for this GPU."""
    advice: dict[str, Any] = dict(advice_codes(form_factor, has_several=has_several))
    return partial(make_check, device=gpu_display_name(gpu, has_several=has_several), gpu=gpu.index, **advice)


def link_bandwidth(readings: Readings, tests: HealthTestSettings) -> float | None:
    """The link's capacity under load in 10^9 bytes a second one way; None where unknown, or the load was too short."""
    link = _link_under_load(readings, tests)
    gb_s_per_lane = tests.link.gb_s_per_lane.get(str(link[0])) if link is not None else None
    return None if link is None or gb_s_per_lane is None else gb_s_per_lane * link[1]


def check_link_speed(
    program_checks: Sequence[Check],
    readings: Readings,
    tests: HealthTestSettings,
    *,
    has_several: bool,
    form_factor: FormFactor,
) -> Iterator[Check]:
    """Whether the measured copies of a GPU are as fast as its link."""
    gpu = readings[-1][1]
    check = next(
        (
            candidate
            for candidate in program_checks
            if candidate.id == "copy-bandwidth" and candidate.data.get("gpu") == gpu.index
        ),
        None,
    )
    if check is None or check.state != "pass":
        return
    slower_gb_s = min(float(check.data.get(direction) or 0.0) for direction in ("up_gb_s", "down_gb_s"))
    link_capacity = link_bandwidth(readings, tests)
    factory = _check_factory(gpu, has_several=has_several, form_factor=form_factor)
    if link_capacity is None:
        yield factory("link-speed", "skip", reason="@health.reason.too-short")
    else:
        state: CheckState = "pass" if slower_gb_s >= tests.link.share * link_capacity else "warn"
        share = round(100 * slower_gb_s / link_capacity)
        yield factory(
            "link-speed", state, value=slower_gb_s, expected=link_capacity, share=share, **own_threshold_data(tests)
        )


def _loaded_readings(readings: Readings, tests: HealthTestSettings) -> list[GpuSample]:
    return [gpu for _, gpu in readings if gpu.is_loaded(tests.loaded_percent)]


def _link_under_load(readings: Readings, tests: HealthTestSettings) -> tuple[int, int] | None:
    """(generation, lanes): the highest of both after some time under load; an idle link is slower."""
    load_started: float | None = None
    generations, widths = [], []
    for t, gpu in readings:
        if not gpu.is_loaded(tests.loaded_percent):
            load_started = None
            continue
        load_started = t if load_started is None else load_started
        if t - load_started >= tests.link.settled_seconds and gpu.pcie_gen is not None and gpu.pcie_width is not None:
            generations.append(gpu.pcie_gen)
            widths.append(gpu.pcie_width)
    return (max(generations), max(widths)) if generations else None


def _check_link(factory: CheckFactory, readings: Readings, tests: HealthTestSettings) -> Check:
    latest = readings[-1][1]
    maximum = (latest.pcie_gen_max, latest.pcie_width_max)
    if latest.pcie_gen is None or latest.pcie_width is None or None in maximum:
        return factory("card-link", "skip", reason="@health.reason.not-told")
    loaded_readings = _loaded_readings(readings, tests)
    under_load = _link_under_load(readings, tests)
    if under_load is None and len(loaded_readings) == len(readings) >= MIN_READINGS:  # under load before the test began
        under_load = (latest.pcie_gen, latest.pcie_width)
    generation, width = under_load or (latest.pcie_gen, latest.pcie_width)
    data: dict[str, Value] = {"gen": generation, "width": width, "gen_max": maximum[0], "width_max": maximum[1]}
    data |= {"lanes": width, "most_lanes": maximum[1]}
    is_full = generation >= (maximum[0] or 0) and width >= (maximum[1] or 0)
    if not is_full and under_load is None:
        reason = "@health.reason.too-short" if loaded_readings else "@health.reason.at-rest"
        return factory("card-link", "skip", reason=reason, **data)
    expected = f"PCIe {maximum[0]} x{maximum[1]}"
    return factory(
        "card-link", "pass" if is_full else "warn", value=f"PCIe {generation} x{width}", expected=expected, **data
    )


def _check_free_memory(
    factory: CheckFactory, initial: GpuSample, tests: HealthTestSettings, *, was_loaded: bool
) -> Check:
    """By the first reading, before the test itself used memory."""
    if initial.mem_used is None or initial.mem_total is None:
        return factory("card-memory", "skip", reason="@health.reason.not-told")
    # The desktop's own drawing distorts measurements; without measurements it does not matter.
    max_util = tests.busy_percent if was_loaded else tests.loaded_percent
    free_bytes = initial.mem_total - initial.mem_used
    is_busy = (
        initial.util is not None and initial.util > max_util
    ) or free_bytes < tests.least_free_share * initial.mem_total
    data: dict[str, Value] = {
        "free_memory_bytes": free_bytes,
        "total_memory_bytes": initial.mem_total,
        "busy": initial.util,
    }
    return factory("card-memory", "warn" if is_busy else "pass", value=free_bytes, **data, **own_threshold_data(tests))


def has_error_counters(gpu: GpuSample) -> bool:
    """Whether the driver reports any count of memory errors of a GPU; GeForce cards mostly have none."""
    return any(count is not None for count in (gpu.ecc_uncorrected, gpu.retired_pages, gpu.remapped_rows))


def _check_memory_errors(factory: CheckFactory, latest: GpuSample, rules: HealthRules) -> Check:
    counts: dict[str, Value] = {
        "uncorrected": latest.ecc_uncorrected,
        "corrected": latest.ecc_corrected,
        "replaced": latest.remapped_rows if latest.remapped_rows is not None else latest.retired_pages,
    }
    if not has_error_counters(latest):
        return factory("card-errors", "skip", **{**counts, "reason": "@health.reason.no-counters"})
    faults = (
        (latest.remap_failed, "no-spare", "remap-failed"),
        (latest.ecc_uncorrected, "unmended", "memory-errors-before"),
        (latest.remap_pending, "pending", "rows-pending"),
        (latest.retired_pending, "pending", "pages-pending"),
    )
    for fault_count, reason, rule in faults:
        if fault_count:
            counts |= {"reason": f"@health.reason.{reason}", "advice": rule}
            return factory("card-errors", alarm_checks.check_state(rules, rule), value=latest.ecc_uncorrected, **counts)
    return factory("card-errors", "pass", value=latest.ecc_uncorrected, **counts)


def _check_xid(factory: CheckFactory, latest: GpuSample, xids: Mapping[int, XidKind]) -> Check:
    """Errors that the driver reported during the test."""
    if latest.xid is None:
        return factory("card-xid", "skip", reason="@health.reason.not-told")
    if not latest.xid:
        return factory("card-xid", "pass", value=0)
    kind = xids.get(latest.xid, "unknown")
    state: CheckState = "warn" if kind == "replaced" else "fail"
    parameters: dict[str, Value] = {"reason": f"@health.xid.{kind}", "then": f"@health.xid-again.{kind}"}
    return factory("card-xid", state, value=latest.xid, **parameters)


def _check_temperature(
    factory: CheckFactory, readings: Readings, limit: float, max_temp: float | None, rules: HealthRules
) -> Check:
    """`limit` stops the test; at `max_temp` the GPU is throttled."""
    hot_temp = hot_temperature(rules, max_temp)
    temps = sorted(gpu.temp for _, gpu in readings if gpu.temp is not None)
    if not temps:
        return factory("card-heat", "skip", reason="@health.reason.not-told")
    highest = temps[-1]
    if highest >= limit:
        return factory("card-heat", "fail", value=highest, limit=round(limit), **own_threshold_data(rules.tests))
    if (
        max_temp is not None
        and hot_temp is not None
        and len(temps) >= MIN_READINGS
        and temps[-MIN_READINGS] >= hot_temp
    ):
        return factory("card-heat", "warn", value=highest, limit=round(max_temp))
    if max_temp is None:
        return factory("card-heat", "pass", value=highest, limit=round(limit), case="unlimited")
    return factory("card-heat", "pass", value=highest, limit=round(max_temp))


def _check_fan(factory: CheckFactory, readings: Readings) -> Check:
    speeds = [speed for _, gpu in readings if (speed := fan_speed(gpu)) is not None]
    if not speeds or not max(speeds):
        return factory("card-fan", "skip", reason="@health.reason.fan-rests" if speeds else "@health.reason.not-told")
    return factory("card-fan", "pass", value=speeds[-1])


def _check_throttling(factory: CheckFactory, readings: Readings, rules: HealthRules, form_factor: FormFactor) -> Check:
    tests = rules.tests
    reason_lists = [gpu.throttle for gpu in _loaded_readings(readings, tests) if gpu.throttle is not None]
    if not reason_lists:
        return factory("card-held-back", "skip", reason="@health.reason.not-told")
    throttle_lists = [_fault_reasons(reasons, form_factor) for reasons in reason_lists]
    charger_count = sum(
        "power-brake" in reasons and not faults for reasons, faults in zip(reason_lists, throttle_lists, strict=True)
    )
    throttled_count = sum(map(bool, throttle_lists))
    share = throttled_count / len(reason_lists)
    if len(reason_lists) < MIN_READINGS:
        return factory("card-held-back", "skip", reason="@health.reason.one-look")
    value = round(100 * share)
    if share <= tests.held_back_share or throttled_count < MIN_READINGS:
        charger_share = charger_count / len(reason_lists)
        if charger_share > tests.held_back_share and charger_count >= MIN_READINGS:
            return factory("card-held-back", "pass", value=round(100 * charger_share), case="charger")
        return factory("card-held-back", "pass", value=value)
    main_reasons = [reasons[0] for reasons in throttle_lists if reasons]
    main_reason = max(THROTTLE_RULES, key=main_reasons.count)
    rule = THROTTLE_RULES[main_reason]
    parameters: dict[str, Value] = {"reason": f"@monitor.throttle.{main_reason}", "advice": rule}
    return factory(
        "card-held-back", alarm_checks.check_state(rules, rule), value=value, **parameters, **own_threshold_data(tests)
    )


def _fault_reasons(reasons: Sequence[str], form_factor: FormFactor) -> list[str]:
    """The throttle reasons that indicate a fault; a laptop's charger that gives too little power is none."""
    is_charger_limit = form_factor == "laptop" and "power-brake" in reasons
    ignored = ("power-brake", "hardware-slowdown") if is_charger_limit else ()
    return [name for name in THROTTLE_RULES if name in reasons and name not in ignored]


class PostTestChecks:
    """Checks that need the whole test: readings of the GPUs, and the program's results."""

    def __init__(
        self,
        rules: HealthRules,
        *,
        level: int,
        device: str | None,
        max_temperature: Callable[[GpuSample], float | None],
        form_factor: Callable[[GpuSample], FormFactor],
    ) -> None:
        self._rules, self._tests = rules, rules.tests
        self._xids = {xid.number: xid.kind for xid in rules.xids}
        self._level = level
        self._device = device
        # The driver's index: without a program that lists devices, that is the requested GPU.
        gpu_number = (device or "").removeprefix("cuda:")
        self._gpu_number = int(gpu_number) if gpu_number.isdecimal() else None
        self._max_temperature = max_temperature
        self._form_factor = form_factor

    def run(
        self,
        program_checks: tuple[Check, ...],
        child_state: HealthChildState,
        safety: SafetyMonitor,
        report: ReportCheck,
    ) -> tuple[HealthTestCurve, ...]:
        """Report all checks of the GPUs; returns the curves of those under load. `program_checks` are the program's."""
        has_several = safety.latest is not None and len(safety.latest.gpus) > 1
        tested_devices = {
            index: device
            for device in (child_state.start.devices if child_state.start is not None else ())
            if (index := gpu_index(device, safety)) is not None
        }
        if safety.readings and child_state.start is not None and self._device is None and not tested_devices:
            # The CPU was tested.
            if child_state.start.for_cards is False:
                name = gpu_display_name(next(iter(safety.readings.values()))[-1][1], has_several=has_several)
                report(make_check("torch-build", "fail", value=child_state.start.torch, device=name))
            else:
                report(make_check("torch-cuda", "fail", reason="@verify.reason.no-device"))
        for gpu in self._requested_gpus(safety, tested_devices, child_state):
            report(check_response(gpu, has_several=has_several, form_factor=self._form_factor(gpu)))
        curves = []
        for index, readings in sorted(safety.readings.items()):
            device = tested_devices.get(index)
            was_loaded = device is not None and self._level > 1
            has_overheated = safety.overheating is not None and safety.overheating.gpu.index == index
            if not (self._is_requested(index, tested_devices, child_state) or has_overheated):
                continue  # not the requested GPU
            gpu = readings[-1][1]
            gpu_checks = check_gpu(
                readings,
                self._rules,
                stop_temperature(gpu, self._tests, self._max_temperature),
                was_loaded=was_loaded,
                xids=self._xids,
                max_temperature=self._max_temperature,
                has_several=has_several,
                form_factor=self._form_factor(gpu),
            )
            alarms = [alarm for alarm in safety.alarms.values() if alarm.gpu == index]
            for check in alarm_checks.alarms_as_checks(
                gpu_checks, alarms, self._rules, gpu_display_name(gpu, has_several=has_several)
            ):
                report(check)
            if was_loaded and device is not None:
                form_factor = self._form_factor(gpu)
                for check in check_link_speed(
                    program_checks, readings, self._tests, has_several=has_several, form_factor=form_factor
                ):
                    report(check)
                speeds = [(t, speed) for t, _, speed in child_state.speeds.get(device.id, ())]
                curves.append(make_curve(readings, speeds))
        for check in self._check_load_speed(child_state):
            report(with_gpu_name(check, child_state, safety))
        return tuple(curves)

    def _is_requested(self, index: int, tested_devices: dict[int, TestedDevice], child_state: HealthChildState) -> bool:
        if self._device is None:
            return True
        return index in tested_devices if child_state.start is not None else index == self._gpu_number

    def _requested_gpus(
        self, safety: SafetyMonitor, tested_devices: dict[int, TestedDevice], child_state: HealthChildState
    ) -> list[GpuSample]:
        """The tested GPUs in the last sample; a lost one is not in the program's list."""
        latest_gpus = safety.latest.gpus if safety.latest is not None else ()
        requested = [gpu for gpu in latest_gpus if self._is_requested(gpu.index, tested_devices, child_state)]
        return [gpu for gpu in requested if gpu.state in ("ready", "lost", "gone")]

    def _check_load_speed(self, child_state: HealthChildState) -> Iterator[Check]:
        for name, speeds in child_state.speeds.items():
            slowdown = speed_loss(speeds)
            if slowdown is not None and name != "cpu":  # other programs use the CPU, too
                state = "warn" if slowdown > self._tests.slower_share else "pass"
                data = own_threshold_data(self._tests)
                yield make_check("load-speed", state, value=round(100 * slowdown), device=name, **data)  # type: ignore[arg-type]


def with_gpu_name(check: Check, child_state: HealthChildState, safety: SafetyMonitor) -> Check:
    """A check of the program, with the GPU's usual name: torch may number GPUs differently from the driver. A slice of
    a divided GPU has a name of its own.
    """
    device = check.data.get("device")
    tested_device = child_state.find_device(device) if isinstance(device, str) else None
    index = gpu_index(tested_device, safety) if tested_device is not None else None
    if index is None:
        device_label = device_name(device) if isinstance(device, str) else None
        return replace(check, data={**check.data, "device": device_label})
    has_several = safety.latest is not None and len(safety.latest.gpus) > 1
    gpu = safety.readings[index][-1][1]
    if tested_device is not None and is_mig_name(tested_device.name):
        gpu = replace(gpu, name=tested_device.name)
    name = gpu_display_name(gpu, has_several=has_several)
    case = {"case": "named"} if check.id == "device-query" and check.state == "pass" else {}
    return replace(check, data={**check.data, "device": name, "gpu": index, **case})


def gpu_index(device: TestedDevice, safety: SafetyMonitor) -> int | None:
    """The driver's index of a device of torch's: by its UUID or that of the GPU that it is a slice of, else by its
    number and name.
    """
    if device.id == "cpu":
        return None
    for index, readings in safety.readings.items():
        if device.uuid is not None and readings[-1][1].uuid is not None:
            if readings[-1][1].has_uuid(device.uuid):
                return index
        elif device.id == f"cuda:{index}" and device.name in (None, readings[-1][1].name):
            return index
    return None
