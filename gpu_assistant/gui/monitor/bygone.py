"""When the conditions of a health rule held in what the history keeps: marks are judged as alarms are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...catalog.records.health import NameCondition, NumberCondition
from ...monitor.series import THROTTLE_PREFIX
from .history_model import Array

if TYPE_CHECKING:
    from ...catalog.records.health import AlarmRule


Yes = np.ndarray[Any, np.dtype[np.bool_]]
# A card's figure as a line over time, a figure or a name that does not change, or None where nobody knows it.
Figure = Callable[[str], Array | float | str | None]

# The share of a stretch of time for which a reason must have been told.
MOSTLY = 0.5
# The figures of a rule that are sets of throttle reasons.
REASONS = ("throttle", "held_by")


def met(rule: AlarmRule, figure: Figure, *, on: bool = False) -> Yes | None:
    """The stretches in which all conditions of the rule held; None: in none. What is not known meets no condition.
    `on`: as an alarm that rings already is judged, by `until`.
    """
    together: Yes | None = None
    # Names first: a reason that was never told makes an end at once.
    for condition in sorted(rule.when, key=lambda one: not isinstance(one, NameCondition)):
        if isinstance(condition, NameCondition) and isinstance(name := figure(condition.figure), str):
            # What does not change holds always, or never.
            if (condition.any_of and name not in condition.any_of) or name in condition.none_of:
                return None
            continue
        if isinstance(condition, NameCondition):
            found = _named(condition, figure)
        elif isinstance(condition, NumberCondition):
            found = _number(condition, figure, on=on)
        else:
            raise TypeError(f"{rule.id}: a counter has no past")
        if found is None:
            return None
        together = found if together is None else together & found
    return together


def _named(condition: NameCondition, figure: Figure) -> Yes | None:
    """At least one of the names, none of the others; rules about anything but throttle reasons have no past."""
    if condition.figure not in REASONS:
        return None
    yes: Yes | None = None
    for reason in condition.any_of:
        told = figure(THROTTLE_PREFIX + reason)
        if isinstance(told, np.ndarray):
            yes = (told >= MOSTLY) if yes is None else yes | (told >= MOSTLY)
    for reason in condition.none_of:
        told = figure(THROTTLE_PREFIX + reason)
        if yes is not None and isinstance(told, np.ndarray):
            yes &= ~(told >= MOSTLY)
    return yes


def _number(condition: NumberCondition, figure: Figure, *, on: bool) -> Yes | None:
    value = figure(condition.figure)
    number = condition.least if condition.least is not None else condition.below
    bound: Array | float | None = condition.until if on and condition.until is not None else number
    if not isinstance(value, np.ndarray) or bound is None:
        return None
    base = figure(condition.share_of or condition.beyond or "")
    if (base is None or isinstance(base, str)) and (condition.share_of or condition.beyond):
        return None
    if base is not None and not isinstance(base, str):
        bound = bound * base if condition.share_of else bound + base
    # NaN is neither.
    return value >= bound if condition.least is not None else value < bound
