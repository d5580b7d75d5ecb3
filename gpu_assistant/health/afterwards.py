"""What a test says of the cards once its program has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core.names import device_name
from ..core.results import Check, HealthTestCurve, GpuSample
from . import cards, judged
from .cards import make_check
from .figures import FormFactor, gpu_display_name
from .listening import HealthChildState, TestedDevice, speed_loss
from .minder import SafetyMonitor, stop_temperature

if TYPE_CHECKING:
    from ..catalog.health import HealthRules

ReportCheck = Callable[[Check], None]


class PostTestChecks:
    """Judges what was seen of the cards, and heard of the program, in a test of this level and device."""

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
        # As the driver numbers it: with no program to name its devices, that is the card which was asked for.
        gpu_number = (device or "").removeprefix("cuda:")
        self._gpu_number = int(gpu_number) if gpu_number.isdecimal() else None
        self._max_temperature = max_temperature
        self._form_factor = form_factor

    def run(self, program_checks: tuple[Check, ...], child_state: HealthChildState, safety: SafetyMonitor, report: ReportCheck) -> tuple[HealthTestCurve, ...]:
        """Tell every check of the cards, `found` being those of the program; the curves of the cards that worked."""
        has_several = safety.latest is not None and len(safety.latest.gpus) > 1
        tested_devices = {
            index: device
            for device in (child_state.start.devices if child_state.start is not None else ())
            if (index := gpu_index(device, safety)) is not None
        }
        if safety.readings and child_state.start is not None and self._device is None and not tested_devices:
            # It was the processor that was tested.
            if child_state.start.for_cards is False:
                name = gpu_display_name(next(iter(safety.readings.values()))[-1][1], has_several=has_several)
                report(make_check("torch-build", "fail", value=child_state.start.torch, device=name))
            else:
                report(make_check("torch-cuda", "fail", reason="@verify.reason.no-device"))
        for gpu in self._requested_gpus(safety, tested_devices, child_state):
            report(cards.check_response(gpu, has_several=has_several, form_factor=self._form_factor(gpu)))
        curves = []
        for index, readings in sorted(safety.readings.items()):
            device = tested_devices.get(index)
            was_loaded = device is not None and self._level > 1
            has_overheated = safety.overheating is not None and safety.overheating.gpu.index == index
            if not (self._is_requested(index, tested_devices, child_state) or has_overheated):
                continue  # another card than the one that was asked for
            gpu = readings[-1][1]
            gpu_checks = cards.check_gpu(
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
            for check in judged.alarms_as_checks(gpu_checks, alarms, self._rules, gpu_display_name(gpu, has_several=has_several)):
                report(check)
            if was_loaded and device is not None:
                form_factor = self._form_factor(gpu)
                for check in cards.check_link_speed(program_checks, readings, self._tests, has_several=has_several, form_factor=form_factor):
                    report(check)
                speeds = [(t, speed) for t, _, speed in child_state.speeds.get(device.id, ())]
                curves.append(cards.make_curve(readings, speeds))
        for check in self._check_load_speed(child_state):
            report(with_gpu_name(check, child_state, safety))
        return tuple(curves)

    def _is_requested(self, index: int, tested_devices: dict[int, TestedDevice], child_state: HealthChildState) -> bool:
        if self._device is None:
            return True
        return index in tested_devices if child_state.start is not None else index == self._gpu_number

    def _requested_gpus(self, safety: SafetyMonitor, tested_devices: dict[int, TestedDevice], child_state: HealthChildState) -> list[GpuSample]:
        """The cards that it is about, as they were last seen; a lost one cannot be found by the program."""
        latest_gpus = safety.latest.gpus if safety.latest is not None else ()
        requested = [gpu for gpu in latest_gpus if self._is_requested(gpu.index, tested_devices, child_state)]
        return [gpu for gpu in requested if gpu.state in ("ready", "lost", "gone")]

    def _check_load_speed(self, child_state: HealthChildState) -> Iterator[Check]:
        for name, speeds in child_state.speeds.items():
            slowdown = speed_loss(speeds)
            if slowdown is not None and name != "cpu":  # that one has other work, too
                state = "warn" if slowdown > self._tests.slower_share else "pass"
                data = cards.own_threshold_data(self._tests)
                yield make_check("load-speed", state, value=round(100 * slowdown), device=name, **data)  # type: ignore[arg-type]


def with_gpu_name(check: Check, child_state: HealthChildState, safety: SafetyMonitor) -> Check:
    """A check of the program, with the card called as everywhere: torch may number them otherwise than the driver."""
    device = check.data.get("device")
    tested_device = child_state.find_device(device) if isinstance(device, str) else None
    index = gpu_index(tested_device, safety) if tested_device is not None else None
    if index is None:
        device_label = device_name(device) if isinstance(device, str) else None
        return replace(check, data={**check.data, "device": device_label})
    has_several = safety.latest is not None and len(safety.latest.gpus) > 1
    name = gpu_display_name(safety.readings[index][-1][1], has_several=has_several)
    case = {"case": "named"} if check.id == "device-query" and check.state == "pass" else {}
    return replace(check, data={**check.data, "device": name, "gpu": index, **case})


def gpu_index(device: TestedDevice, safety: SafetyMonitor) -> int | None:
    """Which of the driver's cards a device of torch's is: by its number, else by its place and name."""
    if device.id == "cpu":
        return None
    for index, readings in safety.readings.items():
        if device.uuid is not None and readings[-1][1].uuid is not None:
            if readings[-1][1].uuid.lower() == device.uuid.lower():
                return index
        elif device.id == f"cuda:{index}" and device.name in (None, readings[-1][1].name):
            return index
    return None
