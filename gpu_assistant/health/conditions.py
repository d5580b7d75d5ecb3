"""Whether the condition of a rule holds; what is not known meets none."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from ..catalog.health import Names, Number, Rose
from .figures import Value

KEPT = 60  # readings of a counter that are kept over its time


class Figures(Protocol):
    """Figures by name."""

    def __getitem__(self, name: str) -> Value: ...


class Counters:
    """What the counters of one rule said before, for `Rose`."""

    def __init__(self) -> None:
        self._seen: dict[str, deque[tuple[float, float]]] = {}

    def rose(self, condition: Rose, t: float, value: float) -> bool:
        """Take a reading in; whether the counter went up by so much within its time."""
        seen = self._seen.setdefault(condition.figure, deque())
        if seen and value < seen[-1][1]:
            seen.clear()  # it began anew, with the driver
        if not seen or t - seen[-1][0] >= condition.within_seconds / KEPT:
            seen.append((t, value))
        while len(seen) > 1 and seen[1][0] <= t - condition.within_seconds:
            seen.popleft()
        return value - seen[0][1] >= condition.by


def holds(condition: Number | Names | Rose, figures: Figures, t: float, counters: Counters, *, on: bool) -> bool:
    """Whether it holds at `t`; `on`: the alarm rings, so that `until` counts."""
    value = figures[condition.figure]
    if isinstance(condition, Names):
        return _named(condition, value)
    if not isinstance(value, int | float):
        return False
    if isinstance(condition, Rose):
        return counters.rose(condition, t, value)
    bound = _bound(condition, figures, on=on)
    if bound is None:
        return False
    return value >= bound if condition.least is not None else value < bound


def found(condition: Names, value: Value) -> str | None:
    """The name that made it hold."""
    names = _names(value)
    return next((name for name in condition.any_of if name in names), None)


def _named(condition: Names, value: Value) -> bool:
    if value is None:
        return False
    names = _names(value)
    some = not condition.any_of or any(name in names for name in condition.any_of)
    return some and not any(name in names for name in condition.none_of)


def _names(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (str(value),)


def _bound(condition: Number, figures: Figures, *, on: bool) -> float | None:
    number = condition.least if condition.least is not None else condition.below
    if on and condition.until is not None:
        number = condition.until
    if number is None:
        return None
    if condition.share_of is not None:
        base = figures[condition.share_of]
        return number * base if isinstance(base, int | float) else None
    if condition.beyond is not None:
        base = figures[condition.beyond]
        return number + base if isinstance(base, int | float) else None
    return number
