"""What the monitor's rules say during a test: the same grade, sentence and advice as beside the graphs; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..catalog.health import HealthRules, Names, Rule
from ..core.health import Alarm
from ..core.results import Check, CheckState

if TYPE_CHECKING:
    from ..core.names import Value

STATES: dict[str, CheckState] = {"error": "fail", "warn": "warn", "info": "pass"}
# The check in whose place alarms are told. What is not here has checks of its own, which know what the test did to the
# card meanwhile: lost cards, a full memory, the link at work, errors that the driver reports.
SUBJECTS = {
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
SUBJECT = {rule: check for check, rules in SUBJECTS.items() for rule in rules}


def rules_of_test(rules: HealthRules) -> HealthRules:
    """Those rules about cards that a test judges by; what is no reason to worry is none of its matters."""
    mine = (rule for rule in rules.rules if rule.id in SUBJECT and rule.about == "card" and rule.level != "info")
    return replace(rules, rules=tuple(mine))


def grade(rules: HealthRules, rule_id: str) -> CheckState:
    """The state of a check that says what this rule says."""
    return next(STATES[rule.level] for rule in rules.rules if rule.id == rule_id)


def of_driver(rules: HealthRules, state: str) -> Rule | None:
    """The rule that rings for a driver in this state."""
    for rule in rules.rules:
        for one in rule.when:
            if isinstance(one, Names) and one.figure == "nvml" and state in one.any_of:
                return rule
    return None


def told(checks: Iterable[Check], alarms: Sequence[Alarm], rules: HealthRules, device: str) -> Iterator[Check]:
    """The checks of a card, and in their places the alarms that rang meanwhile, as far as no graver one says it."""
    hushed = {name for rule in rules.rules for name in rule.hushes if rule.id in {alarm.id for alarm in alarms}}
    left = [alarm for alarm in alarms if alarm.id in SUBJECT and alarm.id not in hushed]
    for check in checks:
        mine = [alarm for alarm in left if SUBJECT[alarm.id] == check.id]
        left = [alarm for alarm in left if alarm not in mine]
        if not mine or (check.id == "card-heat" and check.state == "fail"):  # that one says why the test was stopped
            yield check
        else:
            yield from (_check(alarm, check.id, device, check.value) for alarm in mine)
    yield from (_check(alarm, SUBJECT[alarm.id], device) for alarm in left)


def _check(alarm: Alarm, check_id: str, device: str, value: Value = None) -> Check:
    own = alarm.source is None
    data: dict[str, Value] = {**alarm.data, "device": device, "gpu": alarm.gpu, "alarm": alarm.id, "own": own}
    return Check(id=check_id, state=STATES[alarm.level], value=value, data=data)
