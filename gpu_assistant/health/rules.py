"""What a rule asks of a sample: its figures by name, and whether its conditions hold. Pure.

An unknown figure meets no condition.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol

from ..catalog.records.health import IncreaseCondition, NameCondition, NumberCondition
from ..core.results import GpuSample, Sample
from ..core.types import device_label

if TYPE_CHECKING:
    from ..catalog.records.health import AlarmRule, HealthRules, XidKind


FigureValue = float | str | tuple[str, ...] | None
# What a GPU is built into, as far as its name tells.
FormFactor = Literal["desktop", "laptop", "server", "any"]

# Figures that are derived from the fields of a `GpuSample`.
DERIVED_FIGURES = (
    "form_factor",
    "temp_limit",
    "temp_unlimited",
    "temp_danger",
    "temp_danger_kind",
    "temp_unwarned",
    "heat_where",
    "held_by",
    "fan_turns",
    "pcie_width_card",
    "xid_kind",
    "xid_age",
    "temp_settled",
    "temp_usual",
)
TEMPERATURE_FIGURES = ("temp", "temp_unlimited", "temp_unwarned", "temp_memory")
# Advice that differs by form factor (texts `health.<advice>.<form>`).
ADVICE_KEYS = ("air", "power", "slot", "link", "pace", "lowered")
EXTRA_COMPUTER_FIGURES = ("cuda",)
MAX_COUNTER_READINGS = 60  # readings of a counter that are kept over its time


class RuleInputs(Protocol):
    """Figures by name."""

    def __getitem__(self, name: str) -> FigureValue:
        """A figure; None where it is unknown."""
        ...


class GpuRuleInputs:
    """One GPU's figures by name, in the units of `GpuSample`.

    Derived ones: `form_factor`, "any" where it is unknown. `temp_limit`, see `temperature_limit`; `temp_unlimited` is
    the temperature where there is no limit. `temp_danger`, see `critical_temperature`, and `temp_danger_kind` ("slow",
    "shutdown"); `temp_unwarned` is the temperature where that is unknown. `heat_where`: code of a text, see
    `heat_location`. `held_by`: throttle reasons, () where unknown. `fan_turns`, see `fan_speed`. `pcie_width_card`: the
    GPU's own lanes, by its vendor (NVML tells only what GPU and slot can do together). `xid_age`: seconds since the
    driver's last error, `xid_kind` its kind.
    `temp_settled`: mean °C under steady load, `temp_usual` the same in its baseline; None while the load is not steady.
    """

    def __init__(
        self,
        t: float,
        gpu: GpuSample,
        *,
        max_temperature: Callable[[GpuSample], float | None],
        lanes: Callable[[GpuSample], int | None],
        xids: Mapping[int, XidKind],
        temp_comparison: tuple[float, float] | None,
        form_factor: FormFactor,
    ) -> None:
        self._gpu = gpu
        limit, critical = temperature_limit(gpu, max_temperature), critical_temperature(gpu)
        self._derived: dict[str, FigureValue] = {
            "form_factor": form_factor,
            "temp_limit": limit,
            "temp_unlimited": gpu.temp if limit is None else None,
            "temp_danger": critical,
            "temp_danger_kind": critical_action(gpu),
            "temp_unwarned": gpu.temp if critical is None else None,
            "heat_where": f"@health.heat-where.{heat_location(gpu, limit)}",
            "held_by": gpu.throttle or (),
            "pcie_width_card": lanes(gpu),
            "fan_turns": fan_speed(gpu),
            "xid_kind": xids.get(gpu.xid, "unknown") if gpu.xid else None,
            "xid_age": t - gpu.xid_t if gpu.xid and gpu.xid_t is not None else None,
            "temp_settled": temp_comparison[0] if temp_comparison is not None else None,
            "temp_usual": temp_comparison[1] if temp_comparison is not None else None,
        }

    def __getitem__(self, name: str) -> FigureValue:
        if name in self._derived:
            return self._derived[name]
        value: FigureValue = getattr(self._gpu, name)
        return value


class ComputerRuleInputs:
    """The computer's figures by name; `cuda` is the state of the last check of CUDA ("pass", "fail")."""

    def __init__(self, sample: Sample, *, cuda_state: str | None) -> None:
        self._sample = sample
        self._cuda_state = cuda_state

    def __getitem__(self, name: str) -> FigureValue:
        if name == "cuda":
            return self._cuda_state
        value: FigureValue = getattr(self._sample, name)
        return value


def gpu_figure_names() -> frozenset[str]:
    """Every name that a rule about a GPU may use."""
    return frozenset((*GpuSample.__struct_fields__, *DERIVED_FIGURES))


def computer_figure_names() -> frozenset[str]:
    """Every name that a rule about the computer may use."""
    return frozenset((*Sample.__struct_fields__, *EXTRA_COMPUTER_FIGURES)) - {"gpus"}


class CounterHistory:
    """Earlier readings of one rule's counters, for `IncreaseCondition`."""

    def __init__(self) -> None:
        self._readings: dict[str, deque[tuple[float, float]]] = {}

    def reading_count(self, figure: str) -> int:
        """How many readings of a counter are stored."""
        return len(self._readings.get(figure, ()))

    def has_risen(self, condition: IncreaseCondition, t: float, value: float) -> bool:
        """Add a reading; whether the counter rose by so much within its time."""
        readings = self._readings.setdefault(condition.figure, deque())
        if readings and value < readings[-1][1]:
            readings.clear()  # it began at 0 again, with the driver
        if not readings or t - readings[-1][0] >= condition.within_seconds / MAX_COUNTER_READINGS:
            readings.append((t, value))
        while len(readings) > 1 and readings[1][0] <= t - condition.within_seconds:
            readings.popleft()
        return value - readings[0][1] >= condition.by


def is_condition_met(
    condition: NumberCondition | NameCondition | IncreaseCondition,
    inputs: RuleInputs,
    t: float,
    counters: CounterHistory,
    *,
    is_active: bool,
) -> bool:
    """Whether a condition holds at `t`, in seconds since the epoch. Of an active alarm `until` is the threshold."""
    value = inputs[condition.figure]
    if isinstance(condition, NameCondition):
        return _is_name_met(condition, value)
    if not isinstance(value, int | float):
        return False
    if isinstance(condition, IncreaseCondition):
        return counters.has_risen(condition, t, value)
    threshold = _threshold(condition, inputs, is_active=is_active)
    if threshold is None:
        return False
    return value >= threshold if condition.least is not None else value < threshold


def matching_name(condition: NameCondition, value: FigureValue) -> str | None:
    """The name by which the condition holds."""
    names = _as_names(value)
    return next((name for name in condition.any_of if name in names), None)


def _is_name_met(condition: NameCondition, value: FigureValue) -> bool:
    if value is None:
        return False
    names = _as_names(value)
    has_match = not condition.any_of or any(name in names for name in condition.any_of)
    return has_match and not any(name in names for name in condition.none_of)


def _as_names(value: FigureValue) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (str(value),)


def temperature_excess(rule: AlarmRule, inputs: RuleInputs) -> float:
    """By how many °C a GPU is above the temperature at which this rule's alarm begins; 0 for rules about other things.

    It ranks GPUs with the same alarm. A rule about throttling counts from the GPU's limit.
    """
    if rule.about == "computer":
        return 0.0
    for condition in rule.when:
        if isinstance(condition, NumberCondition) and condition.figure in TEMPERATURE_FIGURES:
            value, threshold = inputs[condition.figure], _threshold(condition, inputs, is_active=False)
            if isinstance(value, int | float) and threshold is not None:
                return value - threshold
    temp, limit = inputs["temp"], inputs["temp_limit"]
    reads_heat = any(figure == "temp" for figure in rule.text_inputs.values())
    return temp - limit if reads_heat and isinstance(temp, int | float) and isinstance(limit, int | float) else 0.0


def hot_temperature(rules: HealthRules, limit: float | None) -> float | None:
    """°C from which a GPU with this `temperature_limit` is hot, by the rule whose alarm says so: one threshold for live
    values and tests. None where no rule applies.
    """
    figure = "temp" if limit is not None else "temp_unlimited"
    for rule in rules.rules:
        for condition in rule.when:
            if rule.level != "warn" or not isinstance(condition, NumberCondition) or condition.least is None:
                continue
            if condition.figure == figure and condition.beyond == ("temp_limit" if limit is not None else None):
                return condition.least + (limit or 0.0)
    return None


def _threshold(condition: NumberCondition, inputs: RuleInputs, *, is_active: bool) -> float | None:
    threshold = condition.least if condition.least is not None else condition.below
    if is_active and condition.until is not None:
        threshold = condition.until
    if threshold is None:
        return None
    if condition.share_of is not None:
        base = inputs[condition.share_of]
        return threshold * base if isinstance(base, int | float) else None
    if condition.beyond is not None:
        base = inputs[condition.beyond]
        return threshold + base if isinstance(base, int | float) else None
    return threshold


def temperature_limit(gpu: GpuSample, max_temperature: Callable[[GpuSample], float | None]) -> float | None:
    """°C at which the GPU is throttled: by the driver, else by itself, else its vendor's maximum."""
    limits = (limit for limit in (gpu.temp_max, gpu.temp_slow) if limit is not None)
    return next(limits, None) or max_temperature(gpu)


def temperature_margin(gpus: Iterable[GpuSample]) -> int | None:
    """How many °C the hottest of these is below its limit, by the driver's own limits; None where it tells none, or
    where a GPU is at it.
    """
    margins = [
        limit - gpu.temp
        for gpu in gpus
        if gpu.temp is not None and (limit := temperature_limit(gpu, lambda _: None)) is not None
    ]
    margin = round(min(margins)) if margins else 0
    return margin if margin > 0 else None


def critical_temperature(gpu: GpuSample) -> int | None:
    """°C at which the GPU protects itself: by its hardware slowdown, else by shutting down."""
    return gpu.temp_slow if gpu.temp_slow is not None else gpu.temp_shutdown


def critical_action(gpu: GpuSample) -> str:
    """What the GPU does at its `critical_temperature`."""
    return "slow" if gpu.temp_slow is not None else "shutdown"


def heat_location(gpu: GpuSample, limit: float | None) -> str:
    """Which part is hot when heat throttles the GPU: its core from `limit` °C on, else another part."""
    return "core" if gpu.temp is not None and limit is not None and gpu.temp >= limit else "elsewhere"


def fan_speed(gpu: GpuSample) -> int | None:
    """The fan's speed: as measured (turns per minute), else as set (%)."""
    return gpu.fan_rpm if gpu.fan_rpm is not None else gpu.fan


def is_judgeable(gpu: GpuSample) -> bool:
    """Whether the GPU reports anything that rules could judge: temperatures or throttle reasons."""
    return any(figure is not None for figure in (gpu.temp, gpu.temp_memory, gpu.throttle))


def gpu_display_name(gpu: GpuSample, *, has_several: bool) -> str:
    """A GPU in sentences: its name; with several GPUs its number first, as in plots and tables."""
    return device_label(f"cuda:{gpu.index}", gpu.name, several=has_several)


def advice_codes(form_factor: FormFactor, *, has_several: bool) -> dict[str, str]:
    """The codes of advice texts for a form factor, by their placeholders.

    With several GPUs that are not in a laptop or a server, the air between them counts, too.
    """
    codes = {name: f"@health.{name}.{form_factor}" for name in ADVICE_KEYS}
    return codes | {"air": "@health.air.several"} if has_several and form_factor in ("desktop", "any") else codes
