"""Whether the condition of a rule holds; what is not known meets none."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from ..catalog.health import NameCondition, NumberCondition, IncreaseCondition
from .figures import FigureValue

MAX_COUNTER_READINGS = 60  # readings of a counter that are kept over its time


class RuleInputs(Protocol):
    """Figures by name."""

    def __getitem__(self, name: str) -> FigureValue: ...


class CounterHistory:
    """What the counters of one rule said before, for `Rose`."""

    def __init__(self) -> None:
        self._readings: dict[str, deque[tuple[float, float]]] = {}

    def has_risen(self, condition: IncreaseCondition, t: float, value: float) -> bool:
        """Take a reading in; whether the counter went up by so much within its time."""
        readings = self._readings.setdefault(condition.figure, deque())
        if readings and value < readings[-1][1]:
            readings.clear()  # it began anew, with the driver
        if not readings or t - readings[-1][0] >= condition.within_seconds / MAX_COUNTER_READINGS:
            readings.append((t, value))
        while len(readings) > 1 and readings[1][0] <= t - condition.within_seconds:
            readings.popleft()
        return value - readings[0][1] >= condition.by


def is_condition_met(condition: NumberCondition | NameCondition | IncreaseCondition, inputs: RuleInputs, t: float, counters: CounterHistory, *, is_active: bool) -> bool:
    """Whether it holds at `t`; `on`: the alarm rings, so that `until` counts."""
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
    """The name that made it hold."""
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
