"""What the monitor's rules say during a test: the same grade, sentence and advice as beside the graphs; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..catalog.health import HealthRules, NameCondition, AlarmRule
from ..core.health import Alarm
from ..core.results import Check, CheckState

if TYPE_CHECKING:
    from ..core.names import Value

STATE_BY_LEVEL: dict[str, CheckState] = {"error": "fail", "warn": "warn", "info": "pass"}
# The check in whose place alarms are told. What is not here has checks of its own, which know what the test did to the
# card meanwhile: lost cards, a full memory, the link at work, errors that the driver reports.
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
    """Those rules about cards that a test judges by; what is no reason to worry is none of its matters."""
    test_rules = (rule for rule in rules.rules if rule.id in CHECK_BY_RULE and rule.about == "card" and rule.level != "info")
    return replace(rules, rules=tuple(test_rules))


def check_state(rules: HealthRules, rule_id: str) -> CheckState:
    """The state of a check that says what this rule says."""
    return next(STATE_BY_LEVEL[rule.level] for rule in rules.rules if rule.id == rule_id)


def find_driver_rule(rules: HealthRules, state: str) -> AlarmRule | None:
    """The rule that rings for a driver in this state."""
    for rule in rules.rules:
        for condition in rule.when:
            if isinstance(condition, NameCondition) and condition.figure == "nvml" and state in condition.any_of:
                return rule
    return None


def alarms_as_checks(checks: Iterable[Check], alarms: Sequence[Alarm], rules: HealthRules, device: str) -> Iterator[Check]:
    """The checks of a card, and in their places the alarms that rang meanwhile, as far as no graver one says it."""
    suppressed = {name for rule in rules.rules for name in rule.hushes if rule.id in {alarm.id for alarm in alarms}}
    remaining = [alarm for alarm in alarms if alarm.id in CHECK_BY_RULE and alarm.id not in suppressed]
    for check in checks:
        own_alarms = [alarm for alarm in remaining if CHECK_BY_RULE[alarm.id] == check.id]
        remaining = [alarm for alarm in remaining if alarm not in own_alarms]
        if not own_alarms or (check.id == "card-heat" and check.state == "fail"):  # that one says why the test was stopped
            yield check
        else:
            yield from (_check_from_alarm(alarm, check.id, device, check.value) for alarm in own_alarms)
    yield from (_check_from_alarm(alarm, CHECK_BY_RULE[alarm.id], device) for alarm in remaining)


def _check_from_alarm(alarm: Alarm, check_id: str, device: str, value: Value = None) -> Check:
    has_own_threshold = alarm.source is None
    data: dict[str, Value] = {**alarm.data, "device": device, "gpu": alarm.gpu, "alarm": alarm.id, "own": has_own_threshold}
    return Check(id=check_id, state=STATE_BY_LEVEL[alarm.level], value=value, data=data)
