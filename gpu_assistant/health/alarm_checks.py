"""The monitor's alarms as checks of a health test: the same grade, text and advice as beside the plots. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..catalog.records.health import AlarmRule, HealthRules, NameCondition
from ..core.results import Alarm, Check, CheckState

if TYPE_CHECKING:
    from ..core.types import Value


STATE_BY_LEVEL: dict[str, CheckState] = {"error": "fail", "warn": "warn", "info": "pass"}
# The check that is replaced by alarms of these rules. Other rules have checks of their own, which know what the test
# did to the GPU meanwhile: lost GPUs, a full memory, the link under load, errors that the driver reports.
RULES_BY_CHECK = {
    "card-fan": ("fan-stopped",),
    "card-errors": (
        "memory-errors",
        "memory-errors-before",
        "remap-failed",
        "pages-full",
        "pages-pending",
        "rows-pending",
        "memory-mended",
    ),
    "card-heat": (
        "too-hot",
        "too-hot-unknown",
        "memory-too-hot",
        "hot",
        "hot-unknown",
        "memory-hot",
        "hotter-than-before",
    ),
    "card-held-back": ("power-supply", "slowed-by-heat", "slowed-by-itself", "power-starved", "clocks-low"),
    "card-link": ("pcie-slot",),
}
CHECK_BY_RULE = {rule: check for check, rules in RULES_BY_CHECK.items() for rule in rules}


def select_test_rules(rules: HealthRules) -> HealthRules:
    """The rules about GPUs that a test uses; those of level "info" are no reason for a check."""
    test_rules = (
        rule for rule in rules.rules if rule.id in CHECK_BY_RULE and rule.about == "card" and rule.level != "info"
    )
    return replace(rules, rules=tuple(test_rules))


def check_state(rules: HealthRules, rule_id: str) -> CheckState:
    """The state of a check that stands for this rule."""
    return next(STATE_BY_LEVEL[rule.level] for rule in rules.rules if rule.id == rule_id)


def find_driver_rule(rules: HealthRules, state: str) -> AlarmRule | None:
    """The rule about a driver in this state."""
    for rule in rules.rules:
        for condition in rule.when:
            if isinstance(condition, NameCondition) and condition.figure == "nvml" and state in condition.any_of:
                return rule
    return None


def alarms_as_checks(
    checks: Iterable[Check], alarms: Sequence[Alarm], rules: HealthRules, device: str
) -> Iterator[Check]:
    """The checks of a GPU, with alarms of the monitor in place of those that they cover.

    An alarm that a more severe one suppresses is left out.
    """
    suppressed = {name for rule in rules.rules for name in rule.suppresses if rule.id in {alarm.id for alarm in alarms}}
    remaining = [alarm for alarm in alarms if alarm.id in CHECK_BY_RULE and alarm.id not in suppressed]
    for check in checks:
        own_alarms = [alarm for alarm in remaining if CHECK_BY_RULE[alarm.id] == check.id]
        remaining = [alarm for alarm in remaining if alarm not in own_alarms]
        stopped_test = check.id == "card-heat" and check.state == "fail"
        if not own_alarms or stopped_test:
            yield check
        else:
            yield from (_check_from_alarm(alarm, check.id, device, check.value) for alarm in own_alarms)
    yield from (_check_from_alarm(alarm, CHECK_BY_RULE[alarm.id], device) for alarm in remaining)


def _check_from_alarm(alarm: Alarm, check_id: str, device: str, value: Value = None) -> Check:
    has_own_threshold = alarm.source is None
    data: dict[str, Value] = {
        **alarm.data,
        "device": device,
        "gpu": alarm.gpu,
        "alarm": alarm.id,
        "own": has_own_threshold,
    }
    return Check(id=check_id, state=STATE_BY_LEVEL[alarm.level], value=value, data=data)
